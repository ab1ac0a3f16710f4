#include "tui/scene/reduction.h"

#include "base/exact_sum.h"
#include "base/memory.h"
#include "catalog/plan.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Reduction {
    PtxType data; /* of the run */
    Tree *tree;
    StepIndex *step_index;
    uint32_t *useful;        /* [event] lanes that bring a value which is part of a result */
    int *needed_until;       /* [node] the last level in which a result takes it; level_count: it is one */
    int *first;              /* [level_count] step at which the level begins */
    int *number;             /* [level_count] of the folding levels so far */
    ReductionLevel **levels; /* [level_count], NULL until asked for */
    ReductionLevel *chain;   /* the last one asked for */
    int chain_level, chain_thread;
};

static const FoldNode *node_at(const Reduction *reduction, int node) {
    return &reduction->tree->folds->nodes[node];
}

static int thread_of(const Reduction *reduction, int node) {
    return tree_thread(reduction->tree, node);
}

static int step_of_event(const Reduction *reduction, int event) {
    return reduction->tree->steps->step_of_event[event];
}

static void read_event(const Reduction *reduction, int event, TraceEvent *out) {
    trace_block_read(reduction->tree->steps->block, event, out);
}

/* ---- where a level begins -------------------------------------------------------------------------------- */

/* The last step after `from` and before `first` that belongs to the level before: a store of its sums, or a barrier behind
 * them; `from` where there is none. */
