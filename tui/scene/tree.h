/* Tree: the reduction of one traced block, level by level. It is made once from the block's folds
 * (trace/folds.h) and steps.
 *
 * A *level* is a part of the run where values of several lanes are combined: a step whose folds take values
 * of other lanes, or a stretch of steps in which every thread only folds inputs that it loaded itself. The
 * *path* of a value is every value that it was made from, back to the inputs. */
#ifndef TUI_SCENE_TREE_H
#define TUI_SCENE_TREE_H

#include "trace/folds.h"
#include "trace/steps.h"

typedef enum TreeLevelKind {
    TREE_INPUTS, /* each thread loads and folds its own inputs */
    TREE_TAKE,   /* threads take what others made, and do not fold it yet */
    TREE_FOLD
} TreeLevelKind;

typedef struct TreeLevel {
    TreeLevelKind kind;
    TraceKind through; /* what brought the values: shared load, shuffle, redux, atomic ... */
    int first, last;   /* steps */
    uint32_t interval; /* of the last step */
    /* distance of all operands: in words of shared memory, else threads or lanes; 0: it varies */
    int distance;
    bool crosswise; /* the distance is an exclusive or: partners swap */
} TreeLevel;

typedef struct TreePath { /* of one value */
    int root;             /* node; FOLD_NONE: no path yet */
    uint32_t *ways;       /* [node] how often the node is in the root; 0: it is not; saturates */
    bool *doubles;   /* [node] joins values with an input in common; all false where the root is not plain */
    int once, twice; /* inputs that are in the root once; several times */
    int doubles_count;
} TreePath;

typedef struct Tree {
    const Folds *folds; /* borrowed; so are the steps */
    const Steps *steps;
    int thread_count, warp_count;
    TreeLevel *levels;
    int level_count;
    int *level_of_node; /* [node] */
    int *cells;         /* [level][thread] node that the thread holds after the level; FOLD_NONE: none */
    int *final;         /* results that stay, one per place, heaviest first; nodes */
    int *final_thread;  /* the threads that stored them */
    int final_count;
    bool *reaches;   /* [node] is part of a final result; true for all nodes if there is no final result */
    int *used_until; /* [node] the last level in which a thread uses it; level_count: it stays to the end */
    int input_count, lost_count; /* inputs that were loaded; that are in no final result */
    bool *loses;                 /* [thread] loaded such an input */
    bool *holds_lost;            /* [node] contains such an input */
    /* After tree_compare(): */
    bool *shared; /* [node] an input that a result of another block also contains */
    int shared_count;
    bool *shares;    /* [thread] loaded such an input */
    int *made;       /* what threads hold, in the order of steps: those of step s from */
    int *made_begin; /* [step] to before [step + 1] */
    /* The last ones requested: */
    TreePath path;
    int *held, held_step; /* [thread]; tree_now() */
} Tree;

/* NULL if the folds are incomplete. */
Tree *tree_new(const Folds *folds, const Steps *steps);
void tree_free(Tree *tree);

/* Finds the inputs that are also in results of `other`, the tree of another block of the launch; called for
 * one block after another. */
void tree_compare(Tree *tree, const Tree *other);

/* The last level that has begun at `step`; -1: none. */
int tree_level_at(const Tree *tree, int step);
/* A bulk copy brought the value, which the thread that ordered it never held. */
bool tree_is_copied(const Tree *tree, int node);
/* The node that the thread holds after the level; FOLD_NONE also if there is no such level. */
int tree_held(const Tree *tree, int level, int thread);
/* The node is part of the level: a fold, or a value taken. */
bool tree_acts(const Tree *tree, int level, int node);

/* [thread] what every thread holds at `step`, also in the middle of a level. */
const int *tree_now(Tree *tree, int step);

/* The final result that the thread stored, else the heaviest; FOLD_NONE: none. */
int tree_result(const Tree *tree, int thread);
const TreePath *tree_path(Tree *tree, int root);

/* The value of an operand of `node` (or of the node itself, a MOVE) before it came to the lane in this level;
 * the operand itself if the lane already had it. */
int tree_origin(const Tree *tree, int node, int operand);
int tree_thread(const Tree *tree, int node);

/* Private to tree.c and tree_levels.c: */

void tree_find_levels(Tree *tree);    /* levels, level_count, level_of_node: filled */
void tree_find_distances(Tree *tree); /* distance and crosswise of each level */

#endif
