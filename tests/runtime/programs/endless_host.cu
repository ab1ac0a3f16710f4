/* After its kernel the host waits for what never comes. */
#include <cstdio>

__global__ void set(int *out) {
    *out = 5;
}

int main() {
    int *d_out;
    volatile bool goes_on = true;
    cudaMalloc(&d_out, sizeof(int));
    set<<<1, 1>>>(d_out);
    cudaDeviceSynchronize();
    printf("waiting\n");
    while (goes_on) continue;
}
