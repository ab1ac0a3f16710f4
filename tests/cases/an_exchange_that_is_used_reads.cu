// ARGS: --args 'flags=int[n]:unwritten, out=int[n]' --n 64 --grid 1 --block 64 --check
// EXPECT: were never written
// EXIT: 1
__global__ void take(int *flags, int *out) {
    out[threadIdx.x] = atomicExch(&flags[threadIdx.x], 1);
}
