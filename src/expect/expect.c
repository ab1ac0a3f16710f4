/* Reads --expect, and compares an output with it. */
#include "expect/expect_trial.h"

#include "plan/expression.h"
#include "expect/reference.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Said {               /* the parsed text of --expect */
    const ExpectFunction *function; /* NULL: a file */
    int out, a, b, weight, bias;    /* buffers; -1: not named */
    uint64_t columns, width, base;
    bool of_all; /* BUFFER[]=: every element of the output is a partial result */
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

/* Functions of rows and columns are left out of the list: it must fit a message. */
static bool is_of_matrix(const char *name) {
    return !strncmp(name, "row", 3) || !strncmp(name, "col", 3);
}

static bool read_function(const char *at, size_t length, const ExpectFunction **function, Error *error) {
    Text names = {0};
    const char *all[128];
    char name[41];
    int count = 0, shown = (int)(length > 40 ? 40 : length);
    if ((*function = expect_function_named(at, length))) return true;
    for (int i = 0; i < expect_function_count; i++) {
        if (count < (int)(sizeof all / sizeof *all)) all[count++] = expect_functions[i].name;
        if (!is_of_matrix(expect_functions[i].name))
            text_print(&names, "%s%s", i ? ", " : "", expect_functions[i].name);
    }
    snprintf(name, sizeof name, "%.*s", shown, at);
    const char *nearest = length ? text_nearest(name, all, (size_t)count) : NULL;
    if (nearest)
        error_set(error, "--expect: no function '%s'; did you mean %s?", name, nearest);
    else
        error_set(error, "--expect: '%s' is not one of %s, row... and col... (rowsum), file:PATH", name,
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
    bool is_all = !strncmp(equal, "[]", 2);
    if (is_all) equal += 2 + strspn(equal + 2, " ");
    if (*equal == '=') {
        said->out = plan_find_buffer(plan, at, (size_t)(end - at));
        if (said->out < 0) return no_buffer(plan, at, (size_t)(end - at), error);
        said->of_all = is_all;
        at = equal + 1 + strspn(equal + 1, " ");
    }
    if (!strncmp(at, "file:", 5)) {
        snprintf(said->path, sizeof said->path, "%s", at + 5);
        return *said->path || error_set(error, "--expect: a path follows file:");
    }
    end = skip_name(at);
    if (!read_function(at, (size_t)(end - at), &said->function, error)) return false;
    if (*end != '(') return error_set(error, "--expect: write %s(BUFFER)", said->function->name);
    bool has_rows = said->function->shape == EXPECT_ROWS && !said->function->by_column;
    if (said->of_all && said->function->fold == EXPECT_NO_FOLD && !has_rows)
        return error_set(error, "--expect: %s has no partial results; leave out []", said->function->name);
    return read_arguments(end + 1, plan, run, said, error);
}

bool expect_read_inputs(const char *expectation, const ExpectRun *run, ExpectInputs *inputs) {
    Said said;
    Error error = {0};
    if (!read_said(expectation, run->filled, run, &said, &error) || !said.function || said.of_all)
        return false;
    *inputs = (ExpectInputs){said.function, said.a, said.b, said.columns};
    return true;
}

bool expect_read(const char *expectation, const Plan *plan, Error *error) {
    Said said = {.out = -1};
    return read_said(expectation, plan, NULL, &said, error);
}

static bool is_filled(const PlanBuffer *buffer) {
    return buffer->fill != FILL_ZERO && buffer->fill != FILL_VALUE && buffer->fill != FILL_UNWRITTEN;
}

/* The last buffer that the run changed and that is not an input; if it changed none, the last that it could
 * have. */
static int default_output(const ExpectRun *run, const Said *said) {
    int found = -1;
    int arguments = run->done->buffer_count - run->variables;
    for (int i = 0; i < run->done->buffer_count && (i < arguments || found < 0); i++)
        if (i != said->a && i != said->b && expect_changes(run, i).count) found = i;
    if (found < 0 && said->a >= 0 && expect_changes(run, said->a).count) return said->a;
    for (int pass = 0; pass < 2 && found < 0; pass++)
        for (int i = 0; i < run->done->buffer_count && (i < arguments || found < 0); i++)
            if (i != said->a && i != said->b && (pass || !is_filled(&run->filled->buffers[i]))) found = i;
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
        PtxType sums = run->arithmetic.sums    ? run->arithmetic.sums
                       : done->type == PTX_F64 ? PTX_F64
                                               : PTX_F32;
        double units = 64 * reference_roundoff(sums) + 2 * reference_roundoff(done->type),
               bound = ptx_type_is_float(done->type) ? units * fabs((double)wanted) : 0;
        reference_judge(result, done->type, i, (long double)plan_element(done->type, done->bytes, i), wanted,
                        bound);
    }
    free(expected);
    text_print(what, "%s", said->path);
    return count > 0 || error_set(error, "--expect: %s has no elements", said->path);
}

