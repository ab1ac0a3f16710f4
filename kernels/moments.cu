// moments: the sum and the sum of squares of each row, in one pass over the data.
//
//   tid        0        1        2        3
//   loads      x        y        z        w
//   sums       x        y        z        w          two trees climb together,
//   squares    x*x      y*y      z*z      w*w        with one barrier a step for both
//
//   layer norm:  mean = sum / columns,  variance = squares / columns - mean * mean
//
// What it teaches: a reduction may carry more than one value: the loads, which cost the most, are paid once.
// (The variance from these two loses digits when the mean is large: the caller has to allow for that.)
// A block sums one row; out[2 * row] is the sum, out[2 * row + 1] the sum of squares. Blocks are a power of
// two.
#include "operations.cuh"

template <typename T>
__global__ void moments(const T *in, T *out, unsigned n, unsigned columns) {
    T *sums = shared_array<T>();
    T *squares = sums + blockDim.x;
    unsigned tid = threadIdx.x;
    unsigned begin = blockIdx.x * columns;
    unsigned end = min(begin + columns, n);
    T sum = 0, square = 0;
    for (unsigned i = begin + tid; i < end; i += blockDim.x) {
        T x = in[i];
        sum += x;
        square += x * x;
    }
    sums[tid] = sum;
    squares[tid] = square;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
            squares[tid] += squares[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        out[2 * blockIdx.x] = sums[0];
        out[2 * blockIdx.x + 1] = squares[0];
    }
}

template __global__ void moments<float>(const float *, float *, unsigned, unsigned);
template __global__ void moments<double>(const double *, double *, unsigned, unsigned);
