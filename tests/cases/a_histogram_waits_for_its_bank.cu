// 256 values of 4 bins in the banks 0 to 3: 8 lanes of a warp on each word, one after another; and 8 bins of one bank.
// EXPECT: shared atomics 16
// EXPECT: wavefronts 320 ideal 16
// EXPECT: 32-way bank conflicts of atomics: 256 wavefronts, ideal 8. Try: pad
// NEVER: update one word
// NEVER: No shared access has a bank conflict
__global__ void histogram(const int *in, int *out) {
    __shared__ int bins[8 * 32];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], in[threadIdx.x]);
    atomicAdd(&bins[threadIdx.x % 8 * 32], in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 256 * 4);
    cudaMalloc(&out, 256 * 4);
    cudaMemset(in, 0, 256 * 4);
    histogram<<<1, 256>>>(in, out);
}
