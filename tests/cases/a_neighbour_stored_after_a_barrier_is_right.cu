// The same with the barrier between load and store: no race, and no order to tell.
// ARGS: --check
// EXIT: 0
// EXPECT: No hazard
// NEVER: Loses if
// NEVER: No order
__global__ void rotate(int *data) {
    __shared__ int ring[128];
    int tid = threadIdx.x;
    ring[tid] = data[tid];
    __syncthreads();
    int next = ring[(tid + 1) % 128];
    __syncthreads();
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
