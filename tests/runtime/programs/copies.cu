/* Copies that do not fit: behind the end of a buffer, in the wrong direction, and to memory that has been freed. */
#include <cstdio>

__global__ void set(int *out) {
    out[threadIdx.x] = threadIdx.x;
}

int main() {
    int *d_out, *d_gone, out[64] = {0};
    cudaMalloc(&d_out, 32 * sizeof(int));
    cudaMalloc(&d_gone, 32 * sizeof(int));
    set<<<1, 32>>>(d_out);
    printf("too long: %d\n", (int)cudaMemcpy(out, d_out, 64 * sizeof(int), cudaMemcpyDeviceToHost));
    printf("memset: %d\n", (int)cudaMemset(d_out + 31, 0, 8));
    cudaFree(d_gone);
    printf("freed: %d\n", (int)cudaMemcpy(d_gone, out, sizeof(int), cudaMemcpyHostToDevice));
    printf("freed twice: %d\n", (int)cudaFree(d_gone));
    printf("last: %d\n", (int)cudaGetLastError());
    cudaError_t error = cudaMemcpy(out, d_out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("%s: %d\n", !error && out[31] == 31 ? "PASSED" : "FAILED", out[31]);
}
