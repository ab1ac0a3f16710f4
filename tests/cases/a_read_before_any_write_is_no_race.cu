// Nothing was ever written where the tile is read: a barrier ends the race, and the read remains, a hazard of its own.
// ARGS: --check --args 'out=int[16]:zero' --block 16 --grid 1
// EXIT: 1
// EXPECT: 1. race between lanes of a warp: insert __syncwarp(0xffff) before the store of line 14
// EXPECT: Proved in a copy of the PTX: with this the finding is gone.
// EXPECT: 2. uninitialized read
// EXPECT: 2 hazards.
// NEVER: did not help
__global__ void flip(int *out) {
    __shared__ int tile[16];
    int i = threadIdx.x;

    // One line, so that the barrier goes between its load and its store.
    tile[i] = tile[i ^ 1];
    __syncthreads();
    out[i] = tile[i];
}
