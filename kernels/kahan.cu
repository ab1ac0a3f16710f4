// kahan: each addition remembers the digits that it lost, and the next one puts them back.
//
//     sum      1 0 0 0 0 0 0 .           t = sum + x         1 0 0 0 0 0 3
//   + x                  3 . 1 4         (t - sum) = 3       what arrived of x
//     ----------------------------       lost = 3 - 3.14     what did not: subtracted from the next x
//     t        1 0 0 0 0 0 3 [ .14 lost ]
//
//   one block; thread t adds in[t], in[t + blockDim], ...; then the tree of `sequential` on pairs (sum, low),
//   where `low` is what the sum is short of
//
// What it teaches: compensated summation. The error of the result hardly depends on n: a plain running sum of
// n floats may lose n times as much. It depends on the order of the additions: a compiler that is allowed to
// treat floats as real numbers (-ffast-math) sees that `lost` is always 0 and removes it.
#include "operations.cuh"

template <typename T>
__global__ void kahan(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    T *lows = sums + blockDim.x;
    unsigned tid = threadIdx.x;
    T sum = 0, lost = 0;
    for (unsigned i = tid; i < n; i += blockDim.x) {
        T x = in[i] - lost;
        T t = sum + x;
        lost = (t - sum) - x;
        sum = t;
    }
    sums[tid] = sum;
    lows[tid] = -lost;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) {
            T a = sums[tid], b = sums[tid + s];
            T t = a + b;
            T of_b = t - a; // what arrived of b, and below, of a: exact whichever is larger (Knuth)
            T low = (a - (t - of_b)) + (b - of_b);
            sums[tid] = t;
            lows[tid] += lows[tid + s] + low;
        }
        __syncthreads();
    }

    if (tid == 0)
        *out = sums[0] + lows[0];
}

template __global__ void kahan<float>(const float *, float *, unsigned);
template __global__ void kahan<double>(const double *, double *, unsigned);
