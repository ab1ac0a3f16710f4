/* A kernel that never ends: its counter starts again before it reaches the limit. */
#include <cstdio>

__global__ void count_to(volatile unsigned int *counter, unsigned int limit) {
    while (*counter != limit) *counter = (*counter + 1) % limit;
}

int main() {
    unsigned int *d_counter;
    cudaMalloc(&d_counter, sizeof(int));
    cudaMemset(d_counter, 0, sizeof(int));
    count_to<<<1, 1>>>(d_counter, 1000);
    printf("launched\n");
    cudaDeviceSynchronize();
    printf("it ended\n");
}
