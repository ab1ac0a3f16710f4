// The sum of n floats: each block adds its part in shared memory, then one thread adds to the result.
//
//     redviz --run examples/sum.cu -- 40000        runs this program without a GPU
#include <cstdio>
#include <cstdlib>
#include <vector>

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

int main(int count, char **arguments) {
    int n = count > 1 ? atoi(arguments[1]) : 1000;
    std::vector<float> values(n, 1.0f);
    float *in, *out, result;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof(float));
    sum<<<(n + 255) / 256, 256>>>(in, out, n);
    cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%s: %.0f of %d\n", result == n ? "PASSED" : "FAILED", result, n);
    return result != n;
}
