// Several threads update one element: a barrier between the load and the store of one line would lose updates for sure.
// Without optimization the two have their address in different registers.
// ARGS: --check --args 'to=int[32]:digits, a=int[10]:iota, b=int[32]:iota' --block 32 --grid 1 --compile-flags -G
// EXIT: 1
// EXPECT: What to do: update it by one atomic instruction
// NEVER: insert
// NEVER: Proved
__global__ void lower(const int *to, int *a, const int *b) {
    int i = threadIdx.x;
    a[to[i]] = min(a[to[i]], b[i] - 9);
}
// NEEDS: nvcc
