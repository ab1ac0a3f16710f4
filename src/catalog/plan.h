/* Plan: everything needed to run a kernel, on any backend: buffers, how they are filled, launches with their arguments.
 *
 * A catalogue row makes one (catalog.h); so does --args for any other kernel. A plan owns what it points to. */
#ifndef CATALOG_PLAN_H
#define CATALOG_PLAN_H

#include "base/error.h"
#include "base/memory.h"
#include "ptx/ptx.h"
#include <stdint.h>

typedef enum FillKind { FILL_ZERO, FILL_ONES, FILL_IOTA, FILL_RANDOM, FILL_FILE } FillKind;

typedef struct PlanBuffer {
    const char *name;
    PtxType type;         /* S8 U8 S16 U16 S32 U32 S64 U64 F16 BF16 F32 F64 */
    uint64_t count;       /* elements */
    FillKind fill;
    const char *path;     /* FILL_FILE: raw little-endian */
    double scale;         /* RANDOM: integers in [-scale, scale], floats likewise; 0: the default of its type */
    bool whole_numbers;   /* RANDOM floats are small integers, whose sums are exact in any order */
    void *bytes;          /* count elements; filled by plan_fill(), then changed by the run */
} PlanBuffer;

typedef struct PlanArgument {
    int buffer;           /* >= 0: pointer to that buffer (plus `offset` bytes); -1: the scalar in `bytes` */
    uint64_t offset;
    uint8_t bytes[16];
    int byte_count;       /* size of the scalar */
} PlanArgument;

typedef struct PlanLaunch {
    const char *entry;    /* exact or readable name ("interleaved<int,Sum>"): resolve with ptx_module_find_entry() */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    bool cooperative;
    PlanArgument *arguments;
    int argument_count;
} PlanLaunch;

typedef struct Plan {
    Arena arena;
    PlanBuffer *buffers;
    int buffer_count;
    PlanLaunch *launches;
    int launch_count;
} Plan;

/* Allocates and fills every buffer (deterministic in `seed`); reads files. */
bool plan_fill(Plan *plan, uint64_t seed, Error *error);
void plan_free(Plan *plan);

int plan_add_buffer(Plan *plan, const char *name, PtxType type, uint64_t count, FillKind fill); /* index */
PlanLaunch *plan_add_launch(Plan *plan, const char *entry);
void plan_add_pointer(Plan *plan, PlanLaunch *launch, int buffer);
void plan_add_scalar(Plan *plan, PlanLaunch *launch, const void *bytes, int byte_count);

/* Lays the arguments out as the entry's .param list wants them (alignment, sizes); pointers come from `address_of`.
 * Fails when their number or sizes do not fit the entry. *bytes is malloc'd. */
bool plan_pack_arguments(const PlanLaunch *launch, const PtxFunction *entry,
                         uint64_t (*address_of)(void *context, int buffer), void *context, uint8_t **bytes,
                         size_t *byte_count, Error *error);

/* Element i of typed memory as a double (half and bfloat widened), and its exact text ("-3", "0.1", "nan"). */
double plan_element(PtxType type, const void *bytes, uint64_t i);
void plan_element_print(PtxType type, const void *bytes, uint64_t i, Text *out);
bool plan_type_parse(const char *name, PtxType *type); /* char uchar ... half bfloat float double */
const char *plan_type_name(PtxType type);              /* "int", "half", ... */

/* --args: 'in=float[n]:random, out=float[grid]:zero, n' for `entry`; expressions of n, block, grid (+ - * / % ( ), and the
 * named parameters). NULL: first pointer is the input, further pointers outputs, integers are n. */
typedef struct PlanVariables {
    uint64_t n, block, grid;   /* totals over the dimensions */
} PlanVariables;
bool plan_parse_arguments(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const char *args,
                          const PlanVariables *variables, Error *error);

#endif
