// Faults, functions, printf, three dimensions.
#include <cstdio>

__device__ __noinline__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

extern "C" __global__ void recursion(int *out, int n) {
    if (threadIdx.x < n) out[threadIdx.x] = fibonacci(threadIdx.x);
}

extern "C" __global__ void print(const int *in, int *out) {
    if (threadIdx.x % 16 == 0) printf("thread %d has %d\n", threadIdx.x, in[threadIdx.x]);
    out[threadIdx.x] = in[threadIdx.x];
}

extern "C" __global__ void box_sum(const int *in, int *out, int side) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= side || y >= side || z >= side) return;
    int sum = 0;
    for (int dz = 0; dz < 2 && z + dz < side; dz++)
        for (int dy = 0; dy < 2 && y + dy < side; dy++)
            for (int dx = 0; dx < 2 && x + dx < side; dx++) sum += in[((z + dz) * side + y + dy) * side + x + dx];
    out[(z * side + y) * side + x] = sum;
}

extern "C" __global__ void box_sum_outside(const int *in, int *out, int side) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= side || y >= side) return;
    out[(z * side + y) * side + x] = in[(z * side + y) * side + x]; // WRONG box_sum_outside
}

extern "C" __global__ void barrier_in_branch(int *out) {
    if (threadIdx.x < 16) __syncthreads(); // WRONG barrier_in_branch
    out[threadIdx.x] = 1;
}

extern "C" __global__ void waits_for_nobody(int *flag, int *out) {
    while (atomicAdd(flag, 0) == 0) {} // WRONG waits_for_nobody
    out[threadIdx.x] = 1;
}

extern "C" __global__ void lanes_that_never_come(const int *in, int *out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) value += __shfl_xor_sync(0xffffffff, value, 1); // a note: an H200 goes on
    else value += __shfl_xor_sync(0xffff0000, value, 1);
    out[threadIdx.x] = value;
}

extern "C" __global__ void shuffle_from_idle(const int *in, int *out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 16) value += __shfl_down_sync(0x0000ffff, value, 8); // WRONG shuffle_from_idle
    out[threadIdx.x] = value;
}

extern "C" __global__ void all_store_one(int *out) {
    out[0] = threadIdx.x; // WRONG all_store_one
}

extern "C" __global__ void all_store_the_same(int *out, int n) {
    if (threadIdx.x < n) out[0] = n;
}

extern "C" __global__ void vector_misaligned(const float *in, float4 *out) {
    out[threadIdx.x] = *(const float4 *)(in + 1 + 4 * threadIdx.x); // WRONG vector_misaligned
}

extern "C" __global__ void vector_copy(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; }

extern "C" __global__ void unwritten_local(const int *in, int *out, int n) {
    int values[16];
    values[n & 15] = n;
    out[threadIdx.x] = values[in[threadIdx.x] & 15]; // WRONG unwritten_local
}

extern "C" __global__ void product_wraps(const int *in, int *out, unsigned n) {
    int row = (int)(n * 50000);
    out[threadIdx.x] = in[row]; // WRONG product_wraps
}

extern "C" __global__ void below_zero(const int *in, int *out, unsigned n) {
    unsigned i = threadIdx.x;
    out[i] = in[i] - in[i - 1]; // WRONG below_zero
}

extern "C" __global__ void store_to_constant_size(const int *in, int *out, int n) {
    __shared__ int few[32];
    few[threadIdx.x] = in[threadIdx.x]; // WRONG store_to_constant_size
    __syncthreads();
    out[threadIdx.x] = few[threadIdx.x];
}
