// Memory that nobody has written, the device heap, and arrays that lie side by side: each fault with its correct twin.

extern "C" __global__ void sum_into_unwritten(const int *in, int *out) {
    out[threadIdx.x] += in[threadIdx.x]; // WRONG sum_into_unwritten
}

extern "C" __global__ void sum_into_written(const int *in, int *out) {
    out[threadIdx.x] = 0;
    out[threadIdx.x] += in[threadIdx.x];
}

extern "C" __global__ void heap_right(const int *in, int *out) {
    int *own = (int *)malloc(4 * sizeof(int));
    for (int i = 0; i < 4; i++) own[i] = in[threadIdx.x] + i;
    out[threadIdx.x] = own[0] + own[3];
    free(own);
}

extern "C" __global__ void heap_overrun(const int *in, int *out) {
    int *own = (int *)malloc(3 * sizeof(int));
    for (int i = 0; i <= 3; i++) own[i] = in[threadIdx.x] + i; // WRONG heap_overrun
    out[threadIdx.x] = own[0] + own[2];
    free(own);
}

extern "C" __global__ void heap_after_free(const int *in, int *out) {
    volatile int *own = (volatile int *)malloc(4 * sizeof(int));
    own[0] = in[threadIdx.x];
    free((void *)own);
    out[threadIdx.x] = own[0]; // WRONG heap_after_free
}

extern "C" __global__ void heap_unwritten(const int *in, int *out) {
    volatile int *own = (volatile int *)malloc(4 * sizeof(int));
    own[0] = in[threadIdx.x];
    out[threadIdx.x] = own[0] + own[1]; // WRONG heap_unwritten
    free((void *)own);
}

extern "C" __global__ void heap_freed_twice(const int *in, int *out) {
    int *own = (int *)malloc(4 * sizeof(int));
    own[0] = in[threadIdx.x];
    out[threadIdx.x] = own[0];
    free(own);
    if (threadIdx.x == 3) free(own); // WRONG heap_freed_twice
}

extern "C" __global__ void heap_leak(const int *in, int *out) {
    int *own = (int *)malloc(4 * sizeof(int));
    own[0] = in[threadIdx.x];
    out[threadIdx.x] = own[0];
    if (threadIdx.x % 2) free(own);
}

extern "C" __global__ void arrays_overrun(const int *in, int *out) {
    __shared__ int first[32], second[32];
    unsigned tid = threadIdx.x;
    first[tid] = in[tid];
    second[tid] = in[tid] + 1;
    __syncwarp();
    out[tid] = first[tid + 1] + second[31 - tid]; // WRONG arrays_overrun
}

extern "C" __global__ void arrays_right(const int *in, int *out) {
    __shared__ int first[33], second[32];
    unsigned tid = threadIdx.x;
    first[tid] = in[tid];
    if (tid == 0) first[32] = 0;
    second[tid] = in[tid] + 1;
    __syncwarp();
    out[tid] = first[tid + 1] + second[31 - tid];
}

// The access out of bounds comes first; the race is behind it.
extern "C" __global__ void race_behind_fault(const int *in, int *out) {
    __shared__ int words[64];
    unsigned tid = threadIdx.x;
    out[tid + 1] = 0; // one too far
    words[tid] = in[tid];
    out[tid] = words[63 - tid]; // WRONG race_behind_fault
}

extern "C" __global__ void race_behind_nothing(const int *in, int *out) {
    __shared__ int words[64];
    unsigned tid = threadIdx.x;
    words[tid] = in[tid];
    __syncthreads();
    out[tid] = words[63 - tid];
}

// An index that leads from one buffer into the other one; and pointers that may be into either.
extern "C" __global__ void buffers_overrun(const int *in, int *out) {
    __shared__ volatile int distance;
    distance = (int)(out - in);
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = in[distance + (int)threadIdx.x]; // WRONG buffers_overrun
}

extern "C" __global__ void buffers_right(const int *in, int *out) {
    __shared__ volatile int distance;
    distance = (int)(out - in);
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
    const int *either = threadIdx.x & 1 ? in : out;
    out[threadIdx.x] = either[threadIdx.x];
    out[threadIdx.x] = *(const int *)((const char *)in + 4 * (out + threadIdx.x - in));
    out[threadIdx.x] = in[(int)threadIdx.x + distance - distance];
}
