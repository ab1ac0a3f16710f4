// The same loop where a short suffices: nothing to report.
// ARGS: --check
// EXPECT: No hazard
__global__ void scale(float *x, int n) {
    for (short at = threadIdx.x; at < n; at += blockDim.x) x[at] *= 2;
}

int main() {
    int n = 32256;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    scale<<<1, 512>>>(x, n);
    cudaDeviceSynchronize();
}
