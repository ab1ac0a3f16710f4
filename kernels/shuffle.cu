// shuffle: two levels of shuffles: every warp folds its lanes, then the first warp folds the warps' sums.
//
//   warp 0  lanes 0..31  -->  warp_sums[0] --.
//   warp 1  lanes 0..31  -->  warp_sums[1] --+--> warp 0, lanes 0..31  -->  out[blockIdx.x]
//   warp 2  lanes 0..31  -->  warp_sums[2] --'
//
// What it teaches: 1024 threads need one barrier and 32 words of shared memory, because 32 * 32 = 1024.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void shuffle(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + blockDim.x < n)
        sum = op(sum, in[i + blockDim.x]);

    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sums[lane] : identity<T, Op>();
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

template __global__ void shuffle<int, Sum>(const int *, int *, unsigned);
template __global__ void shuffle<int, Min>(const int *, int *, unsigned);
template __global__ void shuffle<int, Max>(const int *, int *, unsigned);
template __global__ void shuffle<float, Sum>(const float *, float *, unsigned);
template __global__ void shuffle<float, Min>(const float *, float *, unsigned);
template __global__ void shuffle<float, Max>(const float *, float *, unsigned);
template __global__ void shuffle<double, Sum>(const double *, double *, unsigned);
template __global__ void shuffle<double, Min>(const double *, double *, unsigned);
template __global__ void shuffle<double, Max>(const double *, double *, unsigned);
