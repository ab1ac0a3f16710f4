/* The steps that are levels of the tree, and the distance of each level's operands. */
#include "tui/scene/tree.h"

#include <limits.h>
#include <stdlib.h>

static const FoldNode *node_at(const Tree *tree, int node) {
    return &tree->folds->nodes[node];
}

int tree_thread(const Tree *tree, int node) {
    return node_at(tree, node)->warp * WARP_LANES + node_at(tree, node)->lane;
}

int tree_origin(const Tree *tree, int node, int operand) {
    const FoldNode *at = node_at(tree, operand);
    bool here = tree->level_of_node[operand] == tree->level_of_node[node];
    return at->kind == FOLD_MOVE && here ? at->a : operand;
}

static int step_of(const Tree *tree, int node) {
    return tree->steps->step_of_event[node_at(tree, node)->event];
}

/* ---- which steps are levels ---------------------------------------------------------------------------- */

/* inputs that the thread loaded itself; values that another thread took later */
enum { OWN = 1, TAKEN_ON = 2 };

/* Another thread made the operand. */
static bool comes_from_others(const Tree *tree, int operand) {
    const FoldNode *at = node_at(tree, operand);
    return at->kind == FOLD_MOVE && node_at(tree, at->a)->kind != FOLD_INPUT &&
           tree_thread(tree, at->a) != tree_thread(tree, operand);
}

/* The kind of level that the node makes of its step; -1: none. */
static int level_kind(const Tree *tree, const uint8_t *flags, int i) {
    const FoldNode *node = node_at(tree, i);
    if (node->kind == FOLD_INPUT) return -1;
    if (node->kind == FOLD_MOVE) {
        if (node_at(tree, node->a)->kind == FOLD_INPUT) return TREE_INPUTS;
        return flags[i] & TAKEN_ON && comes_from_others(tree, i) ? TREE_TAKE : -1;
    }
    if (comes_from_others(tree, node->a) || comes_from_others(tree, node->b)) return TREE_FOLD;
    return (flags[node->a] | flags[node->b]) & OWN ? TREE_INPUTS : TREE_FOLD;
}

/* ---- sums in one thread's registers -------------------------------------------------------------------- */

/* A thread may load many sums of others and add them up in its registers, each load in a step of its own. If
 * it adds them as a tree, some to each other before they are added to the rest, it holds several sums between
 * the loads: the steps form one level. So do the steps in which one thread of the block adds alone, in any
 * order, and those in which every thread takes several values of the same other thread, such as a sum and its
 * rounding error. */
typedef struct RegisterSums {
    const int8_t *kinds; /* [step] TreeLevelKind; -1: none */
    int *since;          /* [node] for a sum: the step of the first operand that the thread added into it */
    int *tree, *chain;   /* [step] the first step of such a sum that ends here */
    /* [step] the latest step that made a value which a thread takes here from another; -1: none */
    int *taken;
    int *adder; /* [step] the thread that adds; -1: none does; -2: several do */
    /* [step] how far away the threads are whose values are added, and by exclusive or; 0: none are; -1: it
     * varies; and the latest step that made one of these values; -1: none */
    int *by, *across, *made;
} RegisterSums;

static void see_partner(int *seen, int distance) {
    *seen = !*seen || *seen == distance ? distance : -1;
}

static bool is_sum_of(const Tree *tree, const RegisterSums *sums, int node, int operand) {
    const FoldNode *at = node_at(tree, operand);
    const Step *steps = tree->steps->steps;
    int step = step_of(tree, operand);
    return at->kind == FOLD_JOIN && tree_thread(tree, operand) == tree_thread(tree, node) &&
           sums->kinds[step] == TREE_FOLD &&
           steps[step].interval_step == steps[step_of(tree, node)].interval_step;
}

static void note_partner(const Tree *tree, RegisterSums *sums, int node, int operand) {
    int step = step_of(tree, node);
    if (!comes_from_others(tree, operand)) return;
    int maker = node_at(tree, operand)->a, from = tree_thread(tree, maker), to = tree_thread(tree, node);
    if (step_of(tree, maker) > sums->made[step]) sums->made[step] = step_of(tree, maker);
    see_partner(&sums->by[step], (from - to) * 2); /* even: never -1 */
    see_partner(&sums->across[step], from ^ to);
}

