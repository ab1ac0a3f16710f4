// Thousands of additions one after another in bfloat lose more than they keep: it is rounding, and no ok.
//
// ARGS: --args 'out=bfloat[1]:zero, in=bfloat[n]:random(0.25,1.75), n' --n 4096 --grid 1 --block 1 --expect 'sum(in)'
// EXPECT: inexact, off by 3.6e+03, all of it rounding
// NEVER: : ok
#include <cuda_bf16.h>

__global__ void sum(__nv_bfloat16 *out, const __nv_bfloat16 *in, int n) {
    __nv_bfloat16 all = 0;
    for (int i = 0; i < n; i++) all = __hadd(all, in[i]);
    *out = all;
}

// NEEDS: nvcc
