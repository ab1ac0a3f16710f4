// shuffle_last_warp: shared memory down to 64 partial sums, then the last warp folds registers with shuffles.
//
//   s > 32         shared memory, as first_add
//   sdata[tid + 32]
//   lane           0   1   2   3   ...  16  17  18  19  ...
//   offset = 16    0<-------------------16                       each lane takes the value of lane + offset
//   offset = 8, 4, 2, 1                                          lane 0 ends with the sum
//
// What it teaches: lanes of a warp can read each other's registers: the last 64 numbers need neither shared memory
// nor __syncwarp().
// Blocks are a power of two of at least 32; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void shuffle_last_warp(const T *in, T *out, unsigned n) {
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
        if (blockDim.x >= 64)
            sum = op(sum, sdata[tid + 32]);
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
    }

    if (tid == 0)
        out[blockIdx.x] = sum;
}

template __global__ void shuffle_last_warp<int, Sum>(const int *, int *, unsigned);
template __global__ void shuffle_last_warp<int, Min>(const int *, int *, unsigned);
template __global__ void shuffle_last_warp<int, Max>(const int *, int *, unsigned);
template __global__ void shuffle_last_warp<float, Sum>(const float *, float *, unsigned);
template __global__ void shuffle_last_warp<float, Min>(const float *, float *, unsigned);
template __global__ void shuffle_last_warp<float, Max>(const float *, float *, unsigned);
template __global__ void shuffle_last_warp<double, Sum>(const double *, double *, unsigned);
template __global__ void shuffle_last_warp<double, Min>(const double *, double *, unsigned);
template __global__ void shuffle_last_warp<double, Max>(const double *, double *, unsigned);
