// The sum is cleared before every launch.
// ARGS: --run --check
// EXPECT: no error found
// NEVER: was not cleared
#include <cuda_runtime.h>

__global__ void count(const int *digits, int *found) {
    atomicAdd(&found[digits[threadIdx.x] % 8], 1);
}

int main() {
    int host[64], seen[8], *digits, *found;
    for (int i = 0; i < 64; i++) host[i] = i % 7;
    cudaMalloc(&digits, sizeof host);
    cudaMalloc(&found, sizeof seen);
    cudaMemset(found, 0, sizeof seen);
    for (int turn = 0; turn < 2; turn++) {
        cudaMemcpy(digits, host, sizeof host, cudaMemcpyHostToDevice);
        for (int again = 0; again < 2; again++) {
            cudaMemset(found, 0, sizeof seen);
            count<<<1, 64>>>(digits, found);
            cudaMemcpy(seen, found, sizeof seen, cudaMemcpyDeviceToHost);
        }
        host[turn]++;
    }
    cudaMemcpy(seen, found, sizeof seen, cudaMemcpyDeviceToHost);
}
