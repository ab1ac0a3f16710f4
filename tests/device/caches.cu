// Counts what a GPU loses where L1 holds an old copy of a line: what findings call stale_read, and its correct twin.
//
//   nvcc -arch=native -o caches tests/device/caches.cu && ./caches
//
// One line for each way: what was lost, of how many. With a fence after the atomic, nothing may be lost.
#include <cstdio>

__device__ unsigned lock_word, flag;
__device__ __align__(128) int line[256];

// Every block adds 1 to line[0] under a lock; with `warm`, it has loaded another word of that line before.
template <bool warm, bool fence> __global__ void count(int *out) {
    int seen = 0;
    if (warm) seen = line[1 + blockIdx.x % 31];
    while (atomicCAS(&lock_word, 0u, 1u) != 0u) {
    }
    if (fence) __threadfence();
    line[0] = line[0] + 1;
    __threadfence();
    atomicExch(&lock_word, 0u);
    out[blockIdx.x] = seen;
}

// Block 0 writes line[0], then a flag; the others read the flag, then line[0].
template <bool warm, bool fence> __global__ void pass(int *out) {
    if (blockIdx.x == 0) {
        while (atomicAdd(&lock_word, 0u) < gridDim.x - 1) {
        }
        line[0] = 42;
        __threadfence();
        atomicExch(&flag, 1u);
        return;
    }
    int seen = warm ? line[1 + blockIdx.x % 31] : 0;
    __threadfence_block();
    atomicAdd(&lock_word, 1u + (seen != 0));
    while (atomicAdd(&flag, 0u) == 0u) {
    }
    if (fence) __threadfence();
    out[blockIdx.x] = line[0];
}

// A look-back: a block adds the values of all blocks before it, each once its flag is up. 32 values share a line, which a
// block on the same multiprocessor may have loaded before the last of them was written.
__device__ int values[4096];
__device__ volatile int flags[4096];
__device__ unsigned ticket;

template <bool fence> __global__ void look_back(int *out) {
    __shared__ int number;
    if (threadIdx.x == 0) number = (int)atomicAdd(&ticket, 1u);
    __syncthreads();
    int own = number, sum = 1;
    if (threadIdx.x != 0) return;
    values[own] = 1;
    __threadfence();
    flags[own] = 1;
    for (int before = own - 1; before >= 0; before--) {
        while (!flags[before]) {
        }
        if (fence) __threadfence();
        sum += values[before];
    }
    out[own] = sum;
}

static int blocks, *out;

static void begin_look_back() {
    static int zeros[4096];
    unsigned zero = 0;
    cudaMemcpyToSymbol(values, zeros, sizeof zeros);
    cudaMemcpyToSymbol(flags, zeros, sizeof zeros);
    cudaMemcpyToSymbol(ticket, &zero, sizeof zero);
}

static bool is_wrong(int count) {
    static int got[4096];
    bool wrong = false;
    cudaMemcpy(got, out, (size_t)count * sizeof *got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; i++) wrong |= got[i] != i + 1;
    return wrong;
}

static void look_back_by_blocks(int count) {
    int wrong = 0, fenced = 0;
    for (int run = 0; run < 100; run++) {
        begin_look_back(), look_back<false><<<count, 32>>>(out), wrong += is_wrong(count);
        begin_look_back(), look_back<true><<<count, 32>>>(out), fenced += is_wrong(count);
    }
    printf("look-back, %d blocks: wrong in %d of 100 runs without a fence, in %d with one (%s)\n", count,
           wrong, fenced, cudaGetErrorString(cudaDeviceSynchronize()));
}

static void begin() {
    unsigned zero = 0;
    static int zeros[256];
    cudaMemcpyToSymbol(lock_word, &zero, sizeof zero);
    cudaMemcpyToSymbol(flag, &zero, sizeof zero);
    cudaMemcpyToSymbol(line, zeros, sizeof zeros);
    cudaMemset(out, 0, 4096 * sizeof *out);
}

static void end_count(const char *way) {
    int total;
    cudaMemcpyFromSymbol(&total, line, sizeof total);
    printf("lock, %s: %d of %d increments lost (%s)\n", way, blocks - total, blocks,
           cudaGetErrorString(cudaDeviceSynchronize()));
}

static void end_pass(const char *way) {
    static int got[4096];
    int old = 0;
    cudaMemcpy(got, out, (size_t)blocks * sizeof *got, cudaMemcpyDeviceToHost);
    for (int i = 1; i < blocks; i++) old += got[i] != 42;
    printf("message, %s: %d of %d reads old (%s)\n", way, old, blocks - 1,
           cudaGetErrorString(cudaDeviceSynchronize()));
}

int main() {
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    blocks = device.multiProcessorCount;
    cudaMalloc(&out, 4096 * sizeof *out);
    printf("%s, %d blocks of one thread\n", device.name, blocks);
    begin(), count<true, false><<<blocks, 1>>>(out), end_count("line loaded before, no fence");
    begin(), count<true, true><<<blocks, 1>>>(out), end_count("line loaded before, fence");
    begin(), count<false, false><<<blocks, 1>>>(out), end_count("line not loaded before, no fence");
    begin(), pass<true, false><<<blocks, 1>>>(out), end_pass("line loaded before, no fence");
    begin(), pass<true, true><<<blocks, 1>>>(out), end_pass("line loaded before, fence");
    begin(), pass<false, false><<<blocks, 1>>>(out), end_pass("line not loaded before, no fence");
    static const int counts[] = {32, 64, 128, 132, 133, 160, 264, 528, 1056, 4096};
    for (int count : counts) look_back_by_blocks(count);
    static const int locked[] = {64, 128, 132, 264, 528};
    for (int each : locked) {
        blocks = each;
        begin(), count<true, false><<<blocks, 1>>>(out), end_count("line loaded before, no fence");
    }
}
