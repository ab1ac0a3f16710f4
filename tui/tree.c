#include "tree.h"

#include "base/memory.h"
#include "trace/access.h"
#include <limits.h>
#include <stdlib.h>

enum { MOST_CELLS = 1 << 24, MOST_SHARED_BYTES = 64 << 20 };

static const FoldNode *node_at(const Tree *tree, int node) {
    return &tree->folds->nodes[node];
}

int tree_thread(const Tree *tree, int node) {
    return node_at(tree, node)->warp * WARP_LANES + node_at(tree, node)->lane;
}

int tree_origin(const Tree *tree, int node) {
    const FoldNode *at = node_at(tree, node);
    return at->kind == FOLD_MOVE ? at->a : node;
}

static int step_of(const Tree *tree, int node) {
    return tree->steps->step_of_event[node_at(tree, node)->event];
}

/* ---- levels
 * -------------------------------------------------------------------------------------------------------- */

enum { OWN = 1, TAKEN_ON = 2 }; /* only inputs that the thread loaded itself; another thread took it later */

static uint8_t *flag_nodes(const Tree *tree) {
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
    return flags;
}

/* What a node makes of its step: a level of this kind, or none (-1). */
static int level_kind(const Tree *tree, const uint8_t *flags, int i) {
    const FoldNode *node = node_at(tree, i);
    if (node->kind == FOLD_INPUT) return -1;
    if (flags[i] & OWN)
        return node->kind == FOLD_JOIN || node_at(tree, node->a)->kind == FOLD_INPUT ? TREE_INPUTS : -1;
    if (node->kind == FOLD_JOIN) return TREE_FOLD;
    return flags[i] & TAKEN_ON && tree_thread(tree, node->a) != tree_thread(tree, i) ? TREE_TAKE : -1;
}

/* Where the operand of a fold came from, as a distance in threads; 0: it was the thread's own. */
static int distance_of(const Tree *tree, int node, int operand) {
    int origin = operand == FOLD_NONE ? FOLD_NONE : tree_origin(tree, operand);
    if (origin == FOLD_NONE || node_at(tree, origin)->kind == FOLD_INPUT) return 0;
    return tree_thread(tree, origin) - tree_thread(tree, node);
}

typedef struct Distances { /* of the folds of one level */
    int by_sum, by_xor;
    bool any, sums_differ, xors_differ;
} Distances;

static void see_distance(const Tree *tree, Distances *seen, int node, int distance) {
    if (!distance) return;
    int thread = tree_thread(tree, node), by_xor = thread ^ (thread + distance);
    seen->sums_differ |= seen->any && seen->by_sum != distance;
    seen->xors_differ |= seen->any && seen->by_xor != by_xor;
    seen->by_sum = distance;
    seen->by_xor = by_xor;
    seen->any = true;
}

static void find_distances(Tree *tree) {
    Distances *seen = memory_new((size_t)(tree->level_count + 1) * sizeof *seen);
    for (int i = 0; i < tree->folds->node_count; i++) {
        const FoldNode *node = node_at(tree, i);
        int level = tree->level_of_node[i];
        if (level < 0) continue;
        bool folds = tree->levels[level].kind == TREE_FOLD && node->kind == FOLD_JOIN;
        bool takes = tree->levels[level].kind == TREE_TAKE && node->kind == FOLD_MOVE;
        if (!folds && !takes) continue;
        see_distance(tree, &seen[level], i, folds ? distance_of(tree, i, node->a) : distance_of(tree, i, i));
        if (folds) see_distance(tree, &seen[level], i, distance_of(tree, i, node->b));
    }
    for (int i = 0; i < tree->level_count; i++) {
        TreeLevel *level = &tree->levels[i];
        level->crosswise = seen[i].any && seen[i].sums_differ && !seen[i].xors_differ;
        level->distance = level->crosswise ? seen[i].by_xor : seen[i].sums_differ ? 0 : seen[i].by_sum;
    }
    free(seen);
}

static void add_level(Tree *tree, int step, TreeLevelKind kind) {
    TreeLevel *last = tree->level_count ? &tree->levels[tree->level_count - 1] : NULL;
    if (kind != TREE_INPUTS || !last || last->kind != TREE_INPUTS) {
        last = &tree->levels[tree->level_count++];
        *last = (TreeLevel){.kind = kind, .first = step};
    }
    const Step *at = &tree->steps->steps[step];
    TraceEvent event;
    trace_block_read_header(tree->steps->block, tree->steps->events[at->first], &event);
    last->last = step;
    last->through = event.kind;
    last->interval = at->interval;
}

