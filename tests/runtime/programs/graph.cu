/* A graph made node by node: two kernels that a third one waits for; and what graphs keep alive. */
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

static int freed;

static void count_freed(void *value) {
    freed += *(int *)value;
}

/* The object lives as long as the program or a graph has a reference: two graphs and an executable one here. */
static bool objects_live_as_long_as_their_graphs() {
    static int value = 1;
    cudaUserObject_t object;
    cudaGraph_t graph, clone;
    cudaGraphExec_t executable;
    bool good = cudaUserObjectCreate(&object, &value, count_freed, 1, 0) == cudaErrorInvalidValue;
    cudaUserObjectCreate(&object, &value, count_freed, 2, cudaUserObjectNoDestructorSync);
    cudaGraphCreate(&graph, 0);
    cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
    cudaGraphRetainUserObject(graph, object, 1, 0);
    good = good && cudaGraphReleaseUserObject(graph, object, 2) == cudaErrorInvalidValue;
    cudaUserObjectRelease(object, 1);
    cudaGraphClone(&clone, graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    cudaGraphExecDestroy(executable);
    good = good && cudaGraphReleaseUserObject(clone, object, 1) == cudaSuccess;
    cudaDeviceSynchronize();
    good = good && freed == 0;
    cudaGraphDestroy(clone);
    cudaDeviceSynchronize();
    cudaGetLastError();
    return good && freed == 1;
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
    bool good = cudaGetLastError() == cudaSuccess && objects_live_as_long_as_their_graphs();
    for (int value : out) good = good && value == 7;
    printf("%s: %d\n", good ? "PASSED" : "FAILED", out[63]);
    return !good;
}
