// Two rows of threads store to the same elements at the same time: a barrier cannot help, and is not advised.
// A leader's store is no divergence to mend.
// ARGS: --check
// EXIT: 1
// EXPECT: give the threads of each row of the block (threadIdx.y) elements of their own
// NEVER: put __syncthreads() between
// NEVER: insert __syncthreads()
// NEVER: divergence
__global__ void maxima(const int *in, int *out) {
    __shared__ int most[2];
    int row = blockIdx.x * 4 + threadIdx.y;
    int v = __reduce_max_sync(0xffffffffu, in[row * 64 + threadIdx.x]);
    if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = v;
    __syncthreads();
    out[row * 64 + threadIdx.x] = max(most[0], most[1]);
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 16 * 4 * 64 * sizeof(int));
    cudaMalloc(&out, 16 * 4 * 64 * sizeof(int));
    maxima<<<16, dim3(64, 4)>>>(in, out);
    cudaDeviceSynchronize();
}
