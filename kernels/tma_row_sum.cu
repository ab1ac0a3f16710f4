// tma_row_sum: a thread for each row of a matrix, which comes as tiles, copied and swizzled by the hardware.
//
//   in   | tile 0 | tile 1 | tile 2 | ...      one copy: as many rows as the block has threads, one span wide
//
//   piece of 16 bytes   without a swizzle      swizzled: piece ^ (row & 7)
//   row 0   t0          0 1 2 3 4 5 6 7        0 1 2 3 4 5 6 7
//   row 1   t1          0 1 2 3 4 5 6 7        1 0 3 2 5 4 7 6
//   row 2   t2          0 1 2 3 4 5 6 7        2 3 0 1 6 7 4 5
//
// What it teaches: threads that read a tile down a column, one row each, meet in the same banks, because each
// row of 128 bytes covers all 32. The tensor map has the copy permute the pieces of each row, and the same XOR
// in the address of the load finds them again: 8 lanes read 8 pieces in different banks. While a tile is
// folded, the next one is on its way.
// Rows are a multiple of 16 bytes. A last row that is shorter is folded from global memory.
#include "operations.cuh"
#include "tiles.cuh"

template <typename T>
__global__ void tma_row_sum(const __grid_constant__ TensorMap map, const T *in, T *out, unsigned n,
                            unsigned columns, unsigned span, unsigned mask) {
    __shared__ unsigned long long full[2]; // an mbarrier for each buffer
    unsigned char *tiles = shared_tiles();
    unsigned tid = threadIdx.x, first = blockIdx.x * blockDim.x, row = first + tid, rows = n / columns;
    unsigned tile = blockDim.x * span, width = span / sizeof(T), buffer = 0, parity = 0;
    T sum = 0;

    if (tid == 0) {
        init_barrier(&full[0], 1);
        init_barrier(&full[1], 1);
        publish_barriers();
    }
    __syncthreads();

    if (tid == 0 && first < rows) {
        expect_bytes(&full[0], tile);
        copy_box(tiles, &map, 0, first, &full[0]);
    }
    for (unsigned column = 0; column < columns && first < rows; column += width) {
        if (tid == 0 && column + width < columns) {
            expect_bytes(&full[buffer ^ 1], tile);
            copy_box(tiles + (buffer ^ 1) * tile, &map, column + width, first, &full[buffer ^ 1]);
        }
        wait_for_phase(&full[buffer], parity);
        for (unsigned at = 0; at < span; at += 16) { // what lies outside of the matrix is 0
            unsigned place = swizzled(buffer * tile + tid * span + at, mask);
            Piece<T> piece = *reinterpret_cast<Piece<T> *>(tiles + place);
            for (unsigned k = 0; k < piece.count; k++)
                sum += piece.values[k];
        }
        __syncthreads();  // the buffer may be filled again
        parity ^= buffer; // after both buffers
        buffer ^= 1;
    }

    if (row == rows)
        for (unsigned i = rows * columns; i < n; i++)
            sum += in[i];
    if (row < rows + (n % columns != 0))
        out[row] = sum;
}

template __global__ void tma_row_sum<int>(const __grid_constant__ TensorMap, const int *, int *, unsigned,
                                          unsigned, unsigned, unsigned);
template __global__ void tma_row_sum<float>(const __grid_constant__ TensorMap, const float *, float *,
                                            unsigned, unsigned, unsigned, unsigned);
template __global__ void tma_row_sum<double>(const __grid_constant__ TensorMap, const double *, double *,
                                             unsigned, unsigned, unsigned, unsigned);
