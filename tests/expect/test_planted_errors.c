/* Planted errors: whether --expect tells right results from wrong ones. For every function, every type of
 * input and of arithmetic, a right kernel is right, and one that drops, doubles or forgets something is
 * wrong. The kernels are computed here: 32 lanes, then a tree. */
#include "expect/expect_functions.h"
#include "tests/catalog/made_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = 256, LONG = 64, SHORT = N / LONG, BINS = 16, LANES = 32, LARGE = 37, DEPTH = N / LANES + 8 };

typedef enum Fault { NONE, DROP_ELEMENT, DROP_WARP, WRONG_FACTOR, ZERO, FAULTS } Fault;
static const char *const fault_names[] = {"right", "an element dropped", "a warp dropped", "a wrong factor",
                                          "zero"};

typedef struct Sim { /* a group of elements that gives a result, or results */
    PtxType sums;
    double a[N], b[N];
    double before[N]; /* the element before each, also of another group */
    bool is_dropped[N];
    uint64_t count;
} Sim;

/* A value of the type. */
static double in_type(PtxType type, double x) {
    uint8_t bytes[8];
    plan_element_set(type, bytes, 0, x);
    return plan_element(type, bytes, 0);
}

static double in_sums(const Sim *sim, double x) {
    return in_type(sim->sums, x);
}

static double sum_of(const Sim *sim, const double *terms) {
    double lane[LANES] = {0};
    for (uint64_t i = 0; i < sim->count; i++)
        lane[i % LANES] = in_sums(sim, lane[i % LANES] + (sim->is_dropped[i] ? 0 : terms[i]));
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) lane[i] = in_sums(sim, lane[i] + lane[i + half]);
    return lane[0];
}

static uint64_t place_of_extreme(const Sim *sim, int sign, bool is_absolute) {
    int64_t best = -1;
    for (uint64_t i = 0; i < sim->count; i++) {
        double x = is_absolute ? fabs(sim->a[i]) : sim->a[i], y = best < 0 ? 0 : sim->a[best];
        if (!sim->is_dropped[i] && (best < 0 || sign * x > sign * y)) best = (int64_t)i;
    }
    return (uint64_t)best;
}

static double average_of(const Sim *sim) {
    return in_sums(sim, sum_of(sim, sim->a) / (double)sim->count);
}

static double variance_of(const Sim *sim) {
    double terms[N], average = average_of(sim);
    for (uint64_t i = 0; i < sim->count; i++) {
        double x = in_sums(sim, sim->a[i] - average);
        terms[i] = in_sums(sim, x * x);
    }
    return in_sums(sim, sum_of(sim, terms) / (double)sim->count);
}

static double exponentials_of(const Sim *sim) {
    double terms[N], most = sim->a[place_of_extreme(sim, 1, false)];
    for (uint64_t i = 0; i < sim->count; i++) terms[i] = in_sums(sim, exp(in_sums(sim, sim->a[i] - most)));
    return sum_of(sim, terms);
}

static double term_of(const Sim *sim, const char *name, uint64_t i) {
    double a = sim->a[i], b = sim->b[i];
    if (!strcmp(name, "sumsq")) return in_sums(sim, a * a);
    if (!strcmp(name, "sumcube")) return in_sums(sim, in_sums(sim, a * a) * a);
    if (!strcmp(name, "sumabs")) return fabs(a);
    if (!strcmp(name, "nonzero")) return a != 0;
    if (!strcmp(name, "dot")) return in_sums(sim, a * b);
    if (!strcmp(name, "absdist")) return fabs(in_sums(sim, a - b));
    if (!strcmp(name, "sqdist")) return in_sums(sim, in_sums(sim, a - b) * in_sums(sim, a - b));
    return a;
}

static double sum_named(const Sim *sim, const char *name) {
    double terms[N];
    for (uint64_t i = 0; i < sim->count; i++) terms[i] = term_of(sim, name, i);
    return sum_of(sim, terms);
}

