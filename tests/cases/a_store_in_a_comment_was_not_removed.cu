// Stores in comments, left out by the preprocessor or of another kernel are none that the compiler removed.
// ARGS: --check --entry fold --args 'in=int[64]:digits, out=int[64]' --block 64 --grid 1
// EXPECT: No hazard
// NEVER: removed
__global__ void fold(const int *in, int *out) {
    __shared__ int kept[64];
    int i = threadIdx.x;
    kept[i] = in[i];
    __syncthreads(); /* as it was:
    kept[i] += 1;
    */
#if 0
    kept[i] += 2;
#endif
    out[i] = kept[63 - i];
}

__global__ void other(int *out) {
    __shared__ int kept[64];
    kept[threadIdx.x] = 1;
    out[threadIdx.x] = 1;
}
