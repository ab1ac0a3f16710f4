#include "tui/scene/tree.h"

#include <limits.h>
#include <stdlib.h>

enum { MOST_CELLS = 1 << 24, MOST_SHARED_BYTES = 64 << 20 };

static const FoldNode *node_at(const Tree *tree, int node) {
    return &tree->folds->nodes[node];
}

static int step_of(const Tree *tree, int node) {
    return tree->steps->step_of_event[node_at(tree, node)->event];
}

/* ---- what threads hold --------------------------------------------------------------------------------- */

bool tree_is_copied(const Tree *tree, int node) {
    TraceEvent event;
    if (node_at(tree, node)->kind != FOLD_MOVE) return false;
    trace_block_read_header(tree->steps->block, node_at(tree, node)->event, &event);
    return trace_kind_is_bulk(event.kind);
}

/* The node is a value that a thread holds after some level. */
static bool is_held(const Tree *tree, int node) {
    return tree->level_of_node[node] >= 0 && node_at(tree, node)->kind != FOLD_INPUT &&
           node_at(tree, node)->op != FOLD_TEST && tree_thread(tree, node) < tree->thread_count &&
           !tree_is_copied(tree, node);
}

/* ---- results ------------------------------------------------------------------------------------------- */

typedef struct Final {
    uint64_t place;
    int order, node, thread;
    uint32_t weight;
} Final;

static int by_place(const void *a, const void *b) {
    const Final *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->order - y->order;
}

static int by_weight(const void *a, const void *b) {
    const Final *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x->thread - y->thread;
}

/* The last store to each place; it is a result only if it contains an input. */
static void find_results(Tree *tree) {
    const Folds *folds = tree->folds;
    Final *all = memory_new(((size_t)folds->result_count + 1) * sizeof *all);
    int count = 0;
    for (int i = 0; i < folds->result_count; i++) {
        const FoldResult *result = &folds->results[i];
        all[i] = (Final){result->place, i, result->node, result->warp * WARP_LANES + result->lane,
                         result->node == FOLD_NONE ? 0 : folds->nodes[result->node].weight};
    }
    qsort(all, (size_t)folds->result_count, sizeof *all, by_place);
    for (int i = 0; i < folds->result_count; i++)
        if ((i + 1 == folds->result_count || all[i + 1].place != all[i].place) && all[i].node != FOLD_NONE)
            all[count++] = all[i];
    qsort(all, (size_t)count, sizeof *all, by_weight);
    tree->final = memory_new(((size_t)count + 1) * sizeof *tree->final);
    tree->final_thread = memory_new(((size_t)count + 1) * sizeof *tree->final_thread);
    tree->final_count = count;
    for (int i = 0; i < count; i++) {
        tree->final[i] = all[i].node;
        tree->final_thread[i] = all[i].thread;
    }
    free(all);
}

static void find_lost(Tree *tree) {
    int count = tree->folds->node_count;
    tree->reaches = memory_new((size_t)count + 1);
    tree->holds_lost = memory_new((size_t)count + 1);
    tree->loses = memory_new((size_t)tree->thread_count + 1);
    tree->shares = memory_new((size_t)tree->thread_count + 1);
    tree->shared = memory_new((size_t)count + 1);
    for (int i = 0; i < tree->final_count; i++) tree->reaches[tree->final[i]] = true;
    for (int i = count - 1; i >= 0; i--) {
        const FoldNode *node = node_at(tree, i);
        if (!tree->final_count) tree->reaches[i] = true;
        if (tree->reaches[i] && node->a != FOLD_NONE) tree->reaches[node->a] = true;
        if (tree->reaches[i] && node->kind == FOLD_JOIN) tree->reaches[node->b] = true;
        if (node->kind != FOLD_INPUT) continue;
        tree->input_count++;
        tree->lost_count += !tree->reaches[i];
        if (!tree->reaches[i]) tree->loses[tree_thread(tree, i)] = true;
    }
    for (int i = 0; i < count; i++) {
        const FoldNode *node = node_at(tree, i);
        tree->holds_lost[i] = node->kind == FOLD_INPUT
                                  ? !tree->reaches[i]
                                  : (node->a != FOLD_NONE && tree->holds_lost[node->a]) ||
                                        (node->kind == FOLD_JOIN && tree->holds_lost[node->b]);
    }
}

typedef struct TreeInput {
    uint64_t offset;
    uint16_t buffer;
} TreeInput;

