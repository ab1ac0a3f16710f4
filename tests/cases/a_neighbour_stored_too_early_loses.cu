// Each thread loads its right neighbour's element and overwrites its own: round robin is right, one order is not. It is found
// from the pair itself, with one switch. No warp has to be slow otherwise.
// ARGS: --check
// EXIT: 1
// EXPECT: Loses if warp 3 is held before line 13 until warp 0 has passed line 14: data[127] is
// NEVER: No order
// NEVER: --schedule
__global__ void rotate(int *data) {
    __shared__ int ring[128];
    int tid = threadIdx.x;
    ring[tid] = data[tid];
    __syncthreads();
    int next = ring[(tid + 1) % 128];
    ring[tid] = next;
    __syncthreads();
    data[tid] = ring[tid];
}

int main() {
    int *data;
    cudaMalloc(&data, 128 * sizeof(int));
    rotate<<<1, 128>>>(data);
    cudaDeviceSynchronize();
}
