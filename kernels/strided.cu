// strided: the same tree as interleaved, but the first threads do the work, whichever elements it is on.
//
//   sdata  0   1   2   3   4   5   6   7
//   s = 1  0<--1   2<--3   4<--5   6<--7      by threads 0 1 2 3
//   s = 2  0<------2       4<------6          by threads 0 1
//   s = 4  0<--------------4                  by thread  0
//
// What it teaches: bank conflicts. Nothing diverges until one warp is left; but neighbouring lanes are 2*s
// words apart, and several ask for different words of one bank: with 256 threads 2-way at s = 1, 4-way at
// s = 2, 8-way from s = 4 to s = 16; then too few lanes are left.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void strided(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sdata[tid] = i < n ? in[i] : identity<T, Op>();
    __syncthreads();

    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned index = 2 * s * tid;
        if (index < blockDim.x)
            sdata[index] = op(sdata[index], sdata[index + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sdata[0];
}

template __global__ void strided<int, Sum>(const int *, int *, unsigned);
template __global__ void strided<int, Min>(const int *, int *, unsigned);
template __global__ void strided<int, Max>(const int *, int *, unsigned);
template __global__ void strided<float, Sum>(const float *, float *, unsigned);
template __global__ void strided<float, Min>(const float *, float *, unsigned);
template __global__ void strided<float, Max>(const float *, float *, unsigned);
template __global__ void strided<double, Sum>(const double *, double *, unsigned);
template __global__ void strided<double, Min>(const double *, double *, unsigned);
template __global__ void strided<double, Max>(const double *, double *, unsigned);
