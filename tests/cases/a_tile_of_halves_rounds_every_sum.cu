// The additions are in float, but the tile between them keeps halves: the sum is right as far as halves go.
//
// ARGS: --args 'out=float[1]:zero, in=float[n]:random(0.25,1.75), n' --n 4096 --grid 1 --block 256 --expect 'sum(in)'
// EXPECT: : ok, off by
// NEVER: WRONG
#include <cuda_fp16.h>

__global__ void sum(float *out, const float *in, int n) {
    __shared__ __half part[256];
    float own = 0;
    for (int i = threadIdx.x; i < n; i += 256) own += in[i];
    part[threadIdx.x] = __float2half(own);
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] =
                __float2half(__half2float(part[threadIdx.x]) + __half2float(part[threadIdx.x + s]));
    }
    if (threadIdx.x == 0) *out = __half2float(part[0]);
}

// NEEDS: nvcc
