// scaled_half: sums fp16 numbers in fp16 without overflow, by making them smaller first.
//
//   256 numbers of about 1000:     1000 + 1000 + ... = 256000     above 65504 fp16 has only infinity
//   each divided by 1024:          0.98 + 0.98 + ... = 250        fits; times 1024 in fp32: 256000
//
//   tid     0     1     2     3
//   s = 2   0<----------2                 the tree of `sequential`, on values that are 1024 times too small
//                 1<----------3
//   s = 1   0<----1
//
// What it teaches: scaling by a power of two changes exponents only, so no digits are lost (but by numbers that
// become subnormal, here below 0.0625); it moves the numbers to where the format has room.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result, scaled back.
#include "operations.cuh"
#include <cuda_fp16.h>

__global__ void scaled_half(const half *in, float *out, unsigned n, float scale) {
    half *sums = shared_array<half>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    half factor = __float2half(1.0f / scale);
    half zero = 0.0f;
    sums[tid] = i < n ? in[i] * factor : zero;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] = sums[tid] + sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = __half2float(sums[0]) * scale;
}
