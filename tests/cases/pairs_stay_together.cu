// Pairs of elements belong together: in another order of single ones the sum is another.
// EXPECT: all groups of 2 elements count alike, as in sum(f(points)));
// EXIT: 0
__global__ void total(const float2 *points, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    for (; i < n; i += gridDim.x * blockDim.x) s += points[i].x > 2 * points[i].y;
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(out, s);
}
int main() {
    int n = 16384, *out;
    float2 *points;
    cudaMalloc(&points, n * 8);
    cudaMalloc(&out, 4);
    total<<<16, 256>>>(points, out, n);
}