static double product_of(const Sim *sim) {
    double all = 1;
    for (uint64_t i = 0; i < sim->count; i++)
        if (!sim->is_dropped[i]) all = in_sums(sim, all * sim->a[i]);
    return all;
}

static double total_of(const Sim *sim, const char *name) {
    double count = (double)sim->count;
    if (!strcmp(name, "max")) return sim->a[place_of_extreme(sim, 1, false)];
    if (!strcmp(name, "min")) return sim->a[place_of_extreme(sim, -1, false)];
    if (!strcmp(name, "maxabs")) return fabs(sim->a[place_of_extreme(sim, 1, true)]);
    if (!strncmp(name, "argmax", 6)) return (double)place_of_extreme(sim, 1, false);
    if (!strncmp(name, "argmin", 6)) return (double)place_of_extreme(sim, -1, false);
    if (!strcmp(name, "mean")) return average_of(sim);
    if (!strcmp(name, "mse")) return in_sums(sim, sum_named(sim, "sqdist") / count);
    if (!strcmp(name, "norm")) return in_sums(sim, sqrt(sum_named(sim, "sumsq")));
    if (!strcmp(name, "variance")) return variance_of(sim);
    if (!strcmp(name, "samplevariance")) return in_sums(sim, variance_of(sim) * count / (count - 1));
    if (!strcmp(name, "sumexp")) return exponentials_of(sim);
    if (!strcmp(name, "logsumexp"))
        return in_sums(sim,
                       sim->a[place_of_extreme(sim, 1, false)] + in_sums(sim, log(exponentials_of(sim))));
    if (!strcmp(name, "product")) return product_of(sim);
    return sum_named(sim, name);
}

static void each_of(const Sim *sim, const char *name, double *out) {
    double so_far = 0, most = -INFINITY, extreme = sim->a[place_of_extreme(sim, 1, false)];
    bool is_exclusive = !strcmp(name, "exscan") || !strcmp(name, "shiftscan");
    for (uint64_t i = 0; i < sim->count; i++) {
        double x = sim->is_dropped[i] ? 0 : sim->a[i], before = so_far;
        if (!strcmp(name, "segscan") && sim->b[i] != 0) so_far = 0;
        if (!strcmp(name, "shiftscan"))
            before = so_far = in_sums(sim, so_far + (i && sim->is_dropped[i - 1] ? 0 : sim->before[i]));
        else
            so_far = in_sums(sim, so_far + x);
        if (!sim->is_dropped[i] && x > most) most = x;
        out[i] = is_exclusive ? before : so_far;
        if (!strcmp(name, "maxscan")) out[i] = most;
        if (!strcmp(name, "allmax")) out[i] = extreme;
    }
    for (uint64_t i = 0; i < sim->count; i++) {
        double x = sim->a[i], y = in_sums(sim, x - extreme);
        if (!strcmp(name, "allsum")) out[i] = sum_of(sim, sim->a);
        if (strstr(name, "softmax")) out[i] = in_sums(sim, in_sums(sim, exp(y)) / exponentials_of(sim));
        if (!strcmp(name, "logsoftmax")) out[i] = in_sums(sim, y - in_sums(sim, log(exponentials_of(sim))));
        if (!strcmp(name, "normalize"))
            out[i] = in_sums(sim, x / in_sums(sim, sqrt(sum_named(sim, "sumsq"))));
        if (!strcmp(name, "layernorm") || !strcmp(name, "batchnorm"))
            out[i] =
                in_sums(sim, in_sums(sim, x - average_of(sim)) / in_sums(sim, sqrt(variance_of(sim) + 1e-5)));
        if (!strcmp(name, "rmsnorm")) {
            double square = in_sums(sim, sum_named(sim, "sumsq") / (double)sim->count);
            out[i] = in_sums(sim, x / in_sums(sim, sqrt(square + 1e-6)));
        }
    }
}

