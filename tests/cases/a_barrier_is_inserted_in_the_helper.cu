// A barrier that is missing in a helper is inserted in the helper, not after the call; the helper is called
// once directly and once by another helper. A barrier after the calls does not help: it is there. The compiler
// has kept what is stored in a register, so that no barrier in the PTX helps either.
// ARGS: --check
// EXIT: 1
// EXPECT: insert __syncthreads() after line 16
// EXPECT: Proved in a copy of the source
// EXPECT: Called from line 30.
// NEVER: after line 23
// NEVER: after line 30
#include <cuda_runtime.h>

__device__ int first_of_block(int value) {
    __shared__ int first;
    int lane = threadIdx.x;
    if (lane == 0) first = value; // published

    // ... and read by all
    return first;
}

__device__ int twice(int value) {
    int first = first_of_block(value);
    __syncthreads();
    return 2 * first;
}

__global__ void spread(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = first_of_block(in[i]);
    __syncthreads();
    out[i] = a + twice(in[i] + 1);
}

int main() {
    const int n = 512;
    int *in, *out;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    spread<<<4, 128>>>(in, out, n);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
