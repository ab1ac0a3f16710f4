// The grid is one block short, and the program sees it: no launch has a fault, but --check must not pass.
//
// ARGS: --run --check
// EXPECT: error: the program exited 3, though no CUDA call failed
// EXPECT: 1 error of the program
// EXIT: 1
__global__ void twice(const int *in, int *out) {
    out[blockIdx.x * 32 + threadIdx.x] = 2 * in[blockIdx.x * 32 + threadIdx.x];
}

int main() {
    int host[96], *in, *out;
    for (int i = 0; i < 96; i++) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof host);
    twice<<<2, 32>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 96; i++)
        if (host[i] != 2 * (i + 1)) return 3;
    return 0;
}
