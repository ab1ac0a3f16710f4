/* Affine values (base + lane * stride) and adjacent elements. The loops over them are for functions compiled
 * for several vector units (lanes.h). Private to the emulator. */
#ifndef EMULATOR_LANES_AFFINE_H
#define EMULATOR_LANES_AFFINE_H

#include "emulator/lanes/lanes.h"

/* Finds a stride with value[l] = value[k] + (l - k) * stride, wrapping, for all lanes k, l of the mask. */
#define FIND(NAME, T, SIGNED)                                                                                \
    LANES_INLINE bool NAME(const T *value, uint32_t mask, int64_t *stride) {                                 \
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
FIND(affine_find_32, uint32_t, int32_t)
FIND(affine_find_64, uint64_t, int64_t)

/* to[l] = from[l] for the lanes of the mask. All 32 elements are read, and all of `to` is written. */
#define BLEND(NAME, T)                                                                                       \
    LANES_INLINE void NAME(void *to, const void *from, uint32_t mask) {                                      \
        T *d = to;                                                                                           \
        const T *s = from;                                                                                   \
        LANES_INDEPENDENT for (int l = 0; l < WARP_LANES; l++) {                                             \
            T kept = mask & lane_bit[l] ? 0 : ~(T)0;                                                         \
            d[l] = (d[l] & kept) | (s[l] & ~kept);                                                           \
        }                                                                                                    \
    }
BLEND(affine_blend_16, uint16_t)
BLEND(affine_blend_32, uint32_t)
BLEND(affine_blend_64, uint64_t)

#endif
