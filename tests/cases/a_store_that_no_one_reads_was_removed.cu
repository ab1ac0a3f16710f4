// The second store of a word that nobody loads is gone from the PTX, though a comment is before it.
// ARGS: --check --args 'in=int[64]:digits, out=int[64]' --block 64 --grid 1
// EXPECT: lines 11 to 12
// NEVER: line 9
__global__ void fold(const int *in, int *out) {
    __shared__ int kept[64], never[64];
    int i = threadIdx.x;
    kept[i] = in[i];
    /* never[i] = 3; */
    __syncthreads();
    /* twice */ never[i] = 1;
    never[i] = 2;
    out[i] = kept[63 - i];
}
