/* Kernels whose waits are known; waits.c measures them. */

/* Warp 0 comes 3,000 cycles late to the barrier, so that the others wait for as long. */
extern "C" __global__ void late_warp(const int *in, int *out) {
    int value = in[threadIdx.x];
    if (threadIdx.x < 32) {
        long long begin = clock64();
        while (clock64() - begin < 3000) {
        }
    }
    __syncthreads();
    out[threadIdx.x] = value;
}

/* Each load needs the one before: nothing can hide the time that it takes. */
extern "C" __global__ void chase(const int *next, int *out, int steps) {
    int at = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < steps; i++) at = next[at];
    out[threadIdx.x] = at;
}

/* Eight loads at a time, which do not need each other. */
extern "C" __global__ void eight_loads(const float *in, float *out, int n) {
    float sum = 0;
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 8 * stride) {
#pragma unroll
        for (int k = 0; k < 8; k++) sum += in[i + k * stride];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
