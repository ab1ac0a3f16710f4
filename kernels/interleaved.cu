// interleaved: neighbours first; the threads that still work lie further and further apart.
//
//   tid    0   1   2   3   4   5   6   7
//   s = 1  0<--1   2<--3   4<--5   6<--7      tid % 2 == 0
//   s = 2  0<------2       4<------6          tid % 4 == 0
//   s = 4  0<--------------4                  tid % 8 == 0
//
// What it teaches: divergence. At s = 1 half of every warp already idles, and at s = 16 one lane of 32 works.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void interleaved(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : identity<T, Op>();
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0)
            sdata[tid] = op(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

template __global__ void interleaved<int, Sum>(const int *, int *, unsigned);
template __global__ void interleaved<int, Min>(const int *, int *, unsigned);
template __global__ void interleaved<int, Max>(const int *, int *, unsigned);
template __global__ void interleaved<float, Sum>(const float *, float *, unsigned);
template __global__ void interleaved<float, Min>(const float *, float *, unsigned);
template __global__ void interleaved<float, Max>(const float *, float *, unsigned);
template __global__ void interleaved<double, Sum>(const double *, double *, unsigned);
template __global__ void interleaved<double, Min>(const double *, double *, unsigned);
template __global__ void interleaved<double, Max>(const double *, double *, unsigned);
