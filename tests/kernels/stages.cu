// Several launches that make one result, and parameters that are structures, as libraries pass them: an array with its shape
// and strides, the bounds of a launch, how items are shared among blocks, an operation without members.
#include <cstddef>
#include <cstdint>

__global__ void stage_sum(const float *in, float *out, int n) {
    __shared__ float words[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    words[threadIdx.x] = sum;
    __syncthreads();
    for (unsigned distance = blockDim.x / 2; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) words[threadIdx.x] += words[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = words[0];
}

// The sum of the sums of all blocks but the last: wrong.
__global__ void stage_lost(const float *in, float *out, int n) {
    float sum = 0;
    for (int i = 0; i < n - 1; i++) sum += in[i];
    if (threadIdx.x == 0) *out = sum;
}

struct View {
    float *data, *gradient;
    int shape[4], strides[4];
    uint16_t dimensions, flags;
};
struct Bounds {
    uint32_t shape[1];
    size_t size, threads_each;
};
__global__ void view_sum(Bounds bounds, View in, View out) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= bounds.size || in.dimensions != 1 || in.gradient) return;
    atomicAdd(out.data, *(const float *)((const char *)in.data + i * in.strides[0]));
}

struct Array {
    const int *data;
    ptrdiff_t size, shape[2], strides[2];
};
struct Largest {
    __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Share {
    int items, blocks, each;
};
template <typename Operation> __global__ void row_fold(Array in, int *out, Share share, Operation operation) {
    int row = blockIdx.x * share.each + threadIdx.x;
    if (threadIdx.x >= share.each || row >= share.items) return;
    const char *at = (const char *)in.data + row * in.strides[0];
    int result = *(const int *)at;
    for (ptrdiff_t column = 1; column < in.shape[1]; column++)
        result = operation(result, *(const int *)(at + column * in.strides[1]));
    out[row] = result;
}
template __global__ void row_fold<Largest>(Array, int *, Share, Largest);

// Ten elements past the ends are read, and ten are written.
__global__ void past_the_end(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n + 10) out[i] = in[i] + 1;
}
int main() {
    const int n = 1 << 14, blocks = 16, threads = 256;
    float *in, *partial, *total;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&partial, blocks * sizeof(float));
    cudaMalloc(&total, sizeof(float));
    stage_sum<<<blocks, threads>>>(in, partial, n);
    stage_sum<<<1, threads>>>(partial, total, blocks);
}
