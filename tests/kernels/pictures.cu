// Folds that are no plain tree of sums, for test_adds_up.c: each picture of them has to be the kernel's own
// arithmetic. One block of 64 threads.
extern "C" __global__ void xor_halves(const int *in, int *out) {
    __shared__ int words[64];
    int tid = threadIdx.x;
    words[tid] = in[tid];
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (tid < s) words[tid] ^= words[tid + s];
        __syncthreads();
    }
    if (tid == 0) *out = words[0];
}

extern "C" __global__ void four_at_once(const int *in, int *out) {
    __shared__ int words[64];
    int tid = threadIdx.x;
    words[tid] = in[tid];
    __syncthreads();
    for (int s = 16; s > 0; s /= 4) {
        if (tid < s) words[tid] += words[tid + s] + words[tid + 2 * s] + words[tid + 3 * s];
        __syncthreads();
    }
    if (tid == 0) *out = words[0];
}

extern "C" __global__ void own_words(const int *in, int *out) {
    __shared__ int words[256];
    int tid = threadIdx.x, sum = 0;
    for (int i = 0; i < 4; i++) words[4 * tid + i] = in[4 * tid + i];
    for (int i = 0; i < 4; i++) sum += words[4 * tid + i];
    atomicAdd(out, sum);
}

extern "C" __global__ void less_its_neighbour(const int *in, int *out) {
    __shared__ int words[64];
    int tid = threadIdx.x;
    words[tid] = in[tid];
    __syncthreads();
    if (tid > 0) out[tid] = words[tid] - words[tid - 1];
}

extern "C" __global__ void largest_by_branch(const float *in, float *out) {
    __shared__ float words[64];
    int tid = threadIdx.x;
    words[tid] = in[tid];
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (tid < s && words[tid + s] > words[tid]) words[tid] = words[tid + s];
        __syncthreads();
    }
    if (tid == 0) *out = words[0];
}

extern "C" __global__ void squares(const float *in, float *out) {
    float sum = 0;
    for (int i = threadIdx.x; i < 192; i += 64) sum += in[i] * in[i];
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void mean_and_spread(const float *in, float *out) { // Welford's, merged by Chan's rule
    float mean = in[threadIdx.x], spread = 0, count = 1;
    for (int s = 16; s > 0; s /= 2) {
        float other_mean = __shfl_down_sync(~0u, mean, s), other_spread = __shfl_down_sync(~0u, spread, s);
        float apart = other_mean - mean;
        mean += apart / 2;
        spread += other_spread + apart * apart * count / 2;
        count *= 2;
    }
    if (threadIdx.x == 0) out[0] = mean, out[1] = spread;
}

extern "C" __global__ void halvings_of_pairs(const float *in, float *out) { // a sum and what rounding took from it
    __shared__ float sums[64], lows[64];
    int tid = threadIdx.x;
    sums[tid] = in[tid];
    lows[tid] = 0;
    __syncthreads();
    for (int s = 32; s > 0; s /= 2) {
        if (tid < s) {
            float a = sums[tid], b = sums[tid + s], sum = a + b, of_b = sum - a;
            sums[tid] = sum;
            lows[tid] += lows[tid + s] + ((a - (sum - of_b)) + (b - of_b));
        }
        __syncthreads();
    }
    if (tid == 0) *out = sums[0] + lows[0];
}

extern "C" __global__ void atomics_of_bits(const int *in, int *out) { // each word is first updated by one thread
    __shared__ int words[4];
    int tid = threadIdx.x;
    if (tid < 4) words[tid] = tid == 0 ? -1 : 5;
    __syncthreads();
    if (tid < 4) atomicMax(&words[tid], in[tid]);
    __syncthreads();
    if (tid < 16) atomicXor(&words[tid % 4], in[tid] * 3);
    __syncthreads();
    if (tid < 4) atomicOr(&out[tid], words[tid]);
}
