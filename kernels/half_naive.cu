// half_naive: sums fp16 numbers in fp16, which stops growing.
//
//   adding ones:   1  2  3  ...  2046  2047  2048  2048  2048  2048  ...
//                                            ^ 2048 + 1 lies between 2048 and 2050, and rounds back to 2048
//
//   thread t adds in[t], in[t + sums], in[t + 2 * sums], ... one after another; out[t] is its sum
//
// What it teaches: fp16 has 11 significant bits: a running sum swallows each term below 1/4096 of itself, and at
// 2048 each 1. The input is exact, each addition correctly rounded, and the result half of what it should be.
// half_promote is the cure.
#include <cuda_fp16.h>

__global__ void half_naive(const half *in, half *out, unsigned n, unsigned sums) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= sums)
        return;
    half sum = 0.0f;
    for (unsigned i = t; i < n; i += sums)
        sum = sum + in[i]; // rounds to 11 bits, every time
    out[t] = sum;
}
