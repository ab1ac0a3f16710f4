/* A sum in passes: each pass halves the number of partial sums, in two buffers that take turns. */
#include <cstdio>
#include <vector>

__global__ void reduce(const int *in, int *out, int n) {
    __shared__ int sums[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

int main() {
    const int n = 100000;
    std::vector<int> values(n);
    long long expected = 0;
    for (int i = 0; i < n; i++) expected += values[i] = i % 7;
    int *d_in, *d_out;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMalloc(&d_out, n * sizeof(int));
    cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    int left = n, passes = 0;
    while (left > 1) {
        int blocks = (left + 255) / 256;
        reduce<<<blocks, 256>>>(d_in, d_out, left);
        int *swap = d_in;
        d_in = d_out;
        d_out = swap;
        left = blocks;
        passes++;
    }
    int sum;
    cudaMemcpy(&sum, d_in, sizeof sum, cudaMemcpyDeviceToHost);
    printf("%s: %d in %d passes\n", sum == expected ? "PASSED" : "FAILED", sum, passes);
    return sum != expected;
}
