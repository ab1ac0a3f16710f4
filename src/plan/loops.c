/* Loops over whole inputs (loops.h). -O3 (Makefile) vectorizes them. */
#include "plan/loops.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#define TARGET_AVX2   __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq")))
enum { HAVE_LEVELS = 1 };
#define HAS(UNIT) __builtin_cpu_supports(UNIT)
#else
#define TARGET_AVX2
#define TARGET_AVX512
enum { HAVE_LEVELS = 0 };
#define HAS(UNIT) 0
#endif

#define INLINE static inline __attribute__((always_inline))

enum { PLAIN, AVX2, AVX512, LEVELS };
enum { PIECE = 256 }; /* elements */

static int level(void) {
    if (!HAVE_LEVELS || !HAS("avx2")) return PLAIN;
    return HAS("avx512f") && HAS("avx512vl") && HAS("avx512dq") ? AVX512 : AVX2;
}

/* ---- random numbers ---- */

/* SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators): element i is a hash of
 * (seed, i), so elements do not depend on how many come before them. */
INLINE uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

INLINE uint64_t random_bits(uint64_t seed, uint64_t i) {
    return mix(seed + (i + 1) * 0x9e3779b97f4a7c15u);
}

uint64_t loops_mix(uint64_t x) {
    return mix(x);
}

uint64_t loops_random_bits(uint64_t seed, uint64_t i) {
    return random_bits(seed, i);
}

INLINE double double_of(uint64_t bits) {
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Converts x < 2^53 to double. Few vector units have an instruction for it, so the halves are put behind 2^84
 * and 2^52. */
INLINE double number_of(uint64_t x) {
    double high = double_of(x >> 32 | UINT64_C(0x4530000000000000)) - (0x1p84 + 0x1p52);
    return high + double_of((x & UINT32_MAX) | UINT64_C(0x4330000000000000));
}

/* PIECE numbers from element `first` on, in [0, 1). */
INLINE void fractions(uint64_t seed, uint64_t first, double *to) {
    for (uint64_t i = 0; i < PIECE; i++) to[i] = number_of(random_bits(seed, first + i) >> 11) * 0x1p-53;
}

INLINE void whole_numbers(const RandomNumbers *random, const double *fraction, int32_t *to) {
    double choices = (double)random->choices;
    int32_t least = (int32_t)random->least;
    for (int i = 0; i < PIECE; i++) to[i] = (int32_t)(fraction[i] * choices) + least;
}

INLINE void real_numbers(const RandomNumbers *random, const double *fraction, double *to) {
    double scale = random->scale;
    if (random->has_sign)
        for (int i = 0; i < PIECE; i++) to[i] = (2 * fraction[i] - 1) * scale;
    else
        for (int i = 0; i < PIECE; i++) to[i] = fraction[i] * scale;
}

typedef union Piece {
    int32_t whole[PIECE];
    float single[PIECE];
    double real[PIECE];
} Piece;

INLINE void fill_piece(PtxType type, const RandomNumbers *random, uint64_t first, Piece *piece) {
    double fraction[PIECE], real[PIECE] = {0};
    int32_t whole[PIECE] = {0};
    bool is_single = type == PTX_F32;
    fractions(random->seed, first, fraction);
    if (!random->is_whole) {
        real_numbers(random, fraction, is_single ? real : piece->real);
        for (int i = 0; is_single && i < PIECE; i++) piece->single[i] = (float)real[i];
        return;
    }
    whole_numbers(random, fraction, ptx_type_is_float(type) ? whole : piece->whole);
    if (is_single)
        for (int i = 0; i < PIECE; i++) piece->single[i] = (float)whole[i];
    else if (type == PTX_F64)
        for (int i = 0; i < PIECE; i++) piece->real[i] = (double)whole[i];
}

typedef void (*Filler)(PtxType type, const RandomNumbers *random, uint64_t first, Piece *piece);

#define FILLER(LEVEL, TARGET)                                                                                \
    TARGET static void fill_##LEVEL(PtxType type, const RandomNumbers *random, uint64_t first,               \
                                    Piece *piece) {                                                          \
        fill_piece(type, random, first, piece);                                                              \
    }
