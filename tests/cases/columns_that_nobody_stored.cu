// Two of four columns of the tile are stored, and all are added: no argument that is guessed decides that.
//
// ARGS: --check --grid 2 --block 64
// EXPECT: uninitialized read
// NEVER: With guessed arguments
// EXIT: 1
__global__ void add_columns(float *sums) {
    __shared__ float tile[4][64];
    for (int k = 0; k < 2; k++) tile[k][threadIdx.x] = k + 1;
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += tile[k][63 - threadIdx.x];
    sums[blockIdx.x * 64 + threadIdx.x] = sum;
}
