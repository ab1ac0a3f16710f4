/* Sums whose order of additions does or does not depend on how they are launched; orders.c launches them. */

/* A thread a row. */
extern "C" __global__ void rows_by_thread(const float *in, float *out, int columns, int rows) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < columns; i++) sum += in[row * columns + i];
    out[row] = sum;
}

__device__ float sum_of_warp(float sum) {
    for (int distance = 16; distance; distance /= 2) sum += __shfl_down_sync(0xffffffffu, sum, distance);
    return sum;
}

/* A warp a row, whatever the block. */
extern "C" __global__ void rows_by_warp(const float *in, float *out, int columns, int rows) {
    int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (warp >= rows) return;
    float sum = 0;
    for (int i = lane; i < columns; i += 32) sum += in[warp * columns + i];
    sum = sum_of_warp(sum);
    if (lane == 0) out[warp] = sum;
}

/* In thread 0. */
__device__ float sum_of_block(float sum) {
    __shared__ float parts[32];
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < (blockDim.x + 31) / 32; i++) sum += parts[i];
    __syncthreads();
    return sum;
}

extern "C" __global__ void rows_by_block(const float *in, float *out, int columns, int rows) {
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += in[blockIdx.x * columns + i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/* A block a row at a time: the size of the grid changes nothing. */
extern "C" __global__ void rms_by_block(const float *in, float *out, int columns) {
    for (int row = blockIdx.x; row < 8; row += gridDim.x) {
        float sum = 0;
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            sum += in[row * columns + i] * in[row * columns + i];
        sum = sum_of_block(sum);
        float scale = rsqrtf(sum / columns + 1e-5f);
        for (int i = threadIdx.x; i < columns; i += blockDim.x)
            out[row * columns + i] = in[row * columns + i] * scale;
    }
}

extern "C" __global__ void rms_by_warp(const float *in, float *out, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int i = lane; i < columns; i += 32) sum += in[row * columns + i] * in[row * columns + i];
    sum = __shfl_sync(0xffffffffu, sum_of_warp(sum), 0);
    float scale = rsqrtf(sum / columns + 1e-5f);
    for (int i = lane; i < columns; i += 32) out[row * columns + i] = in[row * columns + i] * scale;
}

/* gridDim.y blocks share the elements of a sum. */
extern "C" __global__ void split_k(const float *in, float *out, int k) {
    int part = k / gridDim.y;
    const float *from = in + blockIdx.x * k + blockIdx.y * part;
    float sum = 0;
    for (int i = threadIdx.x; i < part; i += blockDim.x) sum += from[i];
    sum = sum_of_block(sum);
    if (threadIdx.x == 0) atomicAdd(&out[blockIdx.x], sum);
}

extern "C" __global__ void by_float_atomics(const float *in, float *out, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    sum = sum_of_warp(sum);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void by_long_atomics(const int *in, unsigned long long *out, int n) {
    unsigned long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    atomicAdd(out, sum);
}
