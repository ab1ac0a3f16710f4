/* Guess: how a kernel without --args is probably launched, from its PTX and its C++ name. What is
 * guessed is written as --args, so that it can be shown, copied and changed.
 *
 *   Pointers that are only read, and the first pointer unless it is only written, are inputs: n random
 * elements, named in, in2, ... Others are outputs: n zeros, named out, out2, ... The type is that of the C++
 * parameter, else of what is loaded or stored through it. Whole numbers are n, or the side of a square (cube)
 * of n elements where the kernel counts in two (three) dimensions; floats are 1. Vectors (float4) count as
 * such. Pointers that no instruction names are null. An array of Numba's is the seven
 * parameters (of one dimension) that it is passed as. */
#ifndef CATALOG_GUESS_H
#define CATALOG_GUESS_H

#include "base/text.h"
#include "ptx/ptx.h"

typedef struct KernelShape {
    int dimensions;          /* of its blocks and its grid, as far as it looks at them: 1 to 3 */
    bool has_dynamic_shared; /* it uses an unsized array, .extern .shared */
    uint64_t static_shared;  /* bytes, at least what the module's sized arrays take */
} KernelShape;

/* `entry` is parsed. Functions that it calls are not looked at, but for dynamic shared memory. */
KernelShape guess_shape(const PtxModule *module, const PtxFunction *entry);

/* The largest number whose square (cube) is at most n; at least 1. */
uint64_t guess_side(uint64_t n, int dimensions);

/* Adds the --args. `side` is what whole numbers are, `n` in one dimension; `fill` of the inputs, "random" or
 * another. */
void guess_arguments(const PtxFunction *entry, uint64_t n, uint64_t side, const char *fill, Text *out);

/* Dynamic shared memory of a kernel of Triton's, which PTX does not state: Triton's cache has NAME.json
 * beside NAME.ptx, and "shared" in it. False: there is no such file, or it is something else. */
bool guess_shared_beside(const char *ptx_path, uint32_t *bytes);

#endif
