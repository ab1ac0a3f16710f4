// The additions are in half: every one rounds to 11 bits.
//
// ARGS: --args 'out=half[1]:zero, in=half[n]:random(0.25,1.75), n' --n 4096 --grid 1 --block 256 --expect 'sum(in)'
// EXPECT: : ok, off by
// NEVER: WRONG
#include <cuda_fp16.h>

__global__ void sum(__half *out, const __half *in, int n) {
    __shared__ __half part[256];
    __half own = 0;
    for (int i = threadIdx.x; i < n; i += 256) own = __hadd(own, in[i]);
    part[threadIdx.x] = own;
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s) part[threadIdx.x] = __hadd(part[threadIdx.x], part[threadIdx.x + s]);
    }
    if (threadIdx.x == 0) *out = part[0];
}

// NEEDS: nvcc
