// Each thread loads, without a barrier, what a thread of the other warp stores. Only in block 23 is that not zero:
// of 3072 pairs of threads, those whose other order finds another value are tried first.
//
// ARGS: --run --check
// EXPECT: Loses if warp 0 of block 23 is held
// NEVER: No order of the two
// EXIT: 1
__global__ void mirror(const int *in, int *out) {
    __shared__ int values[64];
    int tid = threadIdx.x, at = blockIdx.x * 64 + tid;
    values[tid] = 0;
    __syncthreads();
    values[tid] = in[at];
    out[at] = values[63 - tid];
}

int main() {
    static int host[48 * 64];
    int *in, *out;
    for (int i = 0; i < 64; i++) host[23 * 64 + i] = 100 + i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    mirror<<<48, 64>>>(in, out);
    cudaDeviceSynchronize();
}
