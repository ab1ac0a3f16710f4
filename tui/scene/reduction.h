/* Reduction: one level of a block's reduction as textbooks draw it: a row of boxes before, a row of boxes
 * after, and for each box that adds, the operands combined in it. Made from the recorded folds (tree.h),
 * never from a kernel's name.
 *
 * A *box* is a word of shared memory if the level's operands come from there; else a thread. A *term* is one
 * operand of an addition, with its origin. A level lasts from the barrier before its first addition (or from
 * the end of the level before it) to the last store of its sums. A live value after a level is in a box, or
 * *kept*: a thread holds it in a register beside the one in its box, and uses it later. */
#ifndef TUI_SCENE_REDUCTION_H
#define TUI_SCENE_REDUCTION_H

#include "tui/scene/step_index.h"
#include "tui/scene/tree.h"

typedef enum ReductionPlace {
    PLACE_THREAD, /* the thread's own register, or another lane's by a shuffle */
    PLACE_WORD,   /* shared memory */
    PLACE_INPUT,  /* an element of global memory that the block did not write */
    PLACE_GLOBAL, /* global memory that the block wrote */
    PLACE_UNKNOWN
} ReductionPlace;

typedef struct ReductionTerm {
    ReductionPlace place;
    int symbol;    /* WORD: index into the launch's symbols; INPUT, GLOBAL: into the trace's buffers */
    int64_t index; /* element index; THREAD: thread of the block */
    /* step: at which it arrived. The node of a thread's own value is older than the level. FOLD_NONE: a word
     * that nothing had written when it was read. */
    int node, step;
    int thread;      /* the thread that reads it */
    uint64_t bits;   /* the operand, as the addition read it */
    PtxType type;    /* of `bits` */
    bool is_own;     /* the reading thread already had it in a register */
    bool is_second;  /* own, or of the box itself, as an earlier term is */
    bool is_taken;   /* subtracted */
    bool is_changed; /* computed from the value that was there: converted with loss, scaled, a product ... */
    /* WORD: another thread that stores to the word, with no barrier between that store and this load; -1:
     * none. */
    int writer;
    bool is_early;  /* the store comes after the load */
    bool is_silent; /* it stores the value that was loaded: the order made no difference in this run */
} ReductionTerm;

typedef struct ReductionBox {
    int64_t index;          /* word, or thread of the block */
    uint64_t before, after; /* bits of the level's type */
    bool has_before;        /* the word was written, or the thread held a value */
    bool has_after;         /* likewise, at the end of the level */
    bool adds;              /* this level folds something into it */
    bool is_idle;           /* it adds only what it holds, and its value is not used: it takes no part */
    bool is_live;           /* its value after the level is used later, or is a result */
    bool was_live;          /* likewise, before the level */
    int before_node, node;  /* FOLD_NONE: unknown. node: the node of `after` */
    PtxType before_type;    /* of `before`, as an addition read it; NO_TYPE: that of its node */
    int64_t unwritten;      /* the word that the adding thread read before any thread wrote it; -1: none */
    int thread;             /* the thread that adds; -1: none */
    int step;               /* the step at which `after` is stored */
    int root;               /* the JOIN that its terms make; FOLD_NONE: they were only loaded */
    FoldOp op;              /* of its terms: ADD, MUL, MIN, MAX, AND, OR, XOR; OTHER: none gives `after` */
    int first_term, term_count;
} ReductionBox;

typedef struct ReductionKept {
    int thread, node;
    uint64_t bits;
} ReductionKept;

typedef struct ReductionLevel {
    int level; /* level of the tree; -1: none yet */
    TreeLevelKind kind;
    TraceKind through;
    ReductionPlace place; /* WORD or THREAD: the kind of the boxes */
    int symbol;           /* the symbol of the words */
    PtxType type;
    int first, last; /* steps */
    int number;      /* its number among the folding levels, from 1; 0: the level before the first fold */
    /* From each box that adds to all its other operands: words between boxes that are words, without a sign;
     * else threads between the one that adds and the one that made the operand; 0: it varies, or a box has
     * none. */
    int distance;
    bool crosswise;   /* the distance is an exclusive or: partners swap */
    int adder_count;  /* threads that add */
    uint32_t *adding; /* [warp_count] lanes that add; NULL: a chain */
    int warp_count;
    bool stores_several; /* threads load several values each: the boxes are the words that they store */
    /* "+", "*", "max", "min", "and", "or", "xor": every box that adds is this of its terms, computed again
     * from them; "from": they are computed from their terms, in no one way. */
    const char *operation;
    bool is_tree;      /* some sum adds two sums that its thread makes in this level */
    bool arrows_cross; /* the paths from the operands to their sums overlap */
    ReductionBox *boxes;
    int box_count;
    ReductionTerm *terms;
    int term_count, term_capacity;
    ReductionKept *kept; /* in the order in which they were made */
    int kept_count;
} ReductionLevel;

typedef struct Reduction Reduction;

/* Both are borrowed. `data`: the type of the run's elements; NO_TYPE: unknown. */
Reduction *reduction_new(Tree *tree, StepIndex *step_index, PtxType data);
void reduction_free(Reduction *reduction);

/* The level of the tree; 0 before the first level. */
int reduction_level_at(const Reduction *reduction, int step);
/* There is more to show than inputs: sums between threads, a chain of one thread, or the access that ended
 * the run. */
bool reduction_is_worth_showing(Reduction *reduction);
int reduction_level_count(const Reduction *reduction);
TreeLevelKind reduction_level_kind(const Reduction *reduction, int level); /* does not create the level */
int reduction_number_at(const Reduction *reduction,
                        int step); /* among the folding levels, from 1; 0: before them */
/* "+4", "^16", "load": what the level adds, for a label. */
void reduction_print_short(const Reduction *reduction, int level, char *out, size_t bytes);
int reduction_fold_count(const Reduction *reduction); /* number of folding levels */
int reduction_level_first(const Reduction *reduction, int level);
/* An INPUTS level in which a thread folds more inputs than MOST_OWN_INPUTS, one after another: its additions
 * in order, one box each. before: the input; after: the sum so far. NULL: the level is not such a chain for
 * this thread. Only the last chain is kept. */
enum { MOST_OWN_INPUTS = 8 };
const ReductionLevel *reduction_chain(Reduction *reduction, int level, int thread);
/* The level's boxes, in index order; made on first use, valid as long as the reduction. */
const ReductionLevel *reduction_level(Reduction *reduction, int level);
const ReductionBox *reduction_find(const ReductionLevel *level, int64_t index); /* NULL: no such box */

/* "add", "compare", "multiply", "combine": what threads do in the level; `one`: "adds" ... */
const char *reduction_verb(const ReductionLevel *level, bool one);
/* The term's bits as it is added: those of the negative value if it is subtracted. */
uint64_t reduction_addend(const ReductionTerm *term);
/* The type of the value of `node` when it is folded into a sum of type `of_sum`. */
PtxType reduction_type(const Reduction *reduction, int node, PtxType of_sum);
/* The rounding error of the addition that made `node`, a float, in the value's own units. False: the node is
 * not a sum of floats. */
bool reduction_rounding(const Reduction *reduction, int node, double *rounding);
/* The addition that made `node` left the larger operand unchanged, although the other is not zero: rounding
 * removed all of it. */
bool reduction_is_stuck(const Reduction *reduction, int node);
/* The difference between the node's value and the exact sum of its inputs. */
bool reduction_error(Reduction *reduction, int node, double *error);

#endif
