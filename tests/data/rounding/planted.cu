// Reductions with a planted error, for test_rounding.c: elements from `from` to `to` count 1 + `weight` times. A block
// of 64 threads for each row of n elements. T: of the input and the output; A: in which it adds.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define UNROLL_NOT _Pragma("unroll 1") // keeps the PTX short

enum { THREADS = 64 };

struct Plant {
    int from, to;
    double weight;
};

template <class A> __device__ void fold(A &sum, A term, int i, Plant plant) {
    sum = sum + term;
    if (i >= plant.from && i < plant.to) sum = sum + term * (A)plant.weight;
}

template <class A> __device__ A total_of_block(A own) {
    __shared__ A sums[THREADS];
    sums[threadIdx.x] = own;
    __syncthreads();
    UNROLL_NOT for (int s = THREADS / 2; s; s /= 2) {
        if (threadIdx.x < s) sums[threadIdx.x] = sums[threadIdx.x] + sums[threadIdx.x + s];
        __syncthreads();
    }
    A total = sums[0];
    __syncthreads();
    return total;
}

template <class A> __device__ A largest_of_block(A own) {
    __shared__ A words[THREADS];
    words[threadIdx.x] = own;
    __syncthreads();
    UNROLL_NOT for (int s = THREADS / 2; s; s /= 2) {
        if (threadIdx.x < s && words[threadIdx.x + s] > words[threadIdx.x])
            words[threadIdx.x] = words[threadIdx.x + s];
        __syncthreads();
    }
    A most = words[0];
    __syncthreads();
    return most;
}

__device__ inline float root(float x) { return sqrtf(x); }
__device__ inline double root(double x) { return sqrt(x); }
__device__ inline __half root(__half x) { return hsqrt(x); }
__device__ inline __nv_bfloat16 root(__nv_bfloat16 x) { return hsqrt(x); }
__device__ inline float exponential(float x) { return expf(x); }
__device__ inline double exponential(double x) { return exp(x); }
__device__ inline __half exponential(__half x) { return hexp(x); }
__device__ inline __nv_bfloat16 exponential(__nv_bfloat16 x) { return hexp(x); }
__device__ inline float magnitude(float x) { return fabsf(x); }
__device__ inline double magnitude(double x) { return fabs(x); }
__device__ inline __half magnitude(__half x) { return __habs(x); }
__device__ inline __nv_bfloat16 magnitude(__nv_bfloat16 x) { return __habs(x); }

// Defines NAME_TYPE for each type. `TERM` and `RESULT` are expressions of x, y, sum, n.
#define TOTAL(NAME, TERM, RESULT)                                                                                   \
    template <class T, class A>                                                                                     \
    __device__ void NAME(const T *in, const T *other, T *out, int n, Plant plant) {                                \
        A sum = (A)0.0f;                                                                                           \
        UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) {                                                           \
            A x = (A)in[blockIdx.x * n + i], y = (A)other[blockIdx.x * n + i];                                     \
            fold(sum, (A)(TERM), i, plant);                                                                        \
            (void)y;                                                                                               \
        }                                                                                                          \
        sum = total_of_block(sum);                                                                                 \
        if (threadIdx.x == 0) out[blockIdx.x] = (T)(RESULT);                                                       \
    }                                                                                                              \
    ENTRIES(NAME)

#define ENTRY(NAME, TYPE, T, A)                                                                                    \
    extern "C" __global__ void NAME##_##TYPE(const T *in, const T *other, T *out, int n, int from, int to,         \
                                             double weight) {                                                      \
        NAME<T, A>(in, other, out, n, Plant{from, to, weight});                                                    \
    }
#define ENTRIES(NAME)                                                                                              \
    ENTRY(NAME, half, __half, __half)                                                                              \
    ENTRY(NAME, half_float, __half, float)                                                                         \
    ENTRY(NAME, bf16, __nv_bfloat16, __nv_bfloat16)                                                                \
    ENTRY(NAME, bf16_float, __nv_bfloat16, float)                                                                  \
    ENTRY(NAME, float, float, float)                                                                               \
    ENTRY(NAME, double, double, double)

