// unrolled: the block size is a template parameter, so the compiler writes every step out and drops those
// that do not apply.
//
//   block_size = 256:   in[i] + in[i + 256]
//                       s = 128   64   | 32   16   8   4   2   1
//                       all warps      | warp 0, as unroll_last_warp
//
// What it teaches: what the compiler knows need not be asked at run time: neither the loop nor its counter is left,
// and no branches but those on i < n, tid < s and tid == 0.
// Blocks are a power of two of at least 64; out[blockIdx.x] is the block's partial result.
#include "operations.cuh"

template <typename T, typename Op, int block_size>
__global__ void unrolled(const T *in, T *out, unsigned n) {
    const Op op;
    T *sdata = shared_array<T>();
    unsigned tid = threadIdx.x;
    unsigned i = blockIdx.x * (block_size * 2) + tid;
    T sum = i < n ? in[i] : identity<T, Op>();
    if (i + block_size < n)
        sum = op(sum, in[i + block_size]);
    sdata[tid] = sum;
    __syncthreads();

    if (block_size >= 1024) {
        if (tid < 512)
            sdata[tid] = sum = op(sum, sdata[tid + 512]);
        __syncthreads();
    }
    if (block_size >= 512) {
        if (tid < 256)
            sdata[tid] = sum = op(sum, sdata[tid + 256]);
        __syncthreads();
    }
    if (block_size >= 256) {
        if (tid < 128)
            sdata[tid] = sum = op(sum, sdata[tid + 128]);
        __syncthreads();
    }
    if (block_size >= 128) {
        if (tid < 64)
            sdata[tid] = sum = op(sum, sdata[tid + 64]);
        __syncthreads();
    }

    if (tid < 32) {
#pragma unroll
        for (unsigned s = 32; s > 0; s /= 2) {
            sum = op(sum, sdata[tid + s]);
            __syncwarp();
            sdata[tid] = sum;
            __syncwarp();
        }
    }

    if (tid == 0)
        out[blockIdx.x] = sum;
}

template __global__ void unrolled<int, Sum, 64>(const int *, int *, unsigned);
template __global__ void unrolled<int, Sum, 128>(const int *, int *, unsigned);
template __global__ void unrolled<int, Sum, 256>(const int *, int *, unsigned);
template __global__ void unrolled<int, Sum, 512>(const int *, int *, unsigned);
template __global__ void unrolled<int, Sum, 1024>(const int *, int *, unsigned);
template __global__ void unrolled<int, Min, 64>(const int *, int *, unsigned);
template __global__ void unrolled<int, Min, 128>(const int *, int *, unsigned);
template __global__ void unrolled<int, Min, 256>(const int *, int *, unsigned);
template __global__ void unrolled<int, Min, 512>(const int *, int *, unsigned);
template __global__ void unrolled<int, Min, 1024>(const int *, int *, unsigned);
template __global__ void unrolled<int, Max, 64>(const int *, int *, unsigned);
template __global__ void unrolled<int, Max, 128>(const int *, int *, unsigned);
template __global__ void unrolled<int, Max, 256>(const int *, int *, unsigned);
template __global__ void unrolled<int, Max, 512>(const int *, int *, unsigned);
template __global__ void unrolled<int, Max, 1024>(const int *, int *, unsigned);
template __global__ void unrolled<float, Sum, 64>(const float *, float *, unsigned);
template __global__ void unrolled<float, Sum, 128>(const float *, float *, unsigned);
template __global__ void unrolled<float, Sum, 256>(const float *, float *, unsigned);
template __global__ void unrolled<float, Sum, 512>(const float *, float *, unsigned);
template __global__ void unrolled<float, Sum, 1024>(const float *, float *, unsigned);
template __global__ void unrolled<float, Min, 64>(const float *, float *, unsigned);
template __global__ void unrolled<float, Min, 128>(const float *, float *, unsigned);
template __global__ void unrolled<float, Min, 256>(const float *, float *, unsigned);
template __global__ void unrolled<float, Min, 512>(const float *, float *, unsigned);
template __global__ void unrolled<float, Min, 1024>(const float *, float *, unsigned);
template __global__ void unrolled<float, Max, 64>(const float *, float *, unsigned);
template __global__ void unrolled<float, Max, 128>(const float *, float *, unsigned);
template __global__ void unrolled<float, Max, 256>(const float *, float *, unsigned);
template __global__ void unrolled<float, Max, 512>(const float *, float *, unsigned);
template __global__ void unrolled<float, Max, 1024>(const float *, float *, unsigned);
template __global__ void unrolled<double, Sum, 64>(const double *, double *, unsigned);
template __global__ void unrolled<double, Sum, 128>(const double *, double *, unsigned);
template __global__ void unrolled<double, Sum, 256>(const double *, double *, unsigned);
template __global__ void unrolled<double, Sum, 512>(const double *, double *, unsigned);
template __global__ void unrolled<double, Sum, 1024>(const double *, double *, unsigned);
template __global__ void unrolled<double, Min, 64>(const double *, double *, unsigned);
template __global__ void unrolled<double, Min, 128>(const double *, double *, unsigned);
template __global__ void unrolled<double, Min, 256>(const double *, double *, unsigned);
template __global__ void unrolled<double, Min, 512>(const double *, double *, unsigned);
template __global__ void unrolled<double, Min, 1024>(const double *, double *, unsigned);
template __global__ void unrolled<double, Max, 64>(const double *, double *, unsigned);
template __global__ void unrolled<double, Max, 128>(const double *, double *, unsigned);
template __global__ void unrolled<double, Max, 256>(const double *, double *, unsigned);
template __global__ void unrolled<double, Max, 512>(const double *, double *, unsigned);
template __global__ void unrolled<double, Max, 1024>(const double *, double *, unsigned);
