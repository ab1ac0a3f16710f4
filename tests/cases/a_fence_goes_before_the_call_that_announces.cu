// The store that announces the value is in a helper that is one statement: the fence goes before its call.
// ARGS: --check --args 'value=float[8], ready=int[8]:zero, out=float[8]' --block 32 --grid 8
// EXIT: 1
// EXPECT: insert __threadfence() after line 26
// EXPECT: Proved in a copy of the source
// NEVER: did not help
// clang-format off
__device__ void announce(int *flag) { asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory"); }
// clang-format on

__device__ int look(const int *flag) {
    int seen;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    return seen;
}

__global__ void chain(float *value, int *ready, float *out) {
    if (threadIdx.x) return;
    float own = blockIdx.x;
    if (blockIdx.x) {
        while (!look(&ready[blockIdx.x - 1])) {
        }
        own += value[blockIdx.x - 1];
    }
    value[blockIdx.x] = own;

    announce(&ready[blockIdx.x]);
    out[blockIdx.x] = own;
}
// NEEDS: nvcc
