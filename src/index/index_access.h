/* Index access: the banks, wavefronts and sectors of one warp's access to array[EXPRESSION].
 *
 * The expression is of src/plan/expression.h, in whole numbers of the names below, and gives the element of
 * each lane; an element has `bytes` bytes, and the array begins at bank 0 of shared memory, or at a sector of
 * global memory. The costs are those of trace/access.h. */
#ifndef INDEX_INDEX_ACCESS_H
#define INDEX_INDEX_ACCESS_H

#include "base/error.h"
#include "trace/access.h"

enum { INDEX_TEXT_BYTES = 96 };

typedef struct IndexOf {
    int bytes; /* per lane: 1, 2, 4, 8, 16 */
    bool is_store;
    uint32_t mask; /* active lanes */
    int64_t warp;  /* tid and i begin at 32 * warp */
    int64_t s, n;  /* the values of these names */
} IndexOf;

typedef struct IndexAccess {
    uint64_t offset[WARP_LANES]; /* bytes from the start of the array; 0 for lanes that are not active */
    SharedCost shared;
    GlobalCost global;
    int lines;             /* of 128 bytes, in global memory */
    int words[BANK_COUNT]; /* distinct words of each bank, in the phase that wants the most of it */
    int ways;              /* the maximum of these */
} IndexAccess;

/* False with `error`: the text is no expression (then error->column is the place in it), divides by zero, or
 * gives a lane a negative index or one past INDEX_LARGEST bytes. */
#define INDEX_LARGEST ((int64_t)1 << 40)
bool index_access(const char *text, const IndexOf *of, IndexAccess *out, Error *error);

/* The same of these offsets. */
void index_access_count(const IndexOf *of, IndexAccess *access);

/* The most bytes of shared memory that a block of any architecture has. */
enum { INDEX_SHARED_BYTES = 227 << 10 };
bool index_access_fits_shared(const IndexOf *of, const IndexAccess *access);

#endif