static int last_of_before(const Reduction *reduction, int from, int first) {
    for (int step = first - 1; step > from; step--) {
        TraceKind kind = (TraceKind)reduction->step_index->step[step].kind;
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
    find_firsts(reduction);
    find_needed(reduction);
    find_useful(reduction);
    return reduction;
}

static void level_free(ReductionLevel *level) {
    if (!level) return;
    free(level->boxes);
    free(level->terms);
    free(level);
}

void reduction_free(Reduction *reduction) {
    if (!reduction) return;
    for (int i = 0; i < reduction->tree->level_count; i++) level_free(reduction->levels[i]);
    level_free(reduction->chain);
    free(reduction->needed_until);
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

int reduction_number_at(const Reduction *reduction, int step) {
    return reduction->tree->level_count ? reduction->number[reduction_level_at(reduction, step)] : 0;
}

void reduction_print_short(const Reduction *reduction, int level, char *out, size_t bytes) {
    const TreeLevel *of = &reduction->tree->levels[level];
    int distance = of->distance < 0 ? -of->distance : of->distance;
    if (of->kind == TREE_INPUTS)
        snprintf(out, bytes, "in");
    else if (of->kind == TREE_TAKE)
        snprintf(out, bytes, "take");
    else if (of->through == TRACE_REDUX)
        snprintf(out, bytes, "redux");
    else if (of->through == TRACE_SHARED_ATOMIC || of->through == TRACE_GLOBAL_ATOMIC)
        snprintf(out, bytes, "atomic");
    else if (distance)
        snprintf(out, bytes, of->crosswise ? "^%d" : "+%d", distance);
    else
        snprintf(out, bytes, "+");
}

int reduction_fold_count(const Reduction *reduction) {
    int count = reduction->tree->level_count;
    return count ? reduction->number[count - 1] : 0;
}

int reduction_level_first(const Reduction *reduction, int level) {
    return level < reduction->tree->level_count ? reduction->first[level]
                                                : reduction->tree->steps->step_count;
}

/* ---- types ----------------------------------------------------------------------------------------------- */

static bool is_float(PtxType type) {
    return type != PTX_NO_TYPE && ptx_type_is_float(type);
}

/* Loads may be declared as bits or as unsigned: then the type of what they are folded into decides, or the run's. */
PtxType reduction_type(const Reduction *reduction, int node, PtxType of_sum) {
    PtxType own = (PtxType)node_at(reduction, node)->type;
    int bytes = own == PTX_NO_TYPE ? 0 : ptx_type_bytes(own);
    if (is_float(own) || of_sum == PTX_NO_TYPE) return own;
    if (bytes == ptx_type_bytes(of_sum)) return of_sum;
    if (!is_float(of_sum)) return own;
    return is_float(reduction->data) && bytes == ptx_type_bytes(reduction->data) ? reduction->data : own;
}

/* ---- values ---------------------------------------------------------------------------------------------- */

static bool holds(const PtxInstruction *instruction, const char *modifier) {
    for (int i = 0; i < instruction->modifier_count; i++)
        if (!strcmp(instruction->modifiers[i].text, modifier)) return true;
    return false;
}

/* What an atomic leaves in memory is not recorded; it follows from what it found and its operand. */
static uint64_t atomic_sum(const Reduction *reduction, const FoldNode *node, PtxType type) {
    const FoldNode *a = node_at(reduction, node->a), *b = node_at(reduction, node->b);
    const Step *step = &reduction->tree->steps->steps[step_of_event(reduction, node->event)];
    const PtxInstruction *instruction = reduction->tree->steps->launch->program->code[step->pc].instruction;
    double x = plan_element(type, &a->bits, 0), y = plan_element(type, &b->bits, 0);
    uint64_t bits = 0;
    if (holds(instruction, "min") || holds(instruction, "max"))
        return (x < y) == holds(instruction, "min") ? a->bits : b->bits;
    if (!ptx_type_is_float(type)) return a->bits + b->bits;
    plan_element_set(type, &bits, 0, x + y);
    return bits;
}

static uint64_t bits_of(const Reduction *reduction, int node, PtxType type) {
    const FoldNode *at = node_at(reduction, node);
    if (at->kind == FOLD_MOVE && at->a != FOLD_NONE &&
        thread_of(reduction, at->a) == thread_of(reduction, node)) {
        const Step *step = &reduction->tree->steps->steps[step_of_event(reduction, at->event)];
        TraceKind kind = (TraceKind)reduction->step_index->step[step - reduction->tree->steps->steps].kind;
        /* The first atomic finds nothing that the block made: it leaves its operand. */
        if (kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC)
            return node_at(reduction, at->a)->bits;
    }
    bool is_atomic = at->kind == FOLD_JOIN && at->type == PTX_NO_TYPE && type != PTX_NO_TYPE;
    return is_atomic ? atomic_sum(reduction, at, type) : at->bits;
}

/* ---- terms ----------------------------------------------------------------------------------------------- */

/* Which element of its access a moved value was: values of one lane follow one another in the order of elements. */
static int element_of(const Reduction *reduction, int node) {
    const FoldNode *at = node_at(reduction, node);
    int element = 0;
    for (int i = node - 1; i >= 0; i--) {
        const FoldNode *other = node_at(reduction, i);
        if (other->event != at->event || other->lane != at->lane || other->warp != at->warp) break;
        element += other->kind == FOLD_MOVE;
    }
    return element;
}

static void put_address(ReductionTerm *term, const TraceEvent *event, int lane, int element) {
    term->symbol = event->buffer[lane];
    term->index = (int64_t)(event->offset[lane] / (uint64_t)event->element_bytes) + element;
}

/* Where a value that an event brought to its lane was before. */
static void put_place(const Reduction *reduction, int node, ReductionTerm *term) {
    const FoldNode *at = node_at(reduction, node),
                   *from = at->a == FOLD_NONE ? NULL : node_at(reduction, at->a);
    TraceEvent event;
    if (from && from->kind == FOLD_INPUT) {
        int bytes = ptx_type_bytes((PtxType)at->type);
        term->place = PLACE_INPUT;
        term->symbol = from->buffer;
        term->index = (int64_t)(from->bits / (uint64_t)(bytes ? bytes : 1));
        return;
    }
    read_event(reduction, at->event, &event);
    switch (event.kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_SHARED_ATOMIC:
        term->place = PLACE_WORD;
        put_address(term, &event, at->lane, element_of(reduction, node));
        break;
    case TRACE_GLOBAL_LOAD:
    case TRACE_GLOBAL_ATOMIC:
        term->place = PLACE_GLOBAL;
        put_address(term, &event, at->lane, element_of(reduction, node));
        break;
    case TRACE_SHUFFLE:
    case TRACE_REDUX:
    case TRACE_VOTE:
        term->place = PLACE_THREAD;
        term->index = from ? thread_of(reduction, at->a) : term->thread;
        break;
    default:
        term->place = PLACE_UNKNOWN;
    }
}

static ReductionTerm *add_term(ReductionLevel *level) {
    if (level->term_count == level->term_capacity) {
        level->term_capacity = level->term_capacity ? level->term_capacity * 2 : 64;
        level->terms = memory_resize(level->terms, (size_t)level->term_capacity * sizeof *level->terms);
    }
    ReductionTerm *term = &level->terms[level->term_count++];
    *term = (ReductionTerm){.place = PLACE_UNKNOWN};
    return term;
}

/* The operands that `node` was made of in this level, in the order in which they were folded. */
static void add_terms(const Reduction *reduction, ReductionLevel *level, int node, int thread) {
    const FoldNode *at = node_at(reduction, node);
    bool is_here =
        reduction->tree->level_of_node[node] == level->level && thread_of(reduction, node) == thread;
    if (is_here && at->kind == FOLD_JOIN) {
        add_terms(reduction, level, at->a, thread);
        add_terms(reduction, level, at->b, thread);
        return;
    }
    ReductionTerm *term = add_term(level);
    term->node = node;
    term->thread = thread;
    term->step = step_of_event(reduction, at->event);
    term->is_own = !is_here || at->kind != FOLD_MOVE;
    if (term->is_own) {
        term->place = PLACE_THREAD;
        term->index = thread_of(reduction, node);
    } else {
        put_place(reduction, node, term);
    }
}

/* ---- shared memory at the level's borders ------------------------------------------------------------------ */

typedef struct SharedWords {  /* of one symbol */
    int symbol, count, bytes; /* bytes: of an element */
    uint64_t *value;
    bool *written, *live;
    int *node; /* of what was stored, where a later load says it */
} SharedWords;

static bool is_shared_write(TraceKind kind) {
    return kind == TRACE_SHARED_STORE || kind == TRACE_SHARED_ATOMIC;
}

static void store_words(SharedWords *words, const TraceEvent *event) {
    for (uint32_t rest = event->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        if (event->buffer[lane] != words->symbol || event->element_bytes != words->bytes) continue;
        for (int e = 0; e < event->element_count; e++) {
            uint64_t at = event->offset[lane] / (uint64_t)words->bytes + (uint64_t)e;
            if (at >= (uint64_t)words->count) continue;
            words->value[at] = event->value[e][lane];
            words->written[at] = true;
        }
    }
}

/* What stores of the steps before `end` left. */
static void fill_words(const Reduction *reduction, SharedWords *words, int end) {
    const Steps *steps = reduction->tree->steps;
    TraceEvent event;
    for (int step = 0; step < end && step < steps->step_count; step++) {
        if (!is_shared_write((TraceKind)reduction->step_index->step[step].kind)) continue;
        for (int i = 0; i < steps->steps[step].count; i++) {
            read_event(reduction, steps->events[steps->steps[step].first + i], &event);
            if (event.kind == TRACE_SHARED_STORE) store_words(words, &event);
        }
    }
}

/* Words whose value a later load takes for a result, before it is overwritten. */
static void find_live(const Reduction *reduction, SharedWords *words, int from) {
    const Steps *steps = reduction->tree->steps;
    bool *closed = memory_new((size_t)words->count + 1);
    TraceEvent event;
    for (int step = from; step < steps->step_count; step++) {
        TraceKind kind = (TraceKind)reduction->step_index->step[step].kind;
        if (kind != TRACE_SHARED_LOAD && !is_shared_write(kind)) continue;
        for (int i = 0; i < steps->steps[step].count; i++) {
            int number = steps->events[steps->steps[step].first + i];
            read_event(reduction, number, &event);
            for (uint32_t rest = event.mask; rest; rest &= rest - 1) {
                int lane = __builtin_ctz(rest);
                if (event.buffer[lane] != words->symbol || event.element_bytes != words->bytes) continue;
                for (int e = 0; e < event.element_count; e++) {
                    uint64_t at = event.offset[lane] / (uint64_t)words->bytes + (uint64_t)e;
                    if (at >= (uint64_t)words->count || closed[at]) continue;
                    if (event.kind == TRACE_SHARED_STORE)
                        closed[at] = true;
                    else if (reduction->useful[number] >> lane & 1)
                        words->live[at] = closed[at] = true;
                }
            }
        }
    }
    free(closed);
}

static SharedWords words_at(const Reduction *reduction, int symbol, int bytes, int step) {
    const TraceSymbol *of = &reduction->tree->steps->launch->symbols[symbol];
    SharedWords words = {.symbol = symbol, .bytes = bytes, .count = (int)(of->bytes / (uint64_t)bytes)};
    /* Dynamic shared memory may be one symbol without a size: as far as it is written. */
    size_t count = (size_t)words.count + 1;
    words.value = memory_new(count * sizeof *words.value);
    words.written = memory_new(count);
    words.live = memory_new(count);
    fill_words(reduction, &words, step);
    find_live(reduction, &words, step);
    return words;
}

static void words_done(SharedWords *words) {
    free(words->value);
    free(words->written);
    free(words->live);
}

/* ---- a level --------------------------------------------------------------------------------------------- */

/* The first store of the thread's value to shared memory before step `end`; false: there is none. */
static bool find_store(const Reduction *reduction, int node, int end, ReductionTerm *where) {
    const FoldNode *at = node_at(reduction, node);
    TraceEvent event;
    for (int number = step_index_neighbour(reduction->step_index, at->event, at->warp, 1); number >= 0;
         number = step_index_neighbour(reduction->step_index, number, at->warp, 1)) {
        int step = step_of_event(reduction, number);
        if (step >= end) return false;
        if (reduction->step_index->step[step].kind != TRACE_SHARED_STORE) continue;
        read_event(reduction, number, &event);
        if (event.kind != TRACE_SHARED_STORE || !(event.mask >> at->lane & 1)) continue;
        for (int e = 0; e < event.element_count; e++) {
            if (at->type != PTX_NO_TYPE && event.value[e][at->lane] != at->bits) continue;
            put_address(where, &event, at->lane, e);
            where->step = step;
            return true;
        }
    }
    return false;
}

typedef struct Adder { /* a thread that does what the level is there for */
    int node, first_term, term_count;
    bool is_stored;
    ReductionTerm to; /* where it is stored */
} Adder;

static void add_adder(Reduction *reduction, ReductionLevel *level, int node, Adder *adder) {
    *adder = (Adder){.node = node, .first_term = level->term_count};
    add_terms(reduction, level, node, thread_of(reduction, node));
    adder->term_count = level->term_count - adder->first_term;
    adder->is_stored =
        find_store(reduction, node, reduction_level_first(reduction, level->level + 1), &adder->to);
}

/* Values that threads load, or sums that they make, and do not fold further in this level: several of one thread
 * where it works on the elements of a vector. [node] */
static bool *find_loose(const Reduction *reduction, int level) {
    const Tree *tree = reduction->tree;
    bool *loose = memory_new((size_t)tree->folds->node_count + 1);
    for (int i = 0; i < tree->folds->node_count; i++) {
        const FoldNode *node = node_at(reduction, i);
        if (tree->level_of_node[i] != level || node->kind == FOLD_INPUT) continue;
        loose[i] = reduction->needed_until[i] > level &&
                   (node->kind == FOLD_JOIN || tree->levels[level].kind == TREE_INPUTS);
        if (node->a != FOLD_NONE) loose[node->a] = false;
        if (node->kind == FOLD_JOIN) loose[node->b] = false;
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
            add_adder(reduction, level, node, &adders[(*count)++]);
    }
    if (level->kind == TREE_TAKE) return adders;
    bool *loose = find_loose(reduction, level->level);
    int most = 0, found = 0;
    for (int i = 0; i < tree->folds->node_count; i++) most += loose[i];
    Adder *all = memory_new(((size_t)most + 1) * sizeof *all);
    for (int i = 0; most > *count && i < tree->folds->node_count; i++)
        if (loose[i]) add_adder(reduction, level, i, &all[found++]);
    free(loose);
    bool is_stored = found > *count;
    for (int i = 0; i < found; i++) is_stored &= all[i].is_stored && all[i].to.symbol == all[0].to.symbol;
    free(is_stored ? adders : all);
    if (is_stored) *count = found;
    level->stores_several = is_stored;
    if (is_stored) level->symbol = all[0].to.symbol;
    return is_stored ? all : adders;
}

/* The boxes are words where every addition takes one from shared memory and leaves its sum there; threads otherwise. */
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
        *box = (ReductionBox){
            .index = i, .thread = -1, .before_node = before, .node = after, .step = level->first};
        box->has_before = before != FOLD_NONE;
        box->has_after = after != FOLD_NONE;
        if (box->has_before) box->before = bits_of(reduction, before, level->type);
        if (box->has_after) box->after = bits_of(reduction, after, level->type);
        box->was_live = is_alive(reduction, level->level - 1, before);
        box->is_live = is_alive(reduction, level->level, after);
    }
}

