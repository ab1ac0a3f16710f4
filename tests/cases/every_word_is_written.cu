// Every word is written before it is read.
// ARGS: --check --args 'in=float[64]:random, out=float[64]' --block 64 --grid 1
// EXPECT: No hazard
__global__ void first(const float *in, float *out) {
    __shared__ float part[64];
    __shared__ float scale[4];
    part[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 4) scale[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = part[63 - threadIdx.x] * scale[threadIdx.x % 4];
}
