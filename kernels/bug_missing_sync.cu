// bug_missing_sync: WRONG ON PURPOSE. The last warp adds without a barrier.
//
//   what the author means                what the compiler makes of it: nothing says that others write sums
//     sums[tid] += sums[tid + 32]          load sums[tid], [tid + 32], [tid + 16], [tid + 8], ..., [tid + 1]
//     sums[tid] += sums[tid + 16]          add the seven
//     ...                                  store sums[tid], once
//     sums[tid] += sums[tid + 1]
//   lane 0 ends with 64 numbers          lane 0 ends with the 7 that it loaded itself
//
// What it teaches: "a warp runs in lockstep" is no substitute for __syncwarp(): the order of memory accesses
// is the compiler's to choose until a barrier says otherwise. unroll_last_warp shows the same tail done
// right.
#include "operations.cuh"

template <typename T>
__global__ void bug_missing_sync(const T *in, T *out, unsigned n) {
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

    if (tid < 32) { // BUG: no __syncwarp() between these lines
        sums[tid] += sums[tid + 32];
        sums[tid] += sums[tid + 16];
        sums[tid] += sums[tid + 8];
        sums[tid] += sums[tid + 4];
        sums[tid] += sums[tid + 2];
        sums[tid] += sums[tid + 1];
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void bug_missing_sync<int>(const int *, int *, unsigned);
template __global__ void bug_missing_sync<float>(const float *, float *, unsigned);
template __global__ void bug_missing_sync<double>(const double *, double *, unsigned);
