// Lines that look like stores and are none of the kernel's: in comments, and in another kernel between its functions.
// WRONG marks the one that the compiler really removes.
static __device__ __noinline__ int pair_of(const int *in, int i) {
    return in[i] + in[i ^ 1];
}

extern "C" __global__ void between(const int *in, int *out) {
    __shared__ int kept[32];
    kept[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = kept[31 - threadIdx.x];
}

extern "C" __global__ void commented(const int *in, int *out) {
    __shared__ int scratch[32];
    int pair[2];
    /* earlier:
    scratch[threadIdx.x] = 1;
    out[threadIdx.x] = scratch[threadIdx.x];
    */
    pair[0] = pair_of(in, threadIdx.x);
    scratch[threadIdx.x] = pair[0]; // WRONG commented
    out[threadIdx.x] = pair[0]; /* and
    out[threadIdx.x] = 2; */
}
