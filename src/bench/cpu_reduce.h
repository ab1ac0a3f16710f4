/* CPU reduce: reductions of an array on this machine's CPU, for comparison with the GPU's kernels. */
#ifndef BENCH_CPU_REDUCE_H
#define BENCH_CPU_REDUCE_H

#include "ptx/ptx.h"
#include <stdbool.h>
#include <stddef.h>

/* `count` elements to one, in `out`; of none: the operation's identity. */
typedef void (*CpuReduce)(const void *in, size_t count, void *out);

/* For S32, F32, F64 and "sum", "min", "max"; NULL for any other. Integer sums wrap. `simd`: with the widest
 * vectors that this machine has, in as many sums as hide the latency of an addition; else one after the
 * other, in order. */
CpuReduce cpu_reduce(PtxType type, const char *op, bool simd);

const char *cpu_simd_name(void); /* "AVX2"; "SIMD" where it is the compiler's default */

#endif
