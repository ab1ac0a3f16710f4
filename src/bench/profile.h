/* --bench --profile: metrics of a kernel beside its time. Private to src/bench. */
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

/* Sends the metrics of the kernel alone; the other fields of each are those of `of`. What this machine
 * does not give is NaN, and the note says why. false with `error`: the GPU failed. */
bool bench_profile(const Bench *bench, const BenchProfiled *profiled, const BenchValue *of, Error *error);

/* Sends the cycles of block 0's barrier intervals: medians of several runs of the kernel alone, with clocks
 * (instrument/clocks.h). `programs`: of the launches. Of a kernel that cannot have clocks nothing is sent. */
bool bench_intervals(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                     const BenchValue *of, Error *error);

/* Sends where and when each block ran (gpu/residency.h), or why that is not known. false with `error`: the GPU failed. */
bool bench_grid(const Bench *bench, const BenchProfiled *profiled, const PtxProgram *const *programs,
                const BenchValue *of, Error *error);

#endif
