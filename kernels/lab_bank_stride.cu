// lab_bank_stride: how far apart the words of neighbouring lanes lie decides how long an access takes.
//
//   lane              0   1   2   3  ...  31        shared memory has 32 banks of 4-byte words:
//   stride = 1  bank  0   1   2   3  ...  31        all different: 1 wavefront
//   stride = 2  bank  0   2   4   6  ...  30        16 banks, each wanted twice: 2 wavefronts
//   stride = 32 bank  0   0   0   0  ...   0        one bank wanted by all: 32 wavefronts
//   stride = 33 bank  0   1   2   3  ...  31        all different again: 1 wavefront
//
// What it teaches: a warp needs gcd(stride, 32) wavefronts; at which bank the array starts does not matter.

__global__ void lab_bank_stride(const int *in, int *out, unsigned n, unsigned stride, unsigned offset) {
    extern __shared__ int words[];
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + tid;
    if (i < n)
        words[offset + tid * stride] = in[i];
    __syncthreads();

    if (i < n)
        out[i] = words[offset + tid * stride];
}
