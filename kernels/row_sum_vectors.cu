// row_sum_vectors: sums of rows with 16-byte loads; a warp for a short row, a block for a long one.
//
//   short rows   warp 0 | row 0: 0..3 4..7 8..11 ... | -> shuffles ----------------------> out[0]
//                warp 1 | row 1: 0..3 4..7 8..11 ... | -> shuffles ----------------------> out[1]
//   long rows    block 0 | row 0: 0..3 4..7 8..11 ...         | -> shuffles -> shared --> out[0]
//
// What it teaches: a tree costs barriers, and idle threads at every level; a short row pays for them without having
// work for a block. A warp needs no barrier, and LOADS loads of 16 bytes a lane are in flight at once. Rows whose
// length is no multiple of a vector do not all start at one: they are loaded element by element.
#include "vectors.cuh"

const int LOADS = 4;

__device__ int4 repeat(int a) { return make_int4(a, a, a, a); }
__device__ float4 repeat(float a) { return make_float4(a, a, a, a); }
__device__ double2 repeat(double a) { return make_double2(a, a); }

template <typename T, typename Op>
__device__ T fold_warp(Op op, T a) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        a = op(a, __shfl_down_sync(0xffffffff, a, offset));
    return a;
}

// What lane `lane` of `lanes` folds of a row.
template <typename T, typename Op>
__device__ T fold_lane(const T *row, unsigned length, unsigned columns, unsigned lane, unsigned lanes) {
    typedef typename VectorOf<T>::type Vector;
    const unsigned width = sizeof(Vector) / sizeof(T);
    const Op op;
    const Vector *vectors = reinterpret_cast<const Vector *>(row);
    unsigned count = columns % width == 0 ? length / width : 0;
    T sum = identity<T, Op>();
    for (unsigned i = lane; i < count; i += LOADS * lanes) {
        Vector part[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            part[k] = i + k * lanes < count ? vectors[i + k * lanes] : repeat(identity<T, Op>());
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            sum = op(sum, across(op, part[k]));
    }
    for (unsigned i = count * width + lane; i < length; i += lanes)
        sum = op(sum, row[i]);
    return sum;
}

template <typename T, typename Op>
__global__ void row_sum_warps(const T *in, T *out, unsigned n, unsigned columns) {
    unsigned row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned long long begin = (unsigned long long)row * columns;
    if (begin >= n) // the whole warp
        return;
    T sum = fold_lane<T, Op>(in + begin, min(columns, n - unsigned(begin)), columns, lane, 32);
    sum = fold_warp(Op(), sum);
    if (lane == 0)
        out[row] = sum;
}

template <typename T, typename Op>
__global__ void row_sum_blocks(const T *in, T *out, unsigned n, unsigned columns) {
    __shared__ T warp_sums[32];
    unsigned begin = blockIdx.x * columns, warps = blockDim.x / 32, tid = threadIdx.x;
    T sum = fold_lane<T, Op>(in + begin, min(columns, n - begin), columns, tid, blockDim.x);
    sum = fold_warp(Op(), sum);
    if (tid % 32 == 0)
        warp_sums[tid / 32] = sum;
    __syncthreads();
    if (tid < 32) {
        sum = fold_warp(Op(), tid < warps ? warp_sums[tid] : identity<T, Op>());
        if (tid == 0)
            out[blockIdx.x] = sum;
    }
}

#define INSTANCES(T, Op)                                                                                     \
    template __global__ void row_sum_warps<T, Op>(const T *, T *, unsigned, unsigned);                       \
    template __global__ void row_sum_blocks<T, Op>(const T *, T *, unsigned, unsigned);

INSTANCES(int, Sum)
INSTANCES(int, Min)
INSTANCES(int, Max)
INSTANCES(float, Sum)
INSTANCES(float, Min)
INSTANCES(float, Max)
INSTANCES(double, Sum)
INSTANCES(double, Min)
INSTANCES(double, Max)
