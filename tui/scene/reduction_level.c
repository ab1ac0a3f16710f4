/* The boxes of a level: which box adds, what it adds, and which results are live. */
#include "tui/scene/reduction_state.h"

#include "plan/plan.h"
#include <stdlib.h>

static bool is_sum_here(const Reduction *reduction, const ReductionLevel *level, int node, int thread) {
    return node_at(reduction, node)->kind == FOLD_JOIN &&
           reduction->tree->level_of_node[node] == level->level && thread_of(reduction, node) == thread;
}

typedef struct SumOperand { /* of a sum: what it reads of a node */
    int node;
    uint64_t bits;
    bool is_taken; /* subtracted */
} SumOperand;

/* The operand is a sum of the same kind that the thread made in this level, unchanged: its terms take its
 * place. Of differences only a corrected value is: what was loaded, less something. */
static bool is_part(const Reduction *reduction, const ReductionLevel *level, const SumOperand *operand,
                    int root) {
    const FoldNode *at = node_at(reduction, operand->node), *of = node_at(reduction, root);
    FoldOp family = reduction_family((FoldOp)of->op);
    if (!is_sum_here(reduction, level, operand->node, thread_of(reduction, root))) return false;
    if (family == FOLD_OTHER || operand->node == root) return true;
    if (at->op == FOLD_SUB && node_at(reduction, at->a)->kind != FOLD_MOVE) return false;
    return reduction_family((FoldOp)at->op) == family && at->bits == operand->bits &&
           (at->type == of->type || at->type == PTX_NO_TYPE || of->type == PTX_NO_TYPE);
}

static bool is_changed(const Reduction *reduction, const ReductionTerm *term) {
    const FoldNode *at = node_at(reduction, term->node);
    PtxType type = reduction_type(reduction, term->node, term->type);
    if (at->type == PTX_NO_TYPE || type == PTX_NO_TYPE || term->type == PTX_NO_TYPE) return false;
    double read = plan_element(term->type, &term->bits, 0), was = plan_element(type, &at->bits, 0);
    return read != was && !(read != read && was != was);
}

static void add_term(Reduction *reduction, ReductionLevel *level, const SumOperand *operand, int root) {
    const FoldNode *at = node_at(reduction, operand->node);
    int thread = thread_of(reduction, root);
    ReductionTerm *term = reduction_add_term(level);
    bool is_here = reduction->tree->level_of_node[operand->node] == level->level &&
                   thread_of(reduction, operand->node) == thread;
    term->node = operand->node;
    term->thread = thread;
    term->step = step_of_event(reduction, at->event);
    term->is_taken = operand->is_taken;
    term->bits = operand->bits;
    term->is_own = !is_here || at->kind != FOLD_MOVE;
    if (term->is_own) {
        term->place = PLACE_THREAD;
        term->index = thread_of(reduction, operand->node);
    } else {
        reduction_put_place(reduction, operand->node, term);
    }
}

/* Taking a value twice is taking it once. */
static bool is_idempotent(FoldOp op) {
    return op != FOLD_ADD && op != FOLD_MUL && op != FOLD_XOR;
}

/* The operands that `root` was made of in this level, in fold order. A sum that is an operand several times
 * is replaced by its terms once, and is a term itself the other times. */
static void add_terms(Reduction *reduction, ReductionLevel *level, int root) {
    if (reduction_is_first_atomic(reduction, root)) {
        int own = node_at(reduction, root)->a;
        add_term(reduction, level, &(SumOperand){own, reduction_brought(reduction, root), false}, root);
        add_term(reduction, level, &(SumOperand){root, node_at(reduction, root)->bits, false}, root);
        return;
    }
    FoldOp family = reduction_family((FoldOp)node_at(reduction, root)->op);
    int stamp = ++reduction->stamp, depth = 0, capacity = 0;
    SumOperand *stack = NULL;
    array_push(stack, depth, capacity, ((SumOperand){root, node_at(reduction, root)->bits, false}));
    while (depth) {
        SumOperand next = stack[--depth];
        const FoldNode *at = node_at(reduction, next.node);
        bool again = reduction->seen[next.node] == stamp;
        reduction->seen[next.node] = stamp;
        if (again && is_idempotent(family)) continue;
        if (again || !is_part(reduction, level, &next, root)) {
            add_term(reduction, level, &next, root);
            continue;
        }
        level->is_tree |= at->is_plain && is_sum_here(reduction, level, at->a, thread_of(reduction, root)) &&
                          is_sum_here(reduction, level, at->b, thread_of(reduction, root));
        SumOperand left = {at->a, reduction_operand(at, 0), next.is_taken};
        SumOperand right = {at->b, reduction_operand(at, 1), next.is_taken != (at->op == FOLD_SUB)};
        if (at->op == FOLD_OTHER) left.bits = node_at(reduction, at->a)->bits;
        if (at->op == FOLD_OTHER) right.bits = node_at(reduction, at->b)->bits;
        array_push(stack, depth, capacity, right);
        array_push(stack, depth, capacity, left);
    }
    free(stack);
}

