// The second array begins behind the first.
// ARGS: --check --args 'in=double[64]:random, out=double[64]' --block 64 --grid 1 --shared 768
// EXPECT: No hazard
// NEVER: overlap
extern __shared__ char memory[];

__global__ void weigh(const double *in, double *out) {
    double *terms = (double *)memory;
    unsigned *ranks = (unsigned *)(memory + 64 * sizeof(double));
    int i = threadIdx.x;
    terms[i] = in[i];
    ranks[i] = i % 5;
    __syncthreads();
    out[i] = terms[63 - i] * ranks[63 - i];
}
