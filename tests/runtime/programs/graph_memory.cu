/* Memory that a captured graph allocates and frees: each launch has it anew, at one address. */
#include <cstdio>

enum { COUNT = 256 };

__global__ void fill(int *values, int value) {
    values[threadIdx.x] = value;
}

__global__ void add(const int *values, int *out) {
    out[threadIdx.x] += values[threadIdx.x];
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
    printf("%s: %d\n", good ? "PASSED" : "FAILED", host[0]);
    return !good;
}
