// A function to be called, as exercises ask for one: the sum of n floats.
//
//     redviz examples/solve.cu --call 'solve(in=float[n]:random, out=float[1], n)' --n 1,31,4097 --expect 'sum(in)'
#include <cuda_runtime.h>

__global__ void sum(const float *in, float *out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

// The sum of in[0] to in[n - 1] in out[0]; both are in the memory of the GPU.
void solve(const float *in, float *out, int n) {
    cudaMemset(out, 0, sizeof(float));
    sum<<<(n + 255) / 256, 256>>>(in, out, n);
}
