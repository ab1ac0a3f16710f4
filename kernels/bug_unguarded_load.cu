// bug_unguarded_load: WRONG ON PURPOSE. Every thread loads, also those that have no element.
//
//   n = 1000, blocks of 256:   block 0      block 1      block 2      block 3
//                              0 .. 255     256 .. 511   512 .. 767   768 .. 999 | 1000 .. 1023
//                                                                                  not ours: out of bounds
//
// What it teaches: the grid is rounded up to whole blocks, so the last block must ask i < n before it loads.
// It goes unnoticed as long as n is a multiple of the block, and often otherwise: the bytes after an array
// can often be read, and whatever they hold is added.
#include "operations.cuh"

template <typename T>
__global__ void bug_unguarded_load(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sums[tid] = in[i]; // BUG: no i < n
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_unguarded_load<int>(const int *, int *, unsigned);
template __global__ void bug_unguarded_load<float>(const float *, float *, unsigned);
template __global__ void bug_unguarded_load<double>(const double *, double *, unsigned);
