// A sum of halves that is made in float and loses the last warp's part: the inputs are exact, so their rounding excuses nothing.
//
// ARGS: --args 'out=float[1]:zero, in=half[n]:random(0.25,1.75), n' --n 65536 --grid 1 --block 256 --expect 'sum(in)'
// EXPECT: WRONG
// NEVER: : ok
// EXIT: 1
#include <cuda_fp16.h>

__global__ void sum(float *out, const __half *in, int n) {
    __shared__ float part[256];
    float own = 0;
    for (int i = threadIdx.x; i < n; i += 256) own += __half2float(in[i]);
    part[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < 224; i++) all += part[i];
        *out = all;
    }
}

// NEEDS: nvcc
