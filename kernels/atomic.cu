// atomic: every thread adds its element to the one total.
//
//   in      3   1   7   0   4   1   6   3
//            \   \   \   \  /   /   /   /       one atomic operation per element,
//             '---'---'-- out -'---'---'        all on the same word
//
// What it teaches: correct and short; its time depends on the type: an H200 takes seventy times as long for
// 2^20 floats as for 2^20 ints.
// out starts as the operation's identity.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void atomic(const T *in, T *out, unsigned n) {
    const Op op;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        op.atomic(out, in[i]);
}

template __global__ void atomic<int, Sum>(const int *, int *, unsigned);
template __global__ void atomic<int, Min>(const int *, int *, unsigned);
template __global__ void atomic<int, Max>(const int *, int *, unsigned);
template __global__ void atomic<float, Sum>(const float *, float *, unsigned);
template __global__ void atomic<float, Min>(const float *, float *, unsigned);
template __global__ void atomic<float, Max>(const float *, float *, unsigned);
template __global__ void atomic<double, Sum>(const double *, double *, unsigned);
template __global__ void atomic<double, Min>(const double *, double *, unsigned);
template __global__ void atomic<double, Max>(const double *, double *, unsigned);
