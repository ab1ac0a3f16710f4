// specialised_sum: one warp copies, the others add; a ring of mbarriers between them.
//
//   w0  producer   | copy 0 | copy 1 | copy 2 | copy 3 | wait empty[0] | copy 4 | ...
//   w1  consumer       | wait full[0], add, arrive empty[0] | wait full[1], add, ...
//   w2  consumer       | wait full[0], add, arrive empty[0] | wait full[1], add, ...
//
//   stage 0..3:  full    completes when the producer and the bytes have arrived; consumers wait for it
//                empty   completes when each consumer warp has arrived; the producer waits for it
//
// What it teaches: no __syncthreads() in the loop. The producer runs up to four stages ahead; a slow consumer
// holds up the others only when the producer comes round to its stage again. The parity of a phase says which
// turn of the ring is meant: the producer's first wait for each empty[] is for the phase before the first,
// which counts as complete.
// Blocks are whole warps, at least two; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"
#include "tiles.cuh"

constexpr unsigned stages = 4;

// The whole 16-byte pieces of a stage. `count` elements of it are in the array.
template <typename T>
__device__ void copy_stage(unsigned char *to, const T *in, unsigned count, unsigned long long *full) {
    unsigned bytes = count * sizeof(T) / 16 * 16;
    expect_bytes(full, bytes);
    if (bytes)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                shared_address(to)),
            "l"(in), "r"(bytes), "r"(shared_address(full))
            : "memory");
}

template <typename T, typename Op>
__global__ void specialised_sum(const T *in, T *out, unsigned n) {
    __shared__ unsigned long long full[stages], empty[stages];
    __shared__ T warp_sums[32];
    const Op op;
    unsigned char *tiles = shared_tiles();
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32, consumers = blockDim.x / 32 - 1;
    unsigned tile = consumers * 32 * (16 / sizeof(T)), step = gridDim.x * tile, stage = 0, parity = 0;
    T sum = identity<T, Op>();

    if (tid == 0) {
        for (unsigned s = 0; s < stages; s++) {
            init_barrier(&full[s], 1);
            init_barrier(&empty[s], consumers);
        }
        publish_barriers();
    }
    __syncthreads();

    for (unsigned start = blockIdx.x * tile; start < n; start += step) {
        unsigned count = min(tile, n - start);
        if (tid == 0) { // the producer
            wait_for_phase(&empty[stage], parity ^ 1);
            copy_stage(tiles + stage * tile * sizeof(T), in + start, count, &full[stage]);
        }
        if (warp > 0) { // a consumer
            wait_for_phase(&full[stage], parity);
            const T *elements = reinterpret_cast<const T *>(tiles + stage * tile * sizeof(T));
            unsigned copied = count * sizeof(T) / 16 * 16 / sizeof(T);
            for (unsigned k = tid - 32; k < count; k += consumers * 32)
                sum = op(sum, k < copied ? elements[k] : in[start + k]);
            __syncwarp(); // all lanes have read
            if (lane == 0)
                arrive(&empty[stage]);
        }
        stage = (stage + 1) % stages;
        parity ^= stage == 0; // another turn of the ring
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

template __global__ void specialised_sum<int, Sum>(const int *, int *, unsigned);
template __global__ void specialised_sum<int, Min>(const int *, int *, unsigned);
template __global__ void specialised_sum<int, Max>(const int *, int *, unsigned);
template __global__ void specialised_sum<float, Sum>(const float *, float *, unsigned);
template __global__ void specialised_sum<float, Min>(const float *, float *, unsigned);
template __global__ void specialised_sum<float, Max>(const float *, float *, unsigned);
template __global__ void specialised_sum<double, Sum>(const double *, double *, unsigned);
template __global__ void specialised_sum<double, Min>(const double *, double *, unsigned);
template __global__ void specialised_sum<double, Max>(const double *, double *, unsigned);
