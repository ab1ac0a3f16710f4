/* Memory that a captured graph allocates and frees: each launch has it anew, at one address. */
#include <cstdio>

enum { COUNT = 256, PAGE = 2 << 20 };

__global__ void fill(int *values, int value) {
    values[threadIdx.x] = value;
}

__global__ void add(const int *values, int *out) {
    out[threadIdx.x] += values[threadIdx.x];
}

/* Used and reserved memory of graphs, each now and at most, in pages. */
static void show(const char *when) {
    unsigned long long values[4];
    for (int i = 0; i < 4; i++) cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)i, &values[i]);
    printf("%s: %llu %llu %llu %llu\n", when, values[0] / PAGE, values[1] / PAGE, values[2] / PAGE,
           values[3] / PAGE);
}

/* Memory stays mapped until its executable graph is destroyed, and reserved until it is trimmed. */
static void footprint(cudaStream_t stream) {
    void *first, *second;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    unsigned long long zero = 0, one = 1;
    cudaDeviceGraphMemTrim(0);
    cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero);
    cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&first, PAGE, stream);
    cudaMallocAsync(&second, 2 * PAGE - 1, stream);
    cudaFreeAsync(first, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    show("made");
    cudaGraphLaunch(executable, stream);
    show("launched");
    cudaDeviceGraphMemTrim(0);
    show("trimmed");
    cudaFree(second);
    cudaGraphLaunch(executable, stream);
    cudaFreeAsync(second, stream);
    show("freed");
    cudaGraphExecDestroy(executable);
    show("destroyed");
    cudaDeviceGraphMemTrim(0);
    show("trimmed");
    printf("set to 1: %d, current: %d, no such: %d, device 1: %d\n",
           cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &one),
           cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &zero),
           cudaDeviceGetGraphMemAttribute(0, (cudaGraphMemAttributeType)4, &one), cudaDeviceGraphMemTrim(1));
}

int main() {
    int *out, *own, *other, host[COUNT], type = 0;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);

    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMallocAsync(&own, sizeof host, stream);
    fill<<<1, COUNT, 0, stream>>>(own, 3);
    add<<<1, COUNT, 0, stream>>>(own, out);
    cudaFreeAsync(own, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaMalloc(&other, sizeof host); /* does not get the graph's place */

    size_t count = 4;
    cudaGraphNode_t nodes[4];
    cudaGraphGetNodes(graph, nodes, &count);
    cudaGraphNodeGetType(nodes[0], (cudaGraphNodeType *)&type);
    bool good = count == 4 && type == cudaGraphNodeTypeMemAlloc && own != other;
    cudaGraphExec_t executable;
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int value : host) good = good && value == 9;
    good = good && cudaGetLastError() == cudaSuccess;

    /* One that is built node by node, without its end: the program frees it. */
    cudaGraph_t built;
    cudaGraphNode_t node;
    cudaMemAllocNodeParams wanted = {};
    wanted.poolProps.allocType = cudaMemAllocationTypePinned;
    wanted.poolProps.location.type = cudaMemLocationTypeDevice;
    wanted.bytesize = sizeof host;
    cudaGraphCreate(&built, 0);
    good = good && cudaGraphAddMemAllocNode(&node, built, nullptr, 0, &wanted) == cudaSuccess;
    cudaGraphInstantiate(&executable, built, 0);
    cudaGraphLaunch(executable, stream);
    fill<<<1, COUNT, 0, stream>>>((int *)wanted.dptr, 5);
    cudaMemcpy(host, wanted.dptr, sizeof host, cudaMemcpyDeviceToHost);
    good = good && host[COUNT - 1] == 5 && cudaFree(wanted.dptr) == cudaSuccess;

    /* A second launch fails while the first one's memory is allocated, unless it is asked to free it. */
    cudaGraphExec_t freeing;
    cudaGraphInstantiate(&freeing, built, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    good = good && cudaGraphLaunch(executable, stream) == cudaSuccess;
    good = good && cudaGraphLaunch(executable, stream) == cudaErrorInvalidValue;
    good = good && cudaGetLastError() == cudaErrorInvalidValue;
    good = good && cudaGraphLaunch(freeing, stream) == cudaSuccess;
    good = good && cudaGraphLaunch(freeing, stream) == cudaSuccess;
    cudaFree(wanted.dptr);
    cudaGraphExecDestroy(freeing);
    cudaGraphExecDestroy(executable);
    footprint(stream);
    printf("%s: %d\n", good ? "PASSED" : "FAILED", host[0]);
    return !good;
}
