// Logarithms of negative elements: the same in every order.
// EXPECT: result not checked: it matches no known reduction; --expect
// EXIT: 0
__global__ void total(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = i < n ? logf(x[i]) : 0;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
int main() {
    int n = 4096;
    float *x, *out;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&out, 4);
    total<<<16, 256>>>(x, out, n);
}
