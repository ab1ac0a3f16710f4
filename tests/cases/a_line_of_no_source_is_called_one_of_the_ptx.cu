// In code for debugging atomicMax is a function without lines: what it does has a line of the PTX, and no barrier is put
// between that line and one of the source.
// ARGS: --run --check --compile-flags -G
// EXIT: 1
// EXPECT: as PTX): warp 0 lane
// EXPECT: What to do: make both accesses atomic
// NEVER: insert
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
// NEEDS: nvcc
