// bug_double_count: WRONG ON PURPOSE. Each thread loads two elements, but the grid is not halved.
//
//   first_add          block 0: [0, 256) + [256, 512)     block 1: [512, 768) + [768, 1024)
//   here               block 0: [0, 256) + [256, 512)     block 1: [256, 512) + [512, 768)     ...
//                                          ^ twice                 ^ twice
//
// What it teaches: the index and the grid belong together. Two elements a thread need i = blockIdx.x * (2 *
// blockDim.x) + tid and half as many blocks; as it is, every element after the first block counts twice.
#include "operations.cuh"

template <typename T>
__global__ void bug_double_count(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid; // BUG: should be blockIdx.x * (2 * blockDim.x) + tid
    T sum = i < n ? in[i] : T(0);
    if (i + blockDim.x < n)
        sum += in[i + blockDim.x];
    sums[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_double_count<int>(const int *, int *, unsigned);
template __global__ void bug_double_count<float>(const float *, float *, unsigned);
template __global__ void bug_double_count<double>(const double *, double *, unsigned);
