// The minimum starts at 0, and all elements are larger: no thread changes it, and no launch has a fault.
//
// ARGS: --run --check
// EXPECT: line 9: atomic minima or maxima of launch 1 of smallest change nothing: out still holds what the host wrote
// EXPECT: 1 error of the program
// EXIT: 1
__global__ void smallest(const int *in, int *out) {
    int i = blockIdx.x * 48 + threadIdx.x;
    atomicMin(out, in[i]);
}

int main() {
    int host[96], *in, *out;
    for (int i = 0; i < 96; i++) host[i] = 5 + i % 11;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(int));
    smallest<<<2, 48>>>(in, out);
    cudaDeviceSynchronize();
}
