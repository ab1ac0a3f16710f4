/* CPU reduce: reductions of an array on this machine's CPU, for comparison with the GPU's kernels. */
#ifndef BENCH_CPU_REDUCE_H
#define BENCH_CPU_REDUCE_H

#include "ptx/ptx.h"
#include <stdbool.h>
#include <stddef.h>

/* Reduces `count` elements to `out`; with none, the operation's identity. */
typedef void (*CpuReduce)(const void *in, size_t count, void *out);

/* For S32, F32, F64 and "sum", "min", "max"; NULL for any other. Integer sums wrap. `simd`: uses the widest
 * vectors of this machine, with enough partial sums to hide the latency of an addition; otherwise sequential,
 * in order. */
CpuReduce cpu_reduce(PtxType type, const char *op, bool simd);

const char *cpu_simd_name(void); /* "AVX2"; "SIMD" for the compiler's default */

#endif
