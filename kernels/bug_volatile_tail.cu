// bug_volatile_tail: WRONG ON PURPOSE, though it looks right. The tail is volatile, but without __syncwarp().
//
//   in lockstep               since Volta, if lane 16 is late at the second line
//     all 32 lanes load         lane 0  loads sums[16]: still without sums[48]
//     all 32 lanes add          lane 16 stores sums[16] + sums[48]: too late
//     all 32 lanes store
//
// What it teaches: volatile makes the compiler keep every load and store in order (compare bug_missing_sync),
// but it does not keep the lanes together: only __syncwarp() does. Lockstep was never promised, and Volta
// ended it.
#include "operations.cuh"

template <typename T>
__global__ void bug_volatile_tail(const T *in, T *out, unsigned n) {
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sums[tid] = i < n ? in[i] : T(0);
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s)
            sums[tid] += sums[tid + s];
        __syncthreads();
    }

    if (tid < 32) { // BUG: volatile, but no __syncwarp() between these lines
        volatile T *tail = sums;
        tail[tid] = tail[tid] + tail[tid + 32];
        tail[tid] = tail[tid] + tail[tid + 16];
        tail[tid] = tail[tid] + tail[tid + 8];
        tail[tid] = tail[tid] + tail[tid + 4];
        tail[tid] = tail[tid] + tail[tid + 2];
        tail[tid] = tail[tid] + tail[tid + 1];
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_volatile_tail<int>(const int *, int *, unsigned);
template __global__ void bug_volatile_tail<float>(const float *, float *, unsigned);
template __global__ void bug_volatile_tail<double>(const double *, double *, unsigned);
