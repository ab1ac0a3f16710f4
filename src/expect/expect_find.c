/* Searches for the functions that the outputs of a run look like: tries them one after another on each
 * output, its parts, and the other outputs. */
#include "expect/expect_parts.h"

#include <stdlib.h>

enum { WORK = 1 << 27, TIMES = 32, MOST_FOUND = 8 };

typedef struct Found { /* an output that looks like a function */
    int buffer;
    ExpectResult result;
    Text what;
    ExpectTrial trial; /* for the whole output; function NULL: it has parts */
    ExpectChanged changed;
} Found;

typedef struct Finder {
    const ExpectRun *run;
    int8_t *whole;
    ExpectTotals *totals;
    uint64_t work; /* limit of elements read; granted again for parts and for each further output */
    Found found[MOST_FOUND];
    int count;
} Finder;

static bool find_wrong(ExpectTrial *trial, ExpectResult *result, Text *what) {
    const Plan *filled = trial->run->filled;
    const char *name = !strcmp(trial->run->fold, "add") ? "sum" : trial->run->fold;
    int inputs = 0;
    for (int i = 0; i < filled->buffer_count; i++)
        if (expect_is_input(trial->run, i)) {
            inputs++;
            trial->a = &filled->buffers[i];
        }
    if (inputs != 1) return false;
    trial->function = expect_function_named(name, strlen(name));
    uint64_t lengths[EXPECT_LENGTHS];
    expect_lengths(trial->run, trial->a, lengths);
    trial->b = NULL;
    trial->length = lengths[0];
    trial->columns = 0;
    trial->is_guess = false;
    trial->takes_parts = true;
    bool is_right = expect_try_total(trial); /* for sizes beyond the usual limit */
    trial->result.correct = is_right;
    return expect_keep(trial, result, what);
}

/* The next output: first arguments, the last one first, since outputs follow inputs; then variables. -1: no
 * more. */
static int next_output(const ExpectRun *run, int *position, ExpectChanged *changed) {
    int arguments = run->done->buffer_count - run->variables;
    while (*position < run->done->buffer_count) {
        int k = (*position)++, i = k < arguments ? arguments - 1 - k : k;
        *changed = expect_changes(run, i);
        if (changed->count) return i;
    }
    return -1;
}

/* Memory that the kernel also reads may be its scratch memory. */
static bool is_only_result(const ExpectRun *run, int buffer) {
    const PlanBuffer *out = &run->filled->buffers[buffer];
    bool was_filled = expect_is_input(run, buffer) && out->fill != FILL_UNWRITTEN;
    return !was_filled && !(run->read && run->read[buffer]);
}

/* `outputs`: their number. */
static bool try_outputs(ExpectTrial *trial, ExpectPass pass, int *outputs) {
    const ExpectRun *run = trial->run;
    ExpectChanged changed;
    int position = 0, i;
    *outputs = 0;
    while ((i = next_output(run, &position, &changed)) >= 0) {
        ++*outputs;
        trial->changed = changed;
        trial->out = &run->done->buffers[i];
        uint64_t kept = pass == EXPECT_PASS_EACH && expect_is_input(run, i) ? *trial->work / 2 : 0;
        *trial->work -= kept; /* scratch memory must not use up the limit */
        bool is_dense = changed.count * 4 >= changed.end * 3;
        trial->explains_all = pass == EXPECT_PASS_PARTS && is_dense && is_only_result(run, i);
        bool found = expect_search(trial, pass);
        trial->explains_all = false;
        *trial->work += kept;
        if (found) return true;
    }
    return false;
}

/* Tries functions of a part of the inputs, and reports a wrong result if the kernel computes only one
 * function. */
static bool find_last(ExpectTrial *trial, ExpectResult *result, Text *what) {
    const PlanLaunch *launch = &trial->run->done->launches[0];
    int outputs = 0;
    if (try_outputs(trial, EXPECT_PASS_PARTS, &outputs)) return expect_keep(trial, result, what);
    return outputs == 1 && trial->run->fold && trial->changed.end <= launch_volume(launch->grid) &&
           find_wrong(trial, result, what);
}

/* Some changed elements are unexplained. */
static bool is_incomplete(const ExpectTrial *trial) {
    ExpectShape shape = trial->function->shape;
    if (shape == EXPECT_TOTAL) return !trial->partials && trial->changed.count > 1;
    return shape == EXPECT_ROWS && trial->result.compared < trial->changed.count;
}

/* An extreme may lie beside a value of another type, since no index is as large as an element; a sum may lie
 * beside the sum of another component. */
static bool may_be_structure(const ExpectTrial *trial) {
    return trial->partials > 1 && trial->partials == trial->changed.end;
}

static void keep_whole(Finder *finder, const ExpectTrial *trial) {
    Found *found = &finder->found[finder->count++];
    *found = (Found){.buffer = trial->changed.buffer, .trial = *trial, .changed = trial->changed};
    expect_keep(trial, &found->result, &found->what);
}

/* Decides between the whole, which looks like a function if `is_found`, and the parts of trial->out. SOME: it
 * has parts, and one of them is unknown. */
static ExpectParts settle(Finder *finder, const ExpectTrial *trial, bool is_found) {
    const ExpectRun *run = finder->run;
    int buffer = trial->changed.buffer;
    ExpectParts parts = EXPECT_NO_PARTS;
    bool may_have_parts = !is_found || is_incomplete(trial) || may_be_structure(trial);
    if (may_have_parts && is_only_result(run, buffer)) {
        uint64_t work = finder->work / 2;
        ExpectTrial whole = *trial;
        Found found = {.buffer = buffer, .changed = trial->changed};
        whole.work = &work;
        parts = expect_find_parts(&whole, is_found, &found.result, &found.what);
        if (parts == EXPECT_ALL_PARTS) finder->found[finder->count++] = found;
    }
    if (parts != EXPECT_NO_PARTS || !is_found) return parts;
    keep_whole(finder, trial);
    return EXPECT_ALL_PARTS;
}

