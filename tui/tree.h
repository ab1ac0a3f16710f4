/* Tree: the reduction of one traced block, level by level, gathered once from its folds (trace/folds.h) and
 * steps.
 *
 * A *level* is a place of the run where values of several lanes meet: a step whose folds take what other
 * lanes made, or a stretch of steps in which every thread only folds inputs that it loaded itself. The *path*
 * of a value is every value that it was made from, back to the inputs. */
#ifndef TUI_TREE_H
#define TUI_TREE_H

#include "trace/folds.h"
#include "trace/steps.h"

typedef enum TreeLevelKind {
    TREE_INPUTS, /* each thread loads and folds its own */
    TREE_TAKE,   /* threads take what others made, and fold nothing yet */
    TREE_FOLD
} TreeLevelKind;

typedef struct TreeLevel {
    TreeLevelKind kind;
    TraceKind through; /* what brought the values: shared load, shuffle, redux, atomic ... */
    int first, last;   /* steps */
    uint32_t interval; /* of the last step */
    int distance;      /* threads (shuffle: lanes) from where all take; 0: not all from equally far */
    bool crosswise;    /* the distance is an exclusive or: partners swap */
} TreeLevel;

typedef struct TreePath { /* of one value */
    int root;             /* node; FOLD_NONE: nothing asked for yet */
    uint32_t *ways;       /* [node] how often the node is in the root; 0: it is not; saturates */
    bool *
        doubles; /* [node] a JOIN of values that hold the same input; all false where the root is not plain */
    int once, twice; /* inputs that are in the root once; several times */
    int doubles_count;
} TreePath;

typedef struct Tree {
    const Folds *folds; /* borrowed, as all here */
    const Steps *steps;
    int thread_count, warp_count;
    TreeLevel *levels;
    int level_count;
    int *level_of_node; /* [node] */
    int *cells;         /* [level][thread] node that the thread holds after the level; FOLD_NONE: none */
    int *final;         /* results that stay, one a place, heaviest first; nodes */
    int *final_thread;  /* who stored them */
    int final_count;
    int input_count, lost_count; /* inputs that were loaded; that are in no final result */
    bool *lost;                  /* [node] such an input */
    TreePath path;               /* the last one asked for */
} Tree;

/* NULL where the folds are cut. */
Tree *tree_new(const Folds *folds, const Steps *steps);
void tree_free(Tree *tree);

/* The last level that is over, or under way, at `step`; -1: none. */
int tree_level_at(const Tree *tree, int step);
int tree_held(const Tree *tree, int level,
              int thread); /* node; FOLD_NONE also where there is no such level */
bool tree_acts(const Tree *tree, int level, int thread); /* got its value in this level */

/* The final result that the thread stored, else the heaviest; FOLD_NONE: there is none. */
int tree_result(const Tree *tree, int thread);
const TreePath *tree_path(Tree *tree, int root);

/* Whose value a node's operand was before it came to the lane: follows the MOVE. The node itself where it did
 * not. */
int tree_origin(const Tree *tree, int node);
int tree_thread(const Tree *tree, int node);

#endif
