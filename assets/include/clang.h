/* CUDA C++ for clang without the CUDA toolkit: launch built-ins, vector types, barriers, fences, shuffles, votes,
 * match, redux, atomics, bits, and the mathematics that one PTX instruction does. What is missing (exp, log, sin,
 * pow, half, cooperative groups, textures) needs NVIDIA's libraries, and clang names it as not declared.
 *
 * redviz compiles with it by
 *   clang -x cuda --cuda-device-only -nocudainc -nocudalib -nostdlibinc -include clang.h FILE.cu */
#ifndef REDVIZ_CLANG_H
#define REDVIZ_CLANG_H

#define __host__               __attribute__((host))
#define __device__             __attribute__((device))
#define __global__             __attribute__((global))
#define __shared__             __attribute__((shared))
#define __constant__           __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__        __inline__ __attribute__((always_inline))
#define __noinline__           __attribute__((noinline))
#define __align__(bytes)       __attribute__((aligned(bytes)))
#define __grid_constant__

#include "standard.h"

/* nodebug: the line of what is inlined is that of the call */
#define REDVIZ_DEVICE static __device__ __forceinline__ __attribute__((nodebug))

/* ---- vector types and launch built-ins ---- */

#define REDVIZ_VECTOR_TYPES(type, name, align1, align2, align4)                                              \
    struct __attribute__((aligned(align1))) name##1 {                                                        \
        type x;                                                                                              \
    };                                                                                                       \
    struct __attribute__((aligned(align2))) name##2 {                                                        \
        type x, y;                                                                                           \
    };                                                                                                       \
    struct name##3 {                                                                                         \
        type x, y, z;                                                                                        \
    };                                                                                                       \
    struct __attribute__((aligned(align4))) name##4 {                                                        \
        type x, y, z, w;                                                                                     \
    };                                                                                                       \
    static __host__ __device__ inline name##1 make_##name##1(type x) {                                       \
        return {x};                                                                                          \
    }                                                                                                        \
    static __host__ __device__ inline name##2 make_##name##2(type x, type y) {                               \
        return {x, y};                                                                                       \
    }                                                                                                        \
    static __host__ __device__ inline name##3 make_##name##3(type x, type y, type z) {                       \
        return {x, y, z};                                                                                    \
    }                                                                                                        \
    static __host__ __device__ inline name##4 make_##name##4(type x, type y, type z, type w) {               \
        return {x, y, z, w};                                                                                 \
    }
REDVIZ_VECTOR_TYPES(signed char, char, 1, 2, 4)
REDVIZ_VECTOR_TYPES(unsigned char, uchar, 1, 2, 4)
REDVIZ_VECTOR_TYPES(short, short, 2, 4, 8)
REDVIZ_VECTOR_TYPES(unsigned short, ushort, 2, 4, 8)
REDVIZ_VECTOR_TYPES(int, int, 4, 8, 16)
REDVIZ_VECTOR_TYPES(unsigned, uint, 4, 8, 16)
REDVIZ_VECTOR_TYPES(long, long, 8, 16, 16)
REDVIZ_VECTOR_TYPES(unsigned long, ulong, 8, 16, 16)
REDVIZ_VECTOR_TYPES(long long, longlong, 8, 16, 16)
REDVIZ_VECTOR_TYPES(unsigned long long, ulonglong, 8, 16, 16)
REDVIZ_VECTOR_TYPES(float, float, 4, 8, 16)
REDVIZ_VECTOR_TYPES(double, double, 8, 16, 16)

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};

