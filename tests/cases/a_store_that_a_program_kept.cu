// One lane stores, and all load what it stored: the store is there, and nothing is said to be removed.
//
// ARGS: --run --check
// EXPECT: No hazard
// NEVER: removed by the compiler
// EXIT: 0
__global__ void last(int *out) {
    __shared__ int winner;
    if (threadIdx.x == 63) winner = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = 2 * threadIdx.x + winner;
}

int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    last<<<1, 64>>>(out);
    cudaDeviceSynchronize();
}
