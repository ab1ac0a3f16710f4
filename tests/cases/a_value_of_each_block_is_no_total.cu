// Every block adds the element that is left over, so the partial results count it four times; that of block 0 alone is right.
//
// ARGS: --args 'part=float[4]:zero, in=float[n]:random(1.25,2.5), n' --n 129 --grid 4 --block 128 --expect 'sum(in)'
// EXPECT: WRONG
// EXPECT: of 4 partial results
// EXIT: 1
__global__ void sum(float *part, const float *in, int n) {
    __shared__ float all[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    all[t] = i + 128 <= n ? in[i] : 0;
    if (t == 0) all[t] += in[n - 1];
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) all[t] += all[t + s];
    }
    if (t == 0) part[blockIdx.x] = all[0];
}
