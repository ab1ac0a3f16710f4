/* Uses: the uses of an entry's parameters, by data flow: which it loads through, stores through, adds to, of
 * which type the elements are, and how many it can reach. Private to the catalogue. */
#ifndef GUESS_USES_H
#define GUESS_USES_H

#include "guess/linear.h"

typedef enum UseCount { /* elements that are reached, each kind more than the one before it */
                        USE_NONE,
                        USE_CONSTANT, /* `elements` of them */
                        USE_GRID,     /* one for each block: p[blockIdx.x] */
                        USE_ANY
} UseCount;

typedef struct Use { /* of one parameter */
    bool is_named;   /* by any instruction */
    bool is_read, is_written;
    bool gets_times;    /* all that is stored through it is made of clocks: it is measured, not computed */
    bool is_updated;    /* by atom or red */
    bool is_exchanged;  /* by atom.cas or atom.exch among them */
    bool is_lock;       /* by an atom.cas that compares with a number: 0 is free, 1 taken */
    bool is_stride;     /* an integer that an index is multiplied by */
    bool is_row_stride; /* the index is that of the block */
    const char *update; /* "add", "min", "max": the only operation of its atomics; else NULL */
    PtxType type;       /* of the elements; NO_TYPE: none was seen */
    UseCount count;
    uint64_t elements;
    bool is_index;         /* what is loaded through it takes part in an address: */
    int indexed;           /* through this parameter; -1: of shared memory */
    int64_t index_base;    /* an index is an element minus this, 'a' */
    bool is_compared;      /* what is loaded through it, as whole numbers, is compared */
    bool is_row_pointer;   /* element i and i + 1 are loaded, as the begin and the end of a row */
    int row_threads;       /* so many threads take one of these rows: 1, a warp, 0: a block */
    uint64_t most_indices; /* in shared memory: so many elements; 0: not known */
} Use;

enum { USES_PARAMETERS = 64 };

/* [USES_PARAMETERS], of a parsed entry. Functions that it calls are not looked at. */
void uses_find(const PtxFunction *entry, Use *uses);
/* What elements are whose loads or stores have this type in nvcc's PTX, which has no word for signs; NO_TYPE: none. */
PtxType uses_element_type(PtxType type);
/* Blocks and threads are counted in so many dimensions: those whose index decides more than the place of a thread in its
 * linear order, which cooperative groups compute of all three. */
typedef struct UseShape {
    int of_block, of_grid; /* 1 to 3 */
} UseShape;
UseShape uses_shape(const PtxFunction *entry);
int uses_dimensions(const PtxFunction *entry); /* the larger one */

/* What each block loads begins so far behind what the block before it loads: the largest distance of all loads. */
typedef struct UseReach {
    bool is_known;             /* of one load at least */
    bool goes_on;              /* an address has the number of blocks: a block loads elements far away, too */
    uint64_t elements, blocks; /* so many elements, or so many blocks of threads; 0: no such load */
} UseReach;
UseReach uses_reach(const PtxFunction *entry);
/* The elements that a block of so many threads takes: `threads` where no load says more. */
uint64_t uses_block_reach(const PtxFunction *entry, uint64_t threads);
/* A fold of floats is computed: "add", "min" or "max"; NULL: none, or several. */
const char *uses_float_fold(const PtxFunction *entry);
/* All that it does to its elements is to fold them with this, across threads: "add", "min", "max"; NULL: it may do more. */
const char *uses_only_fold(const PtxFunction *entry);
/* It compares elements with each other, or takes the larger or smaller one. */
bool uses_compares(const PtxFunction *entry);
/* Numbers that the entry compares with, and those one larger, [most]: bounds of its elements may be among them. How many. */
int uses_bounds(const PtxFunction *entry, uint64_t *numbers, int most);
/* Its threads hand values to each other: shared memory, shuffles, atomics, barriers. */
bool uses_communicate(const PtxFunction *entry);
/* Floats become whole numbers: `int s = in[i]`. */
bool uses_cut_off(const PtxFunction *entry);
/* It stores where others can read it: not only in shared or local memory, nor in what it prints. */
bool uses_store(const PtxFunction *entry);

#endif
