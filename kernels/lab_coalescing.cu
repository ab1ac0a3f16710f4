// lab_coalescing: what a warp wants from global memory is fetched in sectors of 32 bytes.
//
//   sector           |       0       |       1       |       2       |       3       |
//   32 threads       |0 1 2 3 4 5 6 7|8 9 .. 14    15|16 17 ..     23|24 25 ..     31|   4 sectors, all used
//   8 threads        |0 1 2 3 4 5 6 7|                                                   1 sector
//   stride 2         |0   1   2   3  |4   5   6   7  |8   9  ...                         8 sectors, half used
//   stride 8 or more |0              |1              |2              | ...              32 sectors, 1/8 used
//
// What it teaches: coalescing. The request of a warp takes as many sectors as its lanes touch, so neighbours
// in a warp should be neighbours in memory. Blocks of 8 threads waste three quarters of every warp, but no
// sector.
template <typename T>
__global__ void lab_coalescing(const T *in, T *out, unsigned n, unsigned stride) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        T element = in[i * stride];
        out[i] = element;
    }
}

template __global__ void lab_coalescing<int>(const int *, int *, unsigned, unsigned);
template __global__ void lab_coalescing<double>(const double *, double *, unsigned, unsigned);
