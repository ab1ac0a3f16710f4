// Lanes that return early while the others name them in a mask: nobody waits for them. --verify compares each kernel with a
// GPU: tests/device/verify.sh.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define FULL 0xffffffffu
#define RETURN_IF(condition) \
    if (condition) return
#define EXIT_IF(condition) \
    if (condition) asm volatile("exit;")

// Each twice: with a return, and with exit.
#define KERNEL(name, LEAVE_IF)                                                                    \
    extern "C" __global__ void name##_redux(const int *in, int *out, int n) {                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        LEAVE_IF(i >= n);                                                                         \
        out[i] = __reduce_add_sync(FULL, in[i]);                                                  \
    }                                                                                             \
    extern "C" __global__ void name##_vote(const int *in, int *out, int n) {                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        LEAVE_IF(i >= n);                                                                         \
        int odd = in[i] & 1;                                                                      \
        out[i] = __popc(__ballot_sync(FULL, odd)) + 100 * __all_sync(FULL, in[i] > -1000000000) + \
                 200 * __any_sync(FULL, odd);                                                     \
    }                                                                                             \
    extern "C" __global__ void name##_match(const int *in, int *out, int n) {                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x, same = 0;                                  \
        LEAVE_IF(i >= n);                                                                         \
        unsigned any = __match_any_sync(FULL, in[i] & 3);                                         \
        out[i] = any ^ __match_all_sync(FULL, n, &same) ^ same;                                   \
    }                                                                                             \
    extern "C" __global__ void name##_syncwarp(const int *in, int *out, int n) {                  \
        __shared__ volatile int words[1024];                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        LEAVE_IF(i >= n);                                                                         \
        words[threadIdx.x] = in[i];                                                               \
        __syncwarp();                                                                             \
        out[i] = words[threadIdx.x & ~31];                                                        \
    }                                                                                             \
    extern "C" __global__ void name##_shuffle(const int *in, int *out, int n) {                   \
        int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;                   \
        LEAVE_IF(i >= n);                                                                         \
        int count = min(32, n - (i - lane)), sum = in[i];                                         \
        for (int by = 16; by > 0; by /= 2) {                                                      \
            int other = __shfl_down_sync(FULL, sum, by);                                          \
            if (lane + by < count) sum += other;                                                  \
        }                                                                                         \
        if (lane == 0) out[i / 32] = sum;                                                         \
    }                                                                                             \
    extern "C" __global__ void name##_group(const int *in, int *out, int n) {                     \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        LEAVE_IF(i >= n);                                                                         \
        cg::coalesced_group here = cg::coalesced_threads();                                       \
        int sum = cg::reduce(here, in[i], cg::plus<int>());                                       \
        if (here.thread_rank() == 0) out[i / 32] = sum;                                           \
    }                                                                                             \
    extern "C" __global__ void name##_barrier(const int *in, int *out, int n) {                   \
        __shared__ int words[1024];                                                               \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                            \
        LEAVE_IF(i >= n);                                                                         \
        words[threadIdx.x] = in[i];                                                               \
        int positive = __syncthreads_count(in[i] > 0);                                            \
        out[i] = words[0] + positive;                                                             \
    }

KERNEL(returns, RETURN_IF)
KERNEL(exits, EXIT_IF)

// A lane that is gone is read: undefined, and used.
extern "C" __global__ void reads_gone_lane(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int other = __shfl_down_sync(FULL, in[i], 1);
    out[i] = other; // WRONG reads_gone_lane
}

// Half of the warp passes the instruction by and ends behind it: it is waited for until then. An H200 does so.
extern "C" __global__ void half_passes_by(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = in[i];
    if (threadIdx.x % 32 < 16) sum = __reduce_add_sync(FULL, sum);
    out[i] = sum;
}

// Half of the warps wait at a barrier that the others never reach: they meet at the next one.
extern "C" __global__ void meets_elsewhere(const int *in, int *out, int n) {
    __shared__ int words[128];
    int t = threadIdx.x;
    words[t] = t < n ? in[t] : 0;
    __syncthreads();
    if (t < 64) {
        words[t] += words[t + 64];
        __syncthreads();
    }
    words[t] += 0;
    __syncthreads();
    if (t < n) out[t] = t < 64 ? words[t] - words[t + 64] : words[t];
}
