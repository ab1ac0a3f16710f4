// shuffle_atomic: as shuffle, then one atomic operation per block: one launch gives the result.
//
//   block 0  -->  sum --.
//   block 1  -->  sum --+--> atomic on out[0]
//   block 2  -->  sum --'
//
// What it teaches: one launch gives the result, with one atomic for every 512 elements, where `atomic` has one
// for each.
// Blocks are whole warps; out[0] starts as the operation's identity and ends as the result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void shuffle_atomic(const T *in, T *out, unsigned n) {
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
            op.atomic(out, sum);
    }
}

template __global__ void shuffle_atomic<int, Sum>(const int *, int *, unsigned);
template __global__ void shuffle_atomic<int, Min>(const int *, int *, unsigned);
template __global__ void shuffle_atomic<int, Max>(const int *, int *, unsigned);
template __global__ void shuffle_atomic<float, Sum>(const float *, float *, unsigned);
template __global__ void shuffle_atomic<float, Min>(const float *, float *, unsigned);
template __global__ void shuffle_atomic<float, Max>(const float *, float *, unsigned);
template __global__ void shuffle_atomic<double, Sum>(const double *, double *, unsigned);
template __global__ void shuffle_atomic<double, Min>(const double *, double *, unsigned);
template __global__ void shuffle_atomic<double, Max>(const double *, double *, unsigned);
