/* Captured: what is known of a program's run: its memory, modules and launches, each of which is a plan.
 *
 * Of the memory that a launch touches, the capture keeps what it held before the launch, page by page, so
 * that the launch can be run again, traced, on any backend. A launch that repeats an earlier one (same
 * kernel, shape, parameters and memory) names it and keeps nothing. */
#ifndef RUNTIME_CAPTURE_H
#define RUNTIME_CAPTURE_H

#include "plan/plan.h"
#include "runtime/contents.h"

typedef struct CapturedMemory { /* an allocation, or a variable of a module */
    uint64_t address, bytes;
    int kind;             /* MessageMemory */
    const char *name;     /* as the program calls it, "d_in"; NULL until it has ended */
    const char *base;     /* the same without a number */
    const char *variable; /* in the PTX; NULL: an allocation */
    int module;           /* of a variable: index in modules */
    uint64_t caller;      /* where it was allocated */
    int device;           /* of several processes */
    bool is_reserved;     /* of a graph: no other memory gets its place */
    bool is_freed;
    uint64_t freed_by;   /* return address; 0: not known */
    bool is_of_launches; /* a launch has written it */
    uint64_t *written;   /* one bit per word that the host or a launch has written */
    PageHash *hashes;    /* of its pages, where is_hashed */
    uint8_t *is_hashed;
} CapturedMemory;

typedef struct CapturedRange { /* words of a memory */
    int memory;
    uint64_t first, count;
    int element_bytes; /* CapturedLaunch.changed: as the launch's argument declares it */
    uint64_t elements; /* of these: elements that hold another value than before */
} CapturedRange;

typedef struct CapturedPage {
    uint64_t address;
    PageHash hash;
} CapturedPage;

typedef struct CapturedLine { /* file NULL: not known */
    const char *file;
    int line;
} CapturedLine;

typedef struct CapturedUse { /* the first instruction that names a variable */
    int memory;
    CapturedLine line;
} CapturedUse;

typedef struct CapturedModule {
    const char *name, *ptx;
} CapturedModule;

typedef struct CapturedSource {
    const char *file; /* as the line tables name it */
    const char *text; /* NULL: it was not found */
} CapturedSource;

typedef struct CapturedLaunch {
    int device;
    int module, function;     /* index in modules; number of the function in its device */
    const char *entry, *name; /* in the PTX, and readable */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t static_shared_bytes, dynamic_shared_bytes;
    bool cooperative;
    uint64_t heap_bytes; /* of the device heap; 0: as usual */
    const uint8_t *parameters;
    const int *offsets, *sizes; /* [parameter_count] */
    int parameter_count;
    uint32_t stream, graph;
    uint64_t caller;
    const char *place; /* "reduce.cu:41"; NULL: not known; after capture_name() */
    const char *file;  /* the same, whole path */
    int line;
    int repeats;   /* the launch that did the same: its index; -1: none */
    int times;     /* how often it was repeated, itself included */
    int32_t error; /* cudaError_t: refused, or ended by a fault; 0: good */
    bool is_refused;
    bool is_checked;       /* the program asked for an error afterwards */
    const char *why;       /* one line; NULL: it ended well */
    bool is_unsupported;   /* it has an instruction that is not emulated */
    bool is_cancelled;     /* it had not ended */
    bool is_kept;          /* it can be run again */
    uint64_t instructions; /* warp instructions */
    uint64_t excess_wavefronts, excess_sectors, divergent_branches;
    /* Kind of its first problem, findings_first(). "": it has none; NULL: not known, as of launches of a
     * kernel that has been launched often. */
    const char *finding;
    uint64_t beyond;          /* of a slow place: the cost beyond the ideal, in the unit of its kind */
    uint64_t atomics;         /* lanes that executed atomics on memory */
    bool outdone;             /* an atomic minimum or maximum lost to what memory held */
    bool meets_host;          /* it has accesses of system scope, or volatile ones */
    CapturedLine extreme;     /* the first atomic minimum or maximum */
    bool changes;             /* a word that it wrote is another one than before */
    bool writes_after_launch; /* it wrote memory that an earlier launch had written */
    CapturedUse *uses;        /* variables of the module that it names */
    int use_count, use_capacity;
    int trap; /* TrapKind that ended it, or an access that was dropped; -1: none */
    double seconds;
    CapturedPage *before; /* pages that it touched */
    CapturedPage *after;  /* pages that it wrote */
    int before_count, before_capacity, after_count, after_capacity;
    CapturedRange
        *unwritten; /* of memory that existed: words that had never been written, before the launch */
    int unwritten_count, unwritten_capacity;
    CapturedRange *changed; /* words that it wrote, a range for each memory */
    int changed_count, changed_capacity;
    int *memories; /* that existed, ascending by address */
    int memory_count;
} CapturedLaunch;

