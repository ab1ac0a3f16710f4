// lab_bank_padding: a warp reads a column of a tile, without and with one unused word at the end of each row.
//
//   tile[32][32]: bank of (row, column)         tile[32][33]: bank of (row, column)
//     row 0    0  1  2  3 ... 31                  row 0    0  1  2  3 ... 31 [pad]
//     row 1    0  1  2  3 ... 31                  row 1    1  2  3  4 ...  0 [pad]
//     row 2    0  1  2  3 ... 31                  row 2    2  3  4  5 ...  1 [pad]
//              ^ a column: one bank, 32 times              ^ a column: every bank once
//
// What it teaches: padding. Writing the tile row by row takes 1 wavefront a warp in both; reading a column
// takes 32 wavefronts without padding and 1 with it. Each lane adds one row of 32 elements, so at every turn
// of the second loop the warp reads a column. A block is one warp; out[r] is the sum of row r.
template <int PADDING>
__global__ void lab_bank_padding(const int *in, int *out, unsigned n) {
    __shared__ int tile[32][32 + PADDING];
    unsigned lane = threadIdx.x;
    unsigned first = blockIdx.x * 32 * 32;
#pragma unroll 1
    for (unsigned row = 0; row < 32; row++) {
        unsigned i = first + row * 32 + lane;
        tile[row][lane] = i < n ? in[i] : 0;
    }
    __syncthreads();

    int sum = 0;
#pragma unroll 1
    for (unsigned column = 0; column < 32; column++)
        sum += tile[lane][column];

    if (first + lane * 32 < n)
        out[blockIdx.x * 32 + lane] = sum;
}

template __global__ void lab_bank_padding<0>(const int *, int *, unsigned);
template __global__ void lab_bank_padding<1>(const int *, int *, unsigned);
