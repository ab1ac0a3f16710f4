// Times what lectures say and no recorded table has: where the time of atomics goes, trees beside bytes in flight, and
// bank conflicts in throughput.
//
//   nvcc -arch=native -o figures tests/device/figures.cu && ./figures
//
// The least of nine times of each launch, on 2^28 ints in blocks of 256 threads; the last six are 8,000 shared loads a
// thread in 1,056 blocks, whose lanes are so many words apart.
//
// NVIDIA H200, driver 580.159.04, 2026-11-29, microseconds: 2 ints a thread 425, with an atomic to one word 703, to 1,024
// words 426; an atomic an element 6,552, 4,140; 4 ints 264, 8 ints 240; an int4 260, two one after the other in half as
// many blocks 247, two at once 241, four 240. Shared loads 1, 2, 4, 8, 16, 32 words apart: 268, 528, 1,050, 2,088, 4,150,
// 8,292.
#include <cstdio>

enum { THREADS = 256, WARPS = THREADS / 32, WORDS = 1024, APART = 32, LOADS = 8, ROUNDS = 1000 };
enum Target { STORED, ONE_WORD, MANY_WORDS };

// Adds the threads' sums by shuffles, and hands the block's sum on.
template <Target target> __device__ void finish(int sum, int *out) {
    __shared__ int sums[WARPS];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
    if (!lane) sums[warp] = sum;
    __syncthreads();
    if (warp) return;
    sum = lane < WARPS ? sums[lane] : 0;
    for (int by = 16; by; by /= 2) sum += __shfl_down_sync(~0u, sum, by);
    if (lane) return;
    if (target == STORED)
        out[blockIdx.x] = sum;
    else
        atomicAdd(out + (target == ONE_WORD ? 0 : blockIdx.x % WORDS * APART), sum);
}

// Two ints a thread, as shuffle_atomic adds them.
template <Target target> __global__ void two_ints(const int *in, int *out) {
    unsigned i = blockIdx.x * 2 * THREADS + threadIdx.x;
    finish<target>(in[i] + in[i + THREADS], out);
}

// An atomic for each element, as `atomic` has them.
template <Target target> __global__ void atomics(const int *in, int *out) {
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    atomicAdd(out + (target == ONE_WORD ? 0 : i / 32 % WORDS * APART), in[i]);
}

template <int COUNT> __global__ void ints(const int *in, int *out) {
    int sum = 0, value[COUNT];
    unsigned begin = blockIdx.x * THREADS * COUNT + threadIdx.x;
#pragma unroll
    for (int k = 0; k < COUNT; k++) value[k] = in[begin + k * THREADS];
#pragma unroll
    for (int k = 0; k < COUNT; k++) sum += value[k];
    finish<STORED>(sum, out);
}

// TURNS times COUNT vectors: those of one turn are in flight together.
template <int COUNT, int TURNS> __global__ void vectors(const int4 *in, int *out) {
    int sum = 0;
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        int4 value[COUNT];
        unsigned begin = (blockIdx.x * TURNS + turn) * THREADS * COUNT + threadIdx.x;
#pragma unroll
        for (int k = 0; k < COUNT; k++) value[k] = in[begin + k * THREADS];
#pragma unroll
        for (int k = 0; k < COUNT; k++) sum += value[k].x + value[k].y + value[k].z + value[k].w;
    }
    finish<STORED>(sum, out);
}

__global__ void shared_loads(int *out, unsigned stride) {
    __shared__ int words[WORDS];
    for (unsigned i = threadIdx.x; i < WORDS; i += THREADS) words[i] = i;
    __syncthreads();
    unsigned place = (unsigned)__cvta_generic_to_shared(words) + threadIdx.x % 32 * stride % WORDS * 4;
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++)
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            int value;
            asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(value) : "r"(place));
            sum += value;
        }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <typename Launch> void time_it(const char *what, Launch launch) {
    cudaEvent_t begin, end;
    float least = 1e9f, now;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    for (int i = 0; i < 9; i++) {
        cudaEventRecord(begin);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&now, begin, end);
        if (now < least) least = now;
    }
    printf("%-46s %9.1f us\n", what, 1000 * least);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

int main() {
    const unsigned n = 1u << 28;
    int *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n / THREADS * sizeof *out + WORDS * APART * sizeof *out);
    cudaMemset(in, 1, n * sizeof *in);
    const int4 *wide = (const int4 *)in;
    time_it("2 ints a thread, sums stored", [=] { two_ints<STORED><<<n / 512, THREADS>>>(in, out); });
    time_it("  added to one word", [=] { two_ints<ONE_WORD><<<n / 512, THREADS>>>(in, out); });
    time_it("  added to 1,024 words", [=] { two_ints<MANY_WORDS><<<n / 512, THREADS>>>(in, out); });
    time_it("an atomic an element, to one word", [=] { atomics<ONE_WORD><<<n / 256, THREADS>>>(in, out); });
    time_it("  to 1,024 words", [=] { atomics<MANY_WORDS><<<n / 256, THREADS>>>(in, out); });
    time_it("4 ints a thread", [=] { ints<4><<<n / 1024, THREADS>>>(in, out); });
    time_it("8 ints a thread", [=] { ints<8><<<n / 2048, THREADS>>>(in, out); });
    time_it("an int4 a thread", [=] { vectors<1, 1><<<n / 1024, THREADS>>>(wide, out); });
    time_it("  two, one after the other", [=] { vectors<1, 2><<<n / 2048, THREADS>>>(wide, out); });
    time_it("  two at once", [=] { vectors<2, 1><<<n / 2048, THREADS>>>(wide, out); });
    time_it("  four at once", [=] { vectors<4, 1><<<n / 4096, THREADS>>>(wide, out); });
    for (unsigned stride = 1; stride <= 32; stride *= 2) {
        char what[48];
        snprintf(what, sizeof what, "shared loads, %u words apart", stride);
        time_it(what, [=] { shared_loads<<<1056, THREADS>>>(out, stride); });
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
