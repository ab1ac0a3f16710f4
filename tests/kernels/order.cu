// What puts threads in order, and what does not: locks, barriers, warp syncs, fences, scopes.
extern "C" __global__ void spin_lock(int *lock, int *count, int n) {
    if (threadIdx.x % 32 != 0) return;
    for (int i = 0; i < n; i++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *count = *count + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void spin_lock_without_fence(int *lock, int *count, int n) {
    if (threadIdx.x % 32 != 0) return;
    for (int i = 0; i < n; i++) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        *count = *count + 1; // WRONG spin_lock_without_fence
        atomicExch(lock, 0);
    }
}

extern "C" __global__ void spin_lock_of_lanes(int *count) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            *count += threadIdx.x;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
}

// Warps 0 and 1 produce, 2 and 3 consume; one barrier for each direction.
extern "C" __global__ void named_barriers(const int *in, int *out) {
    __shared__ int box[64];
    int tid = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (tid < 64) {
            if (round) asm volatile("bar.sync 2, 128;" ::: "memory");
            box[tid] = in[round * 64 + tid] * 2;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[round * 64 + tid - 64] = box[127 - tid];
            if (round < 3) asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

extern "C" __global__ void named_barrier_forgotten(const int *in, int *out) {
    __shared__ int box[64];
    int tid = threadIdx.x;
    for (int round = 0; round < 4; round++) {
        if (tid < 64) {
            box[tid] = in[round * 64 + tid] * 2; // WRONG named_barrier_forgotten
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[round * 64 + tid - 64] = box[127 - tid];
        }
    }
}

extern "C" __global__ void half_warps(const int *in, int *out) {
    __shared__ int box[32];
    int lane = threadIdx.x;
    unsigned half = lane < 16 ? 0xffff : 0xffff0000;
    box[lane] = in[lane];
    __syncwarp(half);
    int other = box[lane ^ 15];
    __syncwarp(half);
    box[lane] = other + 1;
    __syncwarp(half);
    out[lane] = box[lane ^ 3];
}

extern "C" __global__ void half_warps_mixed(const int *in, int *out) {
    __shared__ int box[32];
    int lane = threadIdx.x;
    box[lane] = in[lane];
    __syncwarp(lane < 16 ? 0xffff : 0xffff0000);
    out[lane] = box[lane ^ 16]; // WRONG half_warps_mixed
}

extern "C" __global__ void vote_is_no_barrier(const int *in, int *out) {
    __shared__ int box[32];
    int lane = threadIdx.x;
    box[lane] = in[lane];
    unsigned all = __ballot_sync(0xffffffff, 1);
    out[lane] = box[(lane + 1) % 32] + (all == 0); // WRONG vote_is_no_barrier
}

// A warp tells another that the box is full.
extern "C" __global__ void flag_of_warps(const int *in, int *out) {
    __shared__ int box[32];
    __shared__ volatile int full;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0) full = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        box[lane] = in[lane];
        __syncwarp();
        if (lane == 0) {
            __threadfence_block();
            full = 1;
        }
    } else {
        if (lane == 0) {
            while (!full) {}
            __threadfence_block();
        }
        __syncwarp();
        out[lane] = box[31 - lane];
    }
}

extern "C" __global__ void scope_too_narrow(int *out) {
    if (threadIdx.x == 0) atomicAdd_block(out, 1); // WRONG scope_too_narrow
}

extern "C" __global__ void last_block_sums(const int *in, int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += partial[b];
        *out = total;
    }
}

extern "C" __global__ void last_block_without_fence(const int *in, int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += partial[b]; // WRONG last_block_without_fence
        *out = total;
    }
}

// The last block sums volatile partial results; and plain ones, with a fence on the writer's side alone.
extern "C" __global__ void volatile_last_block(const int *in, volatile int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) {
        partial[0] = total;
        *out = total;
        *tickets = 0;
    }
}

extern "C" __global__ void volatile_without_fence(const int *in, volatile int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0; // WRONG volatile_without_fence
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) {
        partial[0] = total;
        *out = total;
        *tickets = 0;
    }
}

extern "C" __global__ void writer_fences(const int *in, int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) {
        partial[0] = total;
        *out = total;
        *tickets = 0;
    }
}

extern "C" __global__ void nobody_fences(const int *in, int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    int total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0; // WRONG nobody_fences
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) {
        partial[0] = total;
        *out = total;
        *tickets = 0;
    }
}

extern "C" __global__ void both_fence(const int *in, int *partial, unsigned *tickets, int *out) {
    __shared__ bool last;
    int sum = in[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(tickets, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int total = threadIdx.x < gridDim.x ? partial[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x == 0) {
        partial[0] = total;
        *out = total;
        *tickets = 0;
    }
}
