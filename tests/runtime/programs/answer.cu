// A library with a kernel: the answer is 42.
__device__ int base = 40;

__global__ void add(int *sum, int value) {
    *sum = base + value;
}

extern "C" int answer() {
    int *sum, result = 0;
    if (cudaMalloc(&sum, sizeof *sum)) return -1;
    add<<<1, 1>>>(sum, 2);
    cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
    return cudaFree(sum) ? -2 : result;
}
