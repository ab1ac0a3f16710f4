// What the reductions fold with. An operation is a function object: op(a, b), which is associative and
// commutative, so that threads may fold in any order; identity<T, Op>() is the value that changes nothing,
// for threads that have no element; op.atomic(&total, a) folds into memory that other blocks fold into at the
// same time.
#pragma once

struct Sum {
    template <typename T> __device__ T operator()(T a, T b) const { return a + b; }
    template <typename T> __device__ void atomic(T *total, T a) const { atomicAdd(total, a); }
};

struct Min {
    template <typename T> __device__ T operator()(T a, T b) const { return b < a ? b : a; }
    __device__ void atomic(int *total, int a) const { atomicMin(total, a); }
    template <typename T> __device__ void atomic(T *total, T a) const;
};

struct Max {
    template <typename T> __device__ T operator()(T a, T b) const { return a < b ? b : a; }
    __device__ void atomic(int *total, int a) const { atomicMax(total, a); }
    template <typename T> __device__ void atomic(T *total, T a) const;
};

// 0 for a sum; for a minimum the largest value there is, for a maximum the smallest.
template <typename T, typename Op> struct Identity;
template <typename T> struct Identity<T, Sum> {
    __device__ static T value() { return T(0); }
};
template <> struct Identity<int, Min> {
    __device__ static int value() { return 0x7fffffff; }
};
template <> struct Identity<int, Max> {
    __device__ static int value() { return -0x7fffffff - 1; }
};
template <> struct Identity<float, Min> {
    __device__ static float value() { return __builtin_huge_valf(); }
};
template <> struct Identity<float, Max> {
    __device__ static float value() { return -__builtin_huge_valf(); }
};
template <> struct Identity<double, Min> {
    __device__ static double value() { return __builtin_huge_val(); }
};
template <> struct Identity<double, Max> {
    __device__ static double value() { return -__builtin_huge_val(); }
};

template <typename T, typename Op> __device__ T identity() { return Identity<T, Op>::value(); }

// There is no atomicMin or atomicMax for floats: compare and swap their bits until nobody was faster.
template <typename Op> __device__ void atomic_fold(float *total, float a, Op op) {
    int *bits = reinterpret_cast<int *>(total);
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(op(__int_as_float(assumed), a)));
    } while (old != assumed);
}

template <typename Op> __device__ void atomic_fold(double *total, double a, Op op) {
    unsigned long long *bits = reinterpret_cast<unsigned long long *>(total);
    unsigned long long old = *bits, assumed;
    do {
        assumed = old;
        double folded = op(__longlong_as_double(assumed), a);
        old = atomicCAS(bits, assumed, __double_as_longlong(folded));
    } while (old != assumed);
}

template <typename T> __device__ void Min::atomic(T *total, T a) const { atomic_fold(total, a, *this); }
template <typename T> __device__ void Max::atomic(T *total, T a) const { atomic_fold(total, a, *this); }

// The block's dynamic shared memory as an array of T. (Templates cannot each declare `extern __shared__ T
// sdata[]`: it would be one name with several types.)
template <typename T> __device__ T *shared_array() {
    extern __shared__ __align__(16) unsigned char shared_bytes[];
    return reinterpret_cast<T *>(shared_bytes);
}
