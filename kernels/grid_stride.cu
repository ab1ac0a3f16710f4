// grid_stride: as many blocks as the device holds, whatever n is; every thread walks through the array.
//
//   in      |-- block 0 --|-- block 1 --|-- block 2 --|-- block 0 --|-- block 1 --|-- block 2 --|-- ...
//   tid 0    ^                                         ^                                         ^
//            '------------- gridDim.x * blockDim.x ----'-----------------------------------------'
//
// What it teaches: one loop serves every n and every grid; the number of trees no longer grows with n.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void grid_stride(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = identity<T, Op>();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum = op(sum, in[i]);

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

template __global__ void grid_stride<int, Sum>(const int *, int *, unsigned);
template __global__ void grid_stride<int, Min>(const int *, int *, unsigned);
template __global__ void grid_stride<int, Max>(const int *, int *, unsigned);
template __global__ void grid_stride<float, Sum>(const float *, float *, unsigned);
template __global__ void grid_stride<float, Min>(const float *, float *, unsigned);
template __global__ void grid_stride<float, Max>(const float *, float *, unsigned);
template __global__ void grid_stride<double, Sum>(const double *, double *, unsigned);
template __global__ void grid_stride<double, Min>(const double *, double *, unsigned);
template __global__ void grid_stride<double, Max>(const double *, double *, unsigned);
