// A tree over 96 threads halves 3 to 1 and drops the third: right as long as the maximum is elsewhere, so the extreme is moved.
//
// ARGS: --args 'in=float[96]:random, out=float[1]:zero' --grid 1 --block 96 --check
// EXPECT: with the maximum at in[
// EXPECT: 64 of 96 elements reach the result
// EXIT: 1
__global__ void maximum(const float *in, float *out) {
    __shared__ float most[96];
    int t = threadIdx.x;
    most[t] = in[t];
    for (int s = 48; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) most[t] = fmaxf(most[t], most[t + s]);
    }
    if (t == 0) *out = most[0];
}
