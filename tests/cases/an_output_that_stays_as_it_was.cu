// The guard is never true, so nothing is written: the result is the start value.
//
// ARGS: --args 'in=float[n]:random, out=float[1]:zero, n' --n 256 --grid 1 --block 256 --expect 'max(in)'
// EXPECT: WRONG
// EXPECT: the run leaves out as it was
// EXIT: 1
__global__ void maximum(const float *in, float *out, int n) {
    if ((int)threadIdx.x > n) *out = in[threadIdx.x];
}
