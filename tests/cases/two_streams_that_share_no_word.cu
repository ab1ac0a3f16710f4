// Two streams work on two halves of one page of memory.
// ARGS: --run --check
// EXPECT: no error found
// NEVER: orders
#include <cuda_runtime.h>

__global__ void twice(int *part) {
    part[threadIdx.x] *= 2;
}

int main() {
    int host[64] = {0}, *all;
    cudaMalloc(&all, sizeof host);
    cudaMemcpy(all, host, sizeof host, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; i++) {
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        twice<<<1, 32, 0, stream>>>(all + 32 * i);
    }
    cudaDeviceSynchronize();
}
