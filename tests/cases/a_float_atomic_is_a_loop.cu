// An atomicAdd of floats is a loop of load and compare-and-swap: 32 rounds of 2 wavefronts for 32 lanes on one word.
// EXPECT: shared atomics 8
// EXPECT: wavefronts 512 ideal 16
// EXPECT: 32-way bank conflicts of atomics: 512 wavefronts, ideal 16.
__global__ void sum(const float *in, float *out) {
    __shared__ float all;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    atomicAdd(&all, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = all;
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * 4);
    cudaMalloc(&out, 4);
    cudaMemset(in, 0, 256 * 4);
    sum<<<1, 256>>>(in, out);
}