/* ---- a level ------------------------------------------------------------------------------------------- */

typedef struct Adder { /* a thread that does the level's work */
    int node, first_term, term_count;
    int root; /* what the terms make: the node, or what one lane folded for all */
    bool is_stored;
    ReductionTerm to; /* where its sum is stored */
} Adder;

/* Whether another value of the thread was stored there: two elements of a vector may be equal. */
static bool is_taken(const Reduction *reduction, const Adder *adders, int count, int thread,
                     const ReductionTerm *where) {
    for (int i = count - 1; i >= 0; i--)
        if (adders[i].is_stored && thread_of(reduction, adders[i].node) == thread &&
            adders[i].to.step == where->step && adders[i].to.symbol == where->symbol &&
            adders[i].to.index == where->index)
            return true;
    return false;
}

/* Whether the word is one of the sum's terms. */
static bool is_home(const ReductionLevel *level, const Adder *adder, const ReductionTerm *where) {
    for (int t = 0; t < adder->term_count; t++) {
        const ReductionTerm *term = &level->terms[adder->first_term + t];
        if (term->place == PLACE_WORD && term->symbol == where->symbol && term->index == where->index)
            return true;
    }
    return false;
}

/* The element of the store that received the last adder's value: among equal values, the one that it came
 * from. */
static bool find_element(const Reduction *reduction, const ReductionLevel *level, Adder *adders, int count,
                         const TraceEvent *store, int step) {
    Adder *adder = &adders[count];
    const FoldNode *at = node_at(reduction, adder->node);
    for (int e = 0; e < store->element_count; e++) {
        ReductionTerm where = {.step = step};
        if (at->type != PTX_NO_TYPE && store->value[e][at->lane] != at->bits) continue;
        reduction_put_address(&where, store, at->lane, e);
        if (is_taken(reduction, adders, count, thread_of(reduction, adder->node), &where)) continue;
        if (adder->is_stored && !is_home(level, adder, &where)) continue;
        adder->to = where;
        adder->is_stored = true;
        if (is_home(level, adder, &where)) break;
    }
    return adder->is_stored;
}

static void add_adder(Reduction *reduction, ReductionLevel *level, int node, Adder *adders, int count) {
    Adder *adder = &adders[count];
    int made = node_at(reduction, node)->a;
    bool is_folder = level->through == TRACE_REDUX && node_at(reduction, node)->kind == FOLD_MOVE &&
                     is_sum_here(reduction, level, made, thread_of(reduction, node));
    *adder = (Adder){.node = node, .root = is_folder ? made : node, .first_term = level->term_count};
    add_terms(reduction, level, adder->root);
    adder->term_count = level->term_count - adder->first_term;
    /* The first store of the last adder's value to shared memory in this level. */
    const FoldNode *at = node_at(reduction, adders[count].node);
    int end = reduction_level_first(reduction, level->level + 1);
    TraceEvent event;
    for (int number = step_index_neighbour(reduction->step_index, at->event, at->warp, 1); number >= 0;
         number = step_index_neighbour(reduction->step_index, number, at->warp, 1)) {
        int step = step_of_event(reduction, number);
        if (step >= end) return;
        if (reduction->step_index->step[step].kind != TRACE_SHARED_STORE) continue;
        trace_block_read(reduction->tree->steps->block, number, &event);
        if (event.kind != TRACE_SHARED_STORE || !(event.mask >> at->lane & 1)) continue;
        if (find_element(reduction, level, adders, count, &event, step)) return;
    }
}

/* [node] Values that threads load, or sums that they make, and do not fold further in this level: several of
 * one thread if it works on the elements of a vector. */
