// lab_bank_bytes: elements smaller than a word share one.
//
//   char,  stride 1:    word 0: lanes 0 1 2 3     word 1: lanes 4 5 6 7  ...     8 words,  1 wavefront
//   short, stride 1:    word 0: lanes 0 1         word 1: lanes 2 3      ...    16 words,  1 wavefront
//   char,  stride 4:    word 0: lane 0            word 1: lane 1         ...    32 words,  1 wavefront
//   char,  stride 128:  word 0: lane 0            word 32: lane 1        ...     1 bank,  32 wavefronts
//
// What it teaches: a bank is 4 bytes wide whatever the type; lanes in different bytes of the same word do not
// conflict.
#include "operations.cuh"

template <typename T>
__global__ void lab_bank_bytes(const T *in, T *out, unsigned n, unsigned stride) {
    T *elements = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        elements[tid * stride] = in[i];
    __syncthreads();

    if (i < n)
        out[i] = elements[tid * stride];
}

template __global__ void lab_bank_bytes<char>(const char *, char *, unsigned, unsigned);
template __global__ void lab_bank_bytes<short>(const short *, short *, unsigned, unsigned);
