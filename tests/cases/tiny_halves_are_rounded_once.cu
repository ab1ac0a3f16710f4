// Halves below 2^-14 have few digits: a result that is rounded once to one of them is ok, however many percent that is.
//
// ARGS: --args 'in=half[n]:random(-8.0,8.0), out=half[n]' --n 4096 --grid 64 --block 64 --expect 'out=softmax(in, 64)' --report
// EXPECT: ok, off by
// NEVER: inexact
#include <cuda_fp16.h>

__global__ void softmax(const __half *in, __half *out) {
    __shared__ float terms[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float own = expf(__half2float(in[i])), sum = 0;
    terms[threadIdx.x] = own;
    __syncthreads();
    for (int k = 0; k < 64; k++) sum += terms[k];
    out[i] = __float2half(own / sum);
}
// NEEDS: nvcc
