/* The counters are allocated and never set to zero. */
#include <cstdio>

__global__ void histogram(const int *in, int *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i] % 8], 1);
}

int main() {
    const int n = 512;
    int in[n], bins[8], *d_in, *d_bins, sum = 0;
    for (int i = 0; i < n; i++) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_bins, sizeof bins);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    histogram<<<2, 256>>>(d_in, d_bins, n);
    cudaMemcpy(bins, d_bins, sizeof bins, cudaMemcpyDeviceToHost);
    for (int count : bins) sum += count;
    printf("%s: %d\n", sum == n ? "PASSED" : "FAILED", sum);
}
