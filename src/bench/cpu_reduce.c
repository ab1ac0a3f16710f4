/* The loops (FOLD), written once and compiled for each vector unit; -O3 (Makefile) vectorizes the inner
 * one. */
#include "bench/cpu_reduce.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PLAIN, DEFAULT, AVX2, AVX512, LEVELS };

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_LEVELS   1
#define TARGET_AVX2   __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))
#else
#define HAVE_LEVELS 0
#define TARGET_AVX2
#define TARGET_AVX512
#endif

#define INLINE static inline __attribute__((always_inline))

/* Eight AVX registers of sums. */
enum { SUMS_BYTES = 256 };

#define FOLD(NAME, TYPE, IDENTITY, COMBINE)                                                                  \
    static void NAME##_plain(const void *in, size_t count, void *out) {                                      \
        const TYPE *element = in;                                                                            \
        TYPE total = IDENTITY;                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                 \
            total = COMBINE(total, element[i]);                                                              \
            __asm__ volatile(""); /* sequential: not vectorized */                                           \
        }                                                                                                    \
        memcpy(out, &total, sizeof total);                                                                   \
    }                                                                                                        \
    INLINE void NAME##_wide(const void *in, size_t count, void *out) {                                       \
        enum { SUMS = SUMS_BYTES / sizeof(TYPE) };                                                           \
        const TYPE *element = in;                                                                            \
        TYPE sums[SUMS], total = IDENTITY;                                                                   \
        size_t i = 0;                                                                                        \
        for (int k = 0; k < SUMS; k++) sums[k] = IDENTITY;                                                   \
        for (; i + SUMS <= count; i += SUMS)                                                                 \
            for (int k = 0; k < SUMS; k++) sums[k] = COMBINE(sums[k], element[i + (size_t)k]);               \
        for (int k = 0; k < SUMS; k++) total = COMBINE(total, sums[k]);                                      \
        for (; i < count; i++) total = COMBINE(total, element[i]);                                           \
        memcpy(out, &total, sizeof total);                                                                   \
    }                                                                                                        \
    static void NAME##_default(const void *in, size_t count, void *out) {                                    \
        NAME##_wide(in, count, out);                                                                         \
    }                                                                                                        \
    TARGET_AVX2 static void NAME##_avx2(const void *in, size_t count, void *out) {                           \
        NAME##_wide(in, count, out);                                                                         \
    }                                                                                                        \
    TARGET_AVX512 static void NAME##_avx512(const void *in, size_t count, void *out) {                       \
        NAME##_wide(in, count, out);                                                                         \
    }

#define ADD(a, b)     ((a) + (b))
#define LESSER(a, b)  ((b) < (a) ? (b) : (a))
#define GREATER(a, b) ((b) > (a) ? (b) : (a))

FOLD(int_sum, uint32_t, 0, ADD) /* wraps */
FOLD(int_min, int32_t, INT32_MAX, LESSER)
FOLD(int_max, int32_t, INT32_MIN, GREATER)
FOLD(float_sum, float, 0, ADD)
FOLD(float_min, float, INFINITY, LESSER)
FOLD(float_max, float, -INFINITY, GREATER)
FOLD(double_sum, double, 0, ADD)
FOLD(double_min, double, (double)INFINITY, LESSER)
FOLD(double_max, double, -(double)INFINITY, GREATER)

typedef struct CpuReduceRow {
    PtxType type;
    const char *op;
    CpuReduce at[LEVELS];
} CpuReduceRow;
#define ROW(TYPE, OP, NAME)                                                                                  \
    {                                                                                                        \
        TYPE, OP, {                                                                                          \
            NAME##_plain, NAME##_default, NAME##_avx2, NAME##_avx512                                         \
        }                                                                                                    \
    }
static const CpuReduceRow rows[] = {
    ROW(PTX_S32, "sum", int_sum),    ROW(PTX_S32, "min", int_min),    ROW(PTX_S32, "max", int_max),
    ROW(PTX_F32, "sum", float_sum),  ROW(PTX_F32, "min", float_min),  ROW(PTX_F32, "max", float_max),
    ROW(PTX_F64, "sum", double_sum), ROW(PTX_F64, "min", double_min), ROW(PTX_F64, "max", double_max),
};

static int machine_level(void) {
#if HAVE_LEVELS
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) return AVX512;
    if (__builtin_cpu_supports("avx2")) return AVX2;
#endif
    return DEFAULT;
}

CpuReduce cpu_reduce(PtxType type, const char *op, bool simd) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type && !strcmp(rows[i].op, op))
            return rows[i].at[simd ? machine_level() : PLAIN];
    return NULL;
}

const char *cpu_simd_name(void) {
    static const char *const names[LEVELS] = {"no SIMD", "SIMD", "AVX2", "AVX-512"};
    return names[machine_level()];
}
