// Other kernels of the file are tried in place of the first one, and are no better: its elements are examined still.
// EXPECT: result not checked: it matches no known reduction (not all elements are loaded)
// EXIT: 0
__global__ void __launch_bounds__(32) first_kernel(const int *in, int *out) {
    __shared__ int first[33], second[32];
    unsigned tid = threadIdx.x;
    first[tid] = in[tid];
    if (tid == 0) first[32] = 0;
    second[tid] = in[tid] + 1;
    __syncwarp();
    out[tid] = first[tid + 1] + second[31 - tid];
}
__global__ void second_kernel(const int *in, int *out) {
    __shared__ int words[32];
    words[threadIdx.x] = 3 * in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = words[31 - threadIdx.x] + 1;
}
__global__ void third_kernel(const int *in, int *out) {
    __shared__ int words[32];
    words[threadIdx.x] = 5 * in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = words[31 - threadIdx.x] - 7;
}