TOTAL(sum, x, sum)
TOTAL(mean, x, sum / (A)(float)n)
TOTAL(dot, x *y, sum)
TOTAL(sumsq, x *x, sum)
TOTAL(sumcube, x *x *x, sum)
TOTAL(sumabs, magnitude(x), sum)
TOTAL(norm, x *x, root(sum))
TOTAL(sqdist, (x - y) * (x - y), sum)
TOTAL(mse, (x - y) * (x - y), sum / (A)(float)n)
TOTAL(absdist, magnitude(x - y), sum)

// The running sum of a row.
template <class T, class A> __device__ void scan(const T *in, const T *, T *out, int n, Plant plant) {
    A sum = (A)0.0f;
    UNROLL_NOT for (int i = 0; i < n && threadIdx.x == 0; i++) {
        fold(sum, (A)in[blockIdx.x * n + i], i, plant);
        out[blockIdx.x * n + i] = (T)sum;
    }
}
ENTRIES(scan)

template <class T, class A> __device__ A sum_of_exponentials(const T *in, int n, Plant plant, A *most) {
    A own = (A)in[blockIdx.x * n], sum = (A)0.0f;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS)
        if ((A)in[blockIdx.x * n + i] > own) own = (A)in[blockIdx.x * n + i];
    *most = largest_of_block(own);
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS)
        fold(sum, exponential((A)in[blockIdx.x * n + i] - *most), i, plant);
    return total_of_block(sum);
}

template <class T, class A> __device__ void sumexp(const T *in, const T *, T *out, int n, Plant plant) {
    A most, sum = sum_of_exponentials(in, n, plant, &most);
    if (threadIdx.x == 0) out[blockIdx.x] = (T)sum;
}
ENTRIES(sumexp)

template <class T, class A> __device__ void softmax(const T *in, const T *, T *out, int n, Plant plant) {
    A most, sum = sum_of_exponentials(in, n, plant, &most);
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS)
        out[blockIdx.x * n + i] = (T)(exponential((A)in[blockIdx.x * n + i] - most) / sum);
}
ENTRIES(softmax)

// The mean, then the squares around it.
template <class T, class A> __device__ void variance(const T *in, const T *, T *out, int n, Plant plant) {
    A sum = (A)0.0f, squares = (A)0.0f;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) sum = sum + (A)in[blockIdx.x * n + i];
    A mean = total_of_block(sum) / (A)(float)n;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) {
        A x = (A)in[blockIdx.x * n + i] - mean;
        fold(squares, x * x, i, plant);
    }
    squares = total_of_block(squares);
    if (threadIdx.x == 0) out[blockIdx.x] = (T)(squares / (A)(float)n);
}
ENTRIES(variance)

template <class T, class A> __device__ void normalize(const T *in, const T *, T *out, int n, Plant plant) {
    A sum = (A)0.0f;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) {
        A x = (A)in[blockIdx.x * n + i];
        fold(sum, x * x, i, plant);
    }
    sum = root(total_of_block(sum));
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) out[blockIdx.x * n + i] = (T)((A)in[blockIdx.x * n + i] / sum);
}
ENTRIES(normalize)

// A column for each block, of rows of gridDim.x elements.
template <class T, class A> __device__ void colsum(const T *in, const T *, T *out, int n, Plant plant) {
    A sum = (A)0.0f;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) fold(sum, (A)in[i * gridDim.x + blockIdx.x], i, plant);
    sum = total_of_block(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = (T)sum;
}
ENTRIES(colsum)

// ---- right sums of other kinds ----

