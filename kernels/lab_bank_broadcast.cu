// lab_bank_broadcast: lanes that read the same word get it together.
//
//   lane         0   1   2   3   4   5   6   7  ...
//   words = 1    0   0   0   0   0   0   0   0         all lanes read word 0
//   words = 2    0   1   0   1   0   1   0   1         two words, 16 readers each
//   words = 4    0   1   2   3   0   1   2   3         four words, 8 readers each
//
// What it teaches: only different words in one bank conflict. One word read by 32 lanes is one wavefront, and
// so is every other row above.

__global__ void lab_bank_broadcast(const int *in, int *out, unsigned n, unsigned words) {
    extern __shared__ int shared[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        shared[tid] = in[i];
    __syncthreads();

    if (i < n)
        out[i] = shared[tid % words];
}
