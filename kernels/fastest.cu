// fastest: one launch, nothing but 16-byte loads on the way in, and mail on the way out.
//
//   block 0:  16 bytes a lane, `loads` at a time --> registers --> warp --> block --> letter 0 --.
//   block 1:                                                                      --> letter 1 --+
//   block 2, the last:                                                            --> its sum  --+--> out[0]
//
// What it teaches: several 16-byte loads in flight for a large array, few trips to memory one after another for
// a small one. A letter is one 8-byte word: 4 bytes of the sum, and a mark that it has arrived. Both become
// visible at once, without the fence and the second trip of last_block. The last block empties the letter
// boxes for the next launch. It alone waits, and none waits for it: unlike cooperative's, the blocks need not
// all fit on the device at once. plan_fastest() in src/catalog/ladder_rows.c chooses grid, `threads` and `loads`.
#include "vectors.cuh"

const unsigned LETTERS = 2048; // more than a GPU has room for at four blocks on each multiprocessor
__device__ unsigned long long letters[LETTERS * 2]; // of a double two each; 0: not arrived

union Letter {
    struct {
        unsigned arrived;
        unsigned bits;
    };
    unsigned long long word;
};

__device__ void send(volatile unsigned long long *box, unsigned bits) {
    Letter letter;
    letter.arrived = 1;
    letter.bits = bits;
    *box = letter.word;
}

// As many words as T has: both are asked for before the first is waited for.
template <int words>
__device__ void receive(volatile unsigned long long *box, unsigned (&bits)[words]) {
    Letter letter[words];
    bool all; // have arrived
    do {
        all = true;
        for (int w = 0; w < words; w++)
            letter[w].word = box[w];
        for (int w = 0; w < words; w++)
            all = all && letter[w].word;
    } while (!all);
    for (int w = 0; w < words; w++) {
        box[w] = 0;
        bits[w] = letter[w].bits;
    }
}

__device__ void send_value(volatile unsigned long long *box, int value) { send(box, value); }
__device__ void send_value(volatile unsigned long long *box, float value) {
    send(box, __float_as_uint(value));
}
__device__ void send_value(volatile unsigned long long *box, double value) {
    send(box, __double2loint(value));
    send(box + 1, __double2hiint(value));
}

__device__ void receive_value(volatile unsigned long long *box, int &value) {
    unsigned bits[1];
    receive(box, bits);
    value = bits[0];
}
__device__ void receive_value(volatile unsigned long long *box, float &value) {
    unsigned bits[1];
    receive(box, bits);
    value = __uint_as_float(bits[0]);
}
__device__ void receive_value(volatile unsigned long long *box, double &value) {
    unsigned bits[2];
    receive(box, bits);
    value = __hiloint2double(bits[1], bits[0]);
}

__device__ int4 repeat(int a) { return make_int4(a, a, a, a); }
__device__ float4 repeat(float a) { return make_float4(a, a, a, a); }
__device__ double2 repeat(double a) { return make_double2(a, a); }

// One instruction for whole numbers, five shuffles for the others.
__device__ int fold_warp(Sum, int a) { return __reduce_add_sync(0xffffffff, a); }
__device__ int fold_warp(Min, int a) { return __reduce_min_sync(0xffffffff, a); }
__device__ int fold_warp(Max, int a) { return __reduce_max_sync(0xffffffff, a); }
template <typename T, typename Op>
__device__ T fold_warp(Op op, T a) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        a = op(a, __shfl_down_sync(0xffffffff, a, offset));
    return a;
}

// The block's result, in thread 0: one thread folds what the warps leave, all of which it loads at once.
template <typename T, typename Op, int threads>
__device__ T fold_block(Op op, T a) {
    const int warps = threads / 32;
    __shared__ __align__(16) T warp_results[warps];
    a = fold_warp(op, a);
    if (threadIdx.x % 32 == 0)
        warp_results[threadIdx.x / 32] = a;
    __syncthreads();
    if (threadIdx.x == 0) {
        T each[warps];
#pragma unroll
        for (int w = 0; w < warps; w++)
            each[w] = warp_results[w];
#pragma unroll
        for (int s = 1; s < warps; s *= 2)
#pragma unroll
            for (int w = 0; w + s < warps; w += 2 * s)
                each[w] = op(each[w], each[w + s]);
        a = each[0];
    }
    return a;
}

template <typename T, typename Op, int threads, int loads>
__global__ void __launch_bounds__(threads) fastest(const T *in, T *out, unsigned n) {
    typedef typename VectorOf<T>::type Vector;
    const unsigned width = sizeof(Vector) / sizeof(T), words = sizeof(T) / 4;
    const Op op;
    const Vector *vectors = reinterpret_cast<const Vector *>(in);
    unsigned tid = threadIdx.x, count = n / width;
    T sum = identity<T, Op>();
    for (unsigned i = blockIdx.x * (threads * loads) + tid; i < count; i += gridDim.x * (threads * loads)) {
        Vector part[loads];
#pragma unroll
        for (int k = 0; k < loads; k++)
            part[k] = i + k * threads < count ? vectors[i + k * threads] : repeat(identity<T, Op>());
#pragma unroll
        for (int k = 0; k < loads; k++) // only now is a load waited for
            sum = op(sum, across(op, part[k]));
    }
    if (blockIdx.x == 0 && tid < n % width) // less than a vector is left at the end
        sum = op(sum, in[count * width + tid]);

    sum = fold_block<T, Op, threads>(op, sum);
    if (blockIdx.x + 1 < gridDim.x) {
        if (tid == 0)
            send_value(letters + blockIdx.x * words, sum);
        return;
    }
    if (gridDim.x > 1) {
        if (tid > 0)
            sum = identity<T, Op>();
        for (unsigned b = tid; b + 1 < gridDim.x; b += threads) {
            T other;
            receive_value(letters + b * words, other);
            sum = op(sum, other);
        }
        __syncthreads(); // fold_block() uses its shared array again
        sum = fold_block<T, Op, threads>(op, sum);
    }
    if (tid == 0)
        out[0] = sum;
}

#define INSTANCES(T, Op)                                                                                     \
    template __global__ void fastest<T, Op, 256, 2>(const T *, T *, unsigned);                               \
    template __global__ void fastest<T, Op, 256, 4>(const T *, T *, unsigned);                               \
    template __global__ void fastest<T, Op, 512, 2>(const T *, T *, unsigned);                               \
    template __global__ void fastest<T, Op, 512, 4>(const T *, T *, unsigned);

INSTANCES(int, Sum)
INSTANCES(int, Min)
INSTANCES(int, Max)
INSTANCES(float, Sum)
INSTANCES(float, Min)
INSTANCES(float, Max)
INSTANCES(double, Sum)
INSTANCES(double, Min)
INSTANCES(double, Max)
