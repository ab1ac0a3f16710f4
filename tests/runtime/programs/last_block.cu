/* Variables of the module: weights in constant memory, a counter in device memory, the result in managed memory. The block that
 * counts last adds the sums of all. */
#include <cstdio>
#include <vector>

__constant__ int weights[4];
__device__ unsigned int finished = 0;
__device__ int partial[32];
__managed__ int result = -1;

__global__ void weigh(const int *in, int n) {
    __shared__ int sums[128];
    __shared__ bool is_last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sums[threadIdx.x] = i < n ? in[i] * weights[i % 4] : 0;
    __syncthreads();
    for (int stride = 64; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += ((volatile int *)partial)[b];
        result = sum;
    }
}

int main() {
    const int n = 4000, factors[4] = {1, 2, 3, 4};
    std::vector<int> values(n);
    int expected = 0;
    for (int i = 0; i < n; i++) {
        values[i] = i % 11;
        expected += values[i] * factors[i % 4];
    }
    int *d_in;
    unsigned int count = 1;
    cudaMalloc(&d_in, n * sizeof(int));
    cudaMemcpy(d_in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(weights, factors, sizeof factors);
    weigh<<<32, 128>>>(d_in, n);
    cudaDeviceSynchronize();
    cudaMemcpyFromSymbol(&count, finished, sizeof count);
    printf("%s: %d, counter %u\n", result == expected && !count ? "PASSED" : "FAILED", result, count);
    return result != expected;
}
