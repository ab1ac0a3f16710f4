// Two arrays are read in one line, and neither was written: each has to be mended by itself.
// ARGS: --check --args 'out=int[32]:zero' --block 32 --grid 1
// EXIT: 1
// EXPECT: 1. uninitialized read
// EXPECT: 2. uninitialized read
// EXPECT: 2 hazards.
__global__ void add(int *out) {
    __shared__ int a[32], b[32];
    int i = threadIdx.x;
    if (out[i] == 99) a[i] = b[i] = 1;
    __syncthreads();
    out[i] = a[i] + b[i];
}
