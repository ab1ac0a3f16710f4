// The barrier is in the branch, and the mask behind it is right.
// ARGS: --check
// EXPECT: move the barrier out of the branch
// NEVER: include in the mask
// EXIT: 1
__global__ void count(const int *in, int *out) {
    __shared__ int first;
    int mine = in[threadIdx.x];
    if (threadIdx.x < 12) {
        if (threadIdx.x == 0) first = mine;
        __syncthreads();
        mine += first;
    }
    out[threadIdx.x] = __popc(__ballot_sync(0xffffffff, mine > 0));
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    cudaMemset(in, 0, 128);
    count<<<1, 32>>>(in, out);
}