static void bins_of(const Sim *sim, const char *name, double *out) {
    for (int i = 0; i < BINS; i++) out[i] = 0;
    for (uint64_t i = 0; i < sim->count; i++) {
        bool counts = !strcmp(name, "histogram");
        int bin = (int)(counts ? sim->a[i] : sim->b[i]);
        if (!sim->is_dropped[i] && bin < BINS) out[bin] = in_sums(sim, out[bin] + (counts ? 1 : sim->a[i]));
    }
}

typedef struct Row { /* of the matrix */
    PtxType type, sums, out;
} Row;

static const Row rows[] = {
    {PTX_F16, PTX_F32, PTX_F16},   {PTX_F16, PTX_F32, PTX_F32},  {PTX_F16, PTX_F16, PTX_F16},
    {PTX_BF16, PTX_F32, PTX_BF16}, {PTX_BF16, PTX_F32, PTX_F32}, {PTX_F32, PTX_F32, PTX_F32},
    {PTX_F64, PTX_F64, PTX_F64},   {PTX_S32, PTX_S32, PTX_S32},  {PTX_U32, PTX_U32, PTX_U32},
    {PTX_S64, PTX_S64, PTX_S64},   {PTX_U8, PTX_S32, PTX_S32},
};

/* Functions that need fractions, and a factor per element that no integer has. */
static bool is_of_floats(const ExpectFunction *function) {
    return function->error == EXPECT_OF_ROUNDINGS;
}

static void fill(MadeRun *run, const Row *row, const ExpectFunction *function) {
    Plan *const plans[] = {&run->filled, &run->done};
    bool is_float = ptx_type_is_float(row->type), has_keys = !strcmp(function->name, "sumby"),
         has_flags = !strcmp(function->name, "segscan"), is_product = !strcmp(function->name, "product"),
         has_exponentials = strstr(function->name, "exp") || strstr(function->name, "softmax");
    for (int i = 0; i < 2; i++)
        for (uint64_t k = 0; k < N; k++) {
            double x = is_float ? 1 + (double)(k * 7919 % 64) / 64 : 2 + (double)(k * 7919 % 3);
            uint64_t in_group = function->by_column               ? k / SHORT
                                : function->shape == EXPECT_TOTAL ? k
                                                                  : k % LONG;
            if (in_group == LARGE) x = has_exponentials ? 8 : 15;
            if (in_group == LARGE + 1) x = is_float ? 0.5 : 1;
            if (is_product) x = in_group == LARGE ? 1.5 : k % 2 ? 0x1p-1 : 0x1p+1;
            if (is_product && !is_float) x = k % 64 == LARGE ? 3 : 1;
            double other = has_keys            ? (double)(k % BINS)
                           : has_flags         ? k % 50 == 3
                           : in_group == LARGE ? 3
                                               : 0.5;
            plan_element_set(row->type, plans[i]->buffers[0].bytes, k, x);
            plan_element_set(row->type, plans[i]->buffers[1].bytes, k, other);
        }
}

static void take_group(const MadeRun *run, const ExpectFunction *function, uint64_t group, Sim *sim) {
    bool is_whole = function->shape == EXPECT_TOTAL || function->has_bins;
    sim->count = is_whole ? N : LONG;
    for (uint64_t i = 0; i < sim->count; i++) {
        uint64_t at = is_whole ? i : function->by_column ? i * SHORT + group : group * LONG + i;
        sim->a[i] = made_in(run, 0, at);
        sim->b[i] = made_in(run, 1, at);
        sim->before[i] = at ? made_in(run, 0, at - 1) : 0;
    }
}

/* The element that a faulty kernel drops is one that shows it. */
static void plant(Sim *sim, const ExpectFunction *function, Fault fault) {
    bool is_min = strstr(function->name, "min") != NULL;
    uint64_t shows = is_min ? place_of_extreme(sim, -1, false) : LARGE;
    memset(sim->is_dropped, 0, sizeof sim->is_dropped);
    if (fault == DROP_ELEMENT) sim->is_dropped[shows] = true;
    for (uint64_t i = 0; fault == DROP_WARP && i < LANES; i++)
        sim->is_dropped[LARGE / LANES * LANES + i] = true;
}

