/* The sum of one array across the GPUs of a host: each GPU reduces its part with `fastest`; then NCCL's
 * all-reduce joins the results, or each GPU writes its result into the memory of the first, which reduces
 * them. Private to src/bench.
 *
 * The time is that of a single call, from an event that all GPUs wait for to one that waits for all of
 * them. */
#ifndef BENCH_MULTI_GPU_H
#define BENCH_MULTI_GPU_H

#include "bench/gpu_bench.h"

/* Uses the number of GPUs in the options; the first is bench->cuda. */
bool bench_multi_gpu(const Bench *bench, Error *error);

#endif
