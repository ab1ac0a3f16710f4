// Each thread stores where another one loads: in such a line a barrier goes between the load and the store.
// ARGS: --check --args 'a=int[32]:iota' --block 32 --grid 1 --compile-flags -G
// EXIT: 1
// EXPECT: insert __syncwarp() before the store of line 10
// EXPECT: Proved in a copy of the PTX: with this the finding is gone.
// NEVER: atomic
__global__ void swap(int *a) {
    int i = threadIdx.x;

    a[i] = a[i ^ 1];
}
// NEEDS: nvcc
