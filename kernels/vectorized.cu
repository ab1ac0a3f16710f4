// vectorized: every thread loads 16 bytes at once and folds them in registers; the tree adds single values.
//
//   in      0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13 14 15
//   sum     x+y+z+w      x+y+z+w      x+y+z+w      x+y+z+w
//   s = 2     0 <---------------------- 2
//                          1 <---------------------- 3
//   s = 1     0 <--------- 1
//
// What it teaches: the wide load stays, and shared memory holds a quarter of the bytes that vectorized_shared
// keeps there (of doubles, half).
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "vectors.cuh"

template <typename T, typename Op>
__global__ void vectorized(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    T sum = across(op, load_vector<Op>(in, blockIdx.x * blockDim.x + tid, n));
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

template __global__ void vectorized<int, Sum>(const int *, int *, unsigned);
template __global__ void vectorized<int, Min>(const int *, int *, unsigned);
template __global__ void vectorized<int, Max>(const int *, int *, unsigned);
template __global__ void vectorized<float, Sum>(const float *, float *, unsigned);
template __global__ void vectorized<float, Min>(const float *, float *, unsigned);
template __global__ void vectorized<float, Max>(const float *, float *, unsigned);
template __global__ void vectorized<double, Sum>(const double *, double *, unsigned);
template __global__ void vectorized<double, Min>(const double *, double *, unsigned);
template __global__ void vectorized<double, Max>(const double *, double *, unsigned);
