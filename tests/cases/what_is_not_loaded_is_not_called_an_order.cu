// Elements that were never looked at are no question of their order.
// EXPECT: result not checked: it matches no known reduction (not all elements are loaded);
// EXIT: 0
__device__ int f(float x, float y) {
    return x * x + y * y < 0.5f;
}
__global__ void total(const float *x, const float *y, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (; i < n; i += gridDim.x * blockDim.x) s += i < 64 ? f(x[i], y[i]) : 0;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
int main() {
    int n = 16384, *out;
    float *x, *y;
    cudaMalloc(&x, n * 4);
    cudaMalloc(&y, n * 4);
    cudaMalloc(&out, 4);
    total<<<16, 256>>>(x, y, out, n);
}
