// async_copy: while a thread folds one piece, the next is on its way to shared memory.
//
//   copy    [ piece 0 ][ piece 1 ][ piece 2 ][ piece 3 ]
//   fold               [ piece 0 ][ piece 1 ][ piece 2 ][ piece 3 ]
//   buffer     0           1           0           1
//
// What it teaches: cp.async brings 16 bytes a thread to shared memory without a register; they may be read after
// cp.async.wait_group, not before. A thread that reads only what it has copied itself needs no barrier.
// Blocks are whole warps; out[blockIdx.x] is the block's partial result.
#include "vectors.cuh"

// 16 bytes from in[i] on; what lies behind in[n - 1] becomes zeros, and nothing is read there.
template <typename T>
__device__ void copy_piece(T *to, const T *in, unsigned i, unsigned n) {
    unsigned items = 16 / sizeof(T), left = i < n ? n - i : 0;
    unsigned bytes = (left < items ? left : items) * sizeof(T);
    unsigned shared = __cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(bytes ? in + i : in),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
}

template <typename T, typename Op>
__global__ void async_copy(const T *in, T *out, unsigned n) {
    constexpr unsigned items = 16 / sizeof(T);
    __shared__ T warp_sums[32];
    const Op op;
    T *pieces = shared_array<T>() + threadIdx.x * items; // two buffers, blockDim.x * items apart
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, buffer = 0;
    unsigned step = gridDim.x * blockDim.x * items;
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * items;
    T sum = identity<T, Op>();

    copy_piece(pieces, in, first, n);
    for (unsigned i = first; i < n; i += step) {
        copy_piece(pieces + (buffer ^ 1) * blockDim.x * items, in, i + step, n);
        asm volatile("cp.async.wait_group 1;" ::: "memory"); // all but the one just begun
        typename VectorOf<T>::type piece =
            *reinterpret_cast<const typename VectorOf<T>::type *>(pieces + buffer * blockDim.x * items);
        if (i + items <= n)
            sum = op(sum, across(op, piece));
        else // what lies behind the array is no input
            for (unsigned k = 0; i + k < n; k++)
                sum = op(sum, in[i + k]);
        buffer ^= 1;
    }
    asm volatile("cp.async.wait_all;" ::: "memory");

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

template __global__ void async_copy<int, Sum>(const int *, int *, unsigned);
template __global__ void async_copy<int, Min>(const int *, int *, unsigned);
template __global__ void async_copy<int, Max>(const int *, int *, unsigned);
template __global__ void async_copy<float, Sum>(const float *, float *, unsigned);
template __global__ void async_copy<float, Min>(const float *, float *, unsigned);
template __global__ void async_copy<float, Max>(const float *, float *, unsigned);
template __global__ void async_copy<double, Sum>(const double *, double *, unsigned);
template __global__ void async_copy<double, Min>(const double *, double *, unsigned);
template __global__ void async_copy<double, Max>(const double *, double *, unsigned);
