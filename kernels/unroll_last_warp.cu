// unroll_last_warp: from 64 partial sums on, one warp finishes without block barriers.
//
//   s > 32         all warps, __syncthreads() after each step, as first_add
//   s = 32 .. 1    warp 0 alone, no test of tid:
//                      read sdata[tid + s]  ->  __syncwarp()  ->  write sdata[tid]  ->  __syncwarp()
//
//   Upper lanes compute sums that nobody needs: no test keeps them from it.
//
// What it teaches: a warp is its own barrier group. Both __syncwarp() are needed: without the first a lane
// may overwrite what a neighbour has yet to read, without the second it may read before the neighbour has
// written.
// Blocks are a power of two of at least 64; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void unroll_last_warp(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * (blockDim.x * 2) + tid;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + blockDim.x < n)
        sum = op(sum, in[i + blockDim.x]);
    sdata[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s)
            sdata[tid] = sum = op(sum, sdata[tid + s]);
        __syncthreads();
    }

    if (tid < 32) {
#pragma unroll
        for (unsigned s = 32; s > 0; s /= 2) {
            sum = op(sum, sdata[tid + s]);
            __syncwarp();
            sdata[tid] = sum;
            __syncwarp();
        }
    }

    if (tid == 0)
        out[blockIdx.x] = sum;
}

template __global__ void unroll_last_warp<int, Sum>(const int *, int *, unsigned);
template __global__ void unroll_last_warp<int, Min>(const int *, int *, unsigned);
template __global__ void unroll_last_warp<int, Max>(const int *, int *, unsigned);
template __global__ void unroll_last_warp<float, Sum>(const float *, float *, unsigned);
template __global__ void unroll_last_warp<float, Min>(const float *, float *, unsigned);
template __global__ void unroll_last_warp<float, Max>(const float *, float *, unsigned);
template __global__ void unroll_last_warp<double, Sum>(const double *, double *, unsigned);
template __global__ void unroll_last_warp<double, Min>(const double *, double *, unsigned);
template __global__ void unroll_last_warp<double, Max>(const double *, double *, unsigned);
