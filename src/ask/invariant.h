/* Invariant: what --invariant compares of two runs. Private to src/ask. */
#ifndef SESSION_INVARIANT_H
#define SESSION_INVARIANT_H

#include "session/state.h"
#include "trace/sum_trees.h"

/* The worst last. */
typedef enum SumVerdict {
    SUM_SAME,
    SUM_EXACT,    /* the order differs, and the result cannot */
    SUM_UNKNOWN,  /* SumNode.is_unknown */
    SUM_OTHER,    /* not the same elements */
    SUM_NO_ORDER, /* SumNode.has_no_order */
    SUM_DIFFERS,
    SUM_VERDICTS
} SumVerdict;

typedef struct OrderRun {
    const char *label;
    Session *session;
    SumRun *sums;
    const SumPlace *places;
    int place_count;
} OrderRun;

typedef struct ComparedBuffer {
    const char *name;
    int counts[SUM_VERDICTS];
    int alone[2];               /* elements that only one of the runs stored */
    int first[SUM_VERDICTS][2]; /* the first places with this verdict; -1: none */
    /* Ways in which each run adds its elements, whose inputs are named from the first one; 0: there are no
     * sums */
    int ways[2];
    int other_way[2]; /* a place that is added in another way than the first; -1: none is */
    /* Elements whose bits differ: of another order, and of the same one */
    int differing_bits, other_bits;
} ComparedBuffer;

typedef struct ComparedOrders {
    const SumTrees *trees;
    const OrderRun *runs[2];
    ComparedBuffer *buffers;
    int buffer_count, buffer_capacity;
    int total[SUM_VERDICTS];
} ComparedOrders;

void ask_print_orders(const ComparedOrders *orders, Text *out);
void ask_put_orders(const ComparedOrders *orders, Json *json);
/* The bytes of an element that a run left; NULL: not known. */
const uint8_t *ask_left_bytes(const OrderRun *run, const char *name, uint64_t offset, PtxType *type);

#endif
