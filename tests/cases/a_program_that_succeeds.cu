// All blocks are launched, and the program finds its result right.
//
// ARGS: --run --check
// EXPECT: no error found; what it computes is not checked program exited 0
// NEVER: of the program
// EXIT: 0
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
    twice<<<3, 32>>>(in, out);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 96; i++)
        if (host[i] != 2 * (i + 1)) return 3;
    return 0;
}