#define REDVIZ_BUILTIN(name, sreg)                                                                           \
    struct redviz_##name {                                                                                   \
        __declspec(property(get = get_x)) unsigned x;                                                        \
        __declspec(property(get = get_y)) unsigned y;                                                        \
        __declspec(property(get = get_z)) unsigned z;                                                        \
        REDVIZ_DEVICE unsigned get_x() { return __nvvm_read_ptx_sreg_##sreg##_x(); }                         \
        REDVIZ_DEVICE unsigned get_y() { return __nvvm_read_ptx_sreg_##sreg##_y(); }                         \
        REDVIZ_DEVICE unsigned get_z() { return __nvvm_read_ptx_sreg_##sreg##_z(); }                         \
        __device__ operator uint3() const { return {get_x(), get_y(), get_z()}; }                            \
        __device__ operator dim3() const { return dim3(get_x(), get_y(), get_z()); }                         \
    };                                                                                                       \
    extern const __device__ __attribute__((weak)) redviz_##name name;
REDVIZ_BUILTIN(threadIdx, tid)
REDVIZ_BUILTIN(blockIdx, ctaid)
REDVIZ_BUILTIN(blockDim, ntid)
REDVIZ_BUILTIN(gridDim, nctaid)
#ifdef REDVIZ_PROGRAM_H /* cudaDeviceProp has a field of this name */
constexpr int warpSize = 32;
#else
extern const __device__ __attribute__((weak)) int warpSize;
#define warpSize 32
#endif

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
#ifndef REDVIZ_PROGRAM_H /* has an enumeration */
typedef int cudaError_t;
#endif
extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const char *, const char *, unsigned, const char *, size_t)
    __attribute__((noreturn));
#ifndef NDEBUG
#undef assert
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
#endif

/* ---- barriers, fences, clocks ---- */

REDVIZ_DEVICE void __trap() {
    asm volatile("trap;");
}
/* Not clang's own: it moves loads of shared variables whose address is not taken across them (clang 14). */
REDVIZ_DEVICE void redviz_syncthreads() {
    asm volatile("bar.sync 0;" ::: "memory");
}
#define __syncthreads() redviz_syncthreads()
REDVIZ_DEVICE int __syncthreads_count(int p) {
    int count;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }"
                 : "=r"(count)
                 : "r"(p)
                 : "memory");
    return count;
}
REDVIZ_DEVICE int __syncthreads_and(int p) {
    int all;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.and.pred p, 0, p; selp.s32 %0, 1, 0, p; }"
                 : "=r"(all)
                 : "r"(p)
                 : "memory");
    return all;
}
REDVIZ_DEVICE int __syncthreads_or(int p) {
    int any;
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %1, 0; bar.red.or.pred p, 0, p; selp.s32 %0, 1, 0, p; }"
                 : "=r"(any)
                 : "r"(p)
                 : "memory");
    return any;
}
REDVIZ_DEVICE void __syncwarp(unsigned mask = ~0u) {
    asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory");
}
REDVIZ_DEVICE void __threadfence_block() {
    __nvvm_membar_cta();
}
REDVIZ_DEVICE void __threadfence() {
    __nvvm_membar_gl();
}
REDVIZ_DEVICE void __threadfence_system() {
    __nvvm_membar_sys();
}
REDVIZ_DEVICE int clock() {
    return (int)__nvvm_read_ptx_sreg_clock();
}
REDVIZ_DEVICE long long clock64() {
    return __nvvm_read_ptx_sreg_clock64();
}
REDVIZ_DEVICE void __nanosleep(unsigned ns) {
    asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}

/* ---- warps ---- */

REDVIZ_DEVICE unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
REDVIZ_DEVICE int __all_sync(unsigned mask, int p) {
    return __nvvm_vote_all_sync(mask, p);
}
REDVIZ_DEVICE int __any_sync(unsigned mask, int p) {
    return __nvvm_vote_any_sync(mask, p);
}
REDVIZ_DEVICE int __uni_sync(unsigned mask, int p) {
    return __nvvm_vote_uni_sync(mask, p);
}
REDVIZ_DEVICE unsigned __ballot_sync(unsigned mask, int p) {
    return __nvvm_vote_ballot_sync(mask, p);
}

#define REDVIZ_SHUFFLE(name, mode, clamp)                                                                    \
    template <typename T> REDVIZ_DEVICE T name(unsigned mask, T value, int by, int width = 32) {             \
        static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 8, "shuffles move 4 or 8 bytes");                   \
        int words[sizeof(T) / 4];                                                                            \
        __builtin_memcpy(words, &value, sizeof value);                                                       \
        for (int &word : words)                                                                              \
            word = __nvvm_shfl_sync_##mode##_i32(mask, word, by, (32 - width) << 8 | clamp);                 \
        __builtin_memcpy(&value, words, sizeof value);                                                       \
        return value;                                                                                        \
    }
REDVIZ_SHUFFLE(__shfl_sync, idx, 31)
REDVIZ_SHUFFLE(__shfl_up_sync, up, 0)
REDVIZ_SHUFFLE(__shfl_down_sync, down, 31)
REDVIZ_SHUFFLE(__shfl_xor_sync, bfly, 31)

