/* --bench --profile: what else people compare kernels by. Private to session_bench*.c. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "gpu/run.h"
#include "ptx/program.h"
#include "bench/gpu_bench.h"

typedef struct BenchProfiled {
    const GpuRun *run;
    const GpuLaunch *launches; /* of the kernel alone, with its own buffers */
    int count;
    size_t in_bytes, out_bytes; /* that are copied to the device, and from it */
} BenchProfiled;

/* Tells values of the kernel alone, as `of` otherwise says; what this machine does not tell is NaN, and the
 * note says why. false with `error`: the GPU failed. */
bool bench_profile(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of, Error *error);

/* Tells the cycles of block 0's barrier intervals, of the kernel alone with clocks (instrument/clocks.h),
 * medians of several runs. `programs`: of the launches. A kernel that cannot have clocks is not told of. */
bool bench_intervals(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                     const BenchValue *of, Error *error);

#endif
