#include "tui/scene/reduction_state.h"

#include "base/language.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- where a level begins ------------------------------------------------------------------------------ */

/* The last step after `from` and before `first` that belongs to the level before: a store of its sums, or a
 * barrier after them; `from` if there is none. */
static int last_of_before(const Reduction *reduction, int from, int first) {
    const Steps *steps = reduction->tree->steps;
    for (int step = first - 1; step > from; step--) {
        TraceKind kind = (TraceKind)reduction->step_index->step[step].kind;
        if (kind == TRACE_BARRIER && steps->steps[step].interval_step == steps->steps[first].interval_step)
            continue; /* idle warps arrive at the barrier after this level */
        if (kind == TRACE_BARRIER || kind == TRACE_NAMED_BARRIER || kind == TRACE_WARP_SYNC ||
            kind == TRACE_SHARED_STORE)
            return step;
    }
    return from;
}

static void find_firsts(Reduction *reduction) {
    const Tree *tree = reduction->tree;
    int folds = 0;
    for (int i = 0; i < tree->level_count; i++) {
        int before = i ? tree->levels[i - 1].last : -1;
        reduction->first[i] = i ? last_of_before(reduction, before, tree->levels[i].first) + 1 : 0;
        folds += tree->levels[i].kind == TREE_FOLD;
        reduction->number[i] = folds;
    }
}

static void find_needed(Reduction *reduction) {
    const Tree *tree = reduction->tree;
    int count = tree->folds->node_count, *until = memory_new(((size_t)count + 1) * sizeof *until);
    for (int i = 0; i < count; i++) until[i] = -1;
    for (int i = 0; i < tree->final_count; i++) until[tree->final[i]] = tree->level_count;
    for (int i = count - 1; i >= 0; i--) {
        const FoldNode *node = node_at(reduction, i);
        int level = tree->level_of_node[i] < 0 ? tree->level_count : tree->level_of_node[i];
        if (!tree->reaches[i] || node->kind == FOLD_INPUT) continue;
        if (until[node->a] < level) until[node->a] = level;
        if (node->kind == FOLD_JOIN && until[node->b] < level) until[node->b] = level;
    }
    reduction->needed_until = until;
}

static void find_useful(Reduction *reduction) {
    const Tree *tree = reduction->tree;
    size_t count = (size_t)trace_block_event_count(tree->steps->block) + 1;
    reduction->useful = memory_new(count * sizeof *reduction->useful);
    for (int i = 0; i < tree->folds->node_count; i++) {
        const FoldNode *node = node_at(reduction, i);
        if (node->kind == FOLD_MOVE && tree->reaches[i]) reduction->useful[node->event] |= 1u << node->lane;
    }
}

Reduction *reduction_new(Tree *tree, StepIndex *step_index, PtxType data) {
    Reduction *reduction = memory_new(sizeof *reduction);
    size_t count = (size_t)tree->level_count + 1;
    reduction->tree = tree;
    reduction->step_index = step_index;
    reduction->data = data;
    reduction->chain_level = -1;
    reduction->first = memory_new(count * sizeof *reduction->first);
    reduction->number = memory_new(count * sizeof *reduction->number);
    reduction->levels = memory_new(count * sizeof *reduction->levels);
    size_t nodes = (size_t)tree->folds->node_count + 2;
    reduction->seen = memory_new(nodes * sizeof *reduction->seen);
    reduction->stack = memory_new(nodes * sizeof *reduction->stack);
    find_firsts(reduction);
    find_needed(reduction);
    find_useful(reduction);
    reduction_find_kept(reduction);
    return reduction;
}

static void level_free(ReductionLevel *level) {
    if (!level) return;
    free(level->boxes);
    free(level->terms);
    free(level->kept);
    free(level->adding);
    free(level);
}

void reduction_free(Reduction *reduction) {
    if (!reduction) return;
    for (int i = 0; i < reduction->tree->level_count; i++) level_free(reduction->levels[i]);
    level_free(reduction->chain);
    free(reduction->needed_until);
    free(reduction->seen);
    free(reduction->stack);
    free(reduction->kept_until);
    free(reduction->useful);
    free(reduction->first);
    free(reduction->number);
    free(reduction->levels);
    free(reduction);
}

int reduction_level_at(const Reduction *reduction, int step) {
    int level = reduction->tree->level_count - 1;
    while (level > 0 && reduction->first[level] > step) level--;
    return level < 0 ? 0 : level;
}

int reduction_level_count(const Reduction *reduction) {
    return reduction->tree->level_count;
}

TreeLevelKind reduction_level_kind(const Reduction *reduction, int level) {
    return reduction->tree->levels[level].kind;
}

int reduction_number_at(const Reduction *reduction, int step) {
    return reduction->tree->level_count ? reduction->number[reduction_level_at(reduction, step)] : 0;
}

void reduction_print_short(const Reduction *reduction, int level, char *out, size_t bytes) {
    const TreeLevel *of = &reduction->tree->levels[level];
    int distance = of->distance < 0 ? -of->distance : of->distance;
    if (of->kind == TREE_INPUTS)
        snprintf(out, bytes, tr("in"));
    else if (of->kind == TREE_TAKE)
        snprintf(out, bytes, tr("take"));
    else if (of->through == TRACE_REDUX)
        snprintf(out, bytes, "redux");
    else if (of->through == TRACE_MATRIX)
        snprintf(out, bytes, "mma");
    else if (of->through == TRACE_SHARED_ATOMIC || of->through == TRACE_GLOBAL_ATOMIC)
        snprintf(out, bytes, tr("atomic"));
    else if (distance)
        snprintf(out, bytes, of->crosswise ? "^%d" : "+%d", distance);
    else
        snprintf(out, bytes, "+");
}

int reduction_fold_count(const Reduction *reduction) {
    int count = reduction->tree->level_count;
    return count ? reduction->number[count - 1] : 0;
}

/* If the values do not determine the operation, it is that of the level before. */
static const char *operation_before(Reduction *reduction, int level) {
    while (--level >= 0)
        if (reduction->tree->levels[level].kind == TREE_FOLD)
            return reduction_level(reduction, level)->operation;
    return "+";
}

const ReductionLevel *reduction_level(Reduction *reduction, int level) {
    if (level < 0 || level >= reduction->tree->level_count) return NULL;
    if (!reduction->levels[level]) {
        ReductionLevel *made = reduction->levels[level] = reduction_make_level(reduction, level);
        if (!made->operation) made->operation = operation_before(reduction, level);
    }
    return reduction->levels[level];
}

const ReductionLevel *reduction_chain(Reduction *reduction, int level, int thread) {
    if (level < 0 || level >= reduction->tree->level_count || thread >= reduction->tree->thread_count)
        return NULL;
    if (reduction->chain_level == level && reduction->chain_thread == thread) return reduction->chain;
    level_free(reduction->chain);
    reduction->chain_level = level;
    reduction->chain_thread = thread;
    return reduction->chain = reduction_make_chain(reduction, level, thread);
}

bool reduction_is_worth_showing(Reduction *reduction) {
    if (reduction_fold_count(reduction) || reduction->step_index->trap) return true;
    for (int i = 0; i < reduction->tree->level_count; i++)
        if (reduction_chain(reduction, i, 0)) return true;
    return false;
}
