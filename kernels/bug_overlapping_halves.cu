// bug_overlapping_halves: WRONG ON PURPOSE, though it looks right. Threads add that should only be read from.
//
//   blockDim = 8, s = 2    tid      0    1    2    3    4    5    6    7
//   guard tid < s          adds    +2   +3
//   guard tid + s < 8      adds    +2   +3   +4   +5   +6   +7
//                                        thread 0 reads sums[2] while thread 2 writes it: a race
//
// What it teaches: the two halves of a step must not overlap: what one thread reads, no other may write
// before the next barrier. Where all warps load before any stores the sum is right; one that runs ahead
// breaks it.
#include "operations.cuh"

template <typename T>
__global__ void bug_overlapping_halves(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sums[tid] = i < n ? in[i] : T(0);
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid + s < blockDim.x) // BUG: should be tid < s
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_overlapping_halves<int>(const int *, int *, unsigned);
template __global__ void bug_overlapping_halves<float>(const float *, float *, unsigned);
template __global__ void bug_overlapping_halves<double>(const double *, double *, unsigned);
