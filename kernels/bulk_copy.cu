// bulk_copy: one thread orders the copy of a whole tile; all threads wait for it at an mbarrier.
//
//   thread 0    expects bytes, copies  |tile 0|  expects, copies  |tile 1|  ...
//   mbarrier    phase 0: one arrival and the bytes of tile 0 ........ complete
//   all                                 wait for phase 0, fold tile 0 ....... wait for phase 1
//
// What it teaches: cp.async.bulk moves a range without any thread's registers, and completes bytes on an mbarrier:
// a phase ends when thread 0 has arrived and the bytes that it expects have come. The parity says which phase is
// waited for.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

__device__ inline unsigned shared_address(const void *pointer) { return __cvta_generic_to_shared(pointer); }

// Thread 0: the whole 16-byte pieces of a tile. `count` elements of it are in the array.
template <typename T>
__device__ void copy_tile(T *to, const T *in, unsigned count, unsigned long long *full) {
    unsigned bytes = count * sizeof(T) / 16 * 16;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(full)),
                 "r"(bytes)
                 : "memory");
    if (bytes)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                shared_address(to)),
            "l"(in), "r"(bytes), "r"(shared_address(full))
            : "memory");
}

__device__ inline void wait_for_phase(unsigned long long *full, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred complete;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, complete; }"
                     : "=r"(done)
                     : "r"(shared_address(full)), "r"(parity)
                     : "memory");
}

template <typename T, typename Op>
__global__ void bulk_copy(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    __shared__ unsigned long long full[2]; // an mbarrier for each buffer
    const Op op;
    T *tiles = shared_array<T>();
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32, buffer = 0, parity = 0;
    unsigned tile = blockDim.x * (16 / sizeof(T)), step = gridDim.x * tile;
    T sum = identity<T, Op>();

    if (tid == 0) {
        for (unsigned b = 0; b < 2; b++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[b])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    unsigned start = blockIdx.x * tile;
    if (tid == 0 && start < n)
        copy_tile(tiles, in + start, min(tile, n - start), &full[0]);
    for (; start < n; start += step) {
        unsigned next = start + step, count = min(tile, n - start);
        if (tid == 0 && next < n)
            copy_tile(tiles + (buffer ^ 1) * tile, in + next, min(tile, n - next), &full[buffer ^ 1]);
        wait_for_phase(&full[buffer], parity);
        unsigned copied = count * sizeof(T) / 16 * 16 / sizeof(T);
        for (unsigned k = tid; k < count; k += blockDim.x)
            sum = op(sum, k < copied ? tiles[buffer * tile + k] : in[start + k]);
        __syncthreads();  // the buffer may be filled again
        parity ^= buffer; // after both buffers
        buffer ^= 1;
    }

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
            out[blockIdx.x] = sum;
    }
}

template __global__ void bulk_copy<int, Sum>(const int *, int *, unsigned);
template __global__ void bulk_copy<int, Min>(const int *, int *, unsigned);
template __global__ void bulk_copy<int, Max>(const int *, int *, unsigned);
template __global__ void bulk_copy<float, Sum>(const float *, float *, unsigned);
template __global__ void bulk_copy<float, Min>(const float *, float *, unsigned);
template __global__ void bulk_copy<float, Max>(const float *, float *, unsigned);
template __global__ void bulk_copy<double, Sum>(const double *, double *, unsigned);
template __global__ void bulk_copy<double, Min>(const double *, double *, unsigned);
template __global__ void bulk_copy<double, Max>(const double *, double *, unsigned);
