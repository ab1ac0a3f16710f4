/* The first of two files (-rdc=true): its kernel calls a device function of the other one. */
#include <cstdio>

extern __device__ int twice(int x);
extern __device__ int calls;
extern int count_calls();

static __device__ __noinline__ void show(int x) {
    if (x == 31) printf("first %d\n", x);
}

__global__ void apply(const int *in, int *out) {
    show(in[threadIdx.x]);
    out[threadIdx.x] = twice(in[threadIdx.x]);
}

int main() {
    int in[32], out[32], *d_in, *d_out;
    for (int i = 0; i < 32; i++) in[i] = i;
    cudaMalloc(&d_in, sizeof in);
    cudaMalloc(&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    apply<<<1, 32>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    bool good = count_calls() == 32;
    for (int i = 0; i < 32; i++) good = good && out[i] == 2 * i;
    printf("%s: %d\n", good ? "PASSED" : "FAILED", out[31]);
    return !good;
}
