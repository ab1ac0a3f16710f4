// Histograms, segmented sums, transposes: threads that write where others write or read.
extern "C" __global__ void histogram_global(const unsigned char *in, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[in[i] % 16], 1u);
}

extern "C" __global__ void histogram_shared(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned counts[16];
    int tid = threadIdx.x;
    if (tid < 16) counts[tid] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) atomicAdd(&counts[in[i] % 16], 1u);
    __syncthreads();
    if (tid < 16) atomicAdd(&out[tid], counts[tid]);
}

extern "C" __global__ void histogram_plain(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned counts[16];
    int tid = threadIdx.x;
    if (tid < 16) counts[tid] = 0;
    __syncthreads();
    if (tid < n) counts[in[tid] % 16]++; // WRONG histogram_plain
    __syncthreads();
    if (tid < 16) out[tid] = counts[tid];
}

extern "C" __global__ void histogram_early(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned counts[16];
    int tid = threadIdx.x;
    if (tid < 16) counts[tid] = 0;
    __syncthreads();
    if (tid < n) atomicAdd(&counts[in[tid] % 16], 1u); // WRONG histogram_early
    if (tid < 16) out[tid] = counts[tid];
}

extern "C" __global__ void segmented_sum(const long long *in, const int *segment, unsigned long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&out[segment[i] & 7], (unsigned long long)in[i]);
}

extern "C" __global__ void segmented_sum_plain(const long long *in, const int *segment, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[segment[i] & 7] += in[i]; // WRONG segmented_sum_plain
}

// Runs of equal segments within a warp are added by shuffles; the last lane of a run stores.
extern "C" __global__ void segmented_sum_runs(const int *in, int *out, int n) {
    int i = threadIdx.x, lane = i % 32, segment = i / 8, sum = i < n ? in[i] : 0;
    for (int d = 1; d < 8; d *= 2) {
        int other = __shfl_down_sync(0xffffffff, sum, d, 8);
        if (lane % 8 + d < 8) sum += other;
    }
    if (lane % 8 == 0) out[segment] = sum;
}

extern "C" __global__ void transpose_plain(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n) out[x * n + y] = in[y * n + x];
}

extern "C" __global__ void transpose_tile(const short *in, short *out, int n) {
    __shared__ short tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (x < n && y + k < n) out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" __global__ void transpose_early(const float *in, float *out, int n) {
    __shared__ float tile[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[y + k][x] = in[(y + k) * n + x];
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[x][y + k]; // WRONG transpose_early
}

extern "C" __global__ void stencil(const double *in, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (i ? in[i - 1] : 0) + in[i] + (i + 1 < n ? in[i + 1] : 0);
}

extern "C" __global__ void stencil_in_place(double *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double sum = i + 1 < n ? data[i] + data[i + 1] : 0;
    if (i + 1 < n) data[i] = sum; // WRONG stencil_in_place
}
