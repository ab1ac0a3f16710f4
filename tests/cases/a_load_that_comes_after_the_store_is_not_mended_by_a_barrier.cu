// The last element is loaded after another lane has stored over it. With a barrier between them there is no race, and
// the result is as wrong as before.
// ARGS: --check --call 'both(data=int[32]:digits, total=int[1])' --expect 'total=sum(data)' --seed 2
// EXIT: 1
// EXPECT: what line 14 needs must be loaded before line 13 stores
// NEVER: insert __sync
// NEVER: Proved
// NEVER: What to do

__global__ void twice(int *data, int *total) {
    int i = threadIdx.x, own = data[i];
    int most = __reduce_add_sync(~0u, i < 31 ? own : 0);
    data[i] = 2 * own;
    if (i == 0) *total = most + data[31];
}

void both(int *data, int *total) {
    twice<<<1, 32>>>(data, total);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
