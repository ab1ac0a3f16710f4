// What a program or a call launches is mended in the source, not in the PTX that it was compiled to: behind the
// return of the helper a barrier would never run.
// ARGS: --check --call 'two_sums(in=int[64]:digits, out=int[64])'
// EXIT: 1
// EXPECT: insert __syncthreads() after line 17
// EXPECT: Proved in a copy of the source
// NEVER: bar.sync
// NEVER: after line 12
__device__ int of_neighbour(int *kept, int own) {
    kept[threadIdx.x] = own;
    __syncthreads();
    return kept[threadIdx.x ^ 32];
}
__global__ void add(const int *in, int *out) {
    __shared__ int kept[64];
    int own = in[threadIdx.x];
    int first = of_neighbour(kept, own);
    out[threadIdx.x] = first + of_neighbour(kept, own * own);
}
void two_sums(const int *in, int *out) {
    add<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
}

// NEEDS: nvcc
