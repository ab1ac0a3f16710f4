// logsumexp: log(sum(exp(x))) of each row, without overflow.
//
//   naive    x = 100 101 102      exp: 2.7e43  7.3e43  2.0e44   too large for a float: the answer is infinity
//   stable   x - 102 = -2 -1 0    exp: 0.135   0.368   1        log(1.503) + 102 = 102.41
//
// What it teaches: take the maximum out before exp() and add it after log(): the same number on paper, and
// on a machine one that does not overflow. At least one term is exp(0) = 1, so the sum is never 0 either.
// A block does one row; blocks are a power of two.
#include "operations.cuh"

template <typename T>
__global__ void logsumexp(const T *in, T *out, unsigned n, unsigned columns) {
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

    if (tid == 0)
        out[blockIdx.x] = largest + log(sdata[0]);
}

template __global__ void logsumexp<float>(const float *, float *, unsigned, unsigned);
template __global__ void logsumexp<double>(const double *, double *, unsigned, unsigned);
