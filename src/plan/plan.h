/* Plan: everything that a run needs, on any backend: modules, buffers and how they are filled, launches with
 * their arguments and what the host writes before each, the blocks to trace, and what the result should be.
 *
 * A plan is a value: it knows no session and no backend, owns what it points to, and can be copied. A row of
 * the catalogue makes one, so do --args and --launch, and a guess. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "base/error.h"
#include "base/memory.h"
#include "base/tensor_map.h"
#include "base/text.h"
#include "ptx/launch.h"
#include <stdatomic.h>
#include <stdint.h>

typedef enum FillKind {
    FILL_ZERO,
    FILL_ONES,
    FILL_IOTA, /* element i is first + i * step; integers wrap, floats round */
    FILL_RANDOM,
    FILL_DIGITS, /* random whole numbers from 0 to 9, of every type: what a reader can add along */
    FILL_FILE,
    FILL_VALUE,       /* every element is `value` (a minimum starts from the largest value) */
    FILL_PERMUTATION, /* 0 to count - 1, each once, in an order that looks random */
    FILL_UNWRITTEN,   /* as cudaMalloc() leaves it: reading it before it is written is a fault */
    FILL_CONTENT,     /* the bytes of `content` */
    FILL_PEAKS        /* `low`, but for every 199th element, which is `high`; which one first: the seed */
} FillKind;

typedef struct PlanBuffer {
    const char *name;
    PtxType type;   /* S8 U8 S16 U16 S32 U32 S64 U64 F16 BF16 F32 F64 */
    uint64_t count; /* elements */
    FillKind fill;
    const char *path;     /* FILL_FILE: raw little-endian */
    uint64_t path_offset; /* bytes of the file before them: the head of a .npy */
    double first, step;   /* IOTA; step 0: 0, 1, 2, ... */
    bool has_range;       /* RANDOM: from `low` to `high`, whole numbers where whole_numbers */
    double low, high;
    uint8_t value[8]; /* FILL_VALUE: one element, little-endian */
    double scale; /* RANDOM: integers in [-scale, scale] ([0, scale] where unsigned), floats likewise; 0: the
                  default: 10 for one byte, 100 for two, 1000 for more; 1 for floats, 8 for whole_numbers */
    bool whole_numbers;  /* RANDOM floats are small integers, whose sums are exact in any order */
    const void *content; /* FILL_CONTENT: count elements, in the plan's arena */
    /* Where it lies on the emulator: a multiple of PLAN_ALIGNMENT behind the buffer before it. 0: the backend
     * chooses. */
    uint64_t address;
    const char *variable; /* a variable of the first module, by its name there; NULL: the host allocated it */
    void *bytes;          /* count elements; filled by plan_fill(), then changed by the run */
} PlanBuffer;

enum { PLAN_ALIGNMENT = 256 };

/* What the host writes to a buffer before a launch. */
typedef struct PlanWrite {
    int buffer;
    uint64_t offset, byte_count;
    const void *bytes; /* in the plan's arena */
} PlanWrite;

typedef struct PlanModule {
    const char *name; /* for messages: a path, or what made it */
    const char *ptx;
} PlanModule;

typedef struct
    PlanPointer { /* within a structure: the 8 bytes from `at` on point to a buffer, plus `offset` bytes */
    int at, buffer;
    uint64_t offset;
} PlanPointer;

typedef struct PlanArgument {
    /* >= 0: pointer to that buffer (plus `offset` bytes); -1: the scalar or structure in `bytes` */
    int buffer;
    uint64_t offset;
    const uint8_t *bytes;        /* in the plan's arena */
    int byte_count;              /* size of the scalar or structure */
    const PlanPointer *pointers; /* within the structure; in the plan's arena */
    int pointer_count;
} PlanArgument;