/* Tries the parts of outputs that look like no function as a whole. */
static ExpectParts settle_outputs(Finder *finder, ExpectTrial *trial) {
    ExpectParts best = EXPECT_NO_PARTS;
    int position = 0, i;
    while (best != EXPECT_ALL_PARTS && (i = next_output(finder->run, &position, &trial->changed)) >= 0) {
        trial->out = &finder->run->done->buffers[i];
        ExpectParts parts = settle(finder, trial, false);
        if (parts > best) best = parts;
    }
    return best;
}

/* ---- further outputs ----------------------------------------------------------------------------------- */

/* A counter of blocks or of threads is not a result. */
static bool is_counter(const ExpectRun *run, const ExpectChanged *changed) {
    const PlanBuffer *out = &run->done->buffers[changed->buffer];
    const PlanLaunch *launch = &run->done->launches[0];
    if (changed->end != 1 || ptx_type_is_float(out->type)) return false;
    long double value = expect_element(out, 0), blocks = (long double)launch_volume(launch->grid);
    return value == blocks || value == blocks - 1 || value == (long double)expect_threads(run);
}

/* It has as many elements as the first output, so either of them may be the result. */
static bool is_alike(const Finder *finder, const ExpectChanged *changed) {
    const Found *first = &finder->found[0];
    const ExpectFunction *function = first->trial.function;
    return changed->end == first->changed.end && !(function && function->shape == EXPECT_EACH);
}

static bool find_further(Finder *finder, ExpectTrial *trial) {
    const ExpectTrial *first = &finder->found[0].trial;
    if (first->function && (expect_try_places(trial, first) || expect_try_carried(trial, first))) {
        keep_whole(finder, trial);
        return true;
    }
    bool is_found = expect_search(trial, EXPECT_PASS_EACH) || expect_search(trial, EXPECT_PASS_ALL);
    return settle(finder, trial, is_found) == EXPECT_ALL_PARTS;
}

/* Finds the outputs beside the first one. False: another possible result looks like no known function. */
static bool find_others(Finder *finder) {
    const ExpectRun *run = finder->run;
    int arguments = run->done->buffer_count - run->variables, first = finder->found[0].buffer;
    if (run->names_output) return true;
    for (int i = 0; i < arguments && finder->count < MOST_FOUND; i++) {
        uint64_t work = finder->work / 4;
        ExpectTrial trial = {.run = run,
                             .out = &run->done->buffers[i],
                             .is_guess = true,
                             .whole = finder->whole,
                             .totals = finder->totals,
                             .work = &work,
                             .epsilon = EXPECT_EPSILON};
        if (i == first || !is_only_result(run, i) || !is_only_result(run, first)) continue;
        trial.changed = expect_changes(run, i);
        if (!trial.changed.count || is_counter(run, &trial.changed)) continue;
        if (!find_further(finder, &trial) && is_alike(finder, &trial.changed)) return false;
    }
    return true;
}

/* "sums = sum(in) of 4 partial results; maxima = max(in) of 4 partial results", in the order of the
 * buffers. */
static void keep_all(Finder *finder, ExpectResult *result, Text *what) {
    const PlanBuffer *buffers = finder->run->done->buffers;
    *result = (ExpectResult){0};
    for (int i = 0, left = finder->count; i < finder->run->done->buffer_count; i++)
        for (int k = 0; k < finder->count; k++) {
            Found *found = &finder->found[k];
            if (found->buffer != i) continue;
            bool is_named = finder->count > 1 || (finder->run->names_output && !found->trial.function);
            if (is_named) text_print(what, "%s = ", buffers[i].name);
            size_t begin = what->length;
            text_add(what, text_string(&found->what));
            if (--left) text_add(what, "; ");
            expect_merge(result, &found->result, found->result.index);
            result->function_length = begin + found->result.function_length;
        }
    result->outputs = finder->count;
}

bool expect_find(const ExpectRun *run, ExpectResult *result, Text *what) {
    uint64_t work = run->is_trial           ? WORK / 8
                    : run->n < WORK / TIMES ? WORK
                    : run->n < WORK         ? run->n * TIMES
                                            : (uint64_t)WORK * TIMES;
    Finder finder = {.run = run,
                     .work = work,
                     .whole = memory_new((size_t)run->filled->buffer_count + 1),
                     .totals = memory_new(sizeof *finder.totals)};
    ExpectTrial trial = {.run = run,
                         .is_guess = true,
                         .whole = finder.whole,
                         .totals = finder.totals,
                         .work = &work,
                         .epsilon = EXPECT_EPSILON};
    int outputs = 0;
    bool found =
        try_outputs(&trial, EXPECT_PASS_EACH, &outputs) || try_outputs(&trial, EXPECT_PASS_ALL, &outputs);
    ExpectParts parts = found ? settle(&finder, &trial, true) : settle_outputs(&finder, &trial);
    bool is_known = parts == EXPECT_ALL_PARTS && find_others(&finder);
    if (is_known)
        keep_all(&finder, result, what);
    else if (parts == EXPECT_NO_PARTS)
        is_known = find_last(&trial, result, what);
    for (int i = 0; i < finder.count; i++) text_done(&finder.found[i].what);
    free(finder.whole);
    free(finder.totals);
    return is_known;
}
