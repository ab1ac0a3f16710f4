// A short that counts past 32767 becomes negative; the comparison with n does not stop it.
// ARGS: --check
// EXIT: 1
// EXPECT: narrow index
// EXPECT: is negative: the index has 16 bits and has wrapped around
// EXPECT: give the index a wider type
// NEVER: if (i < n)
__global__ void scale(float *x, int n) {
    for (short at = threadIdx.x; at < n; at += blockDim.x) x[at] *= 2;
}

int main() {
    int n = 32767;
    float *x;
    cudaMalloc(&x, n * sizeof(float));
    scale<<<1, 512>>>(x, n);
    cudaDeviceSynchronize();
}
