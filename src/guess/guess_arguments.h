/* Guess arguments: the probable --args of a kernel, as text that can be shown and changed. They follow from its
 * PTX, its C++ name, and what its host code says.
 *
 *   Pointers that are only read, and the first pointer unless it is only written or added to, are inputs: n random elements,
 * named in, in2, ... Others are outputs, named out, out2, ...: as many zeros as the addresses reach (one, one for each
 * block, else n), or, where atomics fold into them, the identity of their operation. An index array stays within what it
 * indexes. The type is that of the C++ parameter, else of what is loaded or stored through it; of bits, what arithmetic takes
 * them for. Whole numbers are n, or the side of a square (cube) of n elements where the kernel counts in two (three)
 * dimensions or rows; floats are 1. Vectors (float4) count as such. Pointers that no instruction names are null. An array of
 * Numba's is the seven parameters (of one dimension) that it is passed as. A structure is {its members}, as the loads of them say;
 * members that nobody loads are 0. */
#ifndef GUESS_GUESS_ARGUMENTS_H
#define GUESS_GUESS_ARGUMENTS_H

#include "base/text.h"
#include "ptx/ptx.h"

typedef struct KernelShape {
    int dimensions;          /* of its blocks and its grid, as far as it looks at them: 1 to 3 */
    int block_dimensions;    /* of its blocks alone */
    bool has_dynamic_shared; /* it uses an unsized array, .extern .shared */
    uint64_t static_shared;  /* bytes, at least what the module's sized arrays take */
    bool counts_blocks;      /* it looks at %ctaid: else all blocks do the same, and one is enough */
} KernelShape;

/* `entry` is parsed. Functions that it calls are not looked at, but for dynamic shared memory. */
KernelShape guess_shape(const PtxModule *module, const PtxFunction *entry);

/* The largest number whose square (cube) is at most n; at least 1. */
uint64_t guess_side(uint64_t n, int dimensions);

typedef struct GuessHint { /* what is known of one argument */
    uint64_t count;        /* pointers: elements that were allocated; 0: not known */
    bool is_same;          /* it is the same pointer as argument `same_as` */
    int same_as;
    bool is_null;             /* a pointer to nothing */
    bool has_value, is_float; /* scalars */
    bool is_free;             /* it follows from a size that the file does not tell */
    int64_t integer;
    double number;
} GuessHint;

typedef struct GuessInput {
    uint64_t n, grid;         /* grid: all its blocks; 0: not known yet */
    uint64_t side;            /* what whole numbers are: `n` in one dimension */
    const char *fill;         /* of the inputs, "random" or another */
    bool has_fill;            /* it was asked for */
    uint64_t shared_bytes;    /* dynamic shared memory */
    const GuessHint *hints;   /* [parameter]; NULL: none */
    const char *const *names; /* [parameter] of the source: buffers get them; NULL: in, in2, out, ... */
    const uint64_t *grow;     /* [parameter] so many times as many elements; NULL: 1 */
} GuessInput;

/* Adds the --args. */
void guess_arguments(const PtxFunction *entry, const GuessInput *input, Text *out);
/* Bytes of an element behind the pointer that parameter `index` is; 0: it is no pointer. */
uint64_t guess_element_bytes(const PtxFunction *entry, int index);
/* How many threads take a row whose begin and end stand in an array of row pointers: 1, or 32. */
int guess_row_threads(const PtxFunction *entry);
/* An index is multiplied by a parameter, or there are row pointers: it counts rows. `by_block`: a row is a block's. */
bool guess_has_rows(const PtxFunction *entry, bool *by_block);

/* Dynamic shared memory of a kernel of Triton's, which PTX does not state: Triton's cache has NAME.json
 * beside NAME.ptx, and "shared" in it. False: there is no such file, or it is something else. */
bool guess_shared_beside(const char *ptx_path, uint32_t *bytes);

#endif
