/* Values that a thread keeps in registers beside the one in its box. */
#include "tui/scene/reduction_state.h"

#include "base/memory.h"
#include <stdlib.h>

/* Whether the event reads its value from a register, its own or another lane's. */
static bool takes_register(const Reduction *reduction, const FoldNode *at) {
    const Steps *steps = reduction->tree->steps;
    TraceKind kind = (TraceKind)reduction->step_index->step[steps->step_of_event[at->event]].kind;
    return at->kind == FOLD_JOIN || kind == TRACE_SHUFFLE || kind == TRACE_REDUX || kind == TRACE_VOTE ||
           kind == TRACE_MATRIX;
}

static void note_use(Reduction *reduction, int node, int level) {
    if (node != FOLD_NONE && reduction->kept_until[node] < level) reduction->kept_until[node] = level;
}

static int level_of_step(const Reduction *reduction, int step) {
    int level = reduction->tree->level_count - 1;
    while (level > 0 && reduction->first[level] > step) level--;
    return level;
}

void reduction_find_kept(Reduction *reduction) {
    const Tree *tree = reduction->tree;
    const Folds *folds = tree->folds;
    reduction->kept_until = memory_new(((size_t)folds->node_count + 1) * sizeof *reduction->kept_until);
    for (int i = 0; i < folds->node_count; i++) reduction->kept_until[i] = -1;
    for (int i = 0; i < folds->node_count; i++) {
        const FoldNode *at = node_at(reduction, i);
        int level = tree->level_of_node[i] < 0 ? tree->level_count : tree->level_of_node[i];
        if (!tree->reaches[i] || at->kind == FOLD_INPUT || !takes_register(reduction, at)) continue;
        note_use(reduction, at->a, level);
        if (at->kind == FOLD_JOIN) note_use(reduction, at->b, level);
    }
    for (int i = 0; i < folds->result_count; i++) /* a result is used until it is stored */
        note_use(reduction, folds->results[i].node,
                 level_of_step(reduction, step_of_event(reduction, folds->results[i].event)));
}

/* Values kept at the end of the level. */
static bool is_kept(const Reduction *reduction, const ReductionLevel *level, int node) {
    const Tree *tree = reduction->tree;
    return tree->level_of_node[node] >= 0 && tree->level_of_node[node] <= level->level &&
           reduction->kept_until[node] > level->level && tree->reaches[node] &&
           node_at(reduction, node)->kind != FOLD_INPUT && thread_of(reduction, node) < tree->thread_count;
}

void reduction_put_kept(const Reduction *reduction, ReductionLevel *level) {
    int count = reduction->tree->folds->node_count, capacity = 0;
    bool *in_box = memory_new((size_t)count + 1);
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].node != FOLD_NONE) in_box[level->boxes[i].node] = true;
    for (int i = 0; i < count; i++) {
        if (!is_kept(reduction, level, i) || in_box[i]) continue;
        if (level->kept_count == capacity) {
            capacity = capacity ? capacity * 2 : 16;
            level->kept = memory_resize(level->kept, (size_t)capacity * sizeof *level->kept);
        }
        level->kept[level->kept_count++] = (ReductionKept){
            .thread = thread_of(reduction, i), .node = i, .bits = reduction_bits(reduction, i, level->type)};
    }
    free(in_box);
}
