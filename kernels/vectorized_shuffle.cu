// vectorized_shuffle: 16-byte loads, folded in registers, then two levels of shuffles.
//
//   in      0  1  2  3 | 4  5  6  7 | ...  |124 .. 127
//   lane        0            1        ...      31
//   sum     x+y+z+w      x+y+z+w      ...  x+y+z+w  --> shuffles --> warp_sums[warp] --> shuffles --> out
//
// What it teaches: one request of a warp moves 512 bytes, and shared memory only carries one value per warp.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "vectors.cuh"

template <typename T, typename Op>
__global__ void vectorized_shuffle(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = across(op, load_vector<Op>(in, blockIdx.x * blockDim.x + threadIdx.x, n));

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

template __global__ void vectorized_shuffle<int, Sum>(const int *, int *, unsigned);
template __global__ void vectorized_shuffle<int, Min>(const int *, int *, unsigned);
template __global__ void vectorized_shuffle<int, Max>(const int *, int *, unsigned);
template __global__ void vectorized_shuffle<float, Sum>(const float *, float *, unsigned);
template __global__ void vectorized_shuffle<float, Min>(const float *, float *, unsigned);
template __global__ void vectorized_shuffle<float, Max>(const float *, float *, unsigned);
template __global__ void vectorized_shuffle<double, Sum>(const double *, double *, unsigned);
template __global__ void vectorized_shuffle<double, Min>(const double *, double *, unsigned);
template __global__ void vectorized_shuffle<double, Max>(const double *, double *, unsigned);
