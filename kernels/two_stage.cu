// two_stage: the same kernel twice: many blocks leave partial sums, then one block folds those.
//
//   in        |-- per_block --|-- per_block --|-- per_block --|
//   launch 0      block 0         block 1         block 2          threads loop over their block's elements
//   out           partial 0       partial 1       partial 2
//   launch 1                  block 0
//   out                       result
//
// What it teaches: the end of a launch is the one barrier across the grid that every device has; how n is cut
// into blocks (per_block) decides how much each of the two launches has to do.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void two_stage(const T *in, T *out, unsigned n, unsigned per_block) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned first = blockIdx.x * per_block;
    T sum = identity<T, Op>();
    for (unsigned k = tid; k < per_block && first + k < n; k += blockDim.x)
        sum = op(sum, in[first + k]);
    sdata[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sdata[tid] = sum = op(sum, sdata[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sum;
}

template __global__ void two_stage<int, Sum>(const int *, int *, unsigned, unsigned);
template __global__ void two_stage<int, Min>(const int *, int *, unsigned, unsigned);
template __global__ void two_stage<int, Max>(const int *, int *, unsigned, unsigned);
template __global__ void two_stage<float, Sum>(const float *, float *, unsigned, unsigned);
template __global__ void two_stage<float, Min>(const float *, float *, unsigned, unsigned);
template __global__ void two_stage<float, Max>(const float *, float *, unsigned, unsigned);
template __global__ void two_stage<double, Sum>(const double *, double *, unsigned, unsigned);
template __global__ void two_stage<double, Min>(const double *, double *, unsigned, unsigned);
template __global__ void two_stage<double, Max>(const double *, double *, unsigned, unsigned);
