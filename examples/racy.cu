// Sums of blocks with a bug: a barrier is missing in the loop, so that a warp may read a sum before it is complete.
//
//     redviz examples/racy.cu --check              names both lines and the barrier to insert
__global__ void racy(const int *in, int *out, int n) {
    __shared__ int part[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

void sum_blocks(const int *in, int *out, int n) {
    racy<<<(n + 255) / 256, 256>>>(in, out, n);
}
