// The sums are a fold of all elements, the maxima are not.
// EXPECT: result not checked: it matches no known reduction; --expect
// EXIT: 0
__global__ void both(const double *a, double2 *out, int n) {
    __shared__ double most[256], sum[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    most[t] = sum[t] = i < n ? exp(a[i] / 8) : 0;
    __syncthreads();
    if (t > 200) most[t] = 0;
    for (int d = 128; d; d /= 2) {
        if (t < d) {
            most[t] = max(most[t], most[t + d]);
            sum[t] += sum[t + d];
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = make_double2(most[0], sum[0]);
}
int main() {
    int n = 16384;
    double *a;
    double2 *out;
    cudaMalloc(&a, n * 8);
    cudaMalloc(&out, 64 * 16);
    both<<<64, 256>>>(a, out, n);
}
