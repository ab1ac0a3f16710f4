// The second array takes the place of the first, which is done with: what is missing is a barrier, not room.
// ARGS: --check --args 'in=double[64]:random, out=double[64]' --block 64 --grid 1 --shared 768
// EXIT: 1
// EXPECT: __syncthreads() after line 14
// NEVER: overlap
extern __shared__ char memory[];

__global__ void weigh(const double *in, double *out) {
    double *terms = (double *)memory;
    unsigned *ranks = (unsigned *)(memory + 64);
    int i = threadIdx.x;
    terms[i] = in[i];
    __syncthreads();
    double other = terms[63 - i];

    ranks[i] = i % 5;
    __syncthreads();
    out[i] = other * ranks[63 - i];
}