static void note_node(const Tree *tree, RegisterSums *sums, int node) {
    const FoldNode *at = node_at(tree, node);
    int step = step_of(tree, node);
    sums->since[node] = step;
    if (comes_from_others(tree, node) && step_of(tree, at->a) > sums->taken[step])
        sums->taken[step] = step_of(tree, at->a);
    if (at->kind != FOLD_JOIN) return;
    note_partner(tree, sums, node, at->a);
    note_partner(tree, sums, node, at->b);
    bool left = is_sum_of(tree, sums, node, at->a), right = is_sum_of(tree, sums, node, at->b);
    if (left && sums->since[at->a] < sums->since[node]) sums->since[node] = sums->since[at->a];
    if (right && sums->since[at->b] < sums->since[node]) sums->since[node] = sums->since[at->b];
    int thread = tree_thread(tree, node);
    sums->adder[step] = sums->adder[step] == -1 || sums->adder[step] == thread ? thread : -2;
    int *first = left && right ? &sums->tree[step] : &sums->chain[step];
    if (at->is_plain && sums->since[node] < *first) *first = sums->since[node];
}

static TraceKind kind_of_step(const Tree *tree, int step) {
    TraceEvent event;
    trace_block_read_header(tree->steps->block, tree->steps->events[tree->steps->steps[step].first], &event);
    return event.kind;
}

/* From `first` to `last`, all additions are of values loaded in the same way, and none needs another thread's
 * sum of this stretch. `alone`: one thread makes all of them. */
static bool is_one_level(const Tree *tree, const RegisterSums *sums, int first, int last, bool alone) {
    TraceKind kind = kind_of_step(tree, last);
    if (kind != TRACE_SHARED_LOAD && kind != TRACE_GLOBAL_LOAD) return false;
    for (int step = first; step <= last; step++) {
        if (sums->kinds[step] < 0) continue;
        if (sums->kinds[step] != TREE_FOLD || kind_of_step(tree, step) != kind) return false;
        if (sums->taken[step] >= first || (alone && sums->adder[step] != sums->adder[last])) return false;
    }
    return !alone || sums->adder[last] >= 0;
}

/* The step adds words that its threads stored themselves. */
static bool adds_own_words(const Tree *tree, const RegisterSums *sums, int step) {
    return sums->kinds[step] >= 0 && sums->kinds[step] != TREE_TAKE && !sums->by[step] &&
           kind_of_step(tree, step) == TRACE_SHARED_LOAD;
}

/* The step that `last` continues, because its threads take more of the same threads' values or add words of
 * their own to what they took; `last` itself if there is none. */
static int first_of_pair(const Tree *tree, const RegisterSums *sums, int last) {
    const Step *steps = tree->steps->steps;
    bool is_own = adds_own_words(tree, sums, last);
    int step = last - 1;
    if (sums->kinds[last] != TREE_FOLD && !is_own) return last;
    while (step >= 0 && (sums->kinds[step] < 0 || adds_own_words(tree, sums, step))) step--;
    if (step < 0 || steps[step].interval_step != steps[last].interval_step) return last;
    if (sums->kinds[step] != TREE_FOLD || kind_of_step(tree, step) != kind_of_step(tree, last)) return last;
    if (is_own) return step;
    bool is_same = (sums->by[step] == sums->by[last] && sums->by[last] != -1) ||
                   (sums->across[step] == sums->across[last] && sums->across[last] > 0);
    return is_same && sums->by[last] && sums->made[last] < step ? step : last;
}

static int *new_numbers(size_t count, int value) {
    int *numbers = memory_new((count + 1) * sizeof *numbers);
    for (size_t i = 0; i < count; i++) numbers[i] = value;
    return numbers;
}

