/* The second of two files: a device function that parts.cu calls, and the variable that it counts in. */
#include <cstdio>

__device__ int calls = 0;

static __device__ __noinline__ void show(int x) {
    if (x == 31) printf("second %d\n", x);
}

__device__ __noinline__ int twice(int x) {
    show(x);
    atomicAdd(&calls, 1);
    return x + x;
}

__global__ void add_to(int *out) {
    *out = twice(0) + calls;
}

int count_calls() {
    int count = 0;
    cudaMemcpyFromSymbol(&count, calls, sizeof count);
    return count;
}
