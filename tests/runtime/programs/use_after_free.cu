/* A kernel writes through a pointer whose memory has been freed. */
#include <cstdio>

__global__ void scale(int *values, int by) {
    values[threadIdx.x] *= by;
}

int main() {
    int *d_values;
    cudaMalloc(&d_values, 64 * sizeof(int));
    cudaMemset(d_values, 1, 64 * sizeof(int));
    scale<<<1, 64>>>(d_values, 2);
    cudaFree(d_values);
    scale<<<1, 64>>>(d_values, 3);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%d\n", (int)error);
    return error != cudaSuccess;
}
