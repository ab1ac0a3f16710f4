// softmax_row: out = exp(x - max) / sum(exp(x - max)) for each row: a maximum, then a sum, then a division.
//
//   pass 1   x x x x x x x x      --tree of max-->   max
//   pass 2   exp(x - max) ...     --tree of +---->   total
//   pass 3   out = exp(x - max) / total
//
// What it teaches: two reductions in a row, where all threads need the result of the first: sdata[0] is read
// by everybody, so a barrier must stand before the array is used again. Subtracting the maximum keeps exp()
// from overflowing and changes nothing else. A block does one row; blocks are a power of two.
#include "operations.cuh"

template <typename T>
__global__ void softmax_row(const T *in, T *out, unsigned n, unsigned columns) {
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned begin = blockIdx.x * columns;
    unsigned end = min(begin + columns, n);

    T largest = identity<T, Max>();
    for (unsigned i = begin + tid; i < end; i += blockDim.x)
        largest = max(largest, in[i]);
    sdata[tid] = largest;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sdata[tid] = max(sdata[tid], sdata[tid + s]);
        __syncthreads();
    }
    largest = sdata[0];
    __syncthreads();

    T total = 0;
    for (unsigned i = begin + tid; i < end; i += blockDim.x)
        total += exp(in[i] - largest);
    sdata[tid] = total;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    total = sdata[0];

    for (unsigned i = begin + tid; i < end; i += blockDim.x)
        out[i] = exp(in[i] - largest) / total;
}

template __global__ void softmax_row<float>(const float *, float *, unsigned, unsigned);
template __global__ void softmax_row<double>(const double *, double *, unsigned, unsigned);
