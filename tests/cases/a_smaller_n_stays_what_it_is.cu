// With the n that this run was made smaller to, not with the one of the file.
// EXPECT: smaller n)
// EXPECT: as in sum(f(x)));
// EXIT: 0
__global__ void total(const float *x, int *out, long n) {
    long i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0;
    for (; i < n; i += gridDim.x * blockDim.x) s += x[i] * x[i] < 0.25f;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
int main() {
    const long n = 1l << 30;
    float *x;
    int *out;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&out, 4);
    total<<<16, 256>>>(x, out, n);
}
