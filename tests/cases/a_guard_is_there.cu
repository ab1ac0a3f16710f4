// The same with its guard: another size is right, too, and nothing is said of it.
//
// ARGS: --args 'in=int[n]:random, out=int[1]:zero, n' --block 128 --expect 'sum(in)' --check
// NEVER: is no multiple of the block
// EXIT: 0
__global__ void total(const int *in, int *out, int n) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    // the guard follows
    int i = blockIdx.x * 128 + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (t < d) sums[t] += sums[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, sums[0]);
}
