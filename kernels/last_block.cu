// last_block: one ordinary launch: whichever block finishes last folds the partial sums of all.
//
//   block 0  -->  partial[0]  fence  ticket 1 -->  done
//   block 2  -->  partial[2]  fence  ticket 2 -->  done
//   block 1  -->  partial[1]  fence  ticket 3 -->  the last: folds partial[0..2] --> out[0]
//
// What it teaches: no block waits for another, so it needs no cooperative launch; but the partial sum must be
// visible before the ticket is drawn, and read after it: that is what both __threadfence() are for.
// Blocks are whole warps.
#include "operations.cuh"

__device__ unsigned finished = 0; // blocks that have drawn their ticket; wraps to 0 with the last one

template <typename T, typename Op>
__global__ void last_block(const T *in, T *partial, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    __shared__ bool is_last;
    const Op op;
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    T sum = identity<T, Op>();
    for (unsigned i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x)
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
    }
    if (tid == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();

    if (is_last && warp == 0) {
        sum = identity<T, Op>();
        for (unsigned b = lane; b < gridDim.x; b += 32)
            sum = op(sum, partial[b]);
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
        if (lane == 0)
            out[0] = sum;
    }
}

template __global__ void last_block<int, Sum>(const int *, int *, int *, unsigned);
template __global__ void last_block<int, Min>(const int *, int *, int *, unsigned);
template __global__ void last_block<int, Max>(const int *, int *, int *, unsigned);
template __global__ void last_block<float, Sum>(const float *, float *, float *, unsigned);
template __global__ void last_block<float, Min>(const float *, float *, float *, unsigned);
template __global__ void last_block<float, Max>(const float *, float *, float *, unsigned);
template __global__ void last_block<double, Sum>(const double *, double *, double *, unsigned);
template __global__ void last_block<double, Min>(const double *, double *, double *, unsigned);
template __global__ void last_block<double, Max>(const double *, double *, double *, unsigned);
