// lab_bank_double: 8-byte elements take two banks each, so a warp is served in two phases.
//
//   phase 0: lanes  0..15    banks  0-1  2-3  4-5  ...  30-31
//   phase 1: lanes 16..31    banks  0-1  2-3  4-5  ...  30-31
//
// What it teaches: 2 wavefronts are the least that 32 doubles (256 bytes) can take: they are no conflict. At
// stride 2 the 16 lanes of a phase meet twice in every bank: 4 wavefronts, 2 of them excess.

__global__ void lab_bank_double(const double *in, double *out, unsigned n, unsigned stride) {
    extern __shared__ double elements[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        elements[tid * stride] = in[i];
    __syncthreads();

    if (i < n)
        out[i] = elements[tid * stride];
}