static bool *find_loose(const Reduction *reduction, int level) {
    const Tree *tree = reduction->tree;
    bool *loose = memory_new((size_t)tree->folds->node_count + 1);
    for (int i = 0; i < tree->folds->node_count; i++) {
        const FoldNode *node = node_at(reduction, i);
        if (tree->level_of_node[i] != level || node->kind == FOLD_INPUT) continue;
        loose[i] = reduction->needed_until[i] > level && node->op != FOLD_TEST &&
                   (node->kind == FOLD_JOIN || tree->levels[level].kind == TREE_INPUTS);
        if (node->a != FOLD_NONE && node_at(reduction, node->a)->kind != FOLD_JOIN) loose[node->a] = false;
        if (node->kind == FOLD_JOIN && node_at(reduction, node->b)->kind != FOLD_JOIN) loose[node->b] = false;
    }
    return loose;
}

static Adder *list_adders(Reduction *reduction, ReductionLevel *level, int *count) {
    Tree *tree = reduction->tree;
    Adder *adders = memory_new(((size_t)tree->thread_count + 1) * sizeof *adders);
    *count = 0;
    for (int thread = 0; thread < tree->thread_count; thread++) {
        int node = tree_held(tree, level->level, thread);
        if (node != FOLD_NONE && tree_acts(tree, level->level, node))
            add_adder(reduction, level, node, adders, (*count)++);
    }
    if (level->kind == TREE_TAKE) return adders;
    bool *loose = find_loose(reduction, level->level);
    int most = 0, found = 0, terms = level->term_count;
    for (int i = 0; i < tree->folds->node_count; i++) most += loose[i];
    Adder *all = memory_new(((size_t)most + 1) * sizeof *all);
    for (int i = 0; most > *count && i < tree->folds->node_count; i++)
        if (loose[i]) add_adder(reduction, level, i, all, found++);
    free(loose);
    bool is_stored = found > *count;
    for (int i = 0; i < found; i++) is_stored &= all[i].is_stored && all[i].to.symbol == all[0].to.symbol;
    free(is_stored ? adders : all);
    if (!is_stored) level->term_count = terms; /* of the values that are not shown */
    if (is_stored) *count = found;
    level->stores_several = is_stored;
    if (is_stored) level->symbol = all[0].to.symbol;
    return is_stored ? all : adders;
}

/* The boxes are words if every addition takes one from shared memory and stores its sum there; else
 * threads. */
static void choose_places(ReductionLevel *level, const Adder *adders, int adder_count) {
    int words = 0, stored = 0, symbol = -1;
    level->place = level->stores_several ? PLACE_WORD : PLACE_THREAD;
    if (level->stores_several) return;
    for (int i = 0; i < adder_count; i++) {
        bool has_word = false;
        for (int t = 0; t < adders[i].term_count; t++) {
            const ReductionTerm *term = &level->terms[adders[i].first_term + t];
            if (term->place != PLACE_WORD) continue;
            has_word = true;
            if (symbol >= 0 && symbol != term->symbol) return;
            symbol = term->symbol;
        }
        words += has_word;
        stored += adders[i].is_stored && adders[i].to.symbol == symbol;
    }
    if (level->kind != TREE_FOLD || words != adder_count || !words) return;
    if (stored != adder_count && adder_count > 1) return;
    level->place = PLACE_WORD;
    level->symbol = symbol;
}

static bool is_alive(const Reduction *reduction, int level, int node) {
    return node != FOLD_NONE && reduction->needed_until[node] > level;
}

static void fill_threads(Reduction *reduction, ReductionLevel *level) {
    const Tree *tree = reduction->tree;
    level->box_count = tree->thread_count;
    level->boxes = memory_new(((size_t)level->box_count + 1) * sizeof *level->boxes);
    for (int i = 0; i < level->box_count; i++) {
        ReductionBox *box = &level->boxes[i];
        int before = level->level ? tree_held(tree, level->level - 1, i) : FOLD_NONE;
        int after = tree_held(tree, level->level, i);
        *box = (ReductionBox){.index = i,
                              .thread = -1,
                              .before_type = PTX_NO_TYPE,
                              .root = FOLD_NONE,
                              .before_node = before,
                              .node = after,
                              .unwritten = -1,
                              .step = level->first};
        box->has_before = before != FOLD_NONE;
        box->has_after = after != FOLD_NONE;
        if (box->has_before) box->before = reduction_bits(reduction, before, level->type);
        if (box->has_after) box->after = reduction_bits(reduction, after, level->type);
        box->was_live = is_alive(reduction, level->level - 1, before);
        box->is_live = is_alive(reduction, level->level, after);
    }
}

