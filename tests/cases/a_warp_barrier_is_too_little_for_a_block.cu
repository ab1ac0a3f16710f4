// Thread 0 counts its block in without waiting for the other warps. Between the lanes of its own warp __syncwarp()
// ends the race, but another warp that comes late still loses.
// ARGS: --check --args 'in=int[512]:digits, kept=int[512], arrived=uint[1]:zero, out=int[1]' --block 128 --grid 4
// EXIT: 1
// EXPECT: insert __syncthreads() after line 10
// EXPECT: Proved in a copy of the source
// NEVER: insert __syncwarp
__global__ void count_in(const int *in, volatile int *kept, unsigned *arrived, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    kept[i] = in[i] + 3;

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
