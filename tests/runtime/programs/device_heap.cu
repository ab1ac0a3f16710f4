/* Threads allocate memory in a kernel, and free it in the next one. */
#include <cstdio>

__global__ void allocate(int **places) {
    int *place = (int *)malloc(4 * sizeof(int));
    for (int k = 0; place && k < 4; k++) place[k] = threadIdx.x + k;
    places[threadIdx.x] = place;
}

__global__ void collect(int **places, int *out) {
    int sum = 0;
    for (int k = 0; k < 4; k++) sum += places[threadIdx.x][k];
    out[threadIdx.x] = sum;
    free(places[threadIdx.x]);
}

int main() {
    int **d_places, *d_out, out[32];
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    cudaMalloc(&d_places, 32 * sizeof(int *));
    cudaMalloc(&d_out, sizeof out);
    allocate<<<1, 32>>>(d_places);
    collect<<<1, 32>>>(d_places, d_out);
    cudaError_t error = cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool good = error == cudaSuccess;
    for (int i = 0; i < 32; i++) good = good && out[i] == 4 * i + 6;
    printf("%s: %d, %s\n", good ? "PASSED" : "FAILED", out[31], cudaGetErrorString(error));
    return !good;
}