/* The word of a sum that stays in a register: the first word that it was read from. */
static int64_t home_of(const ReductionLevel *level, const Adder *adder) {
    if (adder->is_stored) return adder->to.index;
    int64_t home = -1;
    for (int t = 0; t < adder->term_count; t++) {
        const ReductionTerm *term = &level->terms[adder->first_term + t];
        if (term->place == PLACE_WORD && (home < 0 || term->index < home)) home = term->index;
    }
    return home;
}

/* Which terms the boxes hold before the level: of a box that adds, its own word, else its thread's
 * register. */
static void put_before(ReductionLevel *level, ReductionBox *box) {
    bool has_before = false, has_word = false;
    for (int t = 0; level->place == PLACE_WORD && t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        has_word |= term->place == PLACE_WORD && term->symbol == level->symbol && term->index == box->index &&
                    !term->is_taken;
    }
    for (int t = 0; t < box->term_count; t++) {
        ReductionTerm *term = &level->terms[box->first_term + t];
        bool is_word =
            level->place == PLACE_WORD && term->place == PLACE_WORD && term->symbol == level->symbol;
        bool is_thread = level->place == PLACE_THREAD && term->place == PLACE_THREAD;
        bool is_home = term->is_own || ((is_word || is_thread) && term->index == box->index);
        ReductionBox *from = is_home   ? box
                             : is_word ? (ReductionBox *)reduction_find(level, term->index)
                                       : NULL;
        if (is_home && (has_before || term->is_taken || (has_word && term->is_own))) {
            term->is_second = true;
            continue;
        }
        has_before |= is_home;
        if (!from || (from != box && (from->adds || term->is_changed))) continue;
        from->before_node = term->node;
        from->before = term->bits;
        from->before_type = term->type;
        from->has_before = from->was_live = true;
    }
    if (!has_before) box->has_before = box->was_live = false;
    box->is_idle = !box->is_live && has_before && box->term_count > 1;
    for (int t = 0; t < box->term_count; t++) {
        const ReductionTerm *term = &level->terms[box->first_term + t];
        box->is_idle &= term->is_own || (term->place == level->place && term->index == box->index);
    }
}

/* redux: the boxes of all lanes hold what one thread folds. */
static void put_lanes(const Reduction *reduction, ReductionLevel *level) {
    for (int t = 0; t < level->term_count; t++) {
        const ReductionTerm *term = &level->terms[t];
        ReductionBox *box = (ReductionBox *)reduction_find(level, term->index);
        if (!box || term->is_own || term->place != PLACE_THREAD || level->place != PLACE_THREAD) continue;
        int from = node_at(reduction, term->node)->a; /* a lane that gets the result is no operand */
        if (is_sum_here(reduction, level, from, thread_of(reduction, from))) continue;
        box->before_node = term->node;
        box->before = term->bits;
        box->before_type = term->type;
        box->has_before = box->was_live = true;
    }
}

static void put_adders(Reduction *reduction, ReductionLevel *level, const Adder *adders, int count) {
    for (int i = 0; i < count; i++) {
        const FoldNode *node = node_at(reduction, adders[i].node);
        int thread = thread_of(reduction, adders[i].node);
        level->adding[thread / WARP_LANES] |= 1u << thread % WARP_LANES;
        int64_t index = level->place == PLACE_WORD ? home_of(level, &adders[i]) : thread;
        ReductionBox *box = (ReductionBox *)reduction_find(level, index);
        if (!box) continue;
        box->adds = true;
        box->thread = thread;
        box->node = adders[i].node;
        const FoldNode *root = node_at(reduction, adders[i].root);
        bool is_first = reduction_is_first_atomic(reduction, adders[i].root);
        box->root = is_first || root->kind == FOLD_JOIN ? adders[i].root : FOLD_NONE;
        box->op =
            is_first ? reduction_atomic_op(reduction, adders[i].root) : reduction_family((FoldOp)root->op);
        box->after = reduction_bits(reduction, adders[i].node, level->type);
        box->has_after = true;
        box->is_live = is_alive(reduction, level->level, adders[i].node);
        box->first_term = adders[i].first_term;
        box->term_count = adders[i].term_count;
        box->step = adders[i].is_stored && level->place == PLACE_WORD ? adders[i].to.step
                                                                      : step_of_event(reduction, node->event);
    }
    if (level->through == TRACE_REDUX) put_lanes(reduction, level);
    if (level->through == TRACE_REDUX || level->through == TRACE_MATRIX) return; /* of all lanes */
    for (int i = 0; i < level->box_count; i++)
        if (level->boxes[i].adds) put_before(level, &level->boxes[i]);
}

