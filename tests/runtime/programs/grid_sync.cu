/* One cooperative launch reduces in two steps, with a barrier of the whole grid between them, in managed memory. */
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void sum_all(const float *in, float *partial, float *out, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    __shared__ float warps[8];
    float sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += in[i];
    for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(0xffffffff, sum, k);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    block.sync();
    if (threadIdx.x == 0) {
        float whole = 0;
        for (int w = 0; w < blockDim.x / 32; w++) whole += warps[w];
        partial[blockIdx.x] = whole;
    }
    grid.sync();
    if (grid.thread_rank() == 0) {
        float whole = 0;
        for (int b = 0; b < gridDim.x; b++) whole += partial[b];
        *out = whole;
    }
}

int main() {
    int n = 10000, blocks = 0;
    float *in, *partial, *out;
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sum_all, 256, 0);
    if (!properties.cooperativeLaunch || blocks < 1) return 2;
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&partial, 16 * sizeof(float));
    cudaMallocManaged(&out, sizeof(float));
    for (int i = 0; i < n; i++) in[i] = 1;
    void *arguments[] = {&in, &partial, &out, &n};
    cudaError_t error = cudaLaunchCooperativeKernel((void *)sum_all, dim3(16), dim3(256), arguments, 0, 0);
    cudaDeviceSynchronize();
    printf("%s: %g, %s\n", *out == 10000 ? "PASSED" : "FAILED", *out, cudaGetErrorString(error));
    return *out != 10000;
}
