// bug_uninitialized_shared: WRONG ON PURPOSE. Threads without an element store nothing, not even 0.
//
//   n = 1000, block 3:   tid    0 ................ 231   232 ................ 255
//                        sums   in[768] .... in[999]     ?    ?    ?    ?    ?
//                               0 + 128, 1 + 129, ...,   103 + 231, 104 + 232 = ?
//
// What it teaches: shared memory starts with whatever the last block left there. A tail that has no elements
// must be filled with the identity (0 for a sum), as all other kernels here do.
#include "operations.cuh"

template <typename T>
__global__ void bug_uninitialized_shared(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < n) // BUG: no else: sums[tid] = 0
        sums[tid] = in[i];
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_uninitialized_shared<int>(const int *, int *, unsigned);
template __global__ void bug_uninitialized_shared<float>(const float *, float *, unsigned);
template __global__ void bug_uninitialized_shared<double>(const double *, double *, unsigned);
