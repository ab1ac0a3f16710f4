// The same ring with the right number of groups in flight: nothing to report.
// ARGS: --check
// EXPECT: No hazard
#include <cuda_pipeline.h>

__global__ void rows(const float *in, float *out) {
    __shared__ float even[128], odd[128];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&even[t], in + t, sizeof(float));
    __pipeline_commit();
    for (int k = 1; k <= 6; k++) {
        float *next = k % 2 ? odd : even, *now = k % 2 ? even : odd;
        if (k < 6) __pipeline_memcpy_async(&next[t], in + k * 128 + t, sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += now[127 - t];
        __syncthreads();
    }
    out[t] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 6 * 128 * sizeof(float));
    cudaMalloc(&out, 128 * sizeof(float));
    rows<<<1, 128>>>(in, out);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
