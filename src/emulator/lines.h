/* Lines: values that are an arithmetic progression over the lanes, and elements that lie side by side. Compiled
 * for several vector units, as handlers are (lanes.h). Private to the emulator. */
#ifndef EMULATOR_LINES_H
#define EMULATOR_LINES_H

#include "emulator/op.h"

typedef struct LineFunctions {
    /* Is there a stride with value[l] = value[k] + (l - k) * stride, wrapping, for all lanes k, l of the mask? */
    bool (*find_32)(const uint32_t *value, uint32_t mask, int64_t *stride);
    bool (*find_64)(const uint64_t *value, uint32_t mask, int64_t *stride);
    /* to[l] = from[l] for the lanes of the mask. All 32 elements are read, and all of `to` is written. */
    void (*blend_32)(void *to, const void *from, uint32_t mask);
    void (*blend_64)(void *to, const void *from, uint32_t mask);
} LineFunctions;

/* The best ones for this machine. */
const LineFunctions *line_functions(void);

#endif
