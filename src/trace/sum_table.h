/* Sum table: the nodes of sum trees as they are made. Private to src/trace. */
#ifndef TRACE_SUM_TABLE_H
#define TRACE_SUM_TABLE_H

#include "trace/sum_trees.h"

typedef struct SumOperation {
    uint32_t id; /* equal for the same arithmetic, whichever instruction does it */
    bool rounds, is_exact, is_symmetric, is_extreme;
    bool is_atomic; /* on memory that threads share */
} SumOperation;

typedef struct SumPoint { /* where a sum is made, and what it is */
    int pc, launch;
    uint64_t bits;
    uint8_t type;
} SumPoint;

SumOperation sum_operation_of(const PtxInstruction *in);

uint64_t sum_mix(uint64_t a, uint64_t b);
int sum_buffer(SumTrees *trees, const char *name);
/* All return a node; SUM_NONE if the table is full. `loaded`: has the bits. */
int sum_add_element(SumTrees *trees, int buffer, uint64_t offset, const FoldNode *loaded);
/* An element of which nothing is known but that it was these bits. */
int sum_add_unknown(SumTrees *trees, int buffer, uint64_t offset, const FoldNode *loaded);
/* One operand SUM_NONE: the other one. has_no_order: nothing decides which operand comes first. */
int sum_add(SumTrees *trees, SumOperation operation, int left, int right, const SumPoint *point,
            bool has_no_order);
/* The same value, in an order that nothing decides. */
int sum_without_order(SumTrees *trees, int node);

#endif