typedef struct PlanLaunch {
    int module;        /* in plan->modules, where there are any */
    const char *entry; /* exact or readable ("interleaved<int,Sum>"): resolve with ptx_module_find_entry() */
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0: as the entry says (launch_cluster) */
    uint32_t dynamic_shared_bytes;
    bool cooperative;
    PlanArgument *arguments;
    int argument_count, argument_capacity;
    PlanWrite *writes; /* in this order */
    int write_count, write_capacity;
} PlanLaunch;

enum { PLAN_LAUNCHES = 32, PLAN_MOST_NUMBERED = 1000 };

/* Zero-initialised is a valid empty plan. */
typedef struct Plan {
    Arena arena;         /* names, entries, contents */
    PlanModule *modules; /* may be empty: the caller then has the module */
    int module_count, module_capacity;
    PlanBuffer *buffers;
    int buffer_count, buffer_capacity;
    /* In place: pointers to them stay valid as long as the plan stays put. */
    PlanLaunch launches[PLAN_LAUNCHES];
    int launch_count;
    uint64_t heap_bytes;   /* of the device heap; 0: 8 MB, as CUDA has it */
    bool has_trace_blocks; /* else block 0 of each launch is traced */
    uint32_t trace_first, trace_last;
    const char *expect;        /* --expect; NULL: nothing */
    const atomic_bool *cancel; /* true ends plan_fill() early, with an error; NULL: never */
    int threads;               /* host threads that fill and copy; 0: one per core */
} Plan;

/* Allocates and fills every buffer; reads files. The same seed gives the same bytes on every machine. Refuses
 * plans that need more than half of this machine's memory. */
bool plan_fill(Plan *plan, uint64_t seed, Error *error);
/* The same for one buffer without bytes. */
bool plan_fill_buffer(Plan *plan, int index, uint64_t seed, Error *error);
/* A copy of a buffer's bytes; the caller frees it. */
void *plan_copy_bytes(const Plan *plan, int index);
/* Makes a deep copy, whose buffers have no bytes yet. */
void plan_copy(const Plan *plan, Plan *copy);
void plan_free(Plan *plan);
const char *plan_fill_name(FillKind fill); /* "zero" */
/* Parses such a name, or "file:PATH", whose PATH *path points to (else NULL). False if there is no such fill.
 * Callers refuse FILL_VALUE, and FILL_FILE without a path. */
bool plan_fill_parse(const char *text, size_t length, FillKind *fill, const char **path);
/* The fill with its numbers, "random(0,9)", as session files have it: printed and parsed. */
void plan_fill_print(const PlanBuffer *buffer, Text *out);
bool plan_fill_scan(const char *text, PlanBuffer *buffer);

int plan_add_buffer(Plan *plan, const char *name, PtxType type, uint64_t count, FillKind fill); /* index */
/* A buffer by its name. Else "in", "in2", ... are the filled buffers and "out", ... the others, in order. -1:
 * not found. */
int plan_find_buffer(const Plan *plan, const char *name, size_t length);
PlanLaunch *plan_add_launch(Plan *plan, const char *entry);
/* Sets `marked` ([plan->buffer_count]) for the buffers that an argument points to, also from within a
 * structure. */
void plan_mark_buffers(const PlanLaunch *launch, int argument, bool *marked);
/* Index of a module with a copy of this text. */
int plan_add_module(Plan *plan, const char *name, const char *ptx);
/* The host copies these bytes to a buffer before the launch. */
void plan_add_write(Plan *plan, PlanLaunch *launch, int buffer, uint64_t offset, const void *bytes,
                    uint64_t byte_count);
void plan_add_pointer(Plan *plan, PlanLaunch *launch, int buffer);
void plan_add_scalar(Plan *plan, PlanLaunch *launch, const void *bytes, int byte_count);
void plan_add_structure(Plan *plan, PlanLaunch *launch, const void *bytes, int byte_count,
                        const PlanPointer *pointers, int pointer_count);
/* A tensor map of the buffer, whatever the address in `map` says. The GPU run has the driver encode it. */
void plan_add_tensor(Plan *plan, PlanLaunch *launch, int buffer, const TensorMap *map);

