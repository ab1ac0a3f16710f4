// vectorized_shared: every thread loads 16 bytes at once and stages them in shared memory; the tree adds
// vectors.
//
//   in      0  1  2  3 | 4  5  6  7 | 8  9 10 11 | 12 13 14 15
//   sdata   [ x y z w ]  [ x y z w ]  [ x y z w ]  [ x y z w ]
//   s = 2       0 <------------------------ 2
//                              1 <------------------------ 3      component by component
//   s = 1       0 <----------- 1
//   end      x + y + z + w
//
// What it teaches: a 16-byte shared access takes four wavefronts, a quarter of the warp each, and that is no
// conflict: 512 bytes need four passes of 128.
// Blocks are a power of two; out[blockIdx.x] is the block's partial result.
#include "vectors.cuh"

template <typename T, typename Op>
__global__ void vectorized_shared(const T *in, T *out, unsigned n) {
    const Op op;
    typename VectorOf<T>::type *sdata = shared_array<typename VectorOf<T>::type>();
    unsigned tid = threadIdx.x;
    sdata[tid] = load_vector<Op>(in, blockIdx.x * blockDim.x + tid, n);
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sdata[tid] = fold(op, sdata[tid], sdata[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = across(op, sdata[0]);
}

template __global__ void vectorized_shared<int, Sum>(const int *, int *, unsigned);
template __global__ void vectorized_shared<int, Min>(const int *, int *, unsigned);
template __global__ void vectorized_shared<int, Max>(const int *, int *, unsigned);
template __global__ void vectorized_shared<float, Sum>(const float *, float *, unsigned);
template __global__ void vectorized_shared<float, Min>(const float *, float *, unsigned);
template __global__ void vectorized_shared<float, Max>(const float *, float *, unsigned);
template __global__ void vectorized_shared<double, Sum>(const double *, double *, unsigned);
template __global__ void vectorized_shared<double, Min>(const double *, double *, unsigned);
template __global__ void vectorized_shared<double, Max>(const double *, double *, unsigned);
