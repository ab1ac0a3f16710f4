// A pointer to the array that goes through generic memory: a copy could not follow it everywhere.
// ARGS: --what-if pad
// NEVER: What if
// EXIT: 2
__device__ __noinline__ void put(volatile float *to, float value) {
    *to = value;
}
__global__ void column(const float *in, float *out) {
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j++) put(&tile[threadIdx.x][j], in[j * 32 + threadIdx.x]);
    __syncthreads();
    for (int j = 0; j < 32; j++) out[j * 32 + threadIdx.x] = tile[threadIdx.x][j];
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 4096);
    cudaMalloc(&out, 4096);
    column<<<1, 32>>>(in, out);
}
