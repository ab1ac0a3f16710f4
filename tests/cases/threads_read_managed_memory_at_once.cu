// Four threads of the host read what a launch writes, and none has waited: errors, and the program goes on.
// ARGS: --run --check
// EXIT: 1
// EXPECT: the host reads data before it has waited for launch 1 of fill, which uses it
// EXPECT: program exited 0
#include <cuda_runtime.h>
#include <thread>

__global__ void fill(int *data) {
    data[threadIdx.x] = threadIdx.x;
}

int main() {
    int *data, sums[4] = {};
    cudaMallocManaged(&data, 64 * sizeof *data);
    for (int turn = 0; turn < 100; turn++) {
        fill<<<1, 64>>>(data);
        std::thread threads[4];
        for (int t = 0; t < 4; t++)
            threads[t] = std::thread([=, &sums] { sums[t] += ((volatile int *)data)[t]; });
        for (std::thread &thread : threads) thread.join();
        cudaDeviceSynchronize();
    }
    return sums[0] != 0;
}
