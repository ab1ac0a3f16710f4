// column_sum_permuted: transposes the matrix first, then sums its rows.
//
//   in [rows][columns]          transposed [columns][rows]
//     a b c d                     a e i   -> block 0 -> out[0] = a + e + i
//     e f g h      -------->      b f j   -> block 1 -> out[1]
//     i j k l                     c g k   -> block 2 -> out[2]
//                                 d h l   -> block 3 -> out[3]
//
//   transpose: a block of 32 x 8 threads moves a tile of 32 x 32 elements through shared memory: it loads
//   rows and stores columns, so that both sides are coalesced; a 33rd element a row keeps the banks apart.
//
// What it teaches: every element is loaded twice and stored once, three times the traffic of column_sum; yet it
// takes a thirtieth of the time of column_sum, which has 4 blocks (2^20 ints, H200).
#include "operations.cuh"

template <typename T, typename Op>
__global__ void column_transpose(const T *in, T *transposed, unsigned n, unsigned rows, unsigned columns) {
    __shared__ T tile[32][33];
    unsigned row = blockIdx.y * 32 + threadIdx.y;
    unsigned column = blockIdx.x * 32 + threadIdx.x;
    for (unsigned k = 0; k < 32; k += 8) {
        unsigned i = (row + k) * columns + column;
        bool inside = column < columns && row + k < rows && i < n; // the last row may be shorter
        tile[threadIdx.y + k][threadIdx.x] = inside ? in[i] : identity<T, Op>();
    }
    __syncthreads();

    row = blockIdx.x * 32 + threadIdx.y; // of the transposed matrix
    column = blockIdx.y * 32 + threadIdx.x;
    for (unsigned k = 0; k < 32; k += 8)
        if (column < rows && row + k < columns)
            transposed[(row + k) * rows + column] = tile[threadIdx.x][threadIdx.y + k];
}

template <typename T, typename Op>
__global__ void column_sum_of_rows(const T *transposed, T *out, unsigned rows) {
    const Op op;
    T *sums = shared_array<T>();
    unsigned tid = threadIdx.x;
    T sum = identity<T, Op>();
    for (unsigned i = tid; i < rows; i += blockDim.x)
        sum = op(sum, transposed[blockIdx.x * rows + i]);
    sums[tid] = sum;
    __syncthreads();

    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s)
            sums[tid] = op(sums[tid], sums[tid + s]);
        __syncthreads();
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}

template __global__ void column_transpose<int, Sum>(const int *, int *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<int, Min>(const int *, int *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<int, Max>(const int *, int *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<float, Sum>(const float *, float *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<float, Min>(const float *, float *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<float, Max>(const float *, float *, unsigned, unsigned, unsigned);
template __global__ void column_transpose<double, Sum>(const double *, double *, unsigned, unsigned,
                                                       unsigned);
template __global__ void column_transpose<double, Min>(const double *, double *, unsigned, unsigned,
                                                       unsigned);
template __global__ void column_transpose<double, Max>(const double *, double *, unsigned, unsigned,
                                                       unsigned);
template __global__ void column_sum_of_rows<int, Sum>(const int *, int *, unsigned);
template __global__ void column_sum_of_rows<int, Min>(const int *, int *, unsigned);
template __global__ void column_sum_of_rows<int, Max>(const int *, int *, unsigned);
template __global__ void column_sum_of_rows<float, Sum>(const float *, float *, unsigned);
template __global__ void column_sum_of_rows<float, Min>(const float *, float *, unsigned);
template __global__ void column_sum_of_rows<float, Max>(const float *, float *, unsigned);
template __global__ void column_sum_of_rows<double, Sum>(const double *, double *, unsigned);
template __global__ void column_sum_of_rows<double, Min>(const double *, double *, unsigned);
template __global__ void column_sum_of_rows<double, Max>(const double *, double *, unsigned);
