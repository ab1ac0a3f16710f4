// The host waits for the event behind the copy.
// ARGS: --run --check
// EXPECT: no error found
// EXPECT: program exited 0
#include <cuda_runtime.h>

__global__ void fill(int *to) {
    to[threadIdx.x] = 3 * threadIdx.x;
}

int main() {
    int *device, *pinned, sum = 0;
    cudaStream_t stream;
    cudaEvent_t copied;
    cudaStreamCreate(&stream);
    cudaEventCreate(&copied);
    cudaMalloc(&device, 64 * sizeof(int));
    cudaMallocHost(&pinned, 64 * sizeof(int));
    fill<<<1, 64, 0, stream>>>(device);
    cudaMemcpyAsync(pinned, device, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(copied, stream);
    cudaEventSynchronize(copied);
    for (int i = 0; i < 64; i++) sum += pinned[i];
    cudaStreamSynchronize(stream);
    return sum != 3 * 63 * 32;
}
