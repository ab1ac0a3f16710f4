// The last block sums what the others stored. It comes there only after them, whatever the order: what a missing fence loses is
// lost by memory, not by the order of the threads.
// ARGS: --check
// EXIT: 1
// EXPECT: No order of the threads shows it: while block 0 waits before line 12, block 7 does not come to line 18
// EXPECT: nothing makes memory follow
// NEVER: Loses if
__global__ void last_sums(const int *in, int *parts, unsigned *tickets, int *out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        int twice = in[blockIdx.x] * 2;
        parts[blockIdx.x] = twice;
        is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += parts[i];
        *out = sum;
    }
}

int main() {
    int *in, *parts, *out;
    unsigned *tickets;
    cudaMalloc(&in, 8 * sizeof(int));
    cudaMalloc(&parts, 8 * sizeof(int));
    cudaMalloc(&tickets, sizeof(unsigned));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(tickets, 0, sizeof(unsigned));
    last_sums<<<8, 32>>>(in, parts, tickets, out);
    cudaDeviceSynchronize();
}
