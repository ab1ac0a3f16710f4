/* Host functions as exercises ask for them: each launches its kernels; there is no main(). */
#include <cstdlib>

__global__ void add_all(const float *in, float *out, int n) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = sums[0];
}

/* Right for every n. */
extern "C" void solve(const float *input, float *output, int n) {
    add_all<<<1, 256>>>(input, output, n);
}

/* Wrong if n is no multiple of 32. */
extern "C" void solve_wrongly(const float *input, float *output, int n) {
    add_all<<<1, 256>>>(input, output, n / 32 * 32);
}

__global__ void double_each(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[2 * i] = out[2 * i + 1] = in[i];
}

/* Twice as many results as values. */
void spread(const int *values, int *pairs, size_t n) {
    double_each<<<(n + 127) / 128, 128>>>(values, pairs, (int)n);
}

/* Pointers to host memory: the function copies. */
void on_host(const float *values, float *result, int n) {
    float *d_values, *d_result;
    cudaMalloc(&d_values, n * sizeof(float));
    cudaMalloc(&d_result, sizeof(float));
    cudaMemcpy(d_values, values, n * sizeof(float), cudaMemcpyHostToDevice);
    solve(d_values, d_result, n);
    cudaMemcpy(result, d_result, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_values);
    cudaFree(d_result);
}

/* Writes nothing. */
void forget(const float *values, float *result, int n) {
    add_all<<<1, 256>>>(values, (float *)values, 0 * n);
}

/* Gives up. */
void leave(const float *values, float *result, int n) {
    exit(n > 100 ? 3 : 0);
}

struct Pair {
    int a, b;
};

void unknown(Pair *pairs, int n) {}
