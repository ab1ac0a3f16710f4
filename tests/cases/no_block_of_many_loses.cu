// Each thread loads, without a barrier, what a thread of the other warp stores. All of it is zero, as before: the
// other order of no pair finds another value, whether it was run or not.
//
// ARGS: --run --check
// EXPECT: No order of the two changes the result: both were run, for 16 of 3072 pairs of threads, and the load finds the same value in both
// NEVER: Loses if
// EXIT: 1
__global__ void mirror(const int *in, int *out) {
    __shared__ int values[64];
    int tid = threadIdx.x, at = blockIdx.x * 64 + tid;
    values[tid] = 0;
    __syncthreads();
    values[tid] = in[at];
    out[at] = values[63 - tid];
}

int main() {
    static int host[48 * 64];
    int *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    mirror<<<48, 64>>>(in, out);
    cudaDeviceSynchronize();
}
