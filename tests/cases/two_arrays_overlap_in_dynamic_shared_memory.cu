// The second array begins among the elements of the first, since its place counts elements as bytes. A barrier
// between the stores would hide the race and keep the wrong result, so none is advised.
// ARGS: --check --args 'in=double[64]:random, out=double[64]' --block 64 --grid 1 --shared 768
// EXIT: 1
// EXPECT: `terms` and `ranks` overlap in dynamic shared memory by 256 bytes: `ranks` begins at `terms + 8`
// EXPECT: 1 hazard
// NEVER: insert __sync
// NEVER: Proved
extern __shared__ char memory[];

__global__ void weigh(const double *in, double *out) {
    double *terms = (double *)memory;
    unsigned *ranks = (unsigned *)(memory + 64);
    int i = threadIdx.x;
    terms[i] = in[i];
    ranks[i] = i % 5;
    __syncthreads();
    out[i] = terms[63 - i] * ranks[63 - i];
}
