// A structure is copied member by member: what was never written of it is one hazard, not one for each member.
// ARGS: --check --args 'pairs=short[n*2]:zero' --n 32 --block 32 --grid 1 --compile-flags -G
// EXIT: 1
// EXPECT: 1. uninitialized read
// EXPECT: 2 errors of this cause in line 15
// EXPECT: 1 hazard.
// NEVER: 2. uninitialized read
struct Pair {
    short x, y;
};

__global__ void copy(Pair *pairs) {
    Pair fresh;
    int i = threadIdx.x;
    pairs[i] = fresh;
}
// NEEDS: nvcc
