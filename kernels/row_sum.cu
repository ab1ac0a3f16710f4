// row_sum: one block for each row of a matrix.
//
//   block 0   | row 0:  0 1 2 3 4 5 6 7 8 9 ... | -> out[0]
//   block 1   | row 1:  0 1 2 3 4 5 6 7 8 9 ... | -> out[1]
//
//   one tile:       the block is as wide as the row           tid  0 1 2 3 4 5 6 7
//   several tiles:  the block moves along the row, and each   tid  0 1 2 3 | 0 1 2 3 | 0 1 2 3
//                   thread folds its elements in a register        tile 0    tile 1    tile 2
//
// What it teaches: rows are contiguous, so a block per row loads whole sectors; a row longer than the block
// costs no more shared memory and no more barriers, only more loads. Blocks are a power of two; the last row
// may be shorter.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void row_sum_one_tile(const T *in, T *out, unsigned n, unsigned columns) {
    const Op op;
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * columns + tid;
    sums[tid] = tid < columns && i < n ? in[i] : identity<T, Op>();
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] = op(sums[tid], sums[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template <typename T, typename Op>
__global__ void row_sum_several_tiles(const T *in, T *out, unsigned n, unsigned columns) {
    const Op op;
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned begin = blockIdx.x * columns;
    unsigned end = min(begin + columns, n);
    T sum = identity<T, Op>();
    for (unsigned i = begin + tid; i < end; i += blockDim.x)
        sum = op(sum, in[i]);
    sums[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] = op(sums[tid], sums[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void row_sum_one_tile<int, Sum>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_one_tile<int, Min>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_one_tile<int, Max>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_one_tile<float, Sum>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_one_tile<float, Min>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_one_tile<float, Max>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_one_tile<double, Sum>(const double *, double *, unsigned, unsigned);
template __global__ void row_sum_one_tile<double, Min>(const double *, double *, unsigned, unsigned);
template __global__ void row_sum_one_tile<double, Max>(const double *, double *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<int, Sum>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<int, Min>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<int, Max>(const int *, int *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<float, Sum>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<float, Min>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<float, Max>(const float *, float *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<double, Sum>(const double *, double *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<double, Min>(const double *, double *, unsigned, unsigned);
template __global__ void row_sum_several_tiles<double, Max>(const double *, double *, unsigned, unsigned);
