// The same helper with its barrier: nothing to report.
// ARGS: --check
// EXPECT: No hazard
#include <cuda_runtime.h>

__device__ int first_of_block(int value) {
    __shared__ int first;
    int lane = threadIdx.x;
    if (lane == 0) first = value; // published
    __syncthreads();

    // ... and read by all
    return first;
}

__device__ int twice(int value) {
    int first = first_of_block(value);
    __syncthreads();
    return 2 * first;
}

__global__ void spread(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = first_of_block(in[i]);
    __syncthreads();
    out[i] = a + twice(in[i] + 1);
}

int main() {
    const int n = 512;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    spread<<<4, 128>>>(in, out, n);
    cudaDeviceSynchronize();
}
