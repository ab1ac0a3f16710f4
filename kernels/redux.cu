// redux: one instruction folds the 32 lanes of a warp (integers, since Ampere).
//
//   lane    0   1   2   3  ...  31
//            \   \   |   /     /
//             '---- redux ----'            every lane gets the result
//   warp 0..31 --> warp_sums --> redux --> out[blockIdx.x]
//
// What it teaches: five shuffles and five additions become one instruction, and there is no order of lanes to
// get wrong.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

__device__ int reduce_warp(Sum, int a) { return __reduce_add_sync(0xffffffff, a); }
__device__ int reduce_warp(Min, int a) { return __reduce_min_sync(0xffffffff, a); }
__device__ int reduce_warp(Max, int a) { return __reduce_max_sync(0xffffffff, a); }

template <typename T, typename Op>
__global__ void redux(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + blockDim.x < n)
        sum = op(sum, in[i + blockDim.x]);

    sum = reduce_warp(op, sum);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sums[lane] : identity<T, Op>();
        sum = reduce_warp(op, sum);
        if (lane == 0)
            out[blockIdx.x] = sum;
    }
}

template __global__ void redux<int, Sum>(const int *, int *, unsigned);
template __global__ void redux<int, Min>(const int *, int *, unsigned);
template __global__ void redux<int, Max>(const int *, int *, unsigned);