static void fill_word_boxes(Reduction *reduction, ReductionLevel *level) {
    int bytes = ptx_type_bytes(level->type), end = reduction_level_first(reduction, level->level + 1);
    SharedWords before = words_at(reduction, level->symbol, bytes, level->first);
    SharedWords after = words_at(reduction, level->symbol, bytes, end);
    int count = 0;
    for (int i = 0; i < before.count; i++)
        if (before.written[i] || after.written[i]) count = i + 1;
    level->box_count = count;
    level->boxes = memory_new(((size_t)count + 1) * sizeof *level->boxes);
    for (int i = 0; i < count; i++)
        level->boxes[i] = (ReductionBox){.index = i,
                                         .before = before.value[i],
                                         .after = after.value[i],
                                         .has_before = before.written[i],
                                         .has_after = after.written[i],
                                         .was_live = before.live[i],
                                         .is_live = after.live[i],
                                         .before_node = FOLD_NONE,
                                         .node = FOLD_NONE,
                                         .thread = -1,
                                         .step = level->first};
    words_done(&before);
    words_done(&after);
}

/* The word that a sum belongs to which stays in a register: the first that it was read from. */
static int64_t home_of(const ReductionLevel *level, const Adder *adder) {
    if (adder->is_stored) return adder->to.index;
    for (int t = 0; t < adder->term_count; t++)
        if (level->terms[adder->first_term + t].place == PLACE_WORD)
            return level->terms[adder->first_term + t].index;
    return -1;
}

