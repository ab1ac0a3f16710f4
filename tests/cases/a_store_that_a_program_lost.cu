// The compiler removes the stores that would race, as nothing loads them: of a program that runs this is said, too.
//
// ARGS: --run --check
// EXPECT: stores removed by the compiler
// EXPECT: line 11
// NEVER: line 13
// EXIT: 0
__global__ void last(int *out) {
    __shared__ int winner;
    // The lanes would store different values.
    winner = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = 2 * threadIdx.x;
}

int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    last<<<1, 64>>>(out);
    cudaDeviceSynchronize();
}
