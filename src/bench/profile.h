/* --bench --profile: metrics of a kernel in addition to its time. Private to src/bench. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "gpu/run.h"
#include "ptx/program.h"
#include "bench/gpu_bench.h"

typedef struct BenchProfiled {
    const GpuRun *run;
    const GpuLaunch *launches; /* of the kernel alone, with its own buffers */
    int count;
    size_t in_bytes, out_bytes; /* copied to the device, and from it */
} BenchProfiled;

/* Sends the metrics of the kernel alone; their other fields come from `of`. A metric that this machine does
 * not provide is NaN, and its note gives the reason. False with `error`: the GPU failed. */
bool bench_profile(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of, Error *error);

/* Sends the cycles of block 0's barrier intervals: medians of several runs of the kernel alone, with clocks
 * (instrument/clocks.h). `programs`: one per launch. Sends nothing for a kernel that cannot have clocks. */
bool bench_intervals(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                     const BenchValue *of, Error *error);

/* Sends where and when each block ran (gpu/residency.h), or why that is unknown. False with `error`: the GPU
 * failed. */
bool bench_grid(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                const BenchValue *of, Error *error);

#endif
