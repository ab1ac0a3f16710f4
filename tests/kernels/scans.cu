// Scans: prefix sums, right and wrong. Wrong lines say so; test_own_kernels.c looks for the words.
extern "C" __global__ void scan_two_buffers(const int *in, int *out, int n) {
    __shared__ int sums[2][256];
    int tid = threadIdx.x, from = 0;
    sums[0][tid] = tid < n ? in[tid] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        sums[1 - from][tid] = sums[from][tid] + (tid >= d ? sums[from][tid - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    if (tid < n) out[tid] = sums[from][tid];
}

extern "C" __global__ void scan_in_place(const int *in, int *out, int n) {
    __shared__ int sums[256];
    int tid = threadIdx.x;
    sums[tid] = tid < n ? in[tid] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (tid >= d) sums[tid] += sums[tid - d]; // WRONG scan_in_place
        __syncthreads();
    }
    if (tid < n) out[tid] = sums[tid];
}

extern "C" __global__ void scan_up_and_down(const int *in, int *out, int n) {
    __shared__ int sums[256];
    int tid = threadIdx.x;
    sums[tid] = tid < n ? in[tid] : 0;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        int i = (tid + 1) * 2 * d - 1;
        if (i < 256) sums[i] += sums[i - d];
    }
    for (int d = 64; d > 0; d /= 2) {
        __syncthreads();
        int i = (tid + 1) * 2 * d - 1;
        if (i + d < 256) sums[i + d] += sums[i];
    }
    __syncthreads();
    if (tid < n) out[tid] = sums[tid];
}

extern "C" __global__ void scan_shuffle(const unsigned *in, unsigned *out, int n) {
    __shared__ unsigned ends[32];
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    unsigned sum = tid < n ? in[tid] : 0;
    for (int d = 1; d < 32; d *= 2) {
        unsigned left = __shfl_up_sync(0xffffffff, sum, d);
        if (lane >= d) sum += left;
    }
    if (lane == 31) ends[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++) sum += ends[w];
    if (tid < n) out[tid] = sum;
}

// One element a block; a block waits for the sum that the block before it publishes.
extern "C" __global__ void scan_chain(const int *in, int *out, int *flags, int n) {
    int b = blockIdx.x;
    if (threadIdx.x != 0 || b >= n) return;
    int sum = in[b];
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0) {}
        __threadfence();
        sum += out[b - 1];
    }
    out[b] = sum;
    __threadfence();
    atomicExch(&flags[b], 1);
}

extern "C" __global__ void scan_chain_without_fence(const int *in, int *out, int *flags, int n) {
    int b = blockIdx.x;
    if (threadIdx.x != 0 || b >= n) return;
    int sum = in[b];
    if (b > 0) {
        while (atomicAdd(&flags[b - 1], 0) == 0) {}
        sum += out[b - 1]; // WRONG scan_chain_without_fence
    }
    out[b] = sum;
    atomicExch(&flags[b], 1);
}

// Decoupled look-back: flag and value share a word, which is published whole.
extern "C" __global__ void scan_packed(const int *in, int *out, volatile unsigned long long *words, int n) {
    int b = blockIdx.x;
    if (threadIdx.x != 0 || b >= n) return;
    unsigned long long before = 0;
    if (b > 0) {
        do before = words[b - 1];
        while (!(before >> 32));
    }
    int sum = (int)(unsigned)before + in[b];
    words[b] = 1ull << 32 | (unsigned)sum;
    out[b] = sum;
}
