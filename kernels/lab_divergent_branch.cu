// lab_divergent_branch: the same branch, decided by the thread or by the block.
//
//   by thread   lane   0 1 2 3 4 5 6 7 ...       by block   block 0: every lane takes the first arm
//   first arm          x . x . x . x .                      block 1: every lane takes the second arm
//   second arm         . x . x . x . x                      block 2: the first
//   a warp executes both arms, half idle          a warp executes one arm, all lanes active
//
// What it teaches: a warp runs both arms where its own lanes disagree, not wherever there is a branch. Even
// threads (or blocks) repeat x -> 3x + 1, odd ones x -> 5x - 1.
template <bool BY_BLOCK>
__global__ void lab_divergent_branch(const int *in, int *out, unsigned n, unsigned repeats) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned decider = BY_BLOCK ? blockIdx.x : threadIdx.x;
    unsigned x = i < n ? in[i] : 0;
    if (decider % 2 == 0) {
#pragma unroll 1
        for (unsigned k = 0; k < repeats; k++)
            x = 3 * x + 1;
    } else {
#pragma unroll 1
        for (unsigned k = 0; k < repeats; k++)
            x = 5 * x - 1;
    }
    if (i < n)
        out[i] = x;
}

template __global__ void lab_divergent_branch<false>(const int *, int *, unsigned, unsigned);
template __global__ void lab_divergent_branch<true>(const int *, int *, unsigned, unsigned);
