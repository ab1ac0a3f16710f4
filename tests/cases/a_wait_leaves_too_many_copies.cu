// A wait that leaves all groups in flight: reads and writes of two buffers come too early, and the last copy is
// never waited for. One cause, one finding, with the number that is right.
// ARGS: --check
// EXIT: 1
// EXPECT: let the wait of line 21 leave 1 group of copies in flight, not 3
// EXPECT: Proved in a copy of the source
// EXPECT: 1 hazard
// NEVER: uninitialized
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
        __pipeline_wait_prior(3);
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
