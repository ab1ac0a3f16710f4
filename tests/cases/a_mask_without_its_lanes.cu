// The mask of a tile of four lanes is shifted by the tile above: no lane is in its own mask. One finding, not one for
// each barrier and each race behind it.
// ARGS: --check
// EXPECT: lane outside mask
// EXPECT: the same in line 18
// EXPECT: let the mask name every lane
// EXPECT: 1 hazard
// NEVER: insert __sync
// NEVER: race between lanes
// EXIT: 1
__global__ void pairs(const int *in, int *out) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    unsigned mask = 0xfu << ((t + 4) % 32 / 4 * 4);
    tile[t] = in[t];
    __syncwarp(mask);
    int other = tile[t ^ 1];
    __syncwarp(mask);
    tile[t] = other;
    out[t] = tile[t];
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 256);
    cudaMalloc(&out, 256);
    cudaMemset(in, 0, 256);
    pairs<<<1, 64>>>(in, out);
}
