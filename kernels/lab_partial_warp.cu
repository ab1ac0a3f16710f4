// lab_partial_warp: a block of 48 threads is two warps, and the second is half empty.
//
//   warp 0  lanes 0 ................ 31     threads  0..31    mask 0xffffffff
//   warp 1  lanes 0 ...... 15 - - - - -     threads 32..47    mask 0x0000ffff: half is wasted
//
//   active = 48: tid 0..23 add 24..47   active = 24: 0..11 add 12..23   ...   active = 3: 0 adds 2, 1 waits
//
// What it teaches: threads come in warps of 32 whether the block fills them or not; and a tree that works for
// every block size rounds the half up. out[blockIdx.x] is the block's sum.

__global__ void lab_partial_warp(const int *in, int *out, unsigned n) {
    extern __shared__ int sums[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    sums[tid] = i < n ? in[i] : 0;
    __syncthreads();

    for (unsigned active = blockDim.x; active > 1;) {
        unsigned half = (active + 1) / 2;
        if (tid + half < active)
            sums[tid] += sums[tid + half];
        __syncthreads();
        active = half;
    }

    if (tid == 0)
        out[blockIdx.x] = sums[0];
}
