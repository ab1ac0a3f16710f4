// An assertion of the host fails after a launch without a fault.
//
// ARGS: --run --check
// EXPECT: error: the program was ended by signal 6 (Aborted), though no CUDA call failed
// EXIT: 1
#include <cassert>

__global__ void count(int *counter) {
    atomicAdd(counter, 1);
}

int main() {
    int *counter, result;
    cudaMalloc(&counter, sizeof(int));
    cudaMemset(counter, 0, sizeof(int));
    count<<<2, 32>>>(counter);
    cudaMemcpy(&result, counter, sizeof result, cudaMemcpyDeviceToHost);
    assert(result == 32);
}
