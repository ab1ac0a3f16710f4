// The lanes of a warp vote in two places, all with the full mask: those that have left the loop go on to vote behind it,
// and all of them meet in each round.
// ARGS: --check
// EXPECT: No hazard
// NEVER: missing lanes
// EXIT: 0
__global__ void rounds(const int *in, int *out) {
    int t = threadIdx.x, left = t % 4, voted = 0;
    for (; left > 0; left--) voted += __popc(__ballot_sync(0xffffffff, in[t] >= 0));
    for (left = 3 - t % 4; left > 0; left--) voted += __popc(__ballot_sync(0xffffffff, in[t] >= 0));
    out[t] = voted;
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 128);
    cudaMalloc(&out, 128);
    cudaMemset(in, 0, 128);
    rounds<<<1, 32>>>(in, out);
}