static void find_levels(Tree *tree) {
    int step_count = tree->steps->step_count;
    uint8_t *flags = flag_nodes(tree);
    int8_t *kinds = memory_new((size_t)step_count + 1);
    int *level_of_step = memory_new(((size_t)step_count + 1) * sizeof *level_of_step);
    for (int step = 0; step < step_count; step++) kinds[step] = -1;
    for (int i = 0; i < tree->folds->node_count; i++) {
        int kind = level_kind(tree, flags, i), step = step_of(tree, i);
        if (kind > kinds[step]) kinds[step] = (int8_t)kind;
    }
    tree->levels = memory_new(((size_t)step_count + 1) * sizeof *tree->levels);
    for (int step = 0; step < step_count; step++) {
        if (kinds[step] >= 0) add_level(tree, step, (TreeLevelKind)kinds[step]);
        level_of_step[step] =
            kinds[step] >= 0 ? tree->level_count - 1 : tree->level_count; /* else: of the next one */
    }
    for (int i = 0; i < tree->folds->node_count; i++) {
        tree->level_of_node[i] = level_of_step[step_of(tree, i)];
        if (tree->level_of_node[i] >= tree->level_count) tree->level_of_node[i] = -1; /* after the last one */
    }
    free(flags);
    free(kinds);
    free(level_of_step);
}

/* The newest node of a level is what the thread holds after it; who gets none keeps what it had. */
static void fill_cells(Tree *tree) {
    size_t threads = (size_t)tree->thread_count, count = (size_t)tree->level_count * threads;
    tree->cells = memory_new((count + 1) * sizeof *tree->cells);
    for (size_t i = 0; i < count; i++) tree->cells[i] = FOLD_NONE;
    for (int i = 0; i < tree->folds->node_count; i++) {
        int level = tree->level_of_node[i], thread = tree_thread(tree, i);
        if (level >= 0 && node_at(tree, i)->kind != FOLD_INPUT && thread < tree->thread_count)
            tree->cells[(size_t)level * threads + (size_t)thread] = i;
    }
    for (size_t i = threads; i < count; i++)
        if (tree->cells[i] < tree->cells[i - threads]) tree->cells[i] = tree->cells[i - threads];
}

/* ---- results
 * ------------------------------------------------------------------------------------------------------- */

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

/* Of every place what was stored last; where it holds no input, it is no result. */
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

/* Inputs from which no way leads to a result. */
static void find_lost(Tree *tree) {
    int count = tree->folds->node_count;
    bool *reached = memory_new((size_t)count + 1);
    tree->lost = memory_new((size_t)count + 1);
    for (int i = 0; i < tree->final_count; i++) reached[tree->final[i]] = true;
    for (int i = count - 1; i >= 0; i--) {
        const FoldNode *node = node_at(tree, i);
        if (reached[i] && node->a != FOLD_NONE) reached[node->a] = true;
        if (reached[i] && node->b != FOLD_NONE) reached[node->b] = true;
        if (node->kind != FOLD_INPUT) continue;
        tree->input_count++;
        tree->lost[i] = !reached[i];
        tree->lost_count += !reached[i];
    }
    free(reached);
}

int tree_result(const Tree *tree, int thread) {
    for (int i = 0; i < tree->final_count; i++)
        if (tree->final_thread[i] == thread) return tree->final[i];
    return tree->final_count ? tree->final[0] : FOLD_NONE;
}

/* ---- the tree
 * ------------------------------------------------------------------------------------------------------ */

Tree *tree_new(const Folds *folds, const Steps *steps) {
    const uint32_t *block = steps->launch->block;
    Tree *tree = memory_new(sizeof *tree);
    tree->folds = folds;
    tree->steps = steps;
    tree->thread_count = (int)(block[0] * block[1] * block[2]);
    tree->warp_count = (tree->thread_count + WARP_LANES - 1) / WARP_LANES;
    tree->path.root = FOLD_NONE;
    tree->level_of_node = memory_new(((size_t)folds->node_count + 1) * sizeof *tree->level_of_node);
    if (!folds->is_cut) find_levels(tree);
    if (folds->is_cut || (size_t)tree->level_count * (size_t)tree->thread_count > MOST_CELLS) {
        tree_free(tree);
        return NULL;
    }
    find_distances(tree);
    fill_cells(tree);
    find_results(tree);
    find_lost(tree);
    return tree;
}

void tree_free(Tree *tree) {
    if (!tree) return;
    free(tree->levels);
    free(tree->level_of_node);
    free(tree->cells);
    free(tree->final);
    free(tree->final_thread);
    free(tree->lost);
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

bool tree_acts(const Tree *tree, int level, int thread) {
    return tree_held(tree, level, thread) != tree_held(tree, level - 1, thread);
}

/* ---- paths
 * ---------------------------------------------------------------------------------------------------------
 */

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

/* Nodes of the path that are used more than once in it, numbered from 0 in *numbers; FOLD_NONE: the others.
 */
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

/* Two values hold the same input if they were made from the same fork: sets of forks tell. */
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
