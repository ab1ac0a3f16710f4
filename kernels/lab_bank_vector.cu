// lab_bank_vector: 16-byte elements take four banks each, so a warp is served in four phases.
//
//   phase 0: lanes  0..7     banks  0-3  4-7  8-11  ...  28-31
//   phase 1: lanes  8..15    banks  0-3  4-7  8-11  ...  28-31
//   phase 2: lanes 16..23    ...
//   phase 3: lanes 24..31    ...
//
// What it teaches: 4 wavefronts for one access of 512 bytes are no conflict (ideal 4, excess 0): the same
// bytes read as ints would take 4 accesses of 1 wavefront. Profilers that count anything above 1 as a
// conflict are wrong here.
// An element is 4 ints: n is rounded up to whole elements, and the arrays end with one.

__global__ void lab_bank_vector(const int4 *in, int4 *out, unsigned vectors, unsigned stride) {
    extern __shared__ int4 elements[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < vectors)
        elements[tid * stride] = in[i];
    __syncthreads();

    if (i < vectors)
        out[i] = elements[tid * stride];
}
