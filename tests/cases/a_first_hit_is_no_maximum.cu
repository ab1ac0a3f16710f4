// The place of the first element above a limit: those behind it do not change the result, and need not.
//
// ARGS: --args 'in=float[128]:iota(1,0.25), out=int[1]:unwritten' --grid 1 --block 128 --check
// EXPECT: No hazard
// NEVER: wrong result
__global__ void first(const float *in, int *out) {
    __shared__ int least[128];
    int t = threadIdx.x;
    least[t] = in[t] > 27.0f ? t : 128;
    for (int s = 64; s > 0; s /= 2) {
        __syncthreads();
        if (t < s && least[t + s] < least[t]) least[t] = least[t + s];
    }
    if (t == 0) *out = least[0];
}
