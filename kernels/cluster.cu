// cluster: as shuffle_atomic, but the blocks of a cluster add their sums in shared memory: one atomic per cluster.
//
//   cluster 0   block 0  block_sum --.
//               block 1  block_sum --+--> warp 0 of block 0 --> atomic on out[0]
//                  ...               |
//               block 7  block_sum --'
//
// What it teaches: distributed shared memory. The blocks of a cluster run at the same time, each can read the shared
// memory of the others, and a barrier of the cluster says when. The second barrier is as needed as the first: without it
// a block may exit, and its shared memory with it, before its sum is read.
// Blocks are whole warps; a cluster has at most 32 blocks; out[0] starts as the operation's identity and ends as the
// result. Needs compute capability 9.0.
#include "operations.cuh"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <typename T, typename Op>
__global__ void cluster(const T *in, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    __shared__ T block_sum;
    const Op op;
    cg::cluster_group blocks = cg::this_cluster();
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + blockDim.x < n)
        sum = op(sum, in[i + blockDim.x]);

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
            block_sum = sum;
    }

    blocks.sync(); // the sums of all blocks are there
    if (blocks.block_rank() == 0 && warp == 0) {
        sum = identity<T, Op>();
        if (lane < blocks.num_blocks())
            sum = *blocks.map_shared_rank(&block_sum, lane);
        for (unsigned offset = 16; offset > 0; offset /= 2)
            sum = op(sum, __shfl_down_sync(0xffffffff, sum, offset));
        if (lane == 0)
            op.atomic(out, sum);
    }
    blocks.sync(); // no block exits before its sum is read
}

template __global__ void cluster<int, Sum>(const int *, int *, unsigned);
template __global__ void cluster<int, Min>(const int *, int *, unsigned);
template __global__ void cluster<int, Max>(const int *, int *, unsigned);
template __global__ void cluster<float, Sum>(const float *, float *, unsigned);
template __global__ void cluster<float, Min>(const float *, float *, unsigned);
template __global__ void cluster<float, Max>(const float *, float *, unsigned);
template __global__ void cluster<double, Sum>(const double *, double *, unsigned);
template __global__ void cluster<double, Min>(const double *, double *, unsigned);
template __global__ void cluster<double, Max>(const double *, double *, unsigned);
