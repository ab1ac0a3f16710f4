// bug_half_shared: WRONG ON PURPOSE. The shared array has room for half of the block.
//
//   tid        0 ................... 127 | 128 ................. 255
//   sums[128]  0 ................... 127 | past its end: out of bounds
//
// What it teaches: the array was sized for the first step of the tree, in which half of the threads add; but
// before it every thread stores its own element. Other arrays of the block may lie after this one, and would be
// overwritten.
#include "operations.cuh"

template <typename T>
__global__ void bug_half_shared(const T *in, T *out, unsigned n) {
    __shared__ T sums[128]; // BUG: blocks have up to 256 threads
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
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_half_shared<int>(const int *, int *, unsigned);
template __global__ void bug_half_shared<float>(const float *, float *, unsigned);
template __global__ void bug_half_shared<double>(const double *, double *, unsigned);