static void print_count(long double whole, Text *to) {
    Text number = {0};
    text_print(&number, "%.0Lf", whole);
    for (size_t i = 0; i < number.length; i++) {
        bool is_group = i && (number.length - i) % 3 == 0 && number.data[i - 1] != '-';
        text_print(to, "%s%c", is_group ? "," : "", number.data[i]);
    }
    text_done(&number);
}

/* Integers wrap: a sum that looks right may not be the sum. */
static void print_overflow(const PlanBuffer *a, PtxType type, Text *what) {
    long double sum = 0, most = ptx_type_is_float(type)
                                    ? 0
                                    : ldexpl(1, 8 * ptx_type_bytes(type) - ptx_type_is_signed(type));
    for (uint64_t i = 0; i < a->count && most > 0; i++)
        sum += (long double)plan_element(a->type, a->bytes, i);
    bool fits = most <= 0 || (sum < most && sum >= (ptx_type_is_signed(type) ? -most : 0));
    if (fits) return;
    text_add(what, ", which wraps: the sum is ");
    print_count(sum, what);
}

/* A run without rounding is compared as if it had been made in double, whose rounding is all that its
 * numbers still have. */
typedef struct Unrounded {
    ExpectRun run;
    PlanBuffer out;
} Unrounded;

static bool make_unrounded(const ExpectRun *run, int out, Unrounded *unrounded) {
    const PlanBuffer *done = &run->done->buffers[out];
    bool of_literal = false;
    unrounded->run = *run;
    unrounded->out = *done;
    unrounded->out.bytes = NULL;
    if (!ptx_type_is_float(done->type)) return false;
    unrounded->out.type = PTX_F64;
    unrounded->out.bytes = memory_new((size_t)done->count * sizeof(double) + 1);
    if (!run->shadow->of(run->shadow, done, unrounded->out.bytes, &of_literal)) return false;
    unrounded->run.arithmetic.sums = PTX_F64;
    unrounded->run.arithmetic.terms = of_literal ? PTX_F32 : PTX_NO_TYPE;
    unrounded->run.arithmetic.stored = PTX_NO_TYPE;
    unrounded->run.arithmetic.stores = 0;
    return true;
}

bool expect_compare(const char *expectation, const ExpectRun *run, ExpectResult *result, Text *what,
                    Error *error) {
    Said said = {.out = -1};
    if (!read_said(expectation, run->filled, run, &said, error)) return false;
    int out = said.out >= 0 ? said.out : default_output(run, &said);
    Unrounded unrounded = {.out = run->done->buffers[out]};
    *result = (ExpectResult){0};
    if (run->shadow && (!said.function || !make_unrounded(run, out, &unrounded))) {
        free(unrounded.out.bytes == run->done->buffers[out].bytes ? NULL : unrounded.out.bytes);
        return true;
    }
    if (!said.function) return compare_file(run, &said, out, result, what, error);
    ExpectTrial trial = {.run = run->shadow ? &unrounded.run : run,
                         .function = said.function,
                         .a = &run->filled->buffers[said.a],
                         .b = said.b < 0 ? NULL : &run->filled->buffers[said.b],
                         .out = &unrounded.out,
                         .changed = expect_changes(run, out),
                         .of_all = said.of_all,
                         .whole = memory_new((size_t)run->filled->buffer_count + 1),
                         .columns = said.columns,
                         .width = said.width,
                         .base = said.base,
                         .weight = said.weight < 0 ? NULL : &run->filled->buffers[said.weight],
                         .bias = said.bias < 0 ? NULL : &run->filled->buffers[said.bias]};
    assert(trial.a);
    trial.length = trial.b && trial.b->count < trial.a->count ? trial.b->count : trial.a->count;
    bool is_right = expect_try(&trial);
    free(trial.whole);
    if (run->shadow) free(unrounded.out.bytes);
    if (!trial.result.compared)
        return error_set(error, "--expect: %s does not have as many elements as %s gives of %s",
                         trial.out->name, said.function->name, trial.a->name);
    trial.result.correct = is_right;
    if (is_right && !expect_is_judged(&trial))
        trial.result.verdict = "cannot be judged";
    else if (is_right && trial.partials)
        trial.result.verdict = "total right";
    *result = trial.result;
    expect_print_name(&trial, what);
    if (is_right && !strcmp(said.function->name, "sum")) print_overflow(trial.a, trial.out->type, what);
    if (!is_right && trial.ties)
        text_print(what,
                   "; the two elements are equal, and the first is asked for (%s_any takes each of them)",
                   said.function->name);
    if (!is_right && !trial.changed.count) text_print(what, "; the run leaves %s as it was", trial.out->name);
    return true;
}