FILLER(plain, )
FILLER(avx2, TARGET_AVX2)
FILLER(avx512, TARGET_AVX512)
static const Filler fillers[LEVELS] = {fill_plain, fill_avx2, fill_avx512};

bool loops_fill_random(PtxType type, void *bytes, const RandomNumbers *random, uint64_t begin, uint64_t end) {
    bool is_integer = type == PTX_S32 || type == PTX_U32;
    if (!is_integer && type != PTX_F32 && type != PTX_F64) return false;
    if (random->is_whole ? random->choices > INT32_MAX / 2 : is_integer) return false;
    size_t size = type == PTX_F64 ? 8 : 4;
    Filler filler = fillers[level()];
    for (uint64_t first = begin; first < end; first += PIECE) {
        Piece piece;
        filler(type, random, first, &piece);
        memcpy((uint8_t *)bytes + first * size, &piece, (end - first < PIECE ? end - first : PIECE) * size);
    }
    return true;
}

/* ---- folds ---- */

#define FOLD(TYPE)                                                                                           \
    INLINE uint64_t sum_##TYPE(const TYPE *element, uint64_t count) {                                        \
        uint64_t sum = 0;                                                                                    \
        for (uint64_t i = 0; i < count; i++) sum += (uint64_t)(int64_t)element[i];                           \
        return sum;                                                                                          \
    }                                                                                                        \
    INLINE void extremes_##TYPE(const TYPE *element, uint64_t count, int64_t *least, int64_t *most) {        \
        TYPE low = element[0], high = element[0];                                                            \
        for (uint64_t i = 0; i < count; i++) {                                                               \
            low = element[i] < low ? element[i] : low;                                                       \
            high = element[i] > high ? element[i] : high;                                                    \
        }                                                                                                    \
        *least = low, *most = high;                                                                          \
    }
FOLD(int32_t)
FOLD(uint32_t)

typedef uint64_t (*Summer)(PtxType type, const void *bytes, uint64_t count);
typedef void (*Extremes)(PtxType type, const void *bytes, uint64_t count, int64_t *least, int64_t *most);

#define FOLDER(LEVEL, TARGET)                                                                                \
    TARGET static uint64_t sum_##LEVEL(PtxType type, const void *bytes, uint64_t count) {                    \
        return type == PTX_S32 ? sum_int32_t(bytes, count) : sum_uint32_t(bytes, count);                     \
    }                                                                                                        \
    TARGET static void extremes_##LEVEL(PtxType type, const void *bytes, uint64_t count, int64_t *least,     \
                                        int64_t *most) {                                                     \
        if (type == PTX_S32)                                                                                 \
            extremes_int32_t(bytes, count, least, most);                                                     \
        else                                                                                                 \
            extremes_uint32_t(bytes, count, least, most);                                                    \
    }
FOLDER(plain, )
FOLDER(avx2, TARGET_AVX2)
FOLDER(avx512, TARGET_AVX512)
static const Summer summers[LEVELS] = {sum_plain, sum_avx2, sum_avx512};
static const Extremes extremes[LEVELS] = {extremes_plain, extremes_avx2, extremes_avx512};

static bool has_folds(PtxType type) {
    return type == PTX_S32 || type == PTX_U32;
}

bool loops_sum(PtxType type, const void *bytes, uint64_t count, uint64_t *sum) {
    if (!has_folds(type)) return false;
    *sum = summers[level()](type, bytes, count);
    return true;
}

bool loops_extremes(PtxType type, const void *bytes, uint64_t count, int64_t *least, int64_t *most) {
    if (!has_folds(type)) return false;
    *least = *most = 0;
    if (count) extremes[level()](type, bytes, count, least, most);
    return true;
}
