// tma_column_sum: a warp for each 16-byte piece of a tile's columns, a lane for each of its 32 rows.
//
//            piece   0    1    2   ...  7              each block: 128 bytes of columns, all rows
//   row 0   lane 0   w0   w1   w2  ...  w7
//   row 1   lane 1   w0   w1   w2  ...  w7             the lanes of a warp read down a column of pieces,
//   ...                                                and then fold across the lanes, with shuffles
//   row 31  lane 31  w0   w1   w2  ...  w7
//
// What it teaches: the transposed read of a tile. Without a swizzle the 32 lanes of a warp read from the same 4
// banks: 32 wavefronts for 512 bytes. With the hardware's swizzle, and the same XOR in the address, 4.
// Blocks are 8 warps. Rows are a multiple of 16 bytes. A last row that is shorter is added from global memory.
#include "operations.cuh"
#include "tiles.cuh"

template <typename T>
__global__ void tma_column_sum(const __grid_constant__ TensorMap map, const T *in, T *out, unsigned n,
                               unsigned columns, unsigned mask) {
    __shared__ unsigned long long full[2]; // an mbarrier for each buffer
    constexpr unsigned span = 128, rows_of_tile = 32, tile = span * rows_of_tile;
    unsigned char *tiles = shared_tiles();
    unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32, buffer = 0, parity = 0;
    unsigned rows = n / columns, first = blockIdx.x * (span / sizeof(T));
    Piece<T> sums = {};

    if (tid == 0) {
        init_barrier(&full[0], 1);
        init_barrier(&full[1], 1);
        publish_barriers();
    }
    __syncthreads();

    if (tid == 0 && rows > 0) {
        expect_bytes(&full[0], tile);
        copy_box(tiles, &map, first, 0, &full[0]);
    }
    for (unsigned row = 0; row < rows; row += rows_of_tile) {
        if (tid == 0 && row + rows_of_tile < rows) {
            expect_bytes(&full[buffer ^ 1], tile);
            copy_box(tiles + (buffer ^ 1) * tile, &map, first, row + rows_of_tile, &full[buffer ^ 1]);
        }
        wait_for_phase(&full[buffer], parity);
        unsigned place = swizzled(buffer * tile + lane * span + warp * 16, mask);
        Piece<T> piece = *reinterpret_cast<Piece<T> *>(tiles + place); // 0 outside of the matrix
        for (unsigned k = 0; k < piece.count; k++)
            sums.values[k] += piece.values[k];
        __syncthreads();  // the buffer may be filled again
        parity ^= buffer; // after both buffers
        buffer ^= 1;
    }

    for (unsigned offset = 16; offset > 0; offset /= 2)
        for (unsigned k = 0; k < sums.count; k++)
            sums.values[k] += __shfl_down_sync(0xffffffff, sums.values[k], offset);
    if (lane == 0)
        for (unsigned k = 0; k < sums.count; k++) {
            unsigned column = first + warp * sums.count + k, last = rows * columns + column;
            if (column < columns && column < n)
                out[column] = sums.values[k] + (last < n ? in[last] : T(0));
        }
}

template __global__ void tma_column_sum<int>(const __grid_constant__ TensorMap, const int *, int *, unsigned,
                                             unsigned, unsigned);
template __global__ void tma_column_sum<float>(const __grid_constant__ TensorMap, const float *, float *,
                                               unsigned, unsigned, unsigned);
template __global__ void tma_column_sum<double>(const __grid_constant__ TensorMap, const double *, double *,
                                                unsigned, unsigned, unsigned);