REDVIZ_DEVICE unsigned redviz_match_any(unsigned mask, unsigned value) {
    unsigned same;
    asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(same) : "r"(value), "r"(mask));
    return same;
}
REDVIZ_DEVICE unsigned redviz_match_any(unsigned mask, unsigned long long value) {
    unsigned same;
    asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(same) : "l"(value), "r"(mask));
    return same;
}
template <typename T> REDVIZ_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
    if constexpr (sizeof(T) == 8) {
        unsigned long long bits;
        __builtin_memcpy(&bits, &value, 8);
        return redviz_match_any(mask, bits);
    } else {
        unsigned bits;
        __builtin_memcpy(&bits, &value, 4);
        return redviz_match_any(mask, bits);
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800 /* host code only parses it */
#define REDVIZ_REDUX(name, type, operation)                                                                  \
    REDVIZ_DEVICE type name(unsigned mask, type value) {                                                     \
        type result;                                                                                         \
        asm volatile("redux.sync." operation " %0, %1, %2;" : "=r"(result) : "r"(value), "r"(mask));         \
        return result;                                                                                       \
    }
REDVIZ_REDUX(__reduce_add_sync, int, "add.s32")
REDVIZ_REDUX(__reduce_add_sync, unsigned, "add.u32")
REDVIZ_REDUX(__reduce_min_sync, int, "min.s32")
REDVIZ_REDUX(__reduce_min_sync, unsigned, "min.u32")
REDVIZ_REDUX(__reduce_max_sync, int, "max.s32")
REDVIZ_REDUX(__reduce_max_sync, unsigned, "max.u32")
REDVIZ_REDUX(__reduce_and_sync, unsigned, "and.b32")
REDVIZ_REDUX(__reduce_or_sync, unsigned, "or.b32")
REDVIZ_REDUX(__reduce_xor_sync, unsigned, "xor.b32")
#endif

/* ---- atomics ---- */

#define REDVIZ_ATOMIC(name, type, builtin, bits)                                                             \
    REDVIZ_DEVICE type name(type *address, type value) {                                                     \
        return (type)builtin((bits *)address, (bits)value);                                                  \
    }
REDVIZ_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i, int)
REDVIZ_ATOMIC(atomicAdd, unsigned, __nvvm_atom_add_gen_i, int)
REDVIZ_ATOMIC(atomicAdd, unsigned long long, __nvvm_atom_add_gen_ll, long long)
REDVIZ_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f, float)
REDVIZ_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d, double)
REDVIZ_DEVICE int atomicSub(int *address, int value) {
    return atomicAdd(address, -value);
}
REDVIZ_DEVICE unsigned atomicSub(unsigned *address, unsigned value) {
    return atomicAdd(address, 0 - value);
}
REDVIZ_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i, int)
REDVIZ_ATOMIC(atomicExch, unsigned, __nvvm_atom_xchg_gen_i, int)
REDVIZ_ATOMIC(atomicExch, unsigned long long, __nvvm_atom_xchg_gen_ll, long long)
REDVIZ_DEVICE float atomicExch(float *address, float value) {
    return __builtin_bit_cast(float, __nvvm_atom_xchg_gen_i((int *)address, __builtin_bit_cast(int, value)));
}
REDVIZ_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i, int)
REDVIZ_ATOMIC(atomicMin, unsigned, __nvvm_atom_min_gen_ui, unsigned)
REDVIZ_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll, long long)
REDVIZ_ATOMIC(atomicMin, unsigned long long, __nvvm_atom_min_gen_ull, unsigned long long)
REDVIZ_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i, int)
REDVIZ_ATOMIC(atomicMax, unsigned, __nvvm_atom_max_gen_ui, unsigned)
REDVIZ_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll, long long)
REDVIZ_ATOMIC(atomicMax, unsigned long long, __nvvm_atom_max_gen_ull, unsigned long long)
REDVIZ_ATOMIC(atomicAnd, int, __nvvm_atom_and_gen_i, int)
REDVIZ_ATOMIC(atomicAnd, unsigned, __nvvm_atom_and_gen_i, int)
REDVIZ_ATOMIC(atomicAnd, unsigned long long, __nvvm_atom_and_gen_ll, long long)
REDVIZ_ATOMIC(atomicOr, int, __nvvm_atom_or_gen_i, int)
REDVIZ_ATOMIC(atomicOr, unsigned, __nvvm_atom_or_gen_i, int)
REDVIZ_ATOMIC(atomicOr, unsigned long long, __nvvm_atom_or_gen_ll, long long)
REDVIZ_ATOMIC(atomicXor, int, __nvvm_atom_xor_gen_i, int)
REDVIZ_ATOMIC(atomicXor, unsigned, __nvvm_atom_xor_gen_i, int)
REDVIZ_ATOMIC(atomicXor, unsigned long long, __nvvm_atom_xor_gen_ll, long long)
REDVIZ_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui, unsigned)
REDVIZ_ATOMIC(atomicDec, unsigned, __nvvm_atom_dec_gen_ui, unsigned)
#define REDVIZ_CAS(type, builtin, bits)                                                                      \
    REDVIZ_DEVICE type atomicCAS(type *address, type compare, type value) {                                  \
        return (type)builtin((bits *)address, (bits)compare, (bits)value);                                   \
    }
