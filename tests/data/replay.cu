// What a replay has to get right beyond reductions. replay.ptx is this file, compiled by
// nvcc -ptx -arch=compute_75 -Xcicc -O1 -o tests/data/replay.ptx tests/data/replay.cu

// Weights through calls: half of the range each, down to one element.
__device__ __noinline__ int tree(const int *in, int first, int count) {
    if (count == 1) return in[first];
    return tree(in, first, count / 2) + tree(in, first + count / 2, count - count / 2);
}
extern "C" __global__ void calls(const int *in, int *out, int count) {
    out[threadIdx.x] = tree(in, threadIdx.x * count, count - threadIdx.x % 3);
}

// Lanes of a warp fight for a lock: they spin, and go one after another.
extern "C" __global__ void lane_lock(const int *in, int *out) {
    __shared__ volatile int sum;
    __shared__ int lock;
    if (threadIdx.x == 0) sum = 0, lock = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            sum = sum + in[threadIdx.x];
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = sum;
}

// A double through compare and swap.
extern "C" __global__ void cas_add(const double *in, unsigned long long *out) {
    unsigned long long old = *out, assumed;
    do {
        assumed = old;
        old = atomicCAS(out, assumed, __double_as_longlong(__longlong_as_double(assumed) + in[threadIdx.x]));
    } while (assumed != old);
}

// One generic load whose lanes go to shared, global and local memory.
extern "C" __global__ void spaces(const int *in, int *out) {
    __shared__ int shared[64];
    volatile int local[4];
    shared[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 64];
    for (int i = 0; i < 4; i++) local[i] = in[threadIdx.x] + in[threadIdx.x + 64] + in[i];
    __syncthreads();
    const volatile int *from = threadIdx.x % 3 == 0   ? &shared[threadIdx.x]
                               : threadIdx.x % 3 == 1 ? &local[threadIdx.x % 4]
                                                      : (const volatile int *)&in[threadIdx.x];
    out[threadIdx.x] = *from;
}

// Warps wait for warps: a chain of flags in shared memory, no barrier.
extern "C" __global__ void chain(const int *in, int *out) {
    __shared__ volatile int partial[33];
    if (threadIdx.x < 33) partial[threadIdx.x] = -1;
    __syncthreads();
    int warp = threadIdx.x / 32, value = in[threadIdx.x];
    for (int delta = 16; delta; delta /= 2) value += __shfl_down_sync(0xffffffff, value, delta);
    if (threadIdx.x % 32 == 0) {
        int before = 0;
        if (warp) do before = partial[warp - 1]; while (before < 0);
        partial[warp] = before + value;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[0] = partial[blockDim.x / 32 - 1];
}
