// column_sum: one thread for each sum, along any dimension of an array.
//
//   in is [outer][length][inner], and `length` is what is summed over:
//     [M][N] over M      outer 1, length M, inner N      thread t walks down column t: neighbours stay so
//     [M][N] over N      outer M, length N, inner 1      thread t walks along row t: neighbours load N apart
//     [M][N][K] over N   outer M, length N, inner K      thread t walks down column t % K of slice t / K
//
//          over M (coalesced)                over N (not coalesced)
//          t0  t1  t2  t3                    t0 -> -> -> ->
//          |   |   |   |                     t1 -> -> -> ->
//          v   v   v   v                     t2 -> -> -> ->
//
// What it teaches: no thread needs another here, so there is neither shared memory nor a barrier; but how
// many sectors the same loop touches depends on the dimension: over the inner one every lane of a request
// has a sector of its own.
#include "operations.cuh"

template <typename T, typename Op>
__global__ void column_sum(const T *in, T *out, unsigned n, unsigned sums, unsigned length, unsigned inner) {
    const Op op;
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= sums)
        return;
    unsigned i = t / inner * length * inner + t % inner;
    T sum = identity<T, Op>();
    for (unsigned k = 0; k < length && i < n; k++) {
        sum = op(sum, in[i]);
        i += inner;
    }
    out[t] = sum;
}

template __global__ void column_sum<int, Sum>(const int *, int *, unsigned, unsigned, unsigned, unsigned);
template __global__ void column_sum<int, Min>(const int *, int *, unsigned, unsigned, unsigned, unsigned);
template __global__ void column_sum<int, Max>(const int *, int *, unsigned, unsigned, unsigned, unsigned);
template __global__ void column_sum<float, Sum>(const float *, float *, unsigned, unsigned, unsigned,
                                                unsigned);
template __global__ void column_sum<float, Min>(const float *, float *, unsigned, unsigned, unsigned,
                                                unsigned);
template __global__ void column_sum<float, Max>(const float *, float *, unsigned, unsigned, unsigned,
                                                unsigned);
template __global__ void column_sum<double, Sum>(const double *, double *, unsigned, unsigned, unsigned,
                                                 unsigned);
template __global__ void column_sum<double, Min>(const double *, double *, unsigned, unsigned, unsigned,
                                                 unsigned);
template __global__ void column_sum<double, Max>(const double *, double *, unsigned, unsigned, unsigned,
                                                 unsigned);
