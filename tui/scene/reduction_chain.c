/* Boxes for a thread that adds many inputs one after another. */
#include "tui/scene/reduction_state.h"

#include "base/memory.h"
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