static void put_adders(Reduction *reduction, ReductionLevel *level, const Adder *adders, int count) {
    bool *seen = memory_new((size_t)reduction->tree->thread_count + 1);
    for (int i = 0; i < count; i++) {
        const FoldNode *node = node_at(reduction, adders[i].node);
        int thread = thread_of(reduction, adders[i].node);
        level->adder_count += !seen[thread];
        seen[thread] = true;
        int64_t index = level->place == PLACE_WORD ? home_of(level, &adders[i]) : thread;
        ReductionBox *box = (ReductionBox *)reduction_find(level, index);
        if (!box) continue;
        box->adds = true;
        box->thread = thread;
        box->node = adders[i].node;
        box->after = bits_of(reduction, adders[i].node, level->type);
        box->has_after = true;
        box->is_live = is_alive(reduction, level->level, adders[i].node);
        box->first_term = adders[i].first_term;
        box->term_count = adders[i].term_count;
        box->step = adders[i].is_stored && level->place == PLACE_WORD ? adders[i].to.step
                                                                      : step_of_event(reduction, node->event);
        for (int t = 0; t < adders[i].term_count; t++) {
            const ReductionTerm *term = &level->terms[adders[i].first_term + t];
            bool is_word = level->place == PLACE_WORD && term->place == PLACE_WORD;
            ReductionBox *from = is_word        ? (ReductionBox *)reduction_find(level, term->index)
                                 : term->is_own ? box
                                                : NULL;
            if (!from) continue;
            from->before_node = term->node;
            from->before = node_at(reduction, term->node)->bits;
            from->has_before = from->was_live = true;
        }
    }
    free(seen);
}

