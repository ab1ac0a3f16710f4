// The same in optimized code, where the atomic has its line of the source.
// ARGS: --run --check
// EXIT: 1
// EXPECT: line 8: warp 0 lane
// NEVER: as PTX
__global__ void largest(const int *in, int *most) {
    if (most[0] < in[threadIdx.x]) {
        atomicMax(most, in[threadIdx.x]);
    }
}
int main() {
    int *in, *most;
    cudaMallocManaged(&in, 32 * 4);
    cudaMallocManaged(&most, 4);
    for (int i = 0; i < 32; i++) in[i] = i * 7 % 32;
    most[0] = 0;
    largest<<<1, 32>>>(in, most);
    return cudaDeviceSynchronize();
}
