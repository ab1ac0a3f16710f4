/* Fat binary: the PTX within what nvcc embeds in a program.
 *
 * A fat binary is a header (magic 0xBA55ED50, its own size at +6, the size of the entries at +8) and entries:
 * kind at +0 (1 PTX, 2 machine code), header size at +4, padded size at +8, compressed size at +16,
 * architecture at +28, flags at +40 (0x2000 LZ4, 0x8000 zstd), size of the text at +56. Measured with nvcc
 * 11.8, 12.9 and 13.0. */
#ifndef RUNTIME_FATBIN_H
#define RUNTIME_FATBIN_H

#include "base/error.h"
#include "base/text.h"
#include <stdint.h>

enum { FATBIN_NEWEST = 90 }; /* the architecture of the emulated GPU */

/* The PTX for the newest architecture that is not above `most` (90 for sm_90), appended to `ptx`; if there is
 * only newer PTX, the oldest: what a GPU would execute may be machine code, and an instruction that is not
 * emulated is refused by its name. False with `error`, one line: there is none, it needs a library that is
 * missing, or the bytes are damaged. `architecture` may be NULL. */
bool fatbin_find_ptx(const void *bytes, size_t count, int most, Text *ptx, int *architecture, Error *error);

/* What to do about a program with machine code alone. */
extern const char fatbin_remedy[];

#endif
