// bfloat_promote: bfloat16 numbers in, bfloat16 sums out, and fp32 in between.
//
//              sign  exponent  fraction
//   float        1       8        23       s eeeeeeee fffffffffffffffffffffff
//   bfloat16     1       8         7       s eeeeeeee fffffff                    the upper half of a float
//   fp16         1       5        10       s eeeee ffffffffff
//
//   thread t adds in[t], in[t + sums], in[t + 2 * sums], ...; out[t] is its sum, rounded once
//
// What it teaches: a bfloat16 becomes a float by appending 16 zero bits, exactly; and it needs that more than
// fp16 does: with 8 significant bits a running sum of ones would stop at 256.
#include <cuda_bf16.h>

__global__ void bfloat_promote(const __nv_bfloat16 *in, __nv_bfloat16 *out, unsigned n, unsigned sums) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= sums)
        return;
    float sum = 0.0f;
    for (unsigned i = t; i < n; i += sums)
        sum = sum + __bfloat162float(in[i]);
    out[t] = __float2bfloat16(sum);
}
