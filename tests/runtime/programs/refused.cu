/* Launches that a GPU refuses: too many threads, too much shared memory, more cooperative blocks than fit, an empty grid. */
#include <cooperative_groups.h>
#include <cstdio>

__global__ void mark(int *out) {
    extern __shared__ int shared[];
    shared[threadIdx.x] = 1;
    *out = shared[threadIdx.x];
}

__global__ void wait_for_all(int *out) {
    cooperative_groups::this_grid().sync();
    *out = 2;
}

int main() {
    int *d_out, out = 0;
    cudaMalloc(&d_out, sizeof(int));
    cudaMemset(d_out, 0, sizeof(int));
    mark<<<1, 2048, 4096>>>(d_out);
    printf("threads: %d\n", (int)cudaGetLastError());
    mark<<<1, 32, 64 << 10>>>(d_out);
    printf("shared: %d\n", (int)cudaGetLastError());
    void *arguments[] = {&d_out};
    cudaError_t error =
        cudaLaunchCooperativeKernel((void *)wait_for_all, dim3(1 << 20), dim3(256), arguments, 0, 0);
    printf("cooperative: %d %d\n", (int)error, (int)cudaGetLastError());
    mark<<<0, 32, 128>>>(d_out);
    printf("empty: %d\n", (int)cudaGetLastError());
    cudaFuncSetAttribute(mark, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    mark<<<1, 32, 64 << 10>>>(d_out);
    printf("allowed: %d\n", (int)cudaGetLastError());
    cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    printf("%s\n", out == 1 ? "PASSED" : "FAILED");
    return out != 1;
}
