// The program exits 1 because the copy returned the error of its launch: that is one error, not two.
//
// ARGS: --run --check
// EXPECT: 1. out of bounds
// EXPECT: 1 with errors
// EXPECT: program exited 1
// NEVER: though no CUDA call failed
// EXIT: 1
__global__ void shift(int *values, int by) {
    values[threadIdx.x + by] = threadIdx.x;
}

int main() {
    int host[48], *values;
    cudaMalloc(&values, sizeof host);
    shift<<<1, 32>>>(values, 1 << 24);
    return cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess;
}
