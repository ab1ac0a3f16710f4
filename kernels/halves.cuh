// Vectors of eight halves, folded as floats: a sum is rounded to 11 bits only where it is stored.
#pragma once
#include "vectors.cuh"
#include <cuda_fp16.h>

template <>
struct VectorOf<half> {
    typedef uint4 type;
};

template <>
struct Identity<half, Sum> {
    __device__ static half value() { return __ushort_as_half(0); }
};
template <>
struct Identity<half, Min> {
    __device__ static half value() { return __ushort_as_half(0x7c00); } // infinity
};
template <>
struct Identity<half, Max> {
    __device__ static half value() { return __ushort_as_half(0xfc00); }
};

// The type that elements of type T are folded in.
template <typename T>
struct Wide {
    typedef T type;
};
template <>
struct Wide<half> {
    typedef float type;
};

__device__ inline float low_half(unsigned pair) { return __half2float(__ushort_as_half(pair & 0xffff)); }
__device__ inline float high_half(unsigned pair) { return __half2float(__ushort_as_half(pair >> 16)); }

template <typename Op>
__device__ float across(Op op, uint4 a) {
    return op(op(op(low_half(a.x), high_half(a.x)), op(low_half(a.y), high_half(a.y))),
              op(op(low_half(a.z), high_half(a.z)), op(low_half(a.w), high_half(a.w))));
}

// The elements of a vector, in their order.
__device__ inline void spread(int4 a, int *each) {
    each[0] = a.x, each[1] = a.y, each[2] = a.z, each[3] = a.w;
}
__device__ inline void spread(float4 a, float *each) {
    each[0] = a.x, each[1] = a.y, each[2] = a.z, each[3] = a.w;
}
__device__ inline void spread(double2 a, double *each) { each[0] = a.x, each[1] = a.y; }
__device__ inline void spread(uint4 a, float *each) {
    each[0] = low_half(a.x), each[1] = high_half(a.x), each[2] = low_half(a.y), each[3] = high_half(a.y);
    each[4] = low_half(a.z), each[5] = high_half(a.z), each[6] = low_half(a.w), each[7] = high_half(a.w);
}

// The vector of which every element is `a`.
__device__ inline int4 repeat(int a) { return make_int4(a, a, a, a); }
__device__ inline float4 repeat(float a) { return make_float4(a, a, a, a); }
__device__ inline double2 repeat(double a) { return make_double2(a, a); }
__device__ inline uint4 repeat(half a) {
    const unsigned pair = __half_as_ushort(a) * 0x10001u;
    return make_uint4(pair, pair, pair, pair);
}
