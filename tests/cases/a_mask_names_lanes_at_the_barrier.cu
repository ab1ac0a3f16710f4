// Twelve lanes vote with the mask of the whole warp; the others already wait behind the branch. The mask is wrong, not
// the barrier.
// ARGS: --check
// EXPECT: mask 0xffffffff names lanes 12-31, which never arrive; lanes 12-31 wait at bar.sync in line 15
// EXPECT: include in the mask only lanes that execute the instruction
// NEVER: move the barrier out
// EXIT: 1
__global__ void count(const int *in, int *out) {
    __shared__ int votes;
    if (threadIdx.x < 12) {
        int mine = in[threadIdx.x] > 0;
        unsigned all = __ballot_sync(0xffffffff, mine);
        if (threadIdx.x == 0) votes = __popc(all);
    }
    __syncthreads();
    out[threadIdx.x] = votes;
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    cudaMemset(in, 0, 128);
    count<<<1, 32>>>(in, out);
}
