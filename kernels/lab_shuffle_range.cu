// lab_shuffle_range: a shuffle stays inside its segment; a lane whose source lies outside keeps its value.
//
//   width 8, delta 3:   lane    0  1  2  3  4  5  6  7 |  8  9 10 11 12 13 14 15 | ...
//                       takes   3  4  5  6  7          | 11 12 13 14 15
//                       keeps                  5  6  7 |                13 14 15
//
// What it teaches: after __shfl_down_sync not every lane holds the sum: the last `delta` lanes of
// each segment of `width` lanes still have their own value, which is why only the first lane of a segment
// ends with the sum.
// All 32 lanes take part (the mask says so), also those that have no element: theirs is 0.
__global__ void lab_shuffle_range(const int *in, int *out, unsigned n, unsigned delta, unsigned width) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int own = i < n ? in[i] : 0;
    int taken = __shfl_down_sync(0xffffffff, own, delta, width);
    if (i < n)
        out[i] = taken;
}
