/* A kernel waits for a flag that nobody sets. */
#include <cstdio>

__global__ void wait_for(volatile int *flag) {
    while (!*flag) continue;
}

int main() {
    int *d_flag;
    cudaMalloc(&d_flag, sizeof(int));
    cudaMemset(d_flag, 0, sizeof(int));
    wait_for<<<1, 32>>>(d_flag);
    printf("launched\n");
    cudaDeviceSynchronize();
    printf("it ended\n");
}
