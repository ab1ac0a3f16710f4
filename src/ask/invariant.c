/* --invariant: whether several runs make their sums in the same order (invariant.h). Every block of each run
 * is traced, and the trees of what it leaves in global memory (trace/sum_trees.h) are compared. */
#include "ask/questions.h"
#include "ask/invariant.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INSTRUCTIONS = 8 << 20, MOST_NODES = 24 << 20 /* of the blocks of a launch */ };

/* ---- one run ------------------------------------------------------------------------------------------- */

static const char *fault_of(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++)
        if (trap_kind_is_fatal(trace->traps[i].kind) || trap_kind_is_dropped(trace->traps[i].kind))
            return trace->traps[i].detail;
    return NULL;
}

/* The run of these options with all blocks traced. */
static Session *open_traced(const AskVariant *variant, AskOrderAnswer *why, Error *error) {
    RunSpec options = variant->options;
    options.first_look = options.search_races = options.measure_sass = options.times_blocks = false;
    options.backend = BACKEND_EMULATOR;
    options.counters = COUNTERS_NONE;
    options.has_trace_blocks = false;
    Session *first = session_open(&options, error), *traced = NULL;
    if (!first) return NULL;
    uint64_t instructions = trace_count_instructions(first->run->trace);
    const char *fault = fault_of(first->run->trace);
    if (fault) {
        *why = ORDER_DIFFERS;
        error_set(error, "%s: the run has a fault: %s", variant->label, fault);
    } else if (instructions > MOST_INSTRUCTIONS) {
        *why = ORDER_IS_UNKNOWN;
        error_set(error,
                  "%s: %" PRIu64
                  " warp instructions are too many to follow every sum; at most %d: try a smaller n",
                  variant->label, instructions, MOST_INSTRUCTIONS);
    } else {
        traced = session_vary(first, &(RunChange){.traces_all = true, .shows_progress = true}, NULL);
        if (!traced) error_set(error, "%s: the run cannot be repeated", variant->label);
    }
    session_free(first);
    return traced;
}

static bool add_launch(OrderRun *run, int index, Error *error) {
    const Trace *trace = run->session->run->trace;
    const TraceLaunch *launch = trace->launches[index];
    const PlanLaunch *planned = &run->session->run->plan.launches[index];
    Folds **folds = memory_new(((size_t)launch->block_count + 1) * sizeof *folds);
    bool good = true;
    int64_t nodes = 0;
    for (int i = 0; i < planned->write_count; i++)
        sum_run_overwrite(run->sums, planned->writes[i].buffer, planned->writes[i].offset,
                          planned->writes[i].byte_count);
    for (int i = 0; good && i < launch->block_count; i++) {
        folds[i] =
            replay_folds(trace, index, launch->blocks[i], &run->session->run->launches.bound[index], error);
        good = folds[i] != NULL;
        nodes += good ? folds[i]->node_count : 0;
        if (good && (folds[i]->is_cut || nodes > MOST_NODES))
            good = error_set(error, "%s: there are too many values to follow; try a smaller n", run->label);
    }
    if (good) sum_run_add_launch(run->sums, index, folds);
    for (int i = 0; i < launch->block_count; i++) folds_free(folds[i]);
    free(folds);
    return good;
}

static bool open_run(OrderRun *run, const AskVariant *variant, SumTrees *trees, AskOrderAnswer *why,
                     Error *error) {
    run->label = variant->label;
    run->session = open_traced(variant, why, error);
    if (!run->session) return false;
    *why = ORDER_IS_UNKNOWN;
    run->sums = sum_run_new(trees, run->session->run->trace);
    for (int i = 0; i < run->session->run->trace->launch_count; i++) {
        ask_show_progress(run->session, "following every sum", (uint64_t)i,
                          (uint64_t)run->session->run->trace->launch_count);
        if (!add_launch(run, i, error)) return false;
    }
    run->places = sum_run_places(run->sums, &run->place_count);
    return !sum_trees_are_cut(trees) ||
           error_set(error, "%s: there are too many values to follow; try a smaller n", run->label);
}

/* ---- two runs ------------------------------------------------------------------------------------------ */

/* ---- extremes: an element that is taken twice counts once ---------------------------------------------- */

enum { MOST_LEAVES = 1 << 16 };

typedef struct Leaves {
    int *nodes;
    int count, capacity;
} Leaves;

