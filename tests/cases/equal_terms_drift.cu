// One thread adds a tenth 40,000 times: each rounding goes the same way. That is what float does, and no error of the kernel.
//
// ARGS: --args 'out=float[1]:zero, in=float[n]:0.1, n' --n 40000 --grid 1 --block 1 --expect 'sum(in)'
// EXPECT: : ok, off by
// NEVER: WRONG
__global__ void sum(float *out, const float *in, int n) {
    float all = 0;
    for (int i = 0; i < n; i++) all += in[i];
    *out = all;
}
