// The second round writes half as much, and reads all.
// ARGS: --run --check
// EXIT: 1
// EXPECT: reads more of halves than was written anew: the rest is left from launch 1 of add_pairs
#include <cuda_runtime.h>

__global__ void add_pairs(const int *in, int *halves) {
    int i = blockIdx.x * 32 + threadIdx.x;
    halves[i] = in[2 * i] + in[2 * i + 1];
}

__global__ void add_all(const int *halves, int *sum, int n) {
    int all = 0;
    for (int i = 0; i < 128; i++) all += halves[i];
    *sum = all;
}

int main() {
    int host[256] = {0}, result, *in, *halves, *sum;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&halves, sizeof host / 2);
    cudaMalloc(&sum, sizeof result);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    for (int n = 256; n >= 64; n /= 2) {
        add_pairs<<<n / 64, 32>>>(in, halves);
        add_all<<<1, 1>>>(halves, sum, n);
        cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    }
}