static int by_input(const void *a, const void *b) {
    const TreeInput *x = a, *y = b;
    if (x->buffer != y->buffer) return x->buffer - y->buffer;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static TreeInput input_at(const Tree *tree, int node) {
    return (TreeInput){node_at(tree, node)->bits, node_at(tree, node)->buffer};
}

/* The inputs that another tree's results contain, in order. */
static TreeInput *list_inputs(const Tree *tree, int *count) {
    TreeInput *inputs = memory_new(((size_t)tree->input_count + 1) * sizeof *inputs);
    *count = 0;
    for (int i = 0; i < tree->folds->node_count; i++)
        if (node_at(tree, i)->kind == FOLD_INPUT && tree->reaches[i]) inputs[(*count)++] = input_at(tree, i);
    qsort(inputs, (size_t)*count, sizeof *inputs, by_input);
    return inputs;
}

void tree_compare(Tree *tree, const Tree *other) {
    bool *shared = tree->shared;
    int inputs_count;
    TreeInput *inputs = list_inputs(other, &inputs_count);
    for (int i = 0; i < tree->folds->node_count; i++) {
        if (node_at(tree, i)->kind != FOLD_INPUT || !tree->reaches[i]) continue;
        TreeInput input = input_at(tree, i);
        if (bsearch(&input, inputs, (size_t)inputs_count, sizeof *inputs, by_input)) shared[i] = true;
    }
    free(inputs);
    tree->shared_count = 0;
    for (int i = 0; i < tree->folds->node_count; i++) {
        tree->shared_count += shared[i];
        if (shared[i]) tree->shares[tree_thread(tree, i)] = true;
    }
}

static void find_uses(Tree *tree) {
    int count = tree->folds->node_count;
    tree->used_until = memory_new(((size_t)count + 1) * sizeof *tree->used_until);
    for (int i = 0; i < tree->final_count; i++) tree->used_until[tree->final[i]] = tree->level_count;
    for (int i = count - 1; i >= 0; i--) {
        const FoldNode *node = node_at(tree, i);
        int level = tree->level_of_node[i] < 0 ? tree->level_count : tree->level_of_node[i];
        if (node->a != FOLD_NONE && tree->used_until[node->a] < level) tree->used_until[node->a] = level;
        if (node->kind == FOLD_JOIN && tree->used_until[node->b] < level) tree->used_until[node->b] = level;
    }
}

/* [node] The fewest additions between the node and a result; INT_MAX: it is in none. */
static int *find_depths(const Tree *tree) {
    int count = tree->folds->node_count, *depth = memory_new(((size_t)count + 1) * sizeof *depth);
    for (int i = 0; i < count; i++) depth[i] = INT_MAX;
    for (int i = 0; i < tree->final_count; i++) depth[tree->final[i]] = 0;
    for (int i = count - 1; i >= 0; i--) {
        const FoldNode *node = node_at(tree, i);
        if (depth[i] == INT_MAX || node->kind == FOLD_INPUT) continue;
        int below = depth[i] + (node->kind == FOLD_JOIN);
        if (below < depth[node->a]) depth[node->a] = below;
        if (node->kind == FOLD_JOIN && below < depth[node->b]) depth[node->b] = below;
    }
    return depth;
}

/* A thread may have several values after a level, such as a sum and what rounding removed from it: it holds
 * the one that is used later and is nearest to a result, of equal ones the first; the newest if none is used.
 * A thread without one keeps its value. */
static bool is_held_before(const Tree *tree, const int *depth, int level, int node, int other) {
    if (other == FOLD_NONE || tree->used_until[other] <= level) return true;
    return tree->used_until[node] > level && depth[node] < depth[other];
}

static void find_cells(Tree *tree) {
    size_t threads = (size_t)tree->thread_count, count = (size_t)tree->level_count * threads;
    int *depth = find_depths(tree);
    tree->cells = memory_new((count + 1) * sizeof *tree->cells);
    for (size_t i = 0; i < count; i++) tree->cells[i] = FOLD_NONE;
    for (int i = 0; i < tree->folds->node_count; i++) {
        if (!is_held(tree, i)) continue;
        int level = tree->level_of_node[i];
        const TreeLevel *of = &tree->levels[level];
        if (of->through == TRACE_REDUX && node_at(tree, i)->pc != tree->steps->steps[of->last].pc)
            continue; /* what the thread then does with the result is not of this level */
        int *cell = &tree->cells[(size_t)level * threads + (size_t)tree_thread(tree, i)];
        if (is_held_before(tree, depth, level, i, *cell)) *cell = i;
    }
    for (size_t i = threads; i < count; i++)
        if (tree->cells[i] == FOLD_NONE) tree->cells[i] = tree->cells[i - threads];
    free(depth);
}

int tree_result(const Tree *tree, int thread) {
    for (int i = 0; i < tree->final_count; i++)
        if (tree->final_thread[i] == thread) return tree->final[i];
    return tree->final_count ? tree->final[0] : FOLD_NONE;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

Tree *tree_new(const Folds *folds, const Steps *steps) {
    const uint32_t *block = steps->launch->block;
    Tree *tree = memory_new(sizeof *tree);
    tree->folds = folds;
    tree->steps = steps;
    tree->thread_count = (int)(block[0] * block[1] * block[2]);
    tree->warp_count = (tree->thread_count + WARP_LANES - 1) / WARP_LANES;
    tree->path.root = FOLD_NONE;
    tree->level_of_node = memory_new(((size_t)folds->node_count + 1) * sizeof *tree->level_of_node);
    if (!folds->is_cut) tree_find_levels(tree);
    if (folds->is_cut || (size_t)tree->level_count * (size_t)tree->thread_count > MOST_CELLS) {
        tree_free(tree);
        return NULL;
    }
    tree_find_distances(tree);
    int step_count = tree->steps->step_count, *begin;
    begin = tree->made_begin = memory_new(((size_t)step_count + 2) * sizeof *begin);
    tree->made = memory_new(((size_t)tree->folds->node_count + 1) * sizeof *tree->made);
    for (int i = 0; i < tree->folds->node_count; i++)
        if (is_held(tree, i)) begin[step_of(tree, i) + 2]++;
    for (int step = 2; step < step_count + 2; step++) begin[step] += begin[step - 1];
    for (int i = 0; i < tree->folds->node_count; i++) /* afterwards every begin has moved to its end */
        if (is_held(tree, i)) tree->made[begin[step_of(tree, i) + 1]++] = i;
    find_results(tree);
    find_lost(tree);
    find_uses(tree);
    find_cells(tree);
    return tree;
}

void tree_free(Tree *tree) {
    if (!tree) return;
    free(tree->levels);
    free(tree->level_of_node);
    free(tree->cells);
    free(tree->final);
    free(tree->final_thread);
    free(tree->reaches);
    free(tree->holds_lost);
    free(tree->used_until);
    free(tree->loses);
    free(tree->shares);
    free(tree->shared);
    free(tree->made);
    free(tree->made_begin);
    free(tree->held);
    free(tree->path.ways);
    free(tree->path.doubles);
    free(tree);
}

int tree_level_at(const Tree *tree, int step) {
    int level = tree->level_count - 1;
    while (level >= 0 && tree->levels[level].first > step) level--;
    return level;
}

int tree_held(const Tree *tree, int level, int thread) {
    if (level < 0 || level >= tree->level_count || thread < 0 || thread >= tree->thread_count)
        return FOLD_NONE;
    return tree->cells[(size_t)level * (size_t)tree->thread_count + (size_t)thread];
}

bool tree_acts(const Tree *tree, int level, int node) {
    if (node == FOLD_NONE || tree->level_of_node[node] != level) return false;
    const FoldNode *at = node_at(tree, node);
    TraceKind through = tree->levels[level].through;
    if (at->kind == FOLD_JOIN || tree->levels[level].kind != TREE_FOLD) return true;
    /* The first atomic has nothing to fold with; redux gives every lane the result that one of them
     * folded. */
    return through == TRACE_SHARED_ATOMIC || through == TRACE_GLOBAL_ATOMIC ||
           tree->level_of_node[at->a] == level;
}

/* The newest value of every thread, in the steps of the level up to `step`. */
static void add_under_way(Tree *tree, int level, int step) {
    int first = level ? tree->levels[level - 1].last + 1 : 0, found = 0;
    bool *has = memory_new((size_t)tree->thread_count + 1);
    for (; step >= first && found < tree->thread_count; step--) {
        for (int i = tree->made_begin[step + 1] - 1; i >= tree->made_begin[step]; i--) {
            int thread = tree_thread(tree, tree->made[i]);
            if (has[thread]) continue;
            has[thread] = true;
            tree->held[thread] = tree->made[i];
            found++;
        }
    }
    free(has);
}

const int *tree_now(Tree *tree, int step) {
    int level = tree_level_at(tree, step);
    if (tree->held && tree->held_step == step) return tree->held;
    if (!tree->held) tree->held = memory_new(((size_t)tree->thread_count + 1) * sizeof *tree->held);
    tree->held_step = step;
    bool is_over = level < 0 || tree->levels[level].last <= step;
    for (int i = 0; i < tree->thread_count; i++)
        tree->held[i] = tree_held(tree, is_over ? level : level - 1, i);
    if (!is_over) add_under_way(tree, level, step);
    return tree->held;
}

/* ---- paths --------------------------------------------------------------------------------------------- */

static uint32_t add_ways(uint32_t a, uint32_t b) {
    return a + b < a ? UINT32_MAX : a + b;
}

static void count_ways(const Tree *tree, TreePath *path) {
    memset(path->ways, 0, (size_t)tree->folds->node_count * sizeof *path->ways);
    path->once = path->twice = 0;
    if (path->root == FOLD_NONE) return;
    path->ways[path->root] = 1;
    for (int i = path->root; i >= 0; i--) {
        const FoldNode *node = node_at(tree, i);
        if (node->a != FOLD_NONE) path->ways[node->a] = add_ways(path->ways[node->a], path->ways[i]);
        if (node->kind == FOLD_JOIN) path->ways[node->b] = add_ways(path->ways[node->b], path->ways[i]);
        if (node->kind != FOLD_INPUT) continue;
        path->once += path->ways[i] == 1;
        path->twice += path->ways[i] > 1;
    }
}

/* Nodes of the path that are used more than once in it, numbered from 0 in *numbers; FOLD_NONE: the
 * others. */
static int number_forks(const Tree *tree, const TreePath *path, int *numbers) {
    int count = 0;
    for (int i = 0; i <= path->root; i++) numbers[i] = 0;
    for (int i = 0; i <= path->root; i++) {
        const FoldNode *node = node_at(tree, i);
        if (!path->ways[i]) continue;
        if (node->a != FOLD_NONE) numbers[node->a]++;
        if (node->kind == FOLD_JOIN) numbers[node->b]++;
    }
    for (int i = 0; i <= path->root; i++) numbers[i] = numbers[i] > 1 ? count++ : FOLD_NONE;
    return count;
}

/* Two values contain the same input if they were made from the same fork: sets of forks show it. */
static void find_doubles(const Tree *tree, TreePath *path) {
    memset(path->doubles, 0, (size_t)tree->folds->node_count * sizeof *path->doubles);
    path->doubles_count = 0;
    if (!path->twice || !node_at(tree, path->root)->is_plain) return;
    int *numbers = memory_new(((size_t)path->root + 1) * sizeof *numbers);
    size_t words = (size_t)(number_forks(tree, path, numbers) + 63) / 64, nodes = (size_t)path->root + 1;
    uint64_t *sets = words * nodes * 8 <= MOST_SHARED_BYTES ? memory_new(words * nodes * 8) : NULL;
    for (size_t i = 0; sets && i < nodes; i++) {
        const FoldNode *node = node_at(tree, (int)i);
        uint64_t *set = sets + i * words, common = 0;
        if (!path->ways[i]) continue;
        for (size_t w = 0; w < words && node->a != FOLD_NONE; w++) {
            uint64_t left = sets[(size_t)node->a * words + w];
            uint64_t right = node->kind == FOLD_JOIN ? sets[(size_t)node->b * words + w] : 0;
            common |= left & right;
            set[w] = left | right;
        }
        path->doubles[i] = common != 0;
        path->doubles_count += common != 0;
        if (numbers[i] != FOLD_NONE) set[numbers[i] / 64] |= UINT64_C(1) << numbers[i] % 64;
    }
    free(sets);
    free(numbers);
}

const TreePath *tree_path(Tree *tree, int root) {
    TreePath *path = &tree->path;
    size_t count = (size_t)tree->folds->node_count + 1;
    if (path->ways && path->root == root) return path;
    if (!path->ways) {
        path->ways = memory_new(count * sizeof *path->ways);
        path->doubles = memory_new(count * sizeof *path->doubles);
    }
    path->root = root;
    count_ways(tree, path);
    find_doubles(tree, path);
    return path;
}