static int compare_ints(const void *a, const void *b) {
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void make_unique(Leaves *leaves) {
    int kept = 0;
    qsort(leaves->nodes, (size_t)leaves->count, sizeof *leaves->nodes, compare_ints);
    for (int i = 0; i < leaves->count; i++)
        if (!kept || leaves->nodes[kept - 1] != leaves->nodes[i]) leaves->nodes[kept++] = leaves->nodes[i];
    leaves->count = kept;
}

/* The elements under `root`, each once, ascending. False: another operation is among them, or there are too
 * many. */
static bool find_leaves(const SumTrees *trees, int root, uint32_t operation, Leaves *leaves) {
    Leaves open = {0};
    bool good = true;
    array_push(open.nodes, open.count, open.capacity, root);
    for (int turn = 0; good && open.count && turn < 4 * MOST_LEAVES; turn++) {
        int at = open.nodes[--open.count];
        const SumNode *node = sum_node(trees, at);
        if (node->a == SUM_NONE && node->b == SUM_NONE) {
            array_push(leaves->nodes, leaves->count, leaves->capacity, at);
            continue;
        }
        good = node->operation == operation && node->is_extreme && node->a != SUM_NONE && node->b != SUM_NONE;
        if (!good) break;
        array_push(open.nodes, open.count, open.capacity, node->a);
        array_push(open.nodes, open.count, open.capacity, node->b);
    }
    good = good && !open.count;
    free(open.nodes);
    if (good) make_unique(leaves);
    return good;
}

static bool is_same_extreme(const SumTrees *trees, int first, int second) {
    const SumNode *a = sum_node(trees, first), *b = sum_node(trees, second);
    Leaves leaves[2] = {0};
    if (a->operation != b->operation || a->a == SUM_NONE || b->a == SUM_NONE) return false;
    bool same = find_leaves(trees, first, a->operation, &leaves[0]) &&
                find_leaves(trees, second, b->operation, &leaves[1]) && leaves[0].count == leaves[1].count &&
                !memcmp(leaves[0].nodes, leaves[1].nodes, (size_t)leaves[0].count * sizeof(int));
    for (int i = 0; i < 2; i++) free(leaves[i].nodes);
    return same;
}

static SumVerdict compare_nodes(const SumTrees *trees, int first, int second) {
    if (first == SUM_NONE || second == SUM_NONE) return first == second ? SUM_SAME : SUM_OTHER;
    const SumNode *a = sum_node(trees, first), *b = sum_node(trees, second);
    if (a->has_no_order || b->has_no_order) return SUM_NO_ORDER;
    if (a->is_unknown || b->is_unknown) return SUM_UNKNOWN;
    if (first == second || (a->value != b->value && a->shape == b->shape)) return SUM_SAME;
    if (a->value == b->value) return SUM_EXACT;
    if (a->set == b->set) return SUM_DIFFERS;
    return is_same_extreme(trees, first, second) ? SUM_EXACT : SUM_OTHER;
}

static int find_buffer(const Trace *trace, const char *name) {
    int found = trace->buffer_count - 1;
    while (found >= 0 && strcmp(trace->buffers[found].name, name) != 0) found--;
    return found;
}

static int find_place(const OrderRun *run, int buffer, uint64_t offset) {
    int low = 0, high = run->place_count;
    while (low < high) {
        int middle = (low + high) / 2;
        const SumPlace *place = &run->places[middle];
        if (place->buffer < buffer || (place->buffer == buffer && place->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == run->place_count) return -1;
    return run->places[low].buffer == buffer && run->places[low].offset == offset ? low : -1;
}

static ComparedBuffer *buffer_named(ComparedOrders *orders, const char *name) {
    for (int i = 0; i < orders->buffer_count; i++)
        if (!strcmp(orders->buffers[i].name, name)) return &orders->buffers[i];
    ComparedBuffer made = {.name = name};
    for (int i = 0; i < SUM_VERDICTS; i++) made.first[i][0] = made.first[i][1] = -1;
    array_push(orders->buffers, orders->buffer_count, orders->buffer_capacity, made);
    return &orders->buffers[orders->buffer_count - 1];
}

static bool has_other_bits(const ComparedOrders *orders, const char *name, uint64_t offset) {
    PtxType type;
    const uint8_t *a = ask_left_bytes(orders->runs[0], name, offset, &type),
                  *b = ask_left_bytes(orders->runs[1], name, offset, &type);
    return a && b && memcmp(a, b, (size_t)ptx_type_bytes(type)) != 0;
}

/* Counts what `run` left that the other run did not, and, for the first run, compares the rest. */
static void compare_places(ComparedOrders *orders, int which) {
    const OrderRun *run = orders->runs[which], *other = orders->runs[!which];
    const Trace *trace = run->session->run->trace;
    for (int i = 0; i < run->place_count; i++) {
        const SumPlace *place = &run->places[i];
        if (place->is_consumed || place->buffer >= trace->buffer_count) continue;
        const char *name = trace->buffers[place->buffer].name;
        int k = find_place(other, find_buffer(other->session->run->trace, name), place->offset);
        if (k < 0 && place->node != SUM_NONE) buffer_named(orders, name)->alone[which]++;
        if (which || k < 0 || (place->node == SUM_NONE && other->places[k].node == SUM_NONE)) continue;
        ComparedBuffer *buffer = buffer_named(orders, name);
        SumVerdict verdict = compare_nodes(orders->trees, place->node, other->places[k].node);
        bool shows = has_other_bits(orders, name, place->offset);
        if (!buffer->counts[verdict]++ || (verdict == SUM_DIFFERS && shows && !buffer->differing_bits)) {
            buffer->first[verdict][0] = i;
            buffer->first[verdict][1] = k;
        }
        orders->total[verdict]++;
        buffer->differing_bits += shows && verdict == SUM_DIFFERS;
        buffer->other_bits += shows && verdict == SUM_SAME && place->node == other->places[k].node;
    }
}

static int compare_shapes(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void count_ways(const ComparedOrders *orders, ComparedBuffer *compared, int which) {
    const OrderRun *run = orders->runs[which];
    int buffer = find_buffer(run->session->run->trace, compared->name), count = 0;
    uint64_t *shapes = memory_new(((size_t)run->place_count + 1) * sizeof *shapes), first = 0;
    compared->other_way[which] = -1;
    for (int i = 0; i < run->place_count; i++) {
        const SumPlace *place = &run->places[i];
        if (place->buffer != buffer || place->is_consumed || place->node == SUM_NONE) continue;
        const SumNode *node = sum_node(orders->trees, place->node);
        if (!node->rounds || node->is_unknown) continue;
        if (!count) first = node->shape;
        if (node->shape != first && compared->other_way[which] < 0) compared->other_way[which] = i;
        shapes[count++] = node->shape;
    }
    qsort(shapes, (size_t)count, sizeof *shapes, compare_shapes);
    for (int i = 0; i < count; i++) compared->ways[which] += !i || shapes[i] != shapes[i - 1];
    free(shapes);
}

static void compare_runs(ComparedOrders *orders) {
    for (int which = 0; which < 2; which++) compare_places(orders, which);
    for (int i = 0; i < orders->buffer_count; i++)
        for (int which = 0; which < 2; which++) count_ways(orders, &orders->buffers[i], which);
}

static AskOrderAnswer answer_of(const ComparedOrders *orders) {
    bool is_alone = false;
    for (int i = 0; i < orders->buffer_count; i++)
        is_alone |= orders->buffers[i].alone[0] && orders->buffers[i].alone[1];
    if (orders->total[SUM_DIFFERS] || orders->total[SUM_NO_ORDER] || orders->total[SUM_OTHER] || is_alone)
        return ORDER_DIFFERS;
    return orders->total[SUM_UNKNOWN] ? ORDER_IS_UNKNOWN : ORDER_IS_FIXED;
}

bool ask_invariant(const AskVariant *variants, int count, bool json, AskOrderAnswer *answer, Text *out,
                   Error *error) {
    SumTrees *trees = sum_trees_new();
    OrderRun *runs = memory_new((size_t)count * sizeof *runs);
    bool good = true;
    Json object = {.out = out};
    for (int i = 0; good && i < count; i++) {
        *answer = ORDER_HAS_NO_RUN;
        good = open_run(&runs[i], &variants[i], trees, answer, error);
    }
    if (good) *answer = ORDER_IS_FIXED;
    if (good && json) {
        json_open_object(&object, NULL);
        json_string(&object, "kernel", session_name(runs[0].session));
        json_open_array(&object, "comparisons");
    }
    for (int i = 1; good && i < count; i++) {
        ComparedOrders orders = {.trees = trees, .runs = {&runs[0], &runs[i]}};
        compare_runs(&orders);
        AskOrderAnswer one = answer_of(&orders);
        if (one == ORDER_DIFFERS || *answer == ORDER_IS_FIXED) *answer = one;
        if (json)
            ask_put_orders(&orders, &object);
        else
            ask_print_orders(&orders, out);
        free(orders.buffers);
    }
    if (good && json) {
        static const char *const names[] = {"same", "differs", "unknown"};
        json_close_array(&object);
        json_string(&object, "order", names[*answer]);
        json_close_object(&object);
        text_add(out, "\n");
    }
    for (int i = 0; i < count; i++) {
        sum_run_free(runs[i].sums);
        session_free(runs[i].session);
    }
    free(runs);
    sum_trees_free(trees);
    return good;
}
