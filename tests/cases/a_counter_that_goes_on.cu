// The counter goes on from launch to launch, and the last block is known by the remainder.
// ARGS: --run --check
// EXPECT: no error found
// NEVER: the counter
#include <cuda_runtime.h>

__device__ unsigned done;

__global__ void total(const int *in, int *parts, int *out) {
    if (threadIdx.x) return;
    parts[blockIdx.x] = in[blockIdx.x] * 2;
    __threadfence();
    unsigned place = atomicAdd(&done, 1u);
    if (place % gridDim.x != gridDim.x - 1) return;
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
