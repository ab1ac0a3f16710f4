/* Boxes for a thread that adds many inputs one after another. */
#include "tui/scene/reduction_state.h"

#include <stdlib.h>

/* ---- chains -------------------------------------------------------------------------------------------- */

/* Of two operands, the sum so far is the heavier one; of two inputs, the one loaded first. */
static bool is_left_sum(const Reduction *reduction, const FoldNode *join) {
    uint32_t a = node_at(reduction, join->a)->weight, b = node_at(reduction, join->b)->weight;
    return a > b || (a == b && join->a < join->b);
}

/* The additions that made `node` in this level, last one first: each adds one more input to the sum so
 * far. */
static int list_chain(const Reduction *reduction, int level, int node, int *joins, int most) {
    int count = 0;
    while (count < most && node_at(reduction, node)->kind == FOLD_JOIN &&
           reduction->tree->level_of_node[node] == level) {
        const FoldNode *at = node_at(reduction, node);
        joins[count++] = node;
        node = is_left_sum(reduction, at) ? at->a : at->b;
    }
    return count;
}

static void put_link(Reduction *reduction, ReductionLevel *level, int index, int input, int sum) {
    ReductionBox *box = &level->boxes[index];
    ReductionTerm *term = reduction_add_term(level);
    const FoldNode *at = node_at(reduction, sum);
    term->node = input;
    term->thread = thread_of(reduction, sum);
    term->step = step_of_event(reduction, node_at(reduction, input)->event);
    if (node_at(reduction, input)->kind == FOLD_MOVE) reduction_put_place(reduction, input, term);
    *box = (ReductionBox){.index = index,
                          .before = reduction_bits(reduction, input, level->type),
                          .after = reduction_bits(reduction, sum, level->type),
                          .has_before = true,
                          .has_after = true,
                          .was_live = true,
                          .is_live = true,
                          .adds = true,
                          .before_node = input,
                          .node = sum,
                          .unwritten = -1,
                          .thread = term->thread,
                          .step = step_of_event(reduction, at->event),
                          .first_term = index,
                          .term_count = 1};
}

ReductionLevel *reduction_make_chain(Reduction *reduction, int index, int thread) {
    Tree *tree = reduction->tree;
    int node = tree_held(tree, index, thread);
    if (node == FOLD_NONE || tree->levels[index].kind != TREE_INPUTS) return NULL;
    int *joins = memory_new(((size_t)tree->folds->node_count + 1) * sizeof *joins);
    int count = list_chain(reduction, index, node, joins, tree->folds->node_count);
    ReductionLevel *level = NULL;
    if (count >= MOST_OWN_INPUTS) {
        level = memory_new(sizeof *level);
        *level = (ReductionLevel){.level = index,
                                  .kind = TREE_INPUTS,
                                  .through = tree->levels[index].through,
                                  .place = PLACE_INPUT,
                                  .type = (PtxType)node_at(reduction, node)->type,
                                  .first = reduction->first[index],
                                  .last = reduction_level_first(reduction, index + 1) - 1,
                                  .number = reduction->number[index],
                                  .adder_count = 1,
                                  .box_count = count + 1,
                                  .boxes = memory_new(((size_t)count + 1) * sizeof *level->boxes)};
        for (int i = 0; i < count; i++) {
            const FoldNode *at = node_at(reduction, joins[count - 1 - i]);
            bool left = is_left_sum(reduction, at);
            if (!i) put_link(reduction, level, 0, left ? at->a : at->b, left ? at->a : at->b);
            put_link(reduction, level, i + 1, left ? at->b : at->a, joins[count - 1 - i]);
        }
    }
    free(joins);
    return level;
}

/* ---- values that a thread keeps in registers ----------------------------------------------------------- */

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