static void run_kernel(MadeRun *run, const Row *row, const ExpectFunction *function, Fault fault) {
    static Sim sim;
    double out[N] = {0};
    bool has_prefix = !strncmp(function->name, "row", 3) || !strncmp(function->name, "col", 3);
    const char *name = function->name + (has_prefix ? 3 : 0);
    bool is_whole = function->shape == EXPECT_TOTAL || function->has_bins;
    sim.sums = row->sums;
    for (uint64_t g = 0; g < (is_whole ? 1 : SHORT); g++) {
        take_group(run, function, g, &sim);
        plant(&sim, function, fault);
        uint64_t count = function->shape != EXPECT_EACH ? 1 : function->has_bins ? BINS : LONG;
        if (function->has_bins)
            bins_of(&sim, name, out);
        else if (function->shape == EXPECT_EACH)
            each_of(&sim, name, out);
        else
            out[0] = total_of(&sim, name);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t at = function->by_column && count > 1 ? i * SHORT + g : g * count + i;
            double x = fault == ZERO ? 0 : fault == WRONG_FACTOR ? in_sums(&sim, out[i] * 1.25 + 1) : out[i];
            made_put(run, 2, at, x);
        }
    }
}

static void check(const Row *row, const ExpectFunction *function, Fault fault) {
    MadeRun run;
    char text[64];
    ExpectResult result = {0};
    Text what = {0};
    Error error = {0};
    made_open(&run, row->type, N, 8);
    made_add(&run, "other", row->type, N, FILL_DIGITS);
    uint64_t results = function->shape == EXPECT_TOTAL  ? 1
                       : function->has_bins             ? BINS
                       : function->shape == EXPECT_ROWS ? SHORT
                                                        : N;
    made_add(&run, "out", row->out, results, FILL_ZERO);
    made_fill(&run);
    run.expect.arithmetic =
        (Arithmetic){.sums = ptx_type_is_float(row->sums) ? row->sums : PTX_NO_TYPE, .depth = DEPTH};
    fill(&run, row, function);
    run_kernel(&run, row, function, fault);
    snprintf(text, sizeof text, function->takes_columns ? "%s(in%s, %d)" : "%s(in%s)", function->name,
             function->inputs == 2 ? ", other" : "",
             function->has_bins    ? BINS
             : function->by_column ? SHORT
                                   : LONG);
    if (!expect_compare(text, &run.expect, &result, &what, &error)) fail_msg("%s: %s", text, error.message);
    bool is_ok = result.correct && !result.verdict;
    if (is_ok != (fault == NONE))
        fail_msg("%s of %s, sums in %s, to %s, %s: %s instead of %s, %g allowed, %s", text,
                 ptx_type_text(row->type), ptx_type_text(row->sums), ptx_type_text(row->out),
                 fault_names[fault], result.result_text, result.expected_text, result.bound,
                 result.verdict   ? result.verdict
                 : result.correct ? "ok"
                                  : "wrong");
    text_done(&what);
    made_close(&run);
}

static void planted_errors_are_found(void **state) {
    const Row *row = *state;
    for (int f = 0; f < expect_function_count; f++) {
        const ExpectFunction *function = &expect_functions[f];
        if (!ptx_type_is_float(row->type) && is_of_floats(function)) continue;
        for (Fault fault = NONE; fault < FAULTS; fault++) check(row, function, fault);
    }
}

int main(void) {
    enum { COUNT = sizeof rows / sizeof *rows };
    struct CMUnitTest tests[COUNT];
    char names[COUNT][64];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "%s_summed_in_%s_to_%s", ptx_type_text(rows[i].type),
                 ptx_type_text(rows[i].sums), ptx_type_text(rows[i].out));
        tests[i] = (struct CMUnitTest){
            .name = names[i], .test_func = planted_errors_are_found, .initial_state = (void *)&rows[i]};
    }
    return _cmocka_run_group_tests("planted errors", tests, COUNT, NULL, NULL);
}
