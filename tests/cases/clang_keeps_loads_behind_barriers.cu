// clang's own __syncthreads() lets a load of a shared variable move before it, which is then a race.
//
// ARGS: --compiler clang --launch 'last<<<1, 64>>>(in=int[64]:iota, out=int[1])' --check
// EXPECT: No hazard.
__global__ void last(const int *in, int *out) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = in[0] == 3;
    __syncthreads();
    if (is_last && threadIdx.x == 0) out[0] = 7;
}