/* The index of the box that a term comes from; -1: from none of this row. */
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
        int64_t first = box->index, last = box->index;
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

/* The run's type where it is as wide: PTX adds ints as unsigned or as signed numbers. */
static PtxType type_of_level(const Reduction *reduction, const ReductionLevel *level, const Adder *adders,
                             int count) {
    for (int i = 0; i < count; i++)
        for (int t = -1; t < adders[i].term_count; t++) {
            int node = t < 0 ? adders[i].node : level->terms[adders[i].first_term + t].node;
            PtxType type = (PtxType)node_at(reduction, node)->type;
            if (type == PTX_NO_TYPE) continue;
            bool fits = reduction->data != PTX_NO_TYPE && !is_float(type) &&
                        ptx_type_bytes(type) == ptx_type_bytes(reduction->data);
            return fits ? reduction->data : type;
        }
    return PTX_NO_TYPE;
}

/* Does every adder keep the largest, or the smallest, of its terms? */
static bool keeps(const Reduction *reduction, const ReductionLevel *level, bool largest) {
    bool differs = false;
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *box = &level->boxes[i];
        double kept = 0;
        if (!box->adds || box->term_count < 2) continue;
        for (int t = 0; t < box->term_count; t++) {
            int node = level->terms[box->first_term + t].node;
            uint64_t bits = bits_of(reduction, node, level->type);
            double value = plan_element(reduction_type(reduction, node, level->type), &bits, 0);
            if (t && value != kept) differs = true;
            if (!t || (largest ? value > kept : value < kept)) kept = value;
        }
        if (plan_element(level->type, &box->after, 0) != kept) return false;
    }
    return differs;
}

