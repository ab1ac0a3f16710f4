// multi_add: every thread adds `items` elements while it loads them; `items` is known at compile time.
//
//   tid 0 adds  in[i]  in[i + blockDim.x]  in[i + 2 * blockDim.x]  ...  in[i + (items - 1) * blockDim.x]
//   tid 1 the elements beside them: every request of a warp is 32 neighbours
//
// What it teaches: more work per thread: its loads do not depend on each other, and fewer blocks have a tree at
// the end.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op, int items>
__global__ void multi_add(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * (blockDim.x * items) + threadIdx.x;
    T sum = identity<T, Op>();
#pragma unroll
    for (unsigned k = 0; k < items; k++)
        if (i + k * blockDim.x < n)
            sum = op(sum, in[i + k * blockDim.x]);

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

template __global__ void multi_add<int, Sum, 4>(const int *, int *, unsigned);
template __global__ void multi_add<int, Sum, 8>(const int *, int *, unsigned);
template __global__ void multi_add<int, Sum, 16>(const int *, int *, unsigned);
template __global__ void multi_add<int, Min, 4>(const int *, int *, unsigned);
template __global__ void multi_add<int, Min, 8>(const int *, int *, unsigned);
template __global__ void multi_add<int, Min, 16>(const int *, int *, unsigned);
template __global__ void multi_add<int, Max, 4>(const int *, int *, unsigned);
template __global__ void multi_add<int, Max, 8>(const int *, int *, unsigned);
template __global__ void multi_add<int, Max, 16>(const int *, int *, unsigned);
template __global__ void multi_add<float, Sum, 4>(const float *, float *, unsigned);
template __global__ void multi_add<float, Sum, 8>(const float *, float *, unsigned);
template __global__ void multi_add<float, Sum, 16>(const float *, float *, unsigned);
template __global__ void multi_add<float, Min, 4>(const float *, float *, unsigned);
template __global__ void multi_add<float, Min, 8>(const float *, float *, unsigned);
template __global__ void multi_add<float, Min, 16>(const float *, float *, unsigned);
template __global__ void multi_add<float, Max, 4>(const float *, float *, unsigned);
template __global__ void multi_add<float, Max, 8>(const float *, float *, unsigned);
template __global__ void multi_add<float, Max, 16>(const float *, float *, unsigned);
template __global__ void multi_add<double, Sum, 4>(const double *, double *, unsigned);
template __global__ void multi_add<double, Sum, 8>(const double *, double *, unsigned);
template __global__ void multi_add<double, Sum, 16>(const double *, double *, unsigned);
template __global__ void multi_add<double, Min, 4>(const double *, double *, unsigned);
template __global__ void multi_add<double, Min, 8>(const double *, double *, unsigned);
template __global__ void multi_add<double, Min, 16>(const double *, double *, unsigned);
template __global__ void multi_add<double, Max, 4>(const double *, double *, unsigned);
template __global__ void multi_add<double, Max, 8>(const double *, double *, unsigned);
template __global__ void multi_add<double, Max, 16>(const double *, double *, unsigned);
