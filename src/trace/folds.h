/* Folds: the values that were combined in one traced block: every value that holds inputs, and the two it was
 * made from.
 *
 * A *node* is a value in the hands of one lane:
 *   INPUT  an element of global memory, or of another block's shared memory, that the block did not write itself; one
 *          node, however often it is loaded
 *   MOVE   the value `a`, which an event (a load, a shuffle) brought to this lane
 *   JOIN   the values `a` and `b`, combined by an instruction
 *
 * Nodes are made from older nodes only: `a` and `b` are smaller than the node's own number.
 *
 * A *result* is a value that was stored to global memory or to another block's shared memory, or folded into it by an
 * atomic. */
#ifndef TRACE_FOLDS_H
#define TRACE_FOLDS_H

#include "base/memory.h"
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

enum { FOLD_NONE = -1, FOLD_LIMIT = 1 << 22 /* nodes of a block; where there are more nothing is kept */ };

enum {
    FOLD_PEER_BUFFER = 0xff00, /* plus the rank in the cluster: shared memory of that block */
    FOLD_OTHER_BLOCK =
        0xffff /* shared memory of the own block, where another one of the cluster has written it */
};

typedef enum FoldKind { FOLD_INPUT, FOLD_MOVE, FOLD_JOIN } FoldKind;

typedef struct FoldNode {
    int32_t a, b;    /* FOLD_NONE: there is none; of an INPUT: */
    uint64_t bits;   /* the value; an INPUT's: bytes from the start of its buffer */
    uint32_t weight; /* inputs, each as often as it was folded in; saturates */
    int32_t event;   /* that brought it; of a JOIN: the later one of its operands' */
    uint16_t warp,
        buffer; /* buffer: of an INPUT, as in TraceEvent; from FOLD_PEER_BUFFER on: another block's */
    uint8_t lane, kind, type; /* type: PtxType of `bits` */
    bool is_choice; /* of a JOIN: min, max or selp took one of both values; what it leaves is no rounding */
    bool is_plain;  /* no instruction on the way here but sums, minima and the like: counting makes sense */
} FoldNode;

typedef struct FoldResult {
    int32_t node, event;
    uint64_t place; /* in global memory; equal: the same element */
    uint16_t warp;
    uint8_t lane;
} FoldResult;

typedef struct Folds {
    FoldNode *nodes;
    int node_count, node_capacity;
    FoldResult *results; /* in the order of events: of one place the last counts */
    int result_count, result_capacity;
    bool is_cut; /* there are more than FOLD_LIMIT nodes: only the first are here */
} Folds;

typedef struct FoldPlace { /* where a node comes to be */
    int event, warp, lane;
    PtxType type;
    uint64_t bits;
} FoldPlace;

Folds *folds_new(void);
void folds_free(Folds *folds);

/* All return the node's number; FOLD_NONE where an operand is FOLD_NONE or there is no room. */
int folds_add_input(Folds *folds, const FoldPlace *place, uint16_t buffer, uint64_t offset);
int folds_add_move(Folds *folds, const FoldPlace *place, int a);
int folds_add_join(Folds *folds, const FoldPlace *place, int a, int b, bool is_plain);
/* `node` FOLD_NONE: what is stored there holds no input. */
void folds_add_result(Folds *folds, const FoldPlace *place, uint64_t where, int node);

#endif
