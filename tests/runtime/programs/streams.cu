/* Two streams that an event orders, and a graph captured from a stream and launched three times; the kernel is a template. */
#include <cstdio>
#include <vector>

template <typename T, int FACTOR> __global__ void scale(T *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= FACTOR;
}

__global__ void add(const int *a, int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] += a[i];
}

int main() {
    const int n = 1000;
    std::vector<int> ones(n, 1), out(n);
    int *a, *b;
    cudaStream_t first, second;
    cudaEvent_t done, begun;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&first);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreate(&begun);
    cudaEventCreate(&done);
    cudaMalloc(&a, n * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMemcpyAsync(a, ones.data(), n * sizeof(int), cudaMemcpyHostToDevice, first);
    cudaMemsetAsync(b, 0, n * sizeof(int), first);
    cudaEventRecord(begun, first);
    scale<int, 3><<<(n + 255) / 256, 256, 0, first>>>(a, n); /* a = 3 */
    cudaEventRecord(done, first);
    cudaStreamWaitEvent(second, done, 0);
    add<<<(n + 255) / 256, 256, 0, second>>>(a, b, n); /* b = 3 */
    cudaStreamSynchronize(second);
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    scale<int, 2><<<(n + 255) / 256, 256, 0, first>>>(a, n);
    add<<<(n + 255) / 256, 256, 0, first>>>(a, b, n);
    cudaStreamEndCapture(first, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    for (int i = 0; i < 3; i++) cudaGraphLaunch(executable, first); /* b = 3 + 6 + 12 + 24 */
    cudaMemcpyAsync(out.data(), b, n * sizeof(int), cudaMemcpyDeviceToHost, first);
    cudaStreamSynchronize(first);
    float milliseconds = -1;
    cudaEventElapsedTime(&milliseconds, begun, done);
    bool good = milliseconds >= 0;
    for (int value : out) good = good && value == 45;
    printf("%s: %d\n", good ? "PASSED" : "FAILED", out[n - 1]);
    return !good;
}
