// In the second launch no block is the last one, though its data is new.
// ARGS: --run --check
// EXIT: 1
// EXPECT: finds the counter done as launch 1 left it
#include <cuda_runtime.h>

__device__ unsigned done;

__global__ void total(const int *in, int *parts, int *out) {
    if (threadIdx.x) return;
    parts[blockIdx.x] = in[blockIdx.x] * 2;
    __threadfence();
    unsigned place = atomicAdd(&done, 1u);
    if (place != gridDim.x - 1) return;
    __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += parts[i];
    *out = sum;
}

int main() {
    int host[4] = {1, 2, 3, 4}, sum, *in, *parts, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&parts, sizeof host);
    cudaMalloc(&out, sizeof sum);
    for (int turn = 0; turn < 3; turn++) {
        host[turn] += 5;
        cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
        total<<<4, 32>>>(in, parts, out);
        cudaMemcpy(&sum, out, sizeof sum, cudaMemcpyDeviceToHost);
    }
}
