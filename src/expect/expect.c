/* Reads --expect, and compares an output with it. */
#include "expect/expect_trial.h"

#include "plan/expression.h"
#include "expect/reference.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

typedef struct Said {               /* the parsed text of --expect */
    const ExpectFunction *function; /* NULL: a file */
    int out, a, b, weight, bias;    /* buffers; -1: not named */
    uint64_t columns, width, base;
    char path[512];
} Said;

static bool no_buffer(const Plan *plan, const char *name, size_t length, Error *error) {
    Text names = {0};
    for (int i = 0; i < plan->buffer_count; i++)
        text_print(&names, "%s%s", i ? ", " : "", plan->buffers[i].name);
    error_set(error, "--expect: no buffer '%.*s'; there are: %.200s", (int)(length > 60 ? 60 : length), name,
              text_string(&names));
    text_done(&names);
    return false;
}

static bool read_function(const char *at, size_t length, const ExpectFunction **function, Error *error) {
    Text names = {0};
    if ((*function = expect_function_named(at, length))) return true;
    for (int i = 0; i < expect_function_count; i++)
        text_print(&names, "%s%s", i ? ", " : "", expect_functions[i].name);
    error_set(error, "--expect: '%.*s' is not one of %s, file:PATH", (int)(length > 40 ? 40 : length), at,
              text_string(&names));
    text_done(&names);
    return false;
}

static const char *skip_name(const char *at) {
    while (isalnum((unsigned char)*at) || *at == '_') at++;
    return at;
}

static bool read_arguments(const char *at, const Plan *plan, const ExpectRun *run, Said *said, Error *error) {
    int weights = 0;
    for (int item = 0; *at != ')'; item++) {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",)");
        size_t used = length;
        while (used && at[used - 1] == ' ') used--;
        if (!at[length]) return error_set(error, "--expect: ')' is missing");
        if (item < said->function->inputs) {
            int *input = item ? &said->b : &said->a;
            *input = plan_find_buffer(plan, at, used);
            if (*input < 0) return no_buffer(plan, at, used, error);
        } else if (said->function->takes_weights && said->bias < 0 && plan_find_buffer(plan, at, used) >= 0) {
            *(said->weight < 0 ? &said->weight : &said->bias) = plan_find_buffer(plan, at, used);
            weights++;
        } else {
            const PlanLaunch *launch = &plan->launches[0];
            ExpressionName names[] = {{"n", expression_integer(run ? (int64_t)run->n : 1)},
                                      {"block", expression_integer((int64_t)launch_volume(launch->block))},
                                      {"grid", expression_integer((int64_t)launch_volume(launch->grid))}};
            ExpressionValue value;
            Error inner = {0};
            bool has_matrices = said->function->shape == EXPECT_ROWS && said->function->by_column;
            int number = item - said->function->inputs - weights, most = said->function->has_bins ? 3
                                                                         : has_matrices           ? 2
                                                                                                  : 1;
            if (number >= most || !said->function->takes_columns)
                return error_set(error, "--expect: %s takes fewer arguments", said->function->name);
            if (!expression_evaluate(at, used, names, 3, &value, &inner))
                return error_set(error, "--expect: %s", inner.message);
            if (value.is_float || value.integer < 1)
                return error_set(error, "--expect: '%.*s' is not a whole number from 1 on", (int)used, at);
            *(number > 1 ? &said->base : number ? &said->width : &said->columns) = (uint64_t)value.integer;
        }
        at += length + (at[length] == ',');
    }
    bool has_all = said->a >= 0 && (said->function->inputs < 2 || said->b >= 0);
    if (!has_all)
        return error_set(error, "--expect: %s needs %d buffer%s", said->function->name,
                         said->function->inputs, said->function->inputs == 1 ? "" : "s");
    bool needs_columns = said->function->shape == EXPECT_ROWS && !said->columns;
    if (needs_columns)
        return error_set(error, "--expect: %s needs the number of columns: %s(%s, 1024)",
                         said->function->name, said->function->name, plan->buffers[said->a].name);
    at += 1 + strspn(at + 1, " ");
    return !*at || error_set(error, "--expect: '%.60s' follows ')'", at);
}