/* [step] whether the step continues the level before it. */
static bool *find_register_sums(const Tree *tree, const int8_t *kinds) {
    size_t count = (size_t)tree->steps->step_count;
    RegisterSums sums = {.kinds = kinds,
                         .since = new_numbers((size_t)tree->folds->node_count, 0),
                         .tree = new_numbers(count, INT_MAX),
                         .chain = new_numbers(count, INT_MAX),
                         .taken = new_numbers(count, -1),
                         .adder = new_numbers(count, -1),
                         .by = new_numbers(count, 0),
                         .across = new_numbers(count, 0),
                         .made = new_numbers(count, -1)};
    bool *goes_on = memory_new(count + 1);
    for (int i = 0; i < tree->folds->node_count; i++)
        if (node_at(tree, i)->kind != FOLD_INPUT) note_node(tree, &sums, i);
    for (int last = 0; last < tree->steps->step_count; last++)
        for (int alone = 0; alone < 2; alone++) {
            int first = alone ? sums.chain[last] : sums.tree[last];
            if (first >= last || !is_one_level(tree, &sums, first, last, alone)) continue;
            for (int step = first + 1; step <= last; step++) goes_on[step] = true;
        }
    for (int last = 0; last < tree->steps->step_count; last++)
        for (int step = first_of_pair(tree, &sums, last) + 1; step <= last; step++) goes_on[step] = true;
    free(sums.made);
    free(sums.by);
    free(sums.across);
    free(sums.since);
    free(sums.tree);
    free(sums.chain);
    free(sums.taken);
    free(sums.adder);
    return goes_on;
}

static void add_level(Tree *tree, int step, TreeLevelKind kind, bool goes_on) {
    goes_on |=
        kind == TREE_INPUTS && tree->level_count && tree->levels[tree->level_count - 1].kind == TREE_INPUTS;
    if (!goes_on) tree->levels[tree->level_count++] = (TreeLevel){.kind = kind, .first = step};
    TreeLevel *last = &tree->levels[tree->level_count - 1];
    const Step *at = &tree->steps->steps[step];
    TraceEvent event;
    trace_block_read_header(tree->steps->block, tree->steps->events[at->first], &event);
    last->last = step;
    last->through = event.kind;
    last->interval = at->interval;
}

void tree_find_levels(Tree *tree) {
    int step_count = tree->steps->step_count;
    const Folds *folds = tree->folds;
    uint8_t *flags = memory_new((size_t)folds->node_count + 1);
    for (int i = 0; i < folds->node_count; i++) {
        const FoldNode *node = &folds->nodes[i];
        if (node->kind == FOLD_JOIN) {
            if (flags[node->a] & flags[node->b] & OWN) flags[i] |= OWN;
        } else if (node->kind == FOLD_MOVE) {
            bool stays = tree_thread(tree, node->a) == tree_thread(tree, i);
            if (folds->nodes[node->a].kind == FOLD_INPUT || (stays && flags[node->a] & OWN)) flags[i] |= OWN;
            if (!stays) flags[node->a] |= TAKEN_ON;
        }
    }
    int8_t *kinds = memory_new((size_t)step_count + 1);
    int *level_of_step = memory_new(((size_t)step_count + 1) * sizeof *level_of_step);
    for (int step = 0; step < step_count; step++) kinds[step] = -1;
    for (int i = 0; i < tree->folds->node_count; i++) {
        int kind = level_kind(tree, flags, i), step = step_of(tree, i);
        if (kind > kinds[step]) kinds[step] = (int8_t)kind;
    }
    bool *goes_on = find_register_sums(tree, kinds);
    tree->levels = memory_new(((size_t)step_count + 1) * sizeof *tree->levels);
    for (int step = 0; step < step_count; step++) {
        if (kinds[step] >= 0) add_level(tree, step, (TreeLevelKind)kinds[step], goes_on[step]);
        /* else: of the next level */
        level_of_step[step] = kinds[step] >= 0 ? tree->level_count - 1 : tree->level_count;
    }
    for (int i = 0; i < tree->folds->node_count; i++) {
        tree->level_of_node[i] = level_of_step[step_of(tree, i)];
        /* after the last level */
        if (tree->level_of_node[i] >= tree->level_count) tree->level_of_node[i] = -1;
    }
    free(flags);
    free(kinds);
    free(goes_on);
    free(level_of_step);
}

