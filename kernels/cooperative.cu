// cooperative: one launch: all blocks fold their part, wait for each other, and block 0 folds the partial
// sums.
//
//   block 0  -->  partial[0] --.                  .--> block 0 --> out[0]
//   block 1  -->  partial[1] --+--  grid.sync() --+--> (done)
//   block 2  -->  partial[2] --'                  '--> (done)
//
// What it teaches: a barrier across the grid, which only works when every block is resident at once (a
// cooperative launch), and the library's names for what the ladder wrote by hand.
// Blocks are whole warps.
#include "operations.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

// clang-format off
template <typename T, typename Op> struct GroupOperation;
template <typename T> struct GroupOperation<T, Sum> { typedef cg::plus<T> type; };
template <typename T> struct GroupOperation<T, Min> { typedef cg::less<T> type; };
template <typename T> struct GroupOperation<T, Max> { typedef cg::greater<T> type; };
// clang-format on

template <typename T, typename Op>
__global__ void cooperative(const T *in, T *partial, T *out, unsigned n) {
    __shared__ T warp_sums[32];
    const Op op;
    typename GroupOperation<T, Op>::type group_op;
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);

    T sum = identity<T, Op>();
    for (unsigned i = grid.thread_rank(); i < n; i += grid.size())
        sum = op(sum, in[i]);
    sum = cg::reduce(warp, sum, group_op);
    if (warp.thread_rank() == 0)
        warp_sums[warp.meta_group_rank()] = sum;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        sum = warp.thread_rank() < warp.meta_group_size() ? warp_sums[warp.thread_rank()] : identity<T, Op>();
        sum = cg::reduce(warp, sum, group_op);
        if (warp.thread_rank() == 0)
            partial[blockIdx.x] = sum;
    }

    grid.sync();

    if (blockIdx.x == 0 && warp.meta_group_rank() == 0) {
        sum = identity<T, Op>();
        for (unsigned b = warp.thread_rank(); b < gridDim.x; b += 32)
            sum = op(sum, partial[b]);
        sum = cg::reduce(warp, sum, group_op);
        if (warp.thread_rank() == 0)
            out[0] = sum;
    }
}

template __global__ void cooperative<int, Sum>(const int *, int *, int *, unsigned);
template __global__ void cooperative<int, Min>(const int *, int *, int *, unsigned);
template __global__ void cooperative<int, Max>(const int *, int *, int *, unsigned);
template __global__ void cooperative<float, Sum>(const float *, float *, float *, unsigned);
template __global__ void cooperative<float, Min>(const float *, float *, float *, unsigned);
template __global__ void cooperative<float, Max>(const float *, float *, float *, unsigned);
template __global__ void cooperative<double, Sum>(const double *, double *, double *, unsigned);
template __global__ void cooperative<double, Min>(const double *, double *, double *, unsigned);
template __global__ void cooperative<double, Max>(const double *, double *, double *, unsigned);
