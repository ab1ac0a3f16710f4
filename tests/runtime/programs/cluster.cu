/* Blocks of a cluster read each other's shared memory; cudaLaunchKernelEx says how many blocks a cluster has. */
#include <cooperative_groups.h>
#include <cstdio>
namespace cg = cooperative_groups;

__global__ void sum_cluster(const int *in, int *out) {
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        int whole = 0;
        for (unsigned int b = 0; b < cluster.num_blocks(); b++) whole += *cluster.map_shared_rank(&sum, b);
        out[blockIdx.x / cluster.num_blocks()] = whole;
    }
    cluster.sync();
}

int main() {
    int in[8 * 64], out[2], *d_in, *d_out;
    for (int i = 0; i < 8 * 64; i++) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaLaunchConfig_t configuration = {};
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 4;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    configuration.gridDim = dim3(8);
    configuration.blockDim = dim3(64);
    configuration.attrs = attribute;
    configuration.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&configuration, sum_cluster, (const int *)d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool good = out[0] == 255 * 128 && out[1] == 256 * 256 + 255 * 128;
    printf("%s: %d, %d, %s\n", good ? "PASSED" : "FAILED", out[0], out[1], cudaGetErrorString(error));
    return !good;
}
