// 16-byte vectors of T, which one instruction loads: int4, float4, double2. fold(op, a, b) works component by
// component, across(op, a) folds the components of one vector.
#pragma once
#include "operations.cuh"

template <typename T> struct VectorOf;
template <> struct VectorOf<int> { typedef int4 type; };
template <> struct VectorOf<float> { typedef float4 type; };
template <> struct VectorOf<double> { typedef double2 type; };

template <typename Op> __device__ int4 fold(Op op, int4 a, int4 b) {
    return make_int4(op(a.x, b.x), op(a.y, b.y), op(a.z, b.z), op(a.w, b.w));
}
template <typename Op> __device__ float4 fold(Op op, float4 a, float4 b) {
    return make_float4(op(a.x, b.x), op(a.y, b.y), op(a.z, b.z), op(a.w, b.w));
}
template <typename Op> __device__ double2 fold(Op op, double2 a, double2 b) {
    return make_double2(op(a.x, b.x), op(a.y, b.y));
}

template <typename Op> __device__ int across(Op op, int4 a) { return op(op(a.x, a.y), op(a.z, a.w)); }
template <typename Op> __device__ float across(Op op, float4 a) { return op(op(a.x, a.y), op(a.z, a.w)); }
template <typename Op> __device__ double across(Op op, double2 a) { return op(a.x, a.y); }

// Vector i of the array; elements at n and beyond are the identity. The array starts at a multiple of 16
// bytes.
template <typename Op> __device__ int4 load_vector(const int *in, unsigned i, unsigned n) {
    if (4 * i + 3 < n)
        return reinterpret_cast<const int4 *>(in)[i];
    int none = identity<int, Op>();
    return make_int4(4 * i < n ? in[4 * i] : none, 4 * i + 1 < n ? in[4 * i + 1] : none,
                     4 * i + 2 < n ? in[4 * i + 2] : none, none);
}
template <typename Op> __device__ float4 load_vector(const float *in, unsigned i, unsigned n) {
    if (4 * i + 3 < n)
        return reinterpret_cast<const float4 *>(in)[i];
    float none = identity<float, Op>();
    return make_float4(4 * i < n ? in[4 * i] : none, 4 * i + 1 < n ? in[4 * i + 1] : none,
                       4 * i + 2 < n ? in[4 * i + 2] : none, none);
}
template <typename Op> __device__ double2 load_vector(const double *in, unsigned i, unsigned n) {
    if (2 * i + 1 < n)
        return reinterpret_cast<const double2 *>(in)[i];
    double none = identity<double, Op>();
    return make_double2(2 * i < n ? in[2 * i] : none, none);
}
