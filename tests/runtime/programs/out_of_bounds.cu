/* The last block writes behind the end of the buffer: the check against n is missing. */
#include <cstdio>

__global__ void square(int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = i * i;
}

int main() {
    const int n = 1000;
    int *d_values, out[n];
    cudaMalloc(&d_values, n * sizeof(int));
    square<<<4, 256>>>(d_values);
    cudaError_t error = cudaDeviceSynchronize();
    printf("after the kernel: %d\n", (int)error);
    error = cudaMemcpy(out, d_values, sizeof out, cudaMemcpyDeviceToHost);
    printf("after the copy: %d, %s\n", (int)error, cudaGetErrorName(error));
    return error != cudaSuccess;
}