REDVIZ_CAS(int, __nvvm_atom_cas_gen_i, int)
REDVIZ_CAS(unsigned, __nvvm_atom_cas_gen_i, int)
REDVIZ_CAS(unsigned long long, __nvvm_atom_cas_gen_ll, long long)

/* ---- bits and mathematics ---- */

template <typename T> REDVIZ_DEVICE T __ldg(const T *address) {
    return *address;
}
REDVIZ_DEVICE int __popc(unsigned x) {
    return __builtin_popcount(x);
}
REDVIZ_DEVICE int __popcll(unsigned long long x) {
    return __builtin_popcountll(x);
}
REDVIZ_DEVICE int __clz(int x) {
    return x ? __builtin_clz((unsigned)x) : 32;
}
REDVIZ_DEVICE int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
REDVIZ_DEVICE int __ffs(int x) {
    return __builtin_ffs(x);
}
REDVIZ_DEVICE int __ffsll(long long x) {
    return __builtin_ffsll(x);
}
REDVIZ_DEVICE unsigned __brev(unsigned x) {
    return __builtin_bitreverse32(x);
}
REDVIZ_DEVICE int __float_as_int(float x) {
    return __builtin_bit_cast(int, x);
}
REDVIZ_DEVICE unsigned __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned, x);
}
REDVIZ_DEVICE float __int_as_float(int x) {
    return __builtin_bit_cast(float, x);
}
REDVIZ_DEVICE float __uint_as_float(unsigned x) {
    return __builtin_bit_cast(float, x);
}
REDVIZ_DEVICE long long __double_as_longlong(double x) {
    return __builtin_bit_cast(long long, x);
}
REDVIZ_DEVICE double __longlong_as_double(long long x) {
    return __builtin_bit_cast(double, x);
}
REDVIZ_DEVICE int __double2loint(double x) {
    return (int)__double_as_longlong(x);
}
REDVIZ_DEVICE int __double2hiint(double x) {
    return (int)(__double_as_longlong(x) >> 32);
}
REDVIZ_DEVICE double __hiloint2double(int high, int low) {
    return __longlong_as_double((long long)((unsigned long long)(unsigned)high << 32 | (unsigned)low));
}
REDVIZ_DEVICE size_t __cvta_generic_to_shared(const void *pointer) {
    size_t address;
    asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(pointer));
    return address;
}
REDVIZ_DEVICE int __mul24(int a, int b) {
    return __nvvm_mul24_i(a, b);
}
REDVIZ_DEVICE unsigned __umul24(unsigned a, unsigned b) {
    return __nvvm_mul24_ui(a, b);
}
REDVIZ_DEVICE int __mulhi(int a, int b) {
    return __nvvm_mulhi_i(a, b);
}
REDVIZ_DEVICE unsigned __umulhi(unsigned a, unsigned b) {
    return __nvvm_mulhi_ui(a, b);
}
REDVIZ_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return __nvvm_mulhi_ull(a, b);
}