static ReductionLevel *make_level(Reduction *reduction, int index) {
    const Tree *tree = reduction->tree;
    const TreeLevel *of = &tree->levels[index];
    ReductionLevel *level = memory_new(sizeof *level);
    *level = (ReductionLevel){.level = index,
                              .kind = of->kind,
                              .through = of->through,
                              .first = reduction->first[index],
                              .last = reduction_level_first(reduction, index + 1) - 1,
                              .number = reduction->number[index],
                              .distance = of->distance,
                              .crosswise = of->crosswise};
    int count;
    Adder *adders = list_adders(reduction, level, &count);
    level->type = type_of_level(reduction, level, adders, count);
    choose_places(level, adders, count);
    if (level->place == PLACE_WORD && ptx_type_bytes(level->type))
        fill_word_boxes(reduction, level);
    else
        fill_threads(reduction, level);
    put_adders(reduction, level, adders, count);
    level->arrows_cross = ways_cross(level);
    level->operation = "+";
    if (level->kind == TREE_FOLD && level->type != PTX_NO_TYPE)
        level->operation = keeps(reduction, level, true)    ? "max"
                           : keeps(reduction, level, false) ? "min"
                                                            : "+";
    free(adders);
    return level;
}

const ReductionLevel *reduction_level(Reduction *reduction, int level) {
    if (level < 0 || level >= reduction->tree->level_count) return NULL;
    if (!reduction->levels[level]) reduction->levels[level] = make_level(reduction, level);
    return reduction->levels[level];
}

const ReductionBox *reduction_find(const ReductionLevel *level, int64_t index) {
    return index >= 0 && index < level->box_count ? &level->boxes[index]
                                                  : NULL; /* boxes are numbered from 0 */
}

/* ---- chains ---------------------------------------------------------------------------------------------- */

/* The additions that made `node` in this level, the last one first: each joins the sum so far and one input more. */
static int list_chain(const Reduction *reduction, int level, int node, int *joins, int most) {
    int count = 0;
    while (count < most && node_at(reduction, node)->kind == FOLD_JOIN &&
           reduction->tree->level_of_node[node] == level) {
        const FoldNode *at = node_at(reduction, node);
        joins[count++] = node;
        bool left = node_at(reduction, at->a)->weight >= node_at(reduction, at->b)->weight;
        node = left ? at->a : at->b;
    }
    return count;
}

static void put_link(Reduction *reduction, ReductionLevel *level, int index, int input, int sum) {
    ReductionBox *box = &level->boxes[index];
    ReductionTerm *term = add_term(level);
    const FoldNode *at = node_at(reduction, sum);
    term->node = input;
    term->thread = thread_of(reduction, sum);
    term->step = step_of_event(reduction, node_at(reduction, input)->event);
    if (node_at(reduction, input)->kind == FOLD_MOVE) put_place(reduction, input, term);
    *box = (ReductionBox){.index = index,
                          .before = bits_of(reduction, input, level->type),
                          .after = bits_of(reduction, sum, level->type),
                          .has_before = true,
                          .has_after = true,
                          .was_live = true,
                          .is_live = true,
                          .adds = true,
                          .before_node = input,
                          .node = sum,
                          .thread = term->thread,
                          .step = step_of_event(reduction, at->event),
                          .first_term = index,
                          .term_count = 1};
}

