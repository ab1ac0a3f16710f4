// A prefix sum of a warp without a barrier: each addition stores what lanes outside the next `if` have loaded or
// stored, so that barriers of all lanes must stand between the lines, and those of some lanes within them.
// ARGS: --check --args 'a=int[64]:digits' --block 64 --grid 1
// EXIT: 1
// EXPECT: insert
// EXPECT: Proved in a copy of the PTX
// NEVER: did not help
__global__ void scan(int *a) {
    int tid = threadIdx.x, lane = tid & 31;
    if (lane >= 1) a[tid] = a[tid - 1] + a[tid];
    if (lane >= 2) a[tid] = a[tid - 2] + a[tid];
    if (lane >= 4) a[tid] = a[tid - 4] + a[tid];
}
