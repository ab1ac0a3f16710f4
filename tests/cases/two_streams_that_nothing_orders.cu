// An event is recorded, but no one waits for it.
// ARGS: --run --check
// EXIT: 1
// EXPECT: launch 2 of take and launch 1 of fill use first in two streams that nothing orders
#include <cuda_runtime.h>

__global__ void fill(int *to, int value) {
    to[threadIdx.x] = value + threadIdx.x;
}

__global__ void take(const int *from, int *to) {
    to[threadIdx.x] = from[threadIdx.x ^ 1];
}

int main() {
    int host[64], *first, *second;
    cudaStream_t left, right;
    cudaEvent_t filled;
    cudaStreamCreateWithFlags(&left, cudaStreamNonBlocking);
    cudaStreamCreate(&right);
    cudaEventCreate(&filled);
    cudaMalloc(&first, sizeof host);
    cudaMalloc(&second, sizeof host);
    fill<<<1, 64, 0, left>>>(first, 3);
    cudaEventRecord(filled, left);
    take<<<1, 64, 0, right>>>(first, second);
    cudaDeviceSynchronize();
    cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost);
}
