// The other order of each pair finds another value, on which no result depends. Not all pairs were tried, so that
// more is not said.
//
// ARGS: --run --check
// EXPECT: No order of the two changes the result where both were run, for 1
// EXPECT: of 1024 pairs of threads, and no result depends on what the load finds
// NEVER: Loses if
// EXIT: 1
__global__ void is_large(const int *in, int *out) {
    __shared__ int values[64];
    int tid = threadIdx.x, at = blockIdx.x * 64 + tid;
    values[tid] = -1;
    __syncthreads();
    values[tid] = in[at];
    out[at] = values[63 - tid] > 5000;
}

int main() {
    static int host[16 * 64];
    int *in, *out;
    for (int i = 0; i < 16 * 64; i++) host[i] = i;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    is_large<<<16, 64>>>(in, out);
    cudaDeviceSynchronize();
}