typedef enum CapturedFaultKind {
    CAPTURED_CALL_FAILED, /* a CUDA function returned an error */
    CAPTURED_HOST_ACCESS, /* the program touched device memory */
    CAPTURED_USED_FREED,  /* a launch accessed memory that the host had freed */
    CAPTURED_UNORDERED,   /* launch `after` uses what launch `error` of another stream writes or reads */
    CAPTURED_STALE, /* launch `after` reads what launch `error` left behind the end of a later, smaller one */
    /* launch `after` adds to what launch `error` left, which the host has read as a result */
    CAPTURED_NOT_CLEARED,
    /* the host touches memory before it has waited for a copy to it, or for launch `error`, which uses it */
    CAPTURED_EARLY,
    CAPTURED_COUNTER, /* launch `after` finds a counter as launch `error` left it, and does less */
    CAPTURED_LACKS    /* a CUDA function that redviz does not have */
} CapturedFaultKind;

typedef struct CapturedFault { /* of the host program */
    CapturedFaultKind kind;
    int device;              /* of several processes */
    int32_t error;           /* UNORDERED to COUNTER: the number of the earlier launch; EARLY: or 0, a copy */
    const char *call, *what; /* the CUDA function; what was wrong */
    uint64_t callers[16];
    int caller_count;
    bool is_checked;  /* the program asked for the error later */
    int memory;       /* HOST_ACCESS, USED_FREED: index in memories; -1: not known */
    int after;        /* launches before it */
    const char *file; /* after capture_name() */
    int line;
    const char *function;
} CapturedFault;

typedef struct Captured {
    Arena arena; /* texts */
    PageContents *contents;
    CapturedMemory *memories;
    int memory_count, memory_capacity;
    CapturedModule *modules;
    int module_count, module_capacity;
    CapturedLaunch *launches;
    int launch_count, launch_capacity;
    CapturedFault *faults;
    int fault_count, fault_capacity;
    const char **processes; /* [process_count] by `device`: their commands, "./sum 100"; of a file: none */
    int process_count, process_capacity;
    /* of a session file: `sources` are all that there are; else they are read from their files */
    bool is_saved;
    CapturedSource *sources;
    int source_count, source_capacity;
} Captured;

Captured *captured_new(uint64_t most_bytes);
void captured_free(Captured *capture);

/* The launch to show first: that of the first fault, else the one with the most conflicts, sectors too many
 * and divergent branches, else the one that was cancelled; -1: there is none. */
int captured_choose(const Captured *capture);
/* The program called a CUDA function that redviz does not have. */
bool captured_lacks(const Captured *capture);
/* A fault of the kernel ended a launch. */
bool captured_has_fault(const Captured *capture);
/* The launch that `at` names: "3", or "reduce#2", the second of that kernel; -1: there is none. */
int captured_find(const Captured *capture, const char *at);
/* The launch itself, or the one that it repeats. */
const CapturedLaunch *captured_original(const Captured *capture, int launch);
/* The bytes of an element of the memory, as the parameter of the launch that points to it says. */
int captured_element_bytes(const CapturedLaunch *launch, const CapturedMemory *memory);
/* The launch as a plan, which the caller frees: its module, the memory that existed with what it held, its
 * arguments. False with `error`: it was refused, or its memory was not kept. */
bool captured_plan(const Captured *capture, int launch, Plan *plan, Error *error);

#endif
