// A GPU lets the host go on to its store; redviz ends the launch before the record of the event, and says so.
// ARGS: --run --check
// EXIT: 1
// EXPECT: note: a_launch_waits_for_the_host.cu line 21: launch 1 of wait may wait for what the host writes later
#include <cuda_runtime.h>

__global__ void wait(volatile int *flag) {
    while (*flag == 0) {
    }
}

int main() {
    int *flag;
    cudaEvent_t end;
    cudaStream_t stream;
    cudaEventCreate(&end);
    cudaStreamCreate(&stream);
    cudaMallocHost(&flag, sizeof *flag);
    *flag = 0;

    wait<<<1, 1, 0, stream>>>(flag);
    cudaEventRecord(end, stream);
    *flag = 1;
    return cudaStreamSynchronize(stream) != cudaSuccess;
}
