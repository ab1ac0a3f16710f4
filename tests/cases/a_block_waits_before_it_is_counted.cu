// The block waits for its warps before thread 0 counts it in.
// ARGS: --check --args 'in=int[512]:digits, kept=int[512], arrived=uint[1]:zero, out=int[1]' --block 128 --grid 4
// EXPECT: No hazard
__global__ void count_in(const int *in, volatile int *kept, unsigned *arrived, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[i] = in[i] + 3;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(arrived, 1u) + 1 == gridDim.x) {
            __threadfence();
            int all = 0;
            for (int k = 0; k < gridDim.x * blockDim.x; k++) all += kept[k];
            out[0] = all;
        }
    }
}
