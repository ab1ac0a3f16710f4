/* A timing loop: 100 launches do the same, and one before it warms up. */
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main() {
    const int n = 1 << 14;
    std::vector<float> ones(n, 1), out(n);
    float *d_a, *d_b, *d_c, milliseconds;
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaMalloc(&d_a, n * sizeof(float));
    cudaMalloc(&d_b, n * sizeof(float));
    cudaMalloc(&d_c, n * sizeof(float));
    cudaMemcpy(d_a, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_b, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<n / 256, 256>>>(d_a, d_b, d_c, n);
    cudaEventRecord(begin);
    for (int i = 0; i < 100; i++) add<<<n / 256, 256>>>(d_a, d_b, d_c, n);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaMemcpy(out.data(), d_c, n * sizeof(float), cudaMemcpyDeviceToHost);
    printf("%s\n", out[n - 1] == 2 && milliseconds > 0 ? "PASSED" : "FAILED");
}
