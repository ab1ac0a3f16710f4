/* A graph made node by node: two kernels that a third one waits for. */
#include <cstdio>

__global__ void fill(int *out, int value) {
    out[threadIdx.x] = value;
}

__global__ void add(const int *a, const int *b, int *sum) {
    sum[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static cudaKernelNodeParams node_of(void *kernel, void **arguments) {
    cudaKernelNodeParams node = {};
    node.func = kernel;
    node.gridDim = dim3(1);
    node.blockDim = dim3(64);
    node.kernelParams = arguments;
    return node;
}

int main() {
    int *a, *b, *sum, three = 3, four = 4, out[64];
    cudaMalloc(&a, sizeof out);
    cudaMalloc(&b, sizeof out);
    cudaMalloc(&sum, sizeof out);
    void *fill_a[] = {&a, &three}, *fill_b[] = {&b, &four}, *add_both[] = {&a, &b, &sum};
    cudaKernelNodeParams first = node_of((void *)fill, fill_a), second = node_of((void *)fill, fill_b),
                         third = node_of((void *)add, add_both);
    cudaGraph_t graph;
    cudaGraphNode_t nodes[3];
    cudaGraphExec_t executable;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &first);
    cudaGraphAddKernelNode(&nodes[1], graph, nullptr, 0, &second);
    cudaGraphAddKernelNode(&nodes[2], graph, nodes, 2, &third);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, 0);
    cudaDeviceSynchronize();
    cudaMemcpy(out, sum, sizeof out, cudaMemcpyDeviceToHost);
    bool good = cudaGetLastError() == cudaSuccess;
    for (int value : out) good = good && value == 7;
    printf("%s: %d\n", good ? "PASSED" : "FAILED", out[63]);
    return !good;
}