/* ---- distances ----------------------------------------------------------------------------------------- */

/* The distance of a fold's operand in threads; 0: it was the thread's own. */
static int distance_of(const Tree *tree, int node, int operand) {
    int origin = tree_origin(tree, node, operand);
    if (node_at(tree, origin)->kind == FOLD_INPUT) return 0;
    return tree_thread(tree, origin) - tree_thread(tree, node);
}

typedef struct Distances {           /* of the folds of one level; 0: not seen */
    int threads, partners, elements; /* partners: by exclusive or */
    bool threads_differ, partners_differ, elements_differ;
} Distances;

static void see(int *seen, bool *differ, int distance) {
    *differ |= *seen && *seen != distance;
    *seen = distance;
}

static void see_thread(const Tree *tree, Distances *seen, int node, int operand) {
    int distance = distance_of(tree, node, operand), thread = tree_thread(tree, node);
    if (!distance) return;
    see(&seen->threads, &seen->threads_differ, distance);
    see(&seen->partners, &seen->partners_differ, thread ^ (thread + distance));
}

/* The element of its access that a moved value was: values of one lane follow each other in element order. */
static int element_of(const Tree *tree, int node) {
    const FoldNode *at = node_at(tree, node);
    int element = 0;
    for (int i = node - 1; i >= 0; i--) {
        const FoldNode *other = node_at(tree, i);
        if (other->event != at->event || other->lane != at->lane || other->warp != at->warp) break;
        element += other->kind == FOLD_MOVE;
    }
    return element;
}

/* The distance in elements between the two words of shared memory that a fold's operands were loaded from; 0:
 * they were not. */
static int elements_between(const Tree *tree, const FoldNode *node, TraceEvent events[2]) {
    const int operands[2] = {node->a, node->b};
    int64_t offset[2];
    for (int i = 0; i < 2; i++) {
        const FoldNode *operand = node_at(tree, operands[i]);
        if (operand->kind != FOLD_MOVE) return 0;
        if (events[i].turn != (uint32_t)operand->event) { /* turn: the event at this place */
            trace_block_read(tree->steps->block, operand->event, &events[i]);
            events[i].turn = (uint32_t)operand->event;
        }
        if (events[i].kind != TRACE_SHARED_LOAD) return 0;
        offset[i] = (int64_t)events[i].offset[node->lane];
        if (events[i].element_count > 1)
            offset[i] += (int64_t)element_of(tree, operands[i]) * events[i].element_bytes;
    }
    int64_t distance = offset[1] > offset[0] ? offset[1] - offset[0] : offset[0] - offset[1];
    return (int)(distance / events[0].element_bytes);
}

void tree_find_distances(Tree *tree) {
    Distances *seen = memory_new((size_t)(tree->level_count + 1) * sizeof *seen);
    TraceEvent *events = memory_new(2 * sizeof *events);
    events[0].turn = events[1].turn = UINT32_MAX;
    for (int i = 0; i < tree->folds->node_count; i++) {
        int level = tree->level_of_node[i];
        if (level < 0) continue;
        if (tree->levels[level].kind == TREE_FOLD && node_at(tree, i)->kind == FOLD_JOIN) {
            const FoldNode *at = node_at(tree, i);
            see_thread(tree, &seen[level], i, at->a);
            see_thread(tree, &seen[level], i, at->b);
            see(&seen[level].elements, &seen[level].elements_differ, elements_between(tree, at, events));
            seen[level].elements_differ |= !seen[level].elements;
        }
    }
    for (int i = 0; i < tree->level_count; i++) {
        TreeLevel *level = &tree->levels[i];
        const Distances *of = &seen[i];
        level->crosswise = of->elements_differ && of->threads_differ && !of->partners_differ;
        if (!of->elements_differ)
            level->distance = of->elements;
        else if (!of->threads_differ)
            level->distance = of->threads;
        else if (level->crosswise)
            level->distance = of->partners;
    }
    free(events);
    free(seen);
}
