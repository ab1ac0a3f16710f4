// Kernels with a barrier or a fence too few, each with its correct twin: what --check says is to be inserted, and where.
// nvcc -ptx -lineinfo -arch=compute_80: tests/kernels/make_ptx.sh.

extern "C" __global__ void loop_without(const int *in, int *out) {
    __shared__ int sums[256];
    unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (unsigned s = 128; s > 0; s /= 2) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
        }
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void loop_with(const int *in, int *out) {
    __shared__ int sums[256];
    unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (unsigned s = 128; s > 0; s /= 2) {
        if (tid < s) {
            sums[tid] += sums[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sums[0];
}

extern "C" __global__ void phases_without(const int *in, int *out) {
    __shared__ int a[128], b[128];
    unsigned tid = threadIdx.x;
    a[tid] = in[tid];
    int x = a[tid ^ 64];
    __syncthreads();
    b[tid] = x;
    out[tid] = b[tid ^ 32];
}

extern "C" __global__ void phases_with(const int *in, int *out) {
    __shared__ int a[128], b[128];
    unsigned tid = threadIdx.x;
    a[tid] = in[tid];
    __syncthreads();
    int x = a[tid ^ 64];
    __syncthreads();
    b[tid] = x;
    __syncthreads();
    out[tid] = b[tid ^ 32];
}

extern "C" __global__ void half_warp_without(const int *in, int *out) {
    __shared__ int words[64];
    unsigned tid = threadIdx.x;
    words[tid] = in[tid];
    __syncwarp();
    if (tid < 16) {
        volatile int *half = words;
        half[tid] = half[tid + 16];
        half[tid + 32] = half[tid ^ 8];
    }
    if (tid < 16) out[tid] = words[tid + 32];
}

extern "C" __global__ void half_warp_with(const int *in, int *out) {
    __shared__ int words[64];
    unsigned tid = threadIdx.x;
    words[tid] = in[tid];
    __syncwarp();
    if (tid < 16) {
        volatile int *half = words;
        half[tid] = half[tid + 16];
        __syncwarp(0xffff);
        half[tid + 32] = half[tid ^ 8];
    }
    if (tid < 16) out[tid] = words[tid + 32];
}

// Nobody reads `scratch`, and the compiler removes the store; `kept` is read.
extern "C" __global__ void store_removed(const int *in, int *out) {
    __shared__ int scratch[32], kept[32];
    unsigned tid = threadIdx.x;
    int pair[2];
    pair[0] = in[tid];
    pair[1] = pair[0] + 1;
    scratch[tid] = pair[1];
    kept[tid] = pair[1];
    __syncwarp();
    out[tid] = kept[31 - tid];
}

extern "C" __global__ void bins_plain(const int *in, int *out) {
    __shared__ int bins[16];
    unsigned tid = threadIdx.x;
    if (tid < 16) bins[tid] = 0;
    __syncthreads();
    bins[in[tid] & 15]++;
    __syncthreads();
    if (tid < 16) out[tid] = bins[tid];
}

extern "C" __global__ void bins_atomic(const int *in, int *out) {
    __shared__ int bins[16];
    unsigned tid = threadIdx.x;
    if (tid < 16) bins[tid] = 0;
    __syncthreads();
    atomicAdd(&bins[in[tid] & 15], 1);
    __syncthreads();
    if (tid < 16) out[tid] = bins[tid];
}

// The block `careless` gives the lock back without a fence; -1: none does.
extern "C" __global__ void lock(int *taken, int *out, int careless) {
    if (threadIdx.x == 0) {
        while (atomicCAS(taken, 0, 1) != 0) {}
        __threadfence();
        out[0] = out[0] + 1;
        if ((int)blockIdx.x != careless) __threadfence();
        atomicExch(taken, 0);
    }
}

// The shape of cuda-samples' threadFenceReduction: the last block to finish adds what all have stored. With the writer's
// fence alone it is right on every GPU so far, and a note; without it, it loses data.
extern "C" __global__ void last_block_without(const int *in, int *partial, unsigned *finished, int *out) {
    __shared__ bool is_last;
    __shared__ int sums[64];
    unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 64 + tid];
    __syncthreads();
    if (tid == 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++) sum += sums[i];
        partial[blockIdx.x] = sum;
        is_last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && tid == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += partial[b];
        out[0] = sum;
    }
}

extern "C" __global__ void last_block_writer_only(const int *in, int *partial, unsigned *finished, int *out) {
    __shared__ bool is_last;
    __shared__ int sums[64];
    unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 64 + tid];
    __syncthreads();
    if (tid == 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++) sum += sums[i];
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && tid == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += partial[b];
        out[0] = sum;
    }
}

extern "C" __global__ void last_block_with(const int *in, int *partial, unsigned *finished, int *out) {
    __shared__ bool is_last;
    __shared__ int sums[64];
    unsigned tid = threadIdx.x;
    sums[tid] = in[blockIdx.x * 64 + tid];
    __syncthreads();
    if (tid == 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++) sum += sums[i];
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && tid == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += partial[b];
        out[0] = sum;
    }
}

// The warp `careless` does not fence when it has taken the lock: which warp comes first decides whether that shows.
extern "C" __global__ void lock_taken(int *taken, int *out, int careless) {
    int warp = (int)(blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(taken, 0, 1) != 0) {}
        if (warp != careless) __threadfence();
        out[0] = warp + 1;
        __threadfence();
        atomicExch(taken, 0);
    }
}

// Nothing is left of this one but its end; a plain variable of shared memory, an array, and one by a cast. The fourth is a
// variable of a thread.
extern "C" __global__ void all_removed(const int *in, int *out) {
    __shared__ int single;
    __shared__ unsigned char bytes[64];
    int own;
    single = threadIdx.x;
    bytes[0] = (unsigned char)threadIdx.x;
    ((int *)bytes)[1] = threadIdx.x;
    own = threadIdx.x;
}
