// sequential: the far half is added to the near half, again and again.
//
//   tid    0   1   2   3   4   5   6   7
//   s = 4  0<--------------4
//              1<--------------5
//                  2<--------------6
//                      3<--------------7
//   s = 2  0<------2
//              1<------3
//   s = 1  0<--1
//
// What it teaches: contiguous threads on contiguous words: neither divergence (until one warp is left) nor
// conflicts.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void sequential(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : identity<T, Op>();
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sdata[tid] = op(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

template __global__ void sequential<int, Sum>(const int *, int *, unsigned);
template __global__ void sequential<int, Min>(const int *, int *, unsigned);
template __global__ void sequential<int, Max>(const int *, int *, unsigned);
template __global__ void sequential<float, Sum>(const float *, float *, unsigned);
template __global__ void sequential<float, Min>(const float *, float *, unsigned);
template __global__ void sequential<float, Max>(const float *, float *, unsigned);
template __global__ void sequential<double, Sum>(const double *, double *, unsigned);
template __global__ void sequential<double, Min>(const double *, double *, unsigned);
template __global__ void sequential<double, Max>(const double *, double *, unsigned);
