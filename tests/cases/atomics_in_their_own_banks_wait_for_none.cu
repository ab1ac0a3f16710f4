// Each lane updates a bank of its own, the sum of all is combined before, and a count adds 1: nothing is lost.
// EXPECT: shared atomics 24
// EXPECT: wavefronts 24 ideal 24
// EXPECT: No shared access has a bank conflict.
// NEVER: bank conflicts
// NEVER: update one word
__global__ void apart(const int *in, int *out) {
    __shared__ int words[256], sum, positive;
    words[threadIdx.x] = 0;
    if (threadIdx.x == 0) sum = positive = 0;
    __syncthreads();
    atomicAdd(&words[threadIdx.x], in[threadIdx.x]);
    atomicAdd(&sum, in[threadIdx.x]);
    atomicAdd(&positive, 1);
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x] + sum + positive;
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 256 * 4);
    cudaMalloc(&out, 256 * 4);
    cudaMemset(in, 0, 256 * 4);
    apart<<<1, 256>>>(in, out);
}
