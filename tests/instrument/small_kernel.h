/* A small kernel, instrumented and run by the emulator beside its original: a test writes its body. */
#ifndef TESTS_INSTRUMENT_SMALL_KERNEL_H
#define TESTS_INSTRUMENT_SMALL_KERNEL_H

#include "twin.h"

typedef struct SmallKernel {
    const char *name;
    const char *module; /* before the entry */
    const char *body;   /* %out: this thread's 64 bytes, %t, %l: thread and lane, %b: block */
    uint32_t grid, block, shared_bytes;
    uint32_t height, depth; /* of grid and block; 0: 1 */
    uint32_t cluster;       /* blocks per cluster; 0: no clusters */
    const char *must_have;  /* required in the instrumented text; NULL: nothing */
    const char *version;    /* of PTX; NULL: 8.0 */
    bool has_own_end;       /* no ret follows the body */
    bool cooperative;
    int launches;         /* one behind the other; 0: 1 */
    const TensorMap *map; /* the parameter kernel_map; of the buffer `tensor`, 64 KB; NULL: none */
} SmallKernel;

/* Its module; and its plan, filled. The caller frees both. */
PtxModule *small_kernel_parse(const SmallKernel *kernel);
void small_kernel_plan(const SmallKernel *kernel, Plan *plan);
/* Runs both; fails if their results differ. Free it with twin_done(). */
Twin small_kernel_run(const SmallKernel *kernel, TwinOptions options);

#endif
