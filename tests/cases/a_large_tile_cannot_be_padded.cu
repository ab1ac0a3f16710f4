// All of the 48 KB that static shared memory may have: nothing can be added.
// ARGS: --what-if pad
// NEVER: What if
// EXIT: 2
__global__ void transpose(const float *in, float *out) {
    __shared__ float tile[384][32];
    for (int j = 0; j < 384; j++) tile[j][threadIdx.x] = in[j * 32 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 12 * 32; j++) out[j * 32 + threadIdx.x] = tile[j / 32 * 32 + threadIdx.x][j % 32];
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 12288 * 4);
    cudaMalloc(&out, 12288 * 4);
    transpose<<<1, 32>>>(in, out);
}
