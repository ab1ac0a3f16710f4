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
// all fit on the device at once. catalog_plan_fastest() in src/catalog/ladder_plans.c chooses grid and template.
#include "halves.cuh"

const unsigned LETTERS = 2048; // more than a GPU has room for at four blocks on each multiprocessor
__device__ unsigned long long letters[LETTERS * 4]; // of a double two each; 0: not arrived

union Letter {
    struct {
        unsigned arrived;
        unsigned bits;
    };
    unsigned long long word;
};

template <typename T>
__device__ void send(volatile unsigned long long *box, T value) {
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof value);
    for (int w = 0; w < sizeof(T) / 4; w++) {
        Letter letter;
        letter.arrived = 1;
        letter.bits = words[w];
        box[w] = letter.word;
    }
}

// The value that these words are of.
template <typename T>
__device__ void assemble(const unsigned *words, T &value) {
    memcpy(&value, words, sizeof value);
}
__device__ void assemble(const unsigned *words, double &value) {
    value = __hiloint2double(words[1], words[0]);
}

// All words of the value are asked for before the first is waited for.
template <typename T>
__device__ T receive(volatile unsigned long long *box) {
    const int count = sizeof(T) / 4;
    Letter letter[count];
    bool all; // have arrived
    do {
        all = true;
        for (int w = 0; w < count; w++)
            letter[w].word = box[w];
        for (int w = 0; w < count; w++)
            all = all && letter[w].word;
    } while (!all);
    unsigned words[count];
    for (int w = 0; w < count; w++) {
        box[w] = 0;
        words[w] = letter[w].bits;
    }
    T value;
    assemble(words, value);
    return value;
}

// What threads fold of elements of type T, and what they leave in memory.
template <typename T, typename Op>
struct Fold {
    typedef typename Wide<T>::type type;
    typedef T result;
    typedef Op identity_of; // for elements that are not there
    __device__ static type nothing(unsigned = 0) { return identity<type, Op>(); }
    __device__ static type element(type a, T element, unsigned) { return Op()(a, type(element)); }
    __device__ static type vector(type a, typename VectorOf<T>::type elements, unsigned) {
        return Op()(a, across(Op(), elements));
    }
    __device__ static T stored(type a) { return a; }
};

// The index of the largest element, of equal ones the first: a value and its index travel together.
template <typename T>
struct Place {
    T value;
    unsigned index;
};
template <>
struct Place<double> {
    double value;
    unsigned index, zero; // every byte has a value: all are stored, and sent by mail
};
struct ArgMax {
    template <typename T>
    __device__ Place<T> operator()(Place<T> a, Place<T> b) const {
        return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
    }
};
template <typename T>
struct Fold<T, ArgMax> {
    typedef typename Wide<T>::type Value;
    typedef Place<Value> type;
    typedef unsigned result;
    typedef Max identity_of;
    // `first`: index of the first element that the thread will fold, the answer if none is larger than the identity.
    __device__ static type nothing(unsigned first = 0xffffffff) { return {identity<Value, Max>(), first}; }
    __device__ static type element(type a, T element, unsigned index) {
        return ArgMax()(a, type{Value(element), index});
    }
    // A thread's indices increase, so of equal elements it keeps the first.
    __device__ static type vector(type a, typename VectorOf<T>::type elements, unsigned index) {
        const int width = 16 / sizeof(T);
        Value each[width];
        spread(elements, each);
        for (int k = 0; k < width; k++)
            if (each[k] > a.value)
                a = {each[k], index + k};
        return a;
    }
    __device__ static unsigned stored(type a) { return a.index; }
};

template <typename T>
__device__ T shuffle_down(T a, unsigned offset) {
    return __shfl_down_sync(0xffffffff, a, offset);
}
template <typename T>
__device__ Place<T> shuffle_down(Place<T> a, unsigned offset) {
    return {shuffle_down(a.value, offset), shuffle_down(a.index, offset)};
}

// One instruction for whole numbers, five shuffles for the others.
__device__ int fold_warp(Sum, int a) { return __reduce_add_sync(0xffffffff, a); }
__device__ int fold_warp(Min, int a) { return __reduce_min_sync(0xffffffff, a); }
__device__ int fold_warp(Max, int a) { return __reduce_max_sync(0xffffffff, a); }
template <typename T, typename Op>
__device__ T fold_warp(Op op, T a) {
    for (unsigned offset = 16; offset > 0; offset /= 2)
        a = op(a, shuffle_down(a, offset));
    return a;
}

// The block's result, in thread 0: one thread folds what the warps leave, all of which it loads at once.
template <int threads, typename T, typename Op>
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
__global__ void __launch_bounds__(threads, 2048 / threads) // all are resident
    fastest(const T *in, typename Fold<T, Op>::result *out, unsigned n) {
    typedef Fold<T, Op> Fold;
    typedef typename VectorOf<T>::type Vector;
    const unsigned width = sizeof(Vector) / sizeof(T), words = sizeof(typename Fold::type) / 4;
    const Op op;
    const Vector none = repeat(identity<T, typename Fold::identity_of>());
    const Vector *vectors = reinterpret_cast<const Vector *>(in);
    unsigned tid = threadIdx.x, count = n / width;
    unsigned begin = blockIdx.x * (threads * loads) + tid;
    typename Fold::type sum = Fold::nothing(begin < count ? begin * width : 0xffffffff);
    for (unsigned i = begin; i < count; i += gridDim.x * (threads * loads)) {
        Vector part[loads];
#pragma unroll
        for (int k = 0; k < loads; k++)
            part[k] = i + k * threads < count ? vectors[i + k * threads] : none;
#pragma unroll
        for (int k = 0; k < loads; k++) // only now is a load waited for
            sum = Fold::vector(sum, part[k], (i + k * threads) * width);
    }
    if (blockIdx.x == 0 && tid < n % width) // less than a vector is left at the end
        sum = Fold::element(sum, in[count * width + tid], count * width + tid);

    sum = fold_block<threads>(op, sum);
    if (blockIdx.x + 1 < gridDim.x) {
        if (tid == 0)
            send(letters + blockIdx.x * words, sum);
        return;
    }
    if (gridDim.x > 1) {
        if (tid > 0)
            sum = Fold::nothing();
        for (unsigned b = tid; b + 1 < gridDim.x; b += threads)
            sum = op(sum, receive<typename Fold::type>(letters + b * words));
        __syncthreads(); // fold_block() uses its shared array again
        sum = fold_block<threads>(op, sum);
    }
    if (tid == 0)
        out[0] = Fold::stored(sum);
}

#define INSTANCES(T, Op)                                                                                     \
    template __global__ void fastest<T, Op, 256, 2>(const T *, Fold<T, Op>::result *, unsigned);             \
    template __global__ void fastest<T, Op, 256, 4>(const T *, Fold<T, Op>::result *, unsigned);             \
    template __global__ void fastest<T, Op, 512, 2>(const T *, Fold<T, Op>::result *, unsigned);             \
    template __global__ void fastest<T, Op, 512, 4>(const T *, Fold<T, Op>::result *, unsigned);

INSTANCES(int, Sum)
INSTANCES(int, Min)
INSTANCES(int, Max)
INSTANCES(int, ArgMax)
INSTANCES(float, Sum)
INSTANCES(float, Min)
INSTANCES(float, Max)
INSTANCES(float, ArgMax)
INSTANCES(double, Sum)
INSTANCES(double, Min)
INSTANCES(double, Max)
INSTANCES(double, ArgMax)
INSTANCES(half, Sum)
INSTANCES(half, Min)
INSTANCES(half, Max)
INSTANCES(half, ArgMax)