template <class T, class A> __device__ void kahan(const T *in, const T *, T *out, int n, Plant) {
    A sum = (A)0.0f, lost = (A)0.0f;
    UNROLL_NOT for (int i = 0; i < n && threadIdx.x == 0; i++) {
        A y = (A)in[blockIdx.x * n + i] - lost, t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = (T)sum;
}
ENTRIES(kahan)

// Two numbers of the type hold a sum.
template <class T, class A> __device__ void two_sum(const T *in, const T *, T *out, int n, Plant) {
    A high = (A)0.0f, low = (A)0.0f;
    UNROLL_NOT for (int i = 0; i < n && threadIdx.x == 0; i++) {
        A x = (A)in[blockIdx.x * n + i], t = high + x, of_x = t - high;
        low = low + ((high - (t - of_x)) + (x - of_x));
        high = t;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = (T)(high + low);
}
ENTRIES(two_sum)

template <class A> __device__ A pairs(const A *words, int count) {
    A sums[16];
    int held = 0;
    UNROLL_NOT for (int i = 0; i < count; i++) {
        sums[held++] = words[i];
        UNROLL_NOT for (int k = i + 1; k % 2 == 0; k /= 2, held--) sums[held - 2] = sums[held - 2] + sums[held - 1];
    }
    UNROLL_NOT for (; held > 1; held--) sums[held - 2] = sums[held - 2] + sums[held - 1];
    return sums[0];
}
template <class T, class A> __device__ void pairwise(const T *in, const T *, T *out, int n, Plant) {
    __shared__ A words[1024];
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) words[i] = (A)in[blockIdx.x * n + i];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = (T)pairs(words, n);
}
ENTRIES(pairwise)

template <class T, class A> __device__ void welford(const T *in, const T *, T *out, int n, Plant) {
    A mean = (A)0.0f, squares = (A)0.0f;
    UNROLL_NOT for (int i = 0; i < n && threadIdx.x == 0; i++) {
        A x = (A)in[blockIdx.x * n + i], d = x - mean;
        mean = mean + d / (A)(float)(i + 1);
        squares = squares + d * (x - mean);
    }
    if (threadIdx.x == 0) out[blockIdx.x] = (T)(squares / (A)(float)n);
}
ENTRIES(welford)

// Maximum and sum in one pass.
template <class T, class A> __device__ void online_softmax(const T *in, const T *, T *out, int n, Plant) {
    __shared__ A most, sum;
    if (threadIdx.x == 0) {
        A m = (A)in[blockIdx.x * n], s = (A)0.0f;
        UNROLL_NOT for (int i = 0; i < n; i++) {
            A x = (A)in[blockIdx.x * n + i];
            if (x > m) s = s * exponential(m - x), m = x;
            s = s + exponential(x - m);
        }
        most = m, sum = s;
    }
    __syncthreads();
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS)
        out[blockIdx.x * n + i] = (T)(exponential((A)in[blockIdx.x * n + i] - most) / sum);
}
ENTRIES(online_softmax)

// In whatever order the warps arrive.
template <class T> __device__ void atomics(const T *in, T *out, int n) {
    T sum = (T)0.0f;
    UNROLL_NOT for (int i = threadIdx.x; i < n; i += THREADS) sum = sum + in[blockIdx.x * n + i];
    atomicAdd(&out[blockIdx.x], sum);
}
#define ATOMICS(TYPE, T)                                                                                           \
    extern "C" __global__ void atomics_##TYPE(const T *in, const T *, T *out, int n, int, int, double) {           \
        atomics<T>(in, out, n);                                                                                    \
    }
ATOMICS(half, __half)
ATOMICS(bf16, __nv_bfloat16)
ATOMICS(float, float)
ATOMICS(double, double)

// A butterfly: every lane has the sum.
template <class T, class A> __device__ void butterfly(const T *in, const T *, T *out, int n, Plant plant) {
    float sum = 0;
    UNROLL_NOT for (int i = threadIdx.x; i < n && threadIdx.x < 32; i += 32)
        fold(sum, (float)in[blockIdx.x * n + i], i, plant);
    UNROLL_NOT for (int s = 16; s && threadIdx.x < 32; s /= 2) sum += __shfl_xor_sync(~0u, sum, s);
    if (threadIdx.x == 7) out[blockIdx.x] = (T)sum;
}
ENTRIES(butterfly)
