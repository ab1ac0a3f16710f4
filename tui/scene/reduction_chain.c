/* Boxes for a thread that adds many inputs one after another. */
#include "tui/scene/reduction_state.h"

#include <stdlib.h>

/* ---- chains -------------------------------------------------------------------------------------------- */

/* Of two operands, the sum so far is the one that is itself such a sum; else the heavier one; of two inputs,
 * the one loaded first. */
static bool is_left_sum(const Reduction *reduction, const FoldNode *join) {
    const FoldNode *a = node_at(reduction, join->a), *b = node_at(reduction, join->b);
    bool left = a->kind == FOLD_JOIN && a->op == join->op && join->op != FOLD_SUB;
    bool right = b->kind == FOLD_JOIN && b->op == join->op;
    if (left != right) return left;
    if (left && a->is_plain != b->is_plain) return a->is_plain;
    bool takes_left = b->kind == FOLD_JOIN && b->op == FOLD_SUB && a->kind != FOLD_JOIN;
    return takes_left || a->weight > b->weight || (a->weight == b->weight && join->a < join->b);
}

/* The instruction read the sum so far unchanged: what the link adds to it is the other operand. */
static bool is_link(const FoldNode *join, const FoldNode *sum, bool left) {
    FoldOp family = reduction_family((FoldOp)join->op);
    bool is_product = join->op == FOLD_FMA && left;
    return family != FOLD_OTHER && family != FOLD_CHOICE && family != FOLD_TEST && !is_product &&
           (join->op != FOLD_SUB || left) && (sum->kind != FOLD_JOIN || join->of[!left] == sum->bits);
}

/* The additions that made `node` in this level, last one first: each adds one more value to the sum so
 * far. */
static int list_chain(const Reduction *reduction, int level, int node, int *joins, int most) {
    int count = 0;
    FoldOp family = reduction_family((FoldOp)node_at(reduction, node)->op);
    while (count < most && node_at(reduction, node)->kind == FOLD_JOIN &&
           reduction->tree->level_of_node[node] == level) {
        const FoldNode *at = node_at(reduction, node);
        bool left = is_left_sum(reduction, at);
        int sum = left ? at->a : at->b;
        if (reduction_family((FoldOp)at->op) != family || !is_link(at, node_at(reduction, sum), left)) break;
        joins[count++] = node;
        node = sum;
    }
    return count;
}

/* The value that was loaded, of all that the operand was made of in this level; the operand itself if none
 * is. */
static int loaded_by(const Reduction *reduction, int level, int node) {
    int at = node;
    while (node_at(reduction, at)->kind == FOLD_JOIN && reduction->tree->level_of_node[at] == level)
        at = node_at(reduction, at)->a;
    return node_at(reduction, at)->kind == FOLD_MOVE && reduction->tree->level_of_node[at] == level ? at
                                                                                                    : node;
}

typedef struct Link {
    int node, sum;          /* what is added; the sum after it */
    uint64_t added, so_far; /* in the type of the sum */
    bool is_taken;          /* subtracted */
} Link;

static void put_link(Reduction *reduction, ReductionLevel *level, int index, const Link *link) {
    ReductionBox *box = &level->boxes[index];
    ReductionTerm *term = reduction_add_term(level);
    const FoldNode *at = node_at(reduction, link->sum);
    int from = loaded_by(reduction, level->level, link->node);
    term->node = from;
    term->thread = thread_of(reduction, link->sum);
    term->step = step_of_event(reduction, node_at(reduction, from)->event);
    if (node_at(reduction, from)->kind == FOLD_MOVE) reduction_put_place(reduction, from, term);
    term->type = level->type;
    term->bits = link->added;
    term->is_taken = link->is_taken;
    *box = (ReductionBox){.index = index,
                          .before = reduction_addend(term),
                          .after = link->so_far,
                          .has_before = true,
                          .has_after = true,
                          .was_live = true,
                          .is_live = true,
                          .adds = true,
                          .before_type = level->type,
                          .root = link->sum,
                          .before_node = from,
                          .node = link->sum,
                          .unwritten = -1,
                          .thread = term->thread,
                          .step = step_of_event(reduction, at->event),
                          .op = reduction_family((FoldOp)at->op),
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
        level->type = reduction_type(reduction, node, reduction->data);
        for (int i = 0; i < count; i++) {
            int sum = joins[count - 1 - i];
            const FoldNode *at = node_at(reduction, sum);
            bool left = is_left_sum(reduction, at);
            uint64_t first = reduction_operand(at, !left);
            if (!i)
                put_link(reduction, level, 0,
                         &(Link){left ? at->a : at->b, left ? at->a : at->b, first, first, false});
            put_link(reduction, level, i + 1,
                     &(Link){left ? at->b : at->a, sum, reduction_operand(at, left), at->bits,
                             at->op == FOLD_SUB});
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
