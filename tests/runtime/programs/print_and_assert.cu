/* printf of a kernel appears when the host waits for it; an assertion that fails comes back as error 710. */
#include <cassert>
#include <cstdio>

__global__ void greet(int value) {
    if (threadIdx.x < 3)
        printf("thread %d of %d has %s %5.2f\n", threadIdx.x, blockDim.x, "value", value + 0.5);
}

__global__ void check(const int *in) {
    assert(in[threadIdx.x] != 7);
}

int main() {
    int in[32], *d_in;
    for (int i = 0; i < 32; i++) in[i] = i;
    printf("before\n");
    greet<<<1, 32>>>(41);
    cudaDeviceSynchronize();
    printf("after\n");
    cudaMalloc(&d_in, sizeof in);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    check<<<1, 32>>>(d_in);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%d: %s\n", (int)error, cudaGetErrorString(error));
    return error == cudaErrorAssert ? 0 : 1;
}
