// first_add: every thread adds two elements while it loads them; then as sequential, its running sum in a
// register.
//
//   in     |---- block 0 ----|---- block 0 ----|---- block 1 ----|---- block 1 ----|
//   tid     0   1   2   3     0   1   2   3
//           sum = in[i]     + in[i + blockDim.x]        half as many blocks
//
// What it teaches: in sequential half of the threads never added anything; here they all do, while they are
// loading.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void first_add(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * (blockDim.x * 2) + tid;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + blockDim.x < n)
        sum = op(sum, in[i + blockDim.x]);
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

template __global__ void first_add<int, Sum>(const int *, int *, unsigned);
template __global__ void first_add<int, Min>(const int *, int *, unsigned);
template __global__ void first_add<int, Max>(const int *, int *, unsigned);
template __global__ void first_add<float, Sum>(const float *, float *, unsigned);
template __global__ void first_add<float, Min>(const float *, float *, unsigned);
template __global__ void first_add<float, Max>(const float *, float *, unsigned);
template __global__ void first_add<double, Sum>(const double *, double *, unsigned);
template __global__ void first_add<double, Min>(const double *, double *, unsigned);
template __global__ void first_add<double, Max>(const double *, double *, unsigned);
