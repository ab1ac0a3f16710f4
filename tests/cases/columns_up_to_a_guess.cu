// How many columns are stored, and how many are added, are two guesses: what they leave out is not sure.
//
// ARGS: --check --grid 2 --block 64
// EXPECT: With guessed arguments
// EXPECT: uninitialized read
// EXIT: 0
__global__ void add_columns(float *sums, int stored, int added) {
    __shared__ float tile[4][64];
    for (int k = 0; k < 4 && k < stored; k++) tile[k][threadIdx.x] = k + 1;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4 && k < added; k++) sum += tile[k][63 - threadIdx.x];
    sums[blockIdx.x * 64 + threadIdx.x] = sum;
}
