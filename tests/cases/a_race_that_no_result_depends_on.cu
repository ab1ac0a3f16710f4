// The value loaded too early is stored only where it cannot be told apart: no order that was run loses.
// ARGS: --check
// EXIT: 1
// EXPECT: No order of the two changes the result where both were run, for 16 of 64 pairs of threads, and no result depends on what the load finds
// NEVER: Loses if
__global__ void compare(const int *in, int *out) {
    __shared__ int values[64];
    int tid = threadIdx.x;
    values[tid] = in[tid];
    int other = values[63 - tid];
    out[tid] = other == 123456789 ? 1 : 0;
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof(int));
    cudaMalloc(&out, 64 * sizeof(int));
    compare<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
}
