// The largest of few elements is found by chance, too: but it is theirs alike, and no sum.
// EXPECT: as in max(f(a)))
// EXIT: 0
__global__ void most(const float *a, float *out) {
    __shared__ float s[8];
    s[threadIdx.x] = a[threadIdx.x] * a[threadIdx.x];
    __syncthreads();
    for (int d = 4; d; d /= 2) {
        if (threadIdx.x < d && s[threadIdx.x] < s[threadIdx.x + d]) s[threadIdx.x] = s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[0] = s[0];
}
int main() {
    float *a, *out;
    cudaMalloc(&a, 32);
    cudaMalloc(&out, 4);
    most<<<1, 8>>>(a, out);
}
