/* Lines, as loops that the compiler vectorises (lines.h). */
#include "emulator/lines.h"

#include "emulator/lanes.h"

/* The stride between the two lowest lanes of the mask, or false: no whole number. */
#define FIND(NAME, T, SIGNED)                                                                                \
    LANES_INLINE bool NAME##_lanes(const T *value, uint32_t mask, int64_t *stride) {                         \
        uint32_t rest = mask & (mask - 1);                                                                   \
        int first = __builtin_ctz(mask);                                                                     \
        *stride = 0;                                                                                         \
        if (!rest) return true;                                                                              \
        int gap = __builtin_ctz(rest) - first;                                                               \
        SIGNED step = (SIGNED)(value[first + gap] - value[first]);                                           \
        if (gap & (gap - 1)) {                                                                               \
            if (step % gap) return false;                                                                    \
            step /= gap;                                                                                     \
        } else {                                                                                             \
            if (step & (gap - 1)) return false;                                                              \
            step >>= __builtin_ctz((unsigned)gap);                                                           \
        }                                                                                                    \
        *stride = step;                                                                                      \
        T wrong = 0, start = value[first] - (T)first * (T)step;                                              \
        if (mask == ALL_LANES)                                                                               \
            for (int l = 0; l < WARP_LANES; l++) wrong |= value[l] ^ (start + (T)l * (T)step);               \
        else                                                                                                 \
            for (int l = 0; l < WARP_LANES; l++)                                                             \
                wrong |= (value[l] ^ (start + (T)l * (T)step)) & (mask & lane_bit[l] ? ~(T)0 : 0);           \
        return !wrong;                                                                                       \
    }
FIND(find_32, uint32_t, int32_t)
FIND(find_64, uint64_t, int64_t)

#define BLEND(NAME, T)                                                                                       \
    LANES_INLINE void NAME##_lanes(void *to, const void *from, uint32_t mask) {                              \
        T *d = to;                                                                                           \
        const T *s = from;                                                                                   \
        LANES_INDEPENDENT for (int l = 0; l < WARP_LANES; l++) {                                             \
            T kept = mask & lane_bit[l] ? 0 : ~(T)0;                                                         \
            d[l] = (d[l] & kept) | (s[l] & ~kept);                                                           \
        }                                                                                                    \
    }
BLEND(blend_32, uint32_t)
BLEND(blend_64, uint64_t)

#define LEVEL(NAME, TARGET)                                                                                  \
    TARGET static bool find_32_##NAME(const uint32_t *value, uint32_t mask, int64_t *stride) {               \
        return find_32_lanes(value, mask, stride);                                                           \
    }                                                                                                        \
    TARGET static bool find_64_##NAME(const uint64_t *value, uint32_t mask, int64_t *stride) {               \
        return find_64_lanes(value, mask, stride);                                                           \
    }                                                                                                        \
    TARGET static void blend_32_##NAME(void *to, const void *from, uint32_t mask) {                          \
        blend_32_lanes(to, from, mask);                                                                      \
    }                                                                                                        \
    TARGET static void blend_64_##NAME(void *to, const void *from, uint32_t mask) {                          \
        blend_64_lanes(to, from, mask);                                                                      \
    }
#define FUNCTIONS(NAME)                                                                                      \
    { find_32_##NAME, find_64_##NAME, blend_32_##NAME, blend_64_##NAME }

LEVEL(plain, )
#if LANES_HAVE_LEVELS
LEVEL(avx2, LANES_AVX2)
LEVEL(avx512, LANES_AVX512)
static const LineFunctions functions[LANE_LEVELS] = {FUNCTIONS(plain), FUNCTIONS(avx2), FUNCTIONS(avx512)};
#else
static const LineFunctions functions[LANE_LEVELS] = {FUNCTIONS(plain), FUNCTIONS(plain), FUNCTIONS(plain)};
#endif

const LineFunctions *line_functions(void) {
    return &functions[lanes_level()];
}
