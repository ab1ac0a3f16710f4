// Nothing uses the value that was there before.
// ARGS: --args 'flags=int[n]:unwritten, in=int[n]:random' --n 64 --grid 1 --block 64 --check
// NEVER: never written
// EXPECT: No hazard
__global__ void mark(int *flags, const int *in) {
    atomicExch(&flags[threadIdx.x], in[threadIdx.x]);
}
