// The last element is loaded before another lane stores over it.
// ARGS: --check --call 'both(data=int[32]:digits, total=int[1])' --expect 'total=sum(data)' --seed 2
// EXPECT: No hazard

__global__ void twice(int *data, int *total) {
    int i = threadIdx.x, own = data[i], last = data[31];
    int most = __reduce_add_sync(~0u, i < 31 ? own : 0);
    __syncwarp();
    data[i] = 2 * own;
    if (i == 0) *total = most + last;
}

void both(int *data, int *total) {
    twice<<<1, 32>>>(data, total);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
