// Dot products, softmax, layer norm, argmax: a block works on a row.
#include <cuda_fp16.h>

template <typename T> __device__ T sum_of_block(T value, T *partial) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / 32 ? partial[lane] : T(0);
    if (warp == 0)
        for (int d = 16; d > 0; d /= 2) value += __shfl_down_sync(0xffffffff, value, d);
    __syncthreads();
    if (threadIdx.x == 0) partial[0] = value;
    __syncthreads();
    value = partial[0];
    __syncthreads();
    return value;
}

extern "C" __global__ void dot_float(const float *a, const float *b, float *out, int n) {
    __shared__ float partial[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += a[i] * b[i];
    sum = sum_of_block(sum, partial);
    if (threadIdx.x == 0) out[0] = sum;
}

extern "C" __global__ void dot_double(const double *a, const double *b, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double product = i < n ? a[i] * b[i] : 0;
    for (int d = 16; d > 0; d /= 2) product += __shfl_xor_sync(0xffffffff, product, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, product);
}

extern "C" __global__ void dot_half(const __half *a, const __half *b, float *out, int n) {
    __shared__ float partial[32];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += __half2float(a[i]) * __half2float(b[i]);
    sum = sum_of_block(sum, partial);
    if (threadIdx.x == 0) out[0] = sum;
}

extern "C" __global__ void dot_lost(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float product = i < n ? a[i] * b[i] : 0;
    for (int d = 16; d > 0; d /= 2) product += __shfl_down_sync(0xffffffff, product, d);
    if (threadIdx.x % 32 == 0) *out += product; // WRONG dot_lost
}

extern "C" __global__ void softmax(const float *in, float *out, int n) {
    __shared__ float partial[32];
    const float *row = in + blockIdx.x * n;
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i]);
    sum = sum_of_block(sum, partial);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = expf(row[i]) / sum;
}

// The shared word is used for the maximum and again for the sum, with nothing between.
extern "C" __global__ void softmax_reuse(const float *in, float *out, int n) {
    __shared__ float values[128], result;
    int tid = threadIdx.x;
    values[tid] = in[tid];
    __syncthreads();
    if (tid == 0) {
        float most = values[0];
        for (int i = 1; i < n; i++) most = fmaxf(most, values[i]);
        result = most;
    }
    __syncthreads();
    float e = expf(values[tid] - result);
    values[tid] = e;
    __syncthreads();
    if (tid == 0) {
        float sum = 0;
        for (int i = 0; i < n; i++) sum += values[i];
        result = sum;
    } // and no barrier
    out[tid] = e / result; // WRONG softmax_reuse
}

extern "C" __global__ void layer_norm(const float *in, float *out, int n) {
    __shared__ float partial[32];
    const float *row = in + blockIdx.x * n;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += row[i];
    float mean = sum_of_block(sum, partial) / n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) squares += (row[i] - mean) * (row[i] - mean);
    float scale = rsqrtf(sum_of_block(squares, partial) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = (row[i] - mean) * scale;
}

// All 32 lanes load a partial sum, and the block has fewer warps.
extern "C" __global__ void layer_norm_unwritten(const float *in, float *out, int n) {
    __shared__ float partial[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = in[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (lane == 0) partial[warp] = sum;
    __syncthreads();
    sum = partial[lane]; // WRONG layer_norm_unwritten
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
    out[threadIdx.x] = in[threadIdx.x] - sum / n;
}

extern "C" __global__ void argmax(const float *in, int *out, int n) {
    __shared__ float values[256];
    __shared__ int places[256];
    int tid = threadIdx.x, place = -1;
    float most = -1e30f;
    for (int i = tid; i < n; i += blockDim.x)
        if (in[i] > most) most = in[i], place = i;
    values[tid] = most, places[tid] = place;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (tid < s && (values[tid + s] > values[tid] || (values[tid + s] == values[tid] && places[tid + s] < places[tid])))
            values[tid] = values[tid + s], places[tid] = places[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[0] = places[0];
}

extern "C" __global__ void argmax_race(const float *in, float *most, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0 && i < n && in[i] >= *most) {
        *most = in[i]; // WRONG argmax_race
        *out = i;
    }
}
