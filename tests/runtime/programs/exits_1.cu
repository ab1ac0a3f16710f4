/* A wrong sum, without atomicAdd, of which the program itself says so: it exits with status 1. */
#include <cstdio>
#include <cstdlib>

__global__ void count(int *sum) {
    *sum = *sum + 1;
}

int main() {
    int *d_sum, sum;
    cudaMalloc(&d_sum, sizeof(int));
    cudaMemset(d_sum, 0, sizeof(int));
    count<<<1, 64>>>(d_sum);
    cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
    if (sum == 64) return 0;
    fprintf(stderr, "FAILED: %d of 64\n", sum);
    exit(EXIT_FAILURE);
}
