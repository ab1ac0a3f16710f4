// The host waits, a function of the stream runs behind the launch, a kernel and the host meet by flags.
// ARGS: --run --check
// EXIT: 0
// EXPECT: 4 distinct launches of 4: no error found
// EXPECT: program exited 0
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void twice(int *data) {
    data[threadIdx.x] *= 2;
}

__global__ void answer(volatile int *flag, int *data) {
    while (*flag == 0) {
    }
    *data += 1;
    __threadfence_system();
    *flag = 2;
}

static void look(void *data) {
    *(int *)data += 1;
}

int main() {
    int *data, *flag;
    cudaStream_t stream;
    cudaEvent_t done;
    cudaStreamCreate(&stream);
    cudaEventCreate(&done);
    cudaMallocManaged(&data, 32 * sizeof *data);
    cudaMallocHost(&flag, sizeof *flag);
    for (int i = 0; i < 32; i++) data[i] = i;
    twice<<<1, 32>>>(data);
    cudaDeviceSynchronize();
    data[0] += data[1];

    twice<<<1, 32, 0, stream>>>(data);
    cudaEventRecord(done, stream);
    cudaEventSynchronize(done);
    data[1] += data[0];

    twice<<<1, 32, 0, stream>>>(data);
    cudaLaunchHostFunc(stream, look, data);
    cudaStreamSynchronize(stream);

    *flag = 0;
    answer<<<1, 1>>>(flag, data);
    *(volatile int *)flag = 1;
    while (*(volatile int *)flag != 2) {
    }
    return *data != 10;
}