/* The index of the box that a term comes from; -1: no box of this row. */
static int64_t source_of(const ReductionLevel *level, const ReductionTerm *term) {
    if (term->is_own) return -1;
    return term->place == level->place && (term->place != PLACE_WORD || term->symbol == level->symbol)
               ? term->index
               : -1;
}

static bool ways_cross(const ReductionLevel *level) {
    int64_t reach = -1;
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        int64_t first = box->index, last = first;
        if (!box->adds) continue;
        for (int t = 0; t < box->term_count; t++) {
            int64_t from = source_of(level, &level->terms[box->first_term + t]);
            if (from < 0) continue;
            if (from < first) first = from;
            if (from > last) last = from;
        }
        if (first <= reach) return true;
        reach = last;
    }
    return false;
}

/* The run's type if it has the same width: PTX adds ints as unsigned or as signed numbers. */
static PtxType type_of_level(const Reduction *reduction, const ReductionLevel *level, const Adder *adders,
                             int count) {
    for (int i = 0; i < count; i++)
        for (int t = -1; t < adders[i].term_count; t++) {
            int node = t < 0 ? adders[i].root : level->terms[adders[i].first_term + t].node;
            const FoldNode *at = node_at(reduction, node);
            PtxType type = (PtxType)at->type;
            if (type == PTX_NO_TYPE) continue;
            bool is_whole = at->kind == FOLD_JOIN && at->op != FOLD_OTHER && at->op != FOLD_CHOICE;
            if (is_whole && !is_float(type) && is_float(reduction->data))
                return type == PTX_B32 ? PTX_U32 : type == PTX_B64 ? PTX_U64 : type;
            bool fits = reduction->data != PTX_NO_TYPE && !is_float(type) &&
                        ptx_type_bytes(type) == ptx_type_bytes(reduction->data);
            return fits ? reduction->data : type;
        }
    return PTX_NO_TYPE;
}

/* The terms' types, once the level's is known: an instruction reads its operands in its own. */
static void type_terms(Reduction *reduction, ReductionLevel *level, const Adder *adders, int count) {
    for (int i = 0; i < count; i++) {
        const FoldNode *root = node_at(reduction, adders[i].root);
        bool is_read = root->kind == FOLD_JOIN && root->op != FOLD_OTHER && root->type != PTX_NO_TYPE;
        for (int t = 0; t < adders[i].term_count; t++) {
            ReductionTerm *term = &level->terms[adders[i].first_term + t];
            term->type = reduction_type(reduction, is_read ? adders[i].root : term->node, level->type);
            if (term->type == PTX_NO_TYPE) term->type = level->type;
            if (root->kind != FOLD_JOIN && adders[i].term_count == 1)
                term->bits = reduction_bits(reduction, term->node, level->type);
            term->is_changed = is_changed(reduction, term);
        }
    }
}

ReductionLevel *reduction_make_level(Reduction *reduction, int index) {
    const Tree *tree = reduction->tree;
    const TreeLevel *of = &tree->levels[index];
    ReductionLevel *level = memory_new(sizeof *level);
    *level = (ReductionLevel){.level = index,
                              .kind = of->kind,
                              .through = of->through,
                              .first = reduction->first[index],
                              .last = reduction_level_first(reduction, index + 1) - 1,
                              .number = reduction->number[index],
                              .warp_count = tree->warp_count,
                              .adding = memory_new(((size_t)tree->warp_count + 1) * sizeof *level->adding)};
    int count;
    Adder *adders = list_adders(reduction, level, &count);
    level->type = type_of_level(reduction, level, adders, count);
    type_terms(reduction, level, adders, count);
    choose_places(level, adders, count);
    if (level->place == PLACE_WORD && ptx_type_bytes(level->type))
        reduction_fill_words(reduction, level);
    else
        fill_threads(reduction, level);
    put_adders(reduction, level, adders, count);
    reduction_find_writers(reduction, level);
    reduction_put_kept(reduction, level);
    level->operation = reduction_operation(reduction, level);
    if (level->kind == TREE_FOLD) reduction_find_distance(reduction, level);
    reduction_find_unwritten(reduction, level);
    for (int i = 0; i < level->warp_count; i++) level->adder_count += __builtin_popcount(level->adding[i]);
    level->arrows_cross = ways_cross(level);
    free(adders);
    return level;
}
