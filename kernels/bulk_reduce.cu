// bulk_reduce: every block adds its array of sums to the same array in global memory, with one instruction.
//
//   block 0   sums |0|1|2|3| ... --.
//   block 1   sums |0|1|2|3| ... ---+--> cp.reduce.async.bulk add --> all |0|1|2|3| ... --> second launch --> out
//   block 2   sums |0|1|2|3| ... --'
//
// What it teaches: cp.reduce.async.bulk folds a range of shared memory into global memory, each element at once.
// What threads stored before is shown to it by fence.proxy.async and a barrier; its thread waits for its group.
// Blocks are whole warps; all has blockDim.x elements, which are 0 before. One block of the second launch adds them.
#include "operations.cuh"

template <typename T>
__device__ void add_range(T *to, unsigned from, unsigned bytes);
template <>
__device__ void add_range(int *to, unsigned from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], %2;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
}
template <>
__device__ void add_range(float *to, unsigned from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
}
template <>
__device__ void add_range(double *to, unsigned from, unsigned bytes) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f64 [%0], [%1], %2;" ::"l"(to),
                 "r"(from), "r"(bytes)
                 : "memory");
}

template <typename T, typename Op>
__global__ void bulk_reduce(const T *in, T *all, unsigned n) {
    const Op op;
    T *sums = shared_array<T>();
    T sum = identity<T, Op>();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum = op(sum, in[i]);
    sums[threadIdx.x] = sum;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    if (threadIdx.x == 0) {
        add_range(all, __cvta_generic_to_shared(sums), blockDim.x * sizeof(T));
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <typename T, typename Op>
__global__ void bulk_reduce_end(const T *all, T *out) {
    __shared__ T warp_sums[32];
    const Op op;
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = all[threadIdx.x];
    for (unsigned offset = 16; offset > 0; offset /= 2)
        sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (warp == 0) {
        sum = lane < blockDim.x / 32 ? warp_sums[lane] : identity<T, Op>();
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
        if (lane == 0)
            *out = sum;
    }
}

template __global__ void bulk_reduce<int, Sum>(const int *, int *, unsigned);
template __global__ void bulk_reduce<float, Sum>(const float *, float *, unsigned);
template __global__ void bulk_reduce<double, Sum>(const double *, double *, unsigned);
template __global__ void bulk_reduce_end<int, Sum>(const int *, int *);
template __global__ void bulk_reduce_end<float, Sum>(const float *, float *);
template __global__ void bulk_reduce_end<double, Sum>(const double *, double *);
