/* Reduction: one level of a block's reduction as every text draws it: a row of boxes before, a row of boxes after, and
 * for each box that adds, the operands that come together in it. Made from the recorded folds (tree.h), never from a
 * kernel's name.
 *
 * A *box* is a word of shared memory, where the level's operands come from there; else a thread. A *term* is one operand
 * of an addition, with where it came from. A level lasts from the barrier before its first addition (or from the end of
 * the level before it) to the last store of its sums. What is live after a level is in its boxes, or *kept*: a value that a
 * thread has in a register beside the one in its box, and uses later. */
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
    int symbol;    /* WORD: in the launch's symbols; INPUT, GLOBAL: in the trace's buffers */
    int64_t index; /* element of it; THREAD: of the block */
    int node,
        step; /* step: at which it came; the node of an own value is older than the level. FOLD_NONE: a word that
                       nothing had written when it was read */
    int thread;  /* that reads it */
    bool is_own; /* the reading thread had it in a register */
    int writer; /* WORD: another thread that stores to the word, with no barrier between that store and this load; -1:
                   none */
    bool is_early;  /* it stores after the load */
    bool is_silent; /* it stores the value that was loaded: in this run the order made no difference */
} ReductionTerm;

typedef struct ReductionBox {
    int64_t index;          /* word, or thread of the block */
    uint64_t before, after; /* bits of the level's type */
    bool has_before;        /* the word was written, the thread held a value */
    bool has_after;         /* likewise, when the level is over */
    bool adds;              /* something is folded into it in this level */
    bool is_live;           /* after the level its value is still to be used, or is a result */
    bool was_live;          /* before the level */
    int before_node, node;  /* FOLD_NONE: not known. node: of `after` */
    int64_t unwritten;      /* word that the adding thread read before any thread wrote it; -1: none */
    int thread;             /* that adds; -1: none */
    int step;               /* at which `after` is there */
    int first_term, term_count;
} ReductionBox;

typedef struct ReductionKept {
    int thread, node;
    uint64_t bits;
} ReductionKept;

typedef struct ReductionLevel {
    int level; /* of the tree; -1: none yet */
    TreeLevelKind kind;
    TraceKind through;
    ReductionPlace place; /* WORD or THREAD: what the boxes are */
    int symbol;           /* of words */
    PtxType type;
    int first, last; /* steps */
    int number;      /* of the levels that fold, from 1; 0: the level before the first fold */
    int distance;    /* as TreeLevel */
    bool crosswise;
    int adder_count;  /* threads that add */
    uint32_t *adding; /* [warp_count] lanes that add; NULL: a chain */
    int warp_count;
    bool stores_several;   /* threads load several values each: the boxes are the words they store */
    const char *operation; /* "+"; "max", "min" where every box keeps one of its terms */
    bool is_tree;          /* some sum is made of two sums that its thread makes in this level */
    bool arrows_cross;     /* the ways from the operands to their sums overlap */
    ReductionBox *boxes;
    int box_count;
    ReductionTerm *terms;
    int term_count, term_capacity;
    ReductionKept *kept; /* in the order in which they were made */
    int kept_count;
} ReductionLevel;

typedef struct Reduction Reduction;

/* Both are borrowed. `data`: the type of the run's elements; NO_TYPE: not known. */
Reduction *reduction_new(Tree *tree, StepIndex *step_index, PtxType data);
void reduction_free(Reduction *reduction);

int reduction_level_at(const Reduction *reduction, int step); /* of the tree; 0 before the first one */
/* There is more to show than inputs: sums between threads, a chain of one thread, or the access at which the run ended. */
bool reduction_is_worth_showing(Reduction *reduction);
int reduction_level_count(const Reduction *reduction);
TreeLevelKind reduction_level_kind(const Reduction *reduction, int level); /* without making the level */
int reduction_number_at(const Reduction *reduction,
                        int step); /* of the levels that fold, from 1; 0: before them */
/* "+4", "^16", "load": what the level adds, for a label. */
void reduction_print_short(const Reduction *reduction, int level, char *out, size_t bytes);
int reduction_fold_count(const Reduction *reduction); /* levels that fold */
int reduction_level_first(const Reduction *reduction, int level);
/* An INPUTS level in which a thread folds more inputs than MOST_OWN_INPUTS, one after another: its additions in their
 * order, a box each. before: the input; after: the sum so far. NULL: the level is no such chain for this thread. The one
 * asked for last is kept. */
enum { MOST_OWN_INPUTS = 8 };
const ReductionLevel *reduction_chain(Reduction *reduction, int level, int thread);
/* The level's boxes, in the order of their indexes; made at the first question, valid as long as the reduction. */
const ReductionLevel *reduction_level(Reduction *reduction, int level);
const ReductionBox *reduction_find(const ReductionLevel *level,
                                   int64_t index); /* NULL: there is no such box */

/* The type in which the value of `node` is meant, where it is folded into a sum of type `of_sum`. */
PtxType reduction_type(const Reduction *reduction, int node, PtxType of_sum);
/* What rounding added in the addition that made `node`, a float, in the value's own units. False: it is no sum of floats. */
bool reduction_rounding(const Reduction *reduction, int node, double *rounding);
/* The addition that made `node` left the larger operand as it was, although the other is not zero: all of it was rounded
 * away. */
bool reduction_is_stuck(const Reduction *reduction, int node);
/* How far the node's value is from the exact sum of its inputs. */
bool reduction_error(Reduction *reduction, int node, double *error);

#endif
