// lab_tile_column: a warp reads a column of a tile of 32 x 32 words, kept in one of five ways.
//
//   row    plain           padded            XOR by hand       tensor copy, swizzle of 128 bytes
//    0     0 1 2 ... 31    0 1 2 ... 31 [ ]  0 1 2 3 ... 31    pieces  0 1 2 3 4 5 6 7   of 4 words each
//    1     0 1 2 ... 31    1 2 3 ...  0 [ ]  1 0 3 2 ... 30            1 0 3 2 5 4 7 6
//    2     0 1 2 ... 31    2 3 4 ...  1 [ ]  2 3 0 1 ... 29            2 3 0 1 6 7 4 5
//          the bank of each column of the row                  where each piece of the row lies
//
//   wavefronts  32 loads x 32    32 loads x 1     32 loads x 1     32 loads of 4 bytes x 4
//   of the tile                                                     8 loads of 16 bytes x 4
//
// What it teaches: three repairs of one conflict. Padding and an XOR of the column with the row give each of the
// 32 words its own bank. The copy's swizzle moves whole pieces of 16 bytes, and repeats after 8 rows: loads of 4
// bytes are still served 4 lanes after another; loads of 16 bytes are not, so that the tile takes 32
// wavefronts as with the others. The copy needs no stores, and its tile no word more.
// A block is one warp; out[r] is the sum of row r.
#include "tiles.cuh"

enum Layout { PLAIN, PADDED, XOR };

template <int LAYOUT>
__global__ void lab_tile_column(const int *in, int *out, unsigned rows) {
    __shared__ int tile[32][LAYOUT == PADDED ? 33 : 32];
    unsigned lane = threadIdx.x, first = blockIdx.x * 32;
#pragma unroll 1
    for (unsigned row = 0; row < 32; row++) {
        unsigned place = LAYOUT == XOR ? lane ^ row : lane;
        tile[row][place] = first + row < rows ? in[(first + row) * 32 + lane] : 0;
    }
    __syncthreads();

    int sum = 0;
#pragma unroll 1
    for (unsigned column = 0; column < 32; column++)
        sum += tile[lane][LAYOUT == XOR ? column ^ lane : column];

    if (first + lane < rows)
        out[first + lane] = sum;
}

// The copy has filled the tile; a lane reads its row a Word at a time: 4 or 16 bytes.
template <typename Word>
__global__ void lab_tile_column_copied(const __grid_constant__ TensorMap map, int *out, unsigned rows) {
    __shared__ __align__(1024) unsigned char tile[32 * 128];
    __shared__ unsigned long long full;
    unsigned lane = threadIdx.x, first = blockIdx.x * 32;
    if (lane == 0) {
        init_barrier(&full, 1);
        publish_barriers();
        expect_bytes(&full, sizeof tile);
        copy_box(tile, &map, 0, first, &full);
    }
    __syncthreads();
    wait_for_phase(&full, 0);

    int sum = 0;
#pragma unroll 1
    for (unsigned at = 0; at < 128; at += sizeof(Word)) {
        Word word = *reinterpret_cast<const Word *>(tile + swizzled(lane * 128 + at, 0x70));
        for (unsigned k = 0; k < sizeof(Word) / 4; k++)
            sum += word.values[k];
    }

    if (first + lane < rows)
        out[first + lane] = sum;
}

struct Single {
    int values[1];
};

template __global__ void lab_tile_column<PLAIN>(const int *, int *, unsigned);
template __global__ void lab_tile_column<PADDED>(const int *, int *, unsigned);
template __global__ void lab_tile_column<XOR>(const int *, int *, unsigned);
template __global__ void lab_tile_column_copied<Single>(const __grid_constant__ TensorMap, int *, unsigned);
template __global__ void lab_tile_column_copied<Piece<int>>(const __grid_constant__ TensorMap, int *,
                                                            unsigned);