static bool read_said(const char *text, const Plan *plan, const ExpectRun *run, Said *said, Error *error) {
    for (const char *c = text; *c; c++) /* error messages quote it on one line */
        if ((unsigned char)*c < ' ')
            return error_set(error, "--expect: a control character (0x%02x) in its text", (unsigned char)*c);
    const char *at = text + strspn(text, " "), *end = skip_name(at);
    *said = (Said){.out = -1, .a = -1, .b = -1, .weight = -1, .bias = -1};
    const char *equal = end + strspn(end, " ");
    if (*equal == '=') {
        said->out = plan_find_buffer(plan, at, (size_t)(end - at));
        if (said->out < 0) return no_buffer(plan, at, (size_t)(end - at), error);
        at = equal + 1 + strspn(equal + 1, " ");
    }
    if (!strncmp(at, "file:", 5)) {
        snprintf(said->path, sizeof said->path, "%s", at + 5);
        return *said->path || error_set(error, "--expect: a path follows file:");
    }
    end = skip_name(at);
    if (!read_function(at, (size_t)(end - at), &said->function, error)) return false;
    if (*end != '(') return error_set(error, "--expect: write %s(BUFFER)", said->function->name);
    return read_arguments(end + 1, plan, run, said, error);
}

bool expect_read(const char *expectation, const Plan *plan, Error *error) {
    Said said = {.out = -1};
    return read_said(expectation, plan, NULL, &said, error);
}

/* The last buffer that the run changed and that is not an input. */
static int default_output(const ExpectRun *run, const Said *said) {
    int found = -1;
    int arguments = run->done->buffer_count - run->variables;
    for (int i = 0; i < run->done->buffer_count && (i < arguments || found < 0); i++)
        if (i != said->a && i != said->b && expect_changes(run, i).count) found = i;
    if (found < 0 && said->a >= 0 && expect_changes(run, said->a).count) return said->a;
    for (int i = 0; found < 0 && i < run->done->buffer_count; i++)
        if (i != said->a && i != said->b) found = i;
    return found < 0 ? 0 : found;
}

static bool compare_file(const ExpectRun *run, const Said *said, int out, ExpectResult *result, Text *what,
                         Error *error) {
    const PlanBuffer *done = &run->done->buffers[out];
    size_t bytes = (size_t)done->count * (size_t)ptx_type_bytes(done->type), length;
    char *expected;
    if (!text_read_file(said->path, bytes + 1, &expected, &length, error)) return false;
    uint64_t count = length / (uint64_t)ptx_type_bytes(done->type);
    *result = (ExpectResult){0};
    for (uint64_t i = 0; i < count && i < done->count; i++) {
        long double wanted = (long double)plan_element(done->type, expected, i);
        double bound =
            ptx_type_is_float(done->type) ? 64 * reference_roundoff(done->type) * fabs((double)wanted) : 0;
        reference_judge(result, done->type, i, expect_element(done, i), wanted, bound);
    }
    free(expected);
    text_print(what, "%s", said->path);
    return count > 0 || error_set(error, "--expect: %s has no elements", said->path);
}

bool expect_compare(const char *expectation, const ExpectRun *run, ExpectResult *result, Text *what,
                    Error *error) {
    Said said = {.out = -1};
    if (!read_said(expectation, run->filled, run, &said, error)) return false;
    int out = said.out >= 0 ? said.out : default_output(run, &said);
    if (!said.function) return compare_file(run, &said, out, result, what, error);
    ExpectTrial trial = {.run = run,
                         .function = said.function,
                         .a = &run->filled->buffers[said.a],
                         .b = said.b < 0 ? NULL : &run->filled->buffers[said.b],
                         .out = &run->done->buffers[out],
                         .changed = expect_changes(run, out),
                         .whole = memory_new((size_t)run->filled->buffer_count + 1),
                         .columns = said.columns,
                         .width = said.width,
                         .base = said.base,
                         .weight = said.weight < 0 ? NULL : &run->filled->buffers[said.weight],
                         .bias = said.bias < 0 ? NULL : &run->filled->buffers[said.bias],
                         .epsilon = EXPECT_EPSILON};
    assert(trial.a);
    trial.length = trial.b && trial.b->count < trial.a->count ? trial.b->count : trial.a->count;
    bool is_right = expect_try(&trial);
    free(trial.whole);
    if (!trial.result.compared)
        return error_set(error, "--expect: %s does not have as many elements as %s gives of %s",
                         trial.out->name, said.function->name, trial.a->name);
    trial.result.correct = is_right;
    return expect_keep(&trial, result, what);
}
