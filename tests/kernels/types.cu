// Every type: pairs of neighbours are added in shared memory, in the type's own arithmetic.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename T> __device__ void add_neighbours(const T *in, T *out, int n) {
    __shared__ T values[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n) out[i] = values[threadIdx.x] + values[threadIdx.x ^ 1];
}
#define TYPE(name, T) \
    extern "C" __global__ void add_##name(const T *in, T *out, int n) { add_neighbours(in, out, n); }
TYPE(char, signed char)
TYPE(uchar, unsigned char)
TYPE(short, short)
TYPE(ushort, unsigned short)
TYPE(int, int)
TYPE(uint, unsigned)
TYPE(long, long long)
TYPE(ulong, unsigned long long)
TYPE(half, __half)
TYPE(bfloat, __nv_bfloat16)
TYPE(float, float)
TYPE(double, double)
