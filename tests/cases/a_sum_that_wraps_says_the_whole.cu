// The sum of 0 to 99,999 does not fit an int: the wrapped one is what the kernel gives, and the whole is said beside it.
//
// ARGS: --args 'in=int[n]:iota, out=int[1]:zero, n' --n 100000 --grid 1 --block 1 --expect 'sum(in)'
// EXPECT: sum(in), which wraps: the sum is 4,999,950,000
__global__ void sum(const int *in, int *out, int n) {
    int all = 0;
    for (int i = 0; i < n; i++) all += in[i];
    *out = all;
}