REDVIZ_DEVICE int min(int a, int b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE unsigned min(unsigned a, unsigned b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE long min(long a, long b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE unsigned long min(unsigned long a, unsigned long b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE long long min(long long a, long long b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE unsigned long long min(unsigned long long a, unsigned long long b) {
    return a < b ? a : b;
}
REDVIZ_DEVICE float min(float a, float b) {
    return __nvvm_fmin_f(a, b);
}
REDVIZ_DEVICE double min(double a, double b) {
    return __nvvm_fmin_d(a, b);
}
REDVIZ_DEVICE int max(int a, int b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE unsigned max(unsigned a, unsigned b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE long max(long a, long b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE unsigned long max(unsigned long a, unsigned long b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE long long max(long long a, long long b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE unsigned long long max(unsigned long long a, unsigned long long b) {
    return a > b ? a : b;
}
REDVIZ_DEVICE float max(float a, float b) {
    return __nvvm_fmax_f(a, b);
}
REDVIZ_DEVICE double max(double a, double b) {
    return __nvvm_fmax_d(a, b);
}
REDVIZ_DEVICE int abs(int x) {
    return x < 0 ? -x : x;
}
REDVIZ_DEVICE long long llabs(long long x) {
    return x < 0 ? -x : x;
}

#define REDVIZ_MATHEMATICS(type, suffix, letter)                                                             \
    REDVIZ_DEVICE type fmin##suffix(type a, type b) {                                                        \
        return __nvvm_fmin_##letter(a, b);                                                                   \
    }                                                                                                        \
    REDVIZ_DEVICE type fmax##suffix(type a, type b) {                                                        \
        return __nvvm_fmax_##letter(a, b);                                                                   \
    }                                                                                                        \
    REDVIZ_DEVICE type fabs##suffix(type x) {                                                                \
        return __nvvm_fabs_##letter(x);                                                                      \
    }                                                                                                        \
    REDVIZ_DEVICE type sqrt##suffix(type x) {                                                                \
        return __nvvm_sqrt_rn_##letter(x);                                                                   \
    }                                                                                                        \
    REDVIZ_DEVICE type rsqrt##suffix(type x) {                                                               \
        return __nvvm_rsqrt_approx_##letter(x);                                                              \
    }                                                                                                        \
    REDVIZ_DEVICE type fma##suffix(type a, type b, type c) {                                                 \
        return __nvvm_fma_rn_##letter(a, b, c);                                                              \
    }                                                                                                        \
    REDVIZ_DEVICE type floor##suffix(type x) {                                                               \
        return __nvvm_floor_##letter(x);                                                                     \
    }                                                                                                        \
    REDVIZ_DEVICE type ceil##suffix(type x) {                                                                \
        return __nvvm_ceil_##letter(x);                                                                      \
    }                                                                                                        \
    REDVIZ_DEVICE type trunc##suffix(type x) {                                                               \
        return __nvvm_trunc_##letter(x);                                                                     \
    }                                                                                                        \
    REDVIZ_DEVICE type rint##suffix(type x) {                                                                \
        return __nvvm_round_##letter(x);                                                                     \
    }
REDVIZ_MATHEMATICS(float, f, f)
REDVIZ_MATHEMATICS(double, , d)
REDVIZ_DEVICE float fabs(float x) {
    return fabsf(x);
}
REDVIZ_DEVICE float sqrt(float x) {
    return sqrtf(x);
}
REDVIZ_DEVICE float rsqrt(float x) {
    return rsqrtf(x);
}
REDVIZ_DEVICE float floor(float x) {
    return floorf(x);
}
REDVIZ_DEVICE float ceil(float x) {
    return ceilf(x);
}
REDVIZ_DEVICE float __expf(float x) {
    return __nvvm_ex2_approx_f(x * 1.4426950408889634f);
}
REDVIZ_DEVICE float exp2f(float x) {
    return __nvvm_ex2_approx_f(x);
}
REDVIZ_DEVICE float __logf(float x) {
    return __nvvm_lg2_approx_f(x) * 0.69314718055994531f;
}
REDVIZ_DEVICE float __log2f(float x) {
    return __nvvm_lg2_approx_f(x);
}
REDVIZ_DEVICE float __fdividef(float a, float b) {
    return a / b;
}
REDVIZ_DEVICE bool isnan(float x) {
    return x != x;
}
REDVIZ_DEVICE bool isnan(double x) {
    return x != x;
}

namespace std {
using ::max;
using ::min;
} // namespace std

#endif
