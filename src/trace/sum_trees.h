/* Sum trees: how each value in global memory was added up, over whole runs. A value may be made by several
 * blocks and launches.
 *
 * The folds of a block (folds.h) end at its loads and stores. Here they are joined where one block stored
 * what another, or a later launch, loads. Trees of several runs are in one table, in which equal trees are
 * one node: two values were added in the same order where their nodes are equal.
 *
 * An addition of floating-point numbers *rounds*, so its order matters; a + b and b + a are the same to the
 * bit. Integer sums, minima and the like are *exact*: whatever the order, what they are made of decides the
 * result. A constant is no part of a tree, nor is a factor: of x[i] * w[i] there is one of the two. Two
 * halves that are loaded as one word are one element. Shared memory of another block of a cluster is not
 * followed. */
#ifndef TRACE_SUM_TREES_H
#define TRACE_SUM_TREES_H

#include "trace/folds.h"
#include "trace/trace.h"

typedef struct SumTrees SumTrees;
typedef struct SumRun SumRun;

enum { SUM_NONE = -1, SUM_TREE_LIMIT = 1 << 24 /* nodes of all runs */ };

typedef struct SumNode {
    int32_t a, b; /* older nodes; SUM_NONE: an element */
    uint32_t operation;
    uint32_t weight; /* elements, each as often as it was added; saturates */
    /* Equal where the result must be equal to the bit: the tree, but with the order of exact parts left
     * out. */
    uint64_t value;
    uint64_t shape;          /* the same with elements named by their distance from the first */
    uint64_t spread;         /* of an exact part: its operands by this distance, without any order */
    uint64_t set;            /* of the elements, without any order */
    uint64_t first, last;    /* lowest and highest byte offset, in `buffer` */
    uint64_t bits;           /* the value, of `type`; PTX_NO_TYPE: not known */
    int32_t pc;              /* of a sum */
    uint16_t launch, buffer; /* buffer: of the elements; of several buffers, the first by name */
    uint8_t type;
    bool rounds;
    bool is_extreme;   /* a minimum, a maximum, and, or: an element that is taken twice counts once */
    bool has_no_order; /* somewhere in it, atomics round, whose order nothing fixes */
    /* somewhere in it is a word that changed while it was read, or memory that is not followed */
    bool is_unknown;
} SumNode;

/* What a run left in one element of global memory. */
typedef struct SumPlace {
    uint16_t buffer; /* of the trace */
    uint64_t offset;
    int32_t node;     /* SUM_NONE: constants */
    bool is_consumed; /* the run loaded it again: it is no output */
} SumPlace;

SumTrees *sum_trees_new(void);
void sum_trees_free(SumTrees *trees);
const SumNode *sum_node(const SumTrees *trees, int node);
const char *sum_buffer_name(const SumTrees *trees, int buffer); /* of SumNode.buffer */
bool sum_trees_are_cut(const SumTrees *trees); /* there were more nodes than the limit: trust nothing */

/* A run of `trace`, which is borrowed; the caller frees it before the trees. */
SumRun *sum_run_new(SumTrees *trees, const Trace *trace);
void sum_run_free(SumRun *run);
/* The next launch: [launch->block_count] the folds of its blocks, all of which must be traced. */
void sum_run_add_launch(SumRun *run, int launch, Folds *const *folds);
/* The host overwrites memory before the next launch. */
void sum_run_overwrite(SumRun *run, int buffer, uint64_t offset, uint64_t bytes);
/* What it left, by buffer and offset; valid until the run changes. */
const SumPlace *sum_run_places(SumRun *run, int *count);

/* The smallest sum in `root` that `other` does not contain: the first where the orders part; SUM_NONE: there
 * is none. */
int sum_first_apart(const SumTrees *trees, int root, int other);
/* What `root` does with the operands of `node`, a sum of another tree; SUM_NONE: it has neither. */
int sum_counterpart(const SumTrees *trees, int root, int node);

#endif
