// The default size is a multiple of the block, where no guard is missed; another size is tried, too.
//
// ARGS: --args 'in=int[n]:random, out=int[1]:zero, n' --block 128 --expect 'sum(in)' --check
// EXPECT: is no multiple of the block: out of bounds
// EXPECT: in line 12, just past the end of `in`
// EXIT: 0
__global__ void total(const int *in, int *out, int n) {
    __shared__ int sums[128];
    int t = threadIdx.x;
    // no guard here
    int i = blockIdx.x * 128 + t;
    sums[t] = in[i];
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (t < d) sums[t] += sums[t + d];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, sums[0]);
}