/* ---- without --expect ---------------------------------------------------------------------------------- */

/* A function of so few elements, or a result of zero, agrees by chance; so do partial results of more than
 * the blocks. */
static bool looks_like(const ExpectRun *run, ExpectTrial *trial) {
    enum { FEW = 32 };
    uint64_t blocks = launch_volume(run->done->launches[0].grid);
    return trial->length >= FEW && expect_try(trial) && trial->result.expected != 0 &&
           trial->partials <= blocks && trial->result.absolute_error <= 1e-3 * fabs(trial->result.expected);
}

/* A sum that leaves out the end of its input: all but the last element, or what no full group of 32 holds.
 * False where another number of elements explains the value as well: a part of a random walk is met by
 * chance. */
static bool is_sum_of_part(const ExpectTrial *trial, uint64_t *length) {
    enum { FEW = 64, GROUP = 32 };
    long double sum = 0, magnitude = 0,
                got = (long double)plan_element(trial->out->type, trial->out->bytes, 0);
    uint64_t ends = 0;
    bool is_group = false;
    if (trial->length < FEW || trial->changed.count != 1 || got == 0) return false;
    for (uint64_t i = 0; i + 1 < trial->length; i++) {
        long double x = (long double)plan_element(trial->a->type, trial->a->bytes, i);
        sum += x;
        magnitude += fabsl(x);
        if (i + 1 < trial->length / 2) continue;
        if (fabsl(got - sum) > 0x1p-20L * magnitude * (ptx_type_is_float(trial->out->type) ? 1 : 0)) continue;
        if (ends++) return false;
        is_group = (i + 1) % GROUP == 0 || i + 2 == trial->length;
        *length = i + 1;
    }
    return ends && is_group;
}

bool expect_changes_nothing(const ExpectRun *run) {
    for (int i = 0; i < run->done->buffer_count; i++)
        if (expect_changes(run, i).count) return false;
    return true;
}

bool expect_look(const ExpectRun *run, Text *what) {
    static const char *const functions[] = {"sum", "max", "min", "dot"};
    int8_t *whole = memory_new((size_t)run->filled->buffer_count + 1);
    bool found = false;
    for (int i = 0; i < 4 * run->filled->buffer_count && !found; i++) {
        const PlanBuffer *a = &run->filled->buffers[i / 4];
        Said said = {.a = i / 4, .b = -1, .function = expect_function_named(functions[i % 4], 3)};
        for (int k = i / 4 + 1; said.function->inputs == 2 && k < run->filled->buffer_count && said.b < 0;
             k++)
            if (is_filled(&run->filled->buffers[k])) said.b = k;
        if (!is_filled(a) || (said.function->inputs == 2 && said.b < 0)) continue;
        int out = default_output(run, &said);
        ExpectTrial trial = {.run = run,
                             .function = said.function,
                             .a = a,
                             .b = said.b < 0 ? NULL : &run->filled->buffers[said.b],
                             .out = &run->done->buffers[out],
                             .changed = expect_changes(run, out),
                             .whole = whole,
                             .length = a->count};
        if (trial.b && trial.b->count < trial.length) trial.length = trial.b->count;
        found = trial.changed.count && looks_like(run, &trial);
        if (found) expect_print_name(&trial, what);
        bool is_sum = !strcmp(said.function->name, "sum");
        if (found && is_sum) print_overflow(a, trial.out->type, what);
        uint64_t part = 0;
        if (found || !is_sum || !is_sum_of_part(&trial, &part)) continue;
        text_print(what, "sum(%s[0..%llu]), which leaves out ", a->name, (unsigned long long)part - 1);
        print_count((long double)(a->count - part), what);
        text_add(what, " of ");
        print_count((long double)a->count, what);
        text_add(what, " elements");
        found = true;
    }
    free(whole);
    return found;
}
