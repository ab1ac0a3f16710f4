// Partial results add up to the sum wherever they stand: that the total is right is all that is known.
//
// ARGS: --args 'part=float[32]:zero, in=float[n]:digits, n' --n 4096 --grid 32 --block 128 --expect 'sum(in)'
// EXPECT: total right, by sum(in) of 32 partial results
// NEVER: : ok
__global__ void sum(float *part, const float *in, int n) {
    __shared__ float all[128];
    int t = threadIdx.x;
    all[t] = in[blockIdx.x * 128 + t];
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) all[t] += all[t + s];
    }
    if (t == 0) part[blockIdx.x ^ 1] = all[0];
}
