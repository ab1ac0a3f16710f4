/* Fold: a reduction of an array by this machine's own CPU: what the GPU's kernels are compared with. */
#ifndef HOST_FOLD_H
#define HOST_FOLD_H

#include "ptx/ptx.h"
#include <stdbool.h>
#include <stddef.h>

/* `count` elements to one, in `out`; of none: the operation's identity. */
typedef void (*HostFold)(const void *in, size_t count, void *out);

/* For S32, F32, F64 and "sum", "min", "max"; NULL for any other. Integer sums wrap. `simd`: with the widest
 * vectors that this machine has, in as many sums as hide the latency of an addition; else one after the
 * other, in order. */
HostFold host_fold(PtxType type, const char *op, bool simd);

const char *host_simd_name(void); /* "AVX2"; "SIMD" where it is the compiler's default */

#endif
