// A transpose through a tile of 32 x 32: XOR with the row leaves no conflict; the counts are of the whole run.
// ARGS: --n 128 --args 'in=float[n*n]:random, out=float[n*n], n' --what-if swizzle
// EXPECT: What if: XOR with the number of the row of 32 words in tile
// EXPECT: shared wavefronts 16,896 1,024 -15,872
// EXPECT: XOR with the number of the row of 32 words in tile: wavefronts 16,896 -> 1,024.
// NEVER: did not help
__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}
int main() {
    float *in, *out;
    int n = 128;
    cudaMalloc(&in, n * n * 4);
    cudaMalloc(&out, n * n * 4);
    transpose<<<dim3(4, 4), dim3(32, 8)>>>(in, out, n);
}
