/* Folds: the values combined in one traced block: every value that depends on inputs, and its two operands.
 *
 * A *node* is a value held by one lane:
 *   INPUT  an element of global memory, or of another block's shared memory, that the block did not write
 *          itself; one node, however often it is loaded
 *   MOVE   the value `a`, which an event (a load, a shuffle) brought to this lane
 *   JOIN   the values `a` and `b`, combined by an instruction
 *
 * Nodes refer only to older nodes: `a` and `b` are smaller than the node's own number.
 *
 * A *result* is a value that was stored to global memory or to another block's shared memory, or folded into
 * it by an atomic. */
#ifndef TRACE_FOLDS_H
#define TRACE_FOLDS_H

#include "base/memory.h"
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

enum { FOLD_NONE = -1, FOLD_LIMIT = 1 << 22 /* nodes of a block; beyond this limit none are kept */ };

enum {
    FOLD_PEER_BUFFER = 0xff00, /* plus the rank in the cluster: shared memory of that block */
    /* The block's own shared memory, written by another block of the cluster. */
    FOLD_OTHER_BLOCK = 0xffff
};

typedef enum FoldKind { FOLD_INPUT, FOLD_MOVE, FOLD_JOIN } FoldKind;

/* What a JOIN's instruction does with its operands. */
typedef enum FoldOp {
    FOLD_OTHER,
    FOLD_ADD,
    FOLD_SUB, /* a - b */
    FOLD_FMA, /* a * factor + b */
    FOLD_MUL,
    FOLD_MIN,
    FOLD_MAX,
    FOLD_AND,
    FOLD_OR,
    FOLD_XOR,
    FOLD_CHOICE, /* selp: one of the two */
    FOLD_TEST    /* setp: a predicate, no value of the reduction */
} FoldOp;

typedef struct FoldNode {
    int32_t a, b;    /* FOLD_NONE: no operand; for an INPUT: */
    uint64_t bits;   /* the value; for an INPUT: byte offset in its buffer */
    uint32_t weight; /* number of inputs, counted as often as each was folded in; saturates */
    int32_t event;   /* the event that brought it; for a JOIN: the later one of its operands' events */
    int32_t pc;      /* the instruction that brought or combined it */
    /* buffer: for an INPUT, as in TraceEvent; from FOLD_PEER_BUFFER on, another block's. */
    uint16_t warp, buffer;
    uint8_t lane, kind, type; /* type: PtxType of `bits` */
    uint8_t op;               /* FoldOp of a JOIN */
    bool is_plain; /* only sums, minima and similar instructions led here: weights are meaningful */
    /* of a JOIN: what its instruction read, in the type of `bits`. It differs from the value of the node `a`
     * or `b` where that was converted, scaled or negated on its way: provenance follows values through
     * instructions with one operand that depends on inputs. */
    uint64_t of[2], factor;
} FoldNode;

typedef struct FoldResult {
    int32_t node, event;
    uint64_t place; /* in global memory; equal for the same element */
    uint16_t warp;
    uint8_t lane;
} FoldResult;

typedef struct FoldReread { /* the block loads a word of global memory that it has written */
    uint64_t place;         /* as in FoldResult */
    int32_t event;
} FoldReread;

typedef struct FoldJoin { /* as in FoldNode */
    int a, b;
    FoldOp op;
    bool is_plain;
    uint64_t of[2], factor;
} FoldJoin;

typedef struct Folds {
    FoldNode *nodes;
    int node_count, node_capacity;
    FoldResult *results; /* in the order of events; for one place the last one counts */
    int result_count, result_capacity;
    FoldReread *rereads;
    int reread_count, reread_capacity;
    bool is_cut; /* has more than FOLD_LIMIT nodes: only the first are kept */
} Folds;

typedef struct FoldPlace { /* where a node appears */
    int event, warp, lane;
    PtxType type;
    uint64_t bits;
    int pc;
} FoldPlace;

Folds *folds_new(void);
void folds_free(Folds *folds);

/* The JOIN takes one of its operands, without rounding. */
static inline bool fold_is_choice(const FoldNode *node) {
    return node->op == FOLD_MIN || node->op == FOLD_MAX || node->op == FOLD_CHOICE;
}

/* What an atomic, redux or a copy that reduces does: ADD, MIN, MAX, AND, OR, XOR; OTHER: none of these. */
FoldOp fold_reduces_by(const PtxInstruction *in);
const char *fold_op_name(FoldOp op); /* of these: "add"; NULL: OTHER */

/* All return the node's number; FOLD_NONE if an operand is FOLD_NONE or there is no room. */
int folds_add_input(Folds *folds, const FoldPlace *place, uint16_t buffer, uint64_t offset);
int folds_add_move(Folds *folds, const FoldPlace *place, int a);
int folds_add_join(Folds *folds, const FoldPlace *place, const FoldJoin *join);
/* Of two nodes as they are. */
int folds_add_pair(Folds *folds, const FoldPlace *place, int a, int b, FoldOp op);
/* `node` FOLD_NONE: the stored value does not depend on any input. */
void folds_add_result(Folds *folds, const FoldPlace *place, uint64_t where, int node);
void folds_add_reread(Folds *folds, int event, uint64_t where);

#endif