static ReductionLevel *make_chain(Reduction *reduction, int index, int thread) {
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
            bool left = node_at(reduction, at->a)->weight >= node_at(reduction, at->b)->weight;
            if (!i) put_link(reduction, level, 0, left ? at->a : at->b, left ? at->a : at->b);
            put_link(reduction, level, i + 1, left ? at->b : at->a, joins[count - 1 - i]);
        }
    }
    free(joins);
    return level;
}

const ReductionLevel *reduction_chain(Reduction *reduction, int level, int thread) {
    if (level < 0 || level >= reduction->tree->level_count || thread >= reduction->tree->thread_count)
        return NULL;
    if (reduction->chain_level == level && reduction->chain_thread == thread) return reduction->chain;
    level_free(reduction->chain);
    reduction->chain_level = level;
    reduction->chain_thread = thread;
    return reduction->chain = make_chain(reduction, level, thread);
}

bool reduction_is_worth_showing(Reduction *reduction) {
    if (reduction_fold_count(reduction)) return true;
    for (int i = 0; i < reduction->tree->level_count; i++)
        if (reduction_chain(reduction, i, 0)) return true;
    return false;
}

/* ---- rounding -------------------------------------------------------------------------------------------- */

static double value_of(const Reduction *reduction, int node, PtxType of_sum) {
    return plan_element(reduction_type(reduction, node, of_sum), &node_at(reduction, node)->bits, 0);
}

bool reduction_rounding(const Reduction *reduction, int node, double *rounding) {
    const FoldNode *at = node_at(reduction, node);
    PtxType type = (PtxType)at->type;
    if (at->kind != FOLD_JOIN || !at->is_plain || !is_float(type)) return false;
    if (!is_float(reduction_type(reduction, at->a, type)) ||
        !is_float(reduction_type(reduction, at->b, type)))
        return false;
    double a = value_of(reduction, at->a, type), b = value_of(reduction, at->b, type);
    ExactSum here = {0};
    exact_sum_add(&here, value_of(reduction, node, type), 1);
    exact_sum_add(&here, a, -1);
    exact_sum_add(&here, b, -1);
    *rounding = exact_sum_value(&here);
    return fabs(*rounding) <= fmax(fabs(a), fabs(b)) / 128; /* else it is a minimum, say */
}

/* The value that was brought is not the one that was made: it was scaled, say, on its way. */
static bool is_changed(const Reduction *reduction, int node, PtxType of_sum) {
    int from = node_at(reduction, node)->a;
    if (node_at(reduction, from)->type == PTX_NO_TYPE) return false;
    return value_of(reduction, node, of_sum) != value_of(reduction, from, of_sum);
}

/* The inputs of `node`, each as often as it is in it. */
static bool add_inputs(Reduction *reduction, int node, ExactSum *sum) {
    const TreePath *path = tree_path(reduction->tree, node);
    PtxType type = (PtxType)node_at(reduction, node)->type;
    for (int i = 0; i <= node; i++) {
        const FoldNode *at = node_at(reduction, i);
        double rounding;
        if (path->ways[i] && at->kind == FOLD_JOIN && !reduction_rounding(reduction, i, &rounding))
            return false;
        if (!path->ways[i] || at->kind != FOLD_MOVE) continue;
        if (node_at(reduction, at->a)->kind != FOLD_INPUT) {
            if (is_changed(reduction, i, type)) return false;
            continue;
        }
        if (!is_float(reduction_type(reduction, i, type))) return false;
        exact_sum_add(sum, value_of(reduction, i, type), path->ways[i]);
    }
    return true;
}

bool reduction_error(Reduction *reduction, int node, double *error) {
    double rounding;
    ExactSum all = {0};
    if (!reduction_rounding(reduction, node, &rounding)) return false;
    int root = reduction->tree->path.root;
    bool known = add_inputs(reduction, node, &all);
    tree_path(reduction->tree, root);
    if (!known) return false;
    exact_sum_add(&all, value_of(reduction, node, (PtxType)node_at(reduction, node)->type), -1);
    *error = 0.0 - exact_sum_value(&all);
    return true;
}
