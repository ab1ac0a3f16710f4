/* The state that the parts of a reduction share. Private to reduction*.c: reduction_terms.c finds values and
 * their origins, and compares sums with exact ones, reduction_level.c makes the boxes of a level,
 * reduction_check.c finds what a level may claim, reduction_words.c the words of shared memory before and
 * after it, with races and words that nothing had written, reduction_chain.c the boxes of one thread and the
 * values that stay in registers, reduction.c combines them. */
#ifndef TUI_SCENE_REDUCTION_STATE_H
#define TUI_SCENE_REDUCTION_STATE_H

#include "tui/scene/reduction.h"

struct Reduction {
    PtxType data; /* of the run */
    Tree *tree;
    StepIndex *step_index;
    uint32_t *useful; /* [event] lanes whose value is part of a result */
    /* [node] the last level in which a result uses it; level_count: it is a result */
    int *needed_until;
    int *kept_until;         /* [node] the last level in which it is read from a register, or stored */
    int *first;              /* [level_count] the first step of the level */
    int *number;             /* [level_count] folding levels so far */
    ReductionLevel **levels; /* [level_count], NULL until asked for */
    ReductionLevel *chain;   /* the last chain requested */
    int chain_level, chain_thread;
    int *seen, stamp; /* [node] the last search that reached it; number of searches */
    int *stack;       /* [node_count + 1] for a search */
};

static inline const FoldNode *node_at(const Reduction *reduction, int node) {
    return &reduction->tree->folds->nodes[node];
}

static inline int thread_of(const Reduction *reduction, int node) {
    return tree_thread(reduction->tree, node);
}

static inline int step_of_event(const Reduction *reduction, int event) {
    return reduction->tree->steps->step_of_event[event];
}

static inline bool is_float(PtxType type) {
    return type != PTX_NO_TYPE && ptx_type_is_float(type);
}

/* The value of a node, in the type of this level. */
uint64_t reduction_bits(const Reduction *reduction, int node, PtxType type);
/* The origin of the value that `node`, a MOVE, brought to its lane: the term's place, symbol and index. */
void reduction_put_place(const Reduction *reduction, int node, ReductionTerm *term);
/* The element that the lane accesses. */
void reduction_put_address(ReductionTerm *term, const TraceEvent *event, int lane, int element);
ReductionTerm *reduction_add_term(ReductionLevel *level); /* empty; valid until the next call */

/* Chooses the operation of the level, after checking that it gives the value of every box that adds. NULL:
 * equal values do not determine it (a selection), or no box takes part. */
const char *reduction_operation(const Reduction *reduction, ReductionLevel *level);
void reduction_find_distance(const Reduction *reduction, ReductionLevel *level);
/* Terms of a JOIN. The value of operand 0 or 1 as read; for an fma, 0 is the product. */
uint64_t reduction_operand(const FoldNode *join, int operand);
/* An atomic that finds what the block did not make: the node is the thread's own value, and holds the old
 * one. */
bool reduction_is_first_atomic(const Reduction *reduction, int node);
uint64_t reduction_brought(const Reduction *reduction, int node); /* the operand of such an atomic */
FoldOp reduction_atomic_op(const Reduction *reduction, int node);
uint64_t reduction_fold_bits(FoldOp op, uint64_t a, uint64_t b); /* of integers: +, *, and, or, xor */
FoldOp reduction_family(FoldOp op);                              /* ADD of ADD, SUB and FMA; else itself */

void reduction_find_writers(const Reduction *reduction, ReductionLevel *level);   /* of its terms */
void reduction_find_kept(Reduction *reduction);                                   /* kept_until */
void reduction_put_kept(const Reduction *reduction, ReductionLevel *level);       /* by its boxes */
void reduction_fill_words(const Reduction *reduction, ReductionLevel *level);     /* the boxes, from stores */
void reduction_find_unwritten(const Reduction *reduction, ReductionLevel *level); /* by its boxes */
/* operation: NULL if the values do not determine it. */
ReductionLevel *reduction_make_level(Reduction *reduction, int level);
ReductionLevel *reduction_make_chain(Reduction *reduction, int level, int thread); /* NULL: not a chain */

#endif
