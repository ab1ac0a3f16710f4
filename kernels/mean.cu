// mean: sum the blocks' sums, then divide once.
//
//   launch 1   block 0   block 1   block 2   ...      each block sums its elements
//                 |         |         |
//              partial[0] partial[1] partial[2] ...
//                  \        |        /
//   launch 2          one block sums the partials, and its first thread divides by n
//
// What it teaches: a mean is a sum with one more operation at the very end. Dividing every element instead
// would cost n divisions and n roundings; dividing each block's sum by its block's size would be wrong for
// the last, shorter block.
#include "operations.cuh"

template <typename T>
__global__ void mean_partials(const T *in, T *partials, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sums[tid] = i < n ? in[i] : T(0);
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        partials[blockIdx.x] = sums[0];
}

template <typename T>
__global__ void mean_of_partials(const T *partials, T *out, unsigned count, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    T sum = 0;
    for (unsigned i = tid; i < count; i += blockDim.x)
        sum += partials[i];
    sums[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        *out = sums[0] / T(n);
}

template __global__ void mean_partials<float>(const float *, float *, unsigned);
template __global__ void mean_partials<double>(const double *, double *, unsigned);
template __global__ void mean_of_partials<float>(const float *, float *, unsigned, unsigned);
template __global__ void mean_of_partials<double>(const double *, double *, unsigned, unsigned);
