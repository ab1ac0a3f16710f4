// Nothing waits between the launch and the host: a sum that is printed, an input that is refilled.
// ARGS: --run --check
// EXIT: 1
// EXPECT: line 22: the host reads out before it has waited for launch 1 of sum, which uses it
// EXPECT: line 23: the host writes in before it has waited for launch 1 of sum, which uses it
// EXPECT: 2 errors of the program
#include <cuda_runtime.h>
#include <stdio.h>

__global__ void sum(const int *in, int *out) {
    int own = __reduce_add_sync(~0u, in[threadIdx.x]);
    if (threadIdx.x == 0) *out = own;
}

int main() {
    int *in, *out;
    cudaMallocManaged(&in, 32 * sizeof *in);
    cudaMallocManaged(&out, sizeof *out);
    for (int i = 0; i < 32; i++) in[i] = i;
    sum<<<1, 32>>>(in, out);

    printf("%d\n", *out);
    for (int i = 0; i < 32; i++) in[i] = 2 * i;
    return cudaDeviceSynchronize() != cudaSuccess;
}
