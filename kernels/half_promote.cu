// half_promote: fp16 numbers in, fp16 sums out, and fp32 in between.
//
//   in[t]  in[t + sums]  in[t + 2 * sums] ...      fp16, 2 bytes each: half the traffic
//      \        |        /
//       sum of floats                              24 bits: additions lose next to nothing
//            |
//         out[t]                                   rounded to 11 bits once, at the end
//
// What it teaches: store small, add large. Next to half_naive three words differ (the sum's type and the two
// conversions), and the sum of 4096 ones is 4096.
#include <cuda_fp16.h>

__global__ void half_promote(const half *in, half *out, unsigned n, unsigned sums) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= sums)
        return;
    float sum = 0.0f;
    for (unsigned i = t; i < n; i += sums)
        sum = sum + __half2float(in[i]);
    out[t] = __float2half(sum);
}