/* Makes a planned launch ready for a backend that has the plan's buffers at `addresses`
 * ([plan->buffer_count]). `program` is that of the launch's entry. Fails where the number or sizes of the
 * arguments do not fit the entry. The caller's: launch_done(). */
bool plan_bind_launch(const PlanLaunch *planned, const PtxProgram *program, const uint64_t *addresses,
                      Launch *launch, Error *error);

/* Element i of typed memory as a double (half and bfloat widened), and its exact text ("-3", "0.1", "nan").
 */
double plan_element(PtxType type, const void *bytes, uint64_t i);
void plan_element_print(PtxType type, const void *bytes, uint64_t i, Text *out);
enum { PLAN_TYPE_BYTES = 32 }; /* of a type's name and its end */
/* char uchar ... half bfloat float double, and other names of them: int64, f32, unsigned long long. */
bool plan_type_parse(const char *name, PtxType *type);
const char *plan_type_name(PtxType type); /* "int", "half", ... */

/* Converts `number` to the type, as a kernel's cast does: floats round to nearest even, integers truncate and
 * wrap. */
void plan_element_set(PtxType type, void *bytes, uint64_t i, double number);

/* --args: a comma-separated item for each parameter of `entry`, in order:
 *
 *   NAME=TYPE[COUNT]        pointer to a new buffer of zeros
 *   NAME=TYPE[COUNT]:FILL   filled: zero, ones, iota, iota(FIRST,STEP), random, random(LOW,HIGH), digits,
 *                           peaks(LOW,HIGH), permutation, unwritten, file:PATH, or an EXPRESSION, inf, -inf,
 *                           nan: the value of each element. peaks() is LOW, but for every 199th element.
 *                           random(0,9) are whole numbers, 0 and 9 among them; random(0.0,1) are not
 *   NAME=@FILE.npy          pointer to a new buffer: type, elements and values are those of the file
 *   NAME=TYPE[COUNT]=@FILE.npy  the same as file:FILE.npy; bfloat takes the bits, which NumPy calls uint16
 *   NAME, &NAME             pointer to a buffer named before
 *   &NAME[EXPRESSION]       pointer to an element of it
 *   null                    pointer to nothing
 *   EXPRESSION              scalar, converted to the parameter's type
 *   NAME=EXPRESSION         the same; later expressions may use NAME
 *   {ITEM, ITEM, ...}       structure: its members, each at a multiple of its size, as in C. Pointers have 8
 *                           bytes; 7 is an int, 7l a long, 3.5 a double, 3.5f a float, (char)7 a char; {} has
 *                           one byte
 *   tensor(NAME, {SIZE, ...}, {BOX, ...}, SPAN)
 *                           CUtensorMap of the array NAME (which may be a new one) and of the box that a
 *                           copy moves, the innermost dimension first; SPAN of the swizzle in bytes: 0 (or
 *                           left out), 32, 64, 128
 *   file:PATH               structure: its bytes, raw little-endian, as many as the parameter has
 *
 * COUNT and EXPRESSION are made of numbers, n, block, grid, named scalars, + - * / % and ( ). An error says
 * where in the text it is. */
typedef struct PlanVariables {
    uint64_t n, block, grid; /* block and grid: totals over their dimensions */
} PlanVariables;
bool plan_parse_arguments(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const char *args,
                          const PlanVariables *variables, Error *error);
/* The same for `length` bytes of a text, from `begin` on. */
typedef struct PlanTyped {
    const char *option, *text; /* "--launch" and its whole value; errors show both */
    size_t begin, length;
    const char *const
        *defaults;   /* [parameter] "float[n]:random", what a pointer by an unknown name is; NULL: nothing */
    Text *completed; /* gets the items with the defaults filled in; or NULL */
} PlanTyped;
bool plan_parse_typed(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const PlanTyped *typed,
                      const PlanVariables *variables, Error *error);

#endif
