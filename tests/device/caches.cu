// Counts what a GPU loses where L1 holds an old copy of a line: what findings call stale_read, and its correct twin.
//
//   nvcc -arch=native -o caches tests/device/caches.cu && ./caches
//
// One line for each way: what was lost, of how many. With a fence after the atomic, nothing may be lost.
//
// NVIDIA H200, driver 580.159.04, 2026-11-29: beside a block that has loaded the line, old in 0 of 100 runs with 32, 64, 128
// and 132 blocks, in 100 of 100 with 160, 198, 264, 528 and 1056; with the fence in none. Under the lock 62 of 64, 116 of
// 128, 129 of 132, 238 of 264 and 395 of 528 increments are lost, as each block has loaded the line itself.
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

__device__ void write_when_all_are_here() {
    while (atomicAdd(&lock_word, 0u) < gridDim.x - 1) {
    }
    line[0] = 42;
    __threadfence();
    atomicExch(&flag, 1u);
}

// Block 0 writes line[0], then a flag; the others read the flag, then line[0].
template <bool warm, bool fence> __global__ void pass(int *out) {
    if (blockIdx.x == 0) {
        write_when_all_are_here();
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

// The first half of the blocks load line[1..31] and end; the second half read line[0] once its flag is up. A reader finds
// an old line in L1 where a block of the first half ran on its multiprocessor: with more blocks than those.
template <bool fence> __global__ void beside(int *out) {
    if (blockIdx.x == 0) {
        write_when_all_are_here();
        return;
    }
    bool loads = blockIdx.x < gridDim.x / 2;
    int seen = loads ? line[1 + blockIdx.x % 31] : 0;
    __threadfence_block();
    atomicAdd(&lock_word, 1u + (seen != 0));
    if (loads) return;
    while (atomicAdd(&flag, 0u) == 0u) {
    }
    if (fence) __threadfence();
    out[blockIdx.x] = line[0];
}

static int blocks, *out;

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

// How many of 100 runs had a reader that found the old value.
template <bool fence> static int old_runs(int count) {
    static int got[4096];
    int runs = 0;
    for (int run = 0; run < 100; run++) {
        bool old = false;
        begin(), beside<fence><<<count, 1>>>(out);
        cudaMemcpy(got, out, (size_t)count * sizeof *got, cudaMemcpyDeviceToHost);
        for (int i = count / 2; i < count; i++) old |= i && got[i] != 42;
        runs += old;
    }
    return runs;
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
    static const int counts[] = {32, 64, 128, 132, 160, 198, 264, 528, 1056};
    for (int count : counts)
        printf("beside a block that has loaded the line, %d blocks: old in %d of 100 runs without a fence, "
               "in %d with one\n",
               count, old_runs<false>(count), old_runs<true>(count));
    static const int locked[] = {64, 128, 132, 264, 528};
    for (int each : locked) {
        blocks = each;
        begin(), count<true, false><<<blocks, 1>>>(out), end_count("line loaded before, no fence");
    }
}
