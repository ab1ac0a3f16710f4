/* Inputs that show what others hide.
 *
 * A sum of many numbers may be off by so much that it says nothing of a few elements: the same run with
 * numbers of few digits, whose sums are exact in any order, shows each. They have the range and the signs of
 * the given ones. The largest of numbers of which some are positive says nothing of where the search begins:
 * the same run with negative ones does. */
#include "expect/expect_trial.h"

#include "expect/reference.h"

#include <math.h>
#include <string.h>

static uint64_t terms_of(const ExpectInputs *inputs, uint64_t length) {
    const ExpectFunction *function = inputs->function;
    uint64_t columns = inputs->columns && inputs->columns <= length ? inputs->columns : length;
    bool by_group = function->shape != EXPECT_TOTAL && !function->has_bins;
    if (!by_group) return length;
    return function->by_column ? (length + columns - 1) / columns : columns;
}

/* Fractions that must show in a sum: a kernel that scales its terms rounds them. A mean is multiplied by its
 * count again, and may have been rounded a few times itself. */
enum { OF_SUM = 8, OF_MEAN = 1024 };

/* The largest sum that is exact in every type that partial results pass through. */
static double exact_to(const ExpectRun *run, int fractions) {
    const Arithmetic *known = &run->arithmetic;
    double u = reference_roundoff(known->sums ? known->sums : PTX_F32);
    if (known->terms) u = fmax(u, reference_roundoff(known->terms));
    if (known->stored) u = fmax(u, reference_roundoff(known->stored));
    return 1 / u / fractions;
}

/* The same for each element, but without a pattern. */
static uint64_t scatter(uint64_t i) {
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return i ^ i >> 32;
}

static void *new_content(Plan *other, int index) {
    PlanBuffer *buffer = &other->buffers[index];
    size_t bytes = (size_t)buffer->count * (size_t)ptx_type_bytes(buffer->type);
    void *content = arena_new(&other->arena, bytes + 1);
    buffer->fill = FILL_CONTENT;
    buffer->content = content;
    return content;
}

/* The largest absolute value. */
static double range_of(const PlanBuffer *buffer) {
    double most = 0;
    for (uint64_t i = 0; i < buffer->count; i++) {
        double x = fabs(plan_element(buffer->type, buffer->bytes, i));
        if (isfinite(x) && x > most) most = x;
    }
    return most;
}

static uint64_t most_of(double terms_that_fit) {
    return terms_that_fit >= 27 ? 3 : terms_that_fit >= 8 ? 2 : 1;
}

/* Multiples of `unit` with the signs of the given elements, else one unit for a part of the elements and 0
 * for the others. */
static void fill_whole(const PlanBuffer *given, Plan *other, int index, double terms_that_fit, double unit,
                       int turn) {
    const PlanBuffer *buffer = &other->buffers[index];
    void *content = new_content(other, index);
    for (uint64_t i = 0; i < buffer->count; i++) {
        uint64_t mixed = scatter(i + (uint64_t)(index + turn * other->buffer_count) * buffer->count);
        bool is_zero = terms_that_fit < 1 && (double)(mixed >> 32) > terms_that_fit * 0x1p31;
        double x = is_zero ? 0 : unit * (double)(1 + mixed % most_of(terms_that_fit));
        plan_element_set(buffer->type, content, i, plan_element(given->type, given->bytes, i) < 0 ? -x : x);
    }
}

/* How often a factor of all elements is in the result. */
static int power_of(const char *name) {
    if (!strcmp(name, "sumcube")) return 3;
    bool is_square = !strcmp(name, "sumsq") || strstr(name, "dot") || !strcmp(name, "sqdist") ||
                     !strcmp(name, "mse") || strstr(name, "norm");
    return is_square ? 2 : 1;
}

static bool can_change(const Plan *other, int index) {
    if (index < 0 || index >= other->buffer_count || other->buffers[index].variable) return false;
    for (int i = 0; i < other->launch_count; i++)
        for (int k = 0; k < other->launches[i].write_count; k++)
            if (other->launches[i].writes[k].buffer == index) return false;
    return true;
}

static bool fill_sum(const ExpectInputs *inputs, const ExpectRun *run, Plan *other, ExpectOther *of,
                     Text *what) {
    enum { LEAST = 64 };
    const PlanBuffer *a = &other->buffers[inputs->a];
    bool has_products = inputs->function->inputs == 2 && inputs->function->shape != EXPECT_EACH;
    double most = exact_to(run, of->count > 0 ? OF_MEAN : OF_SUM),
           fit = most / (double)terms_of(inputs, a->count);
    if (!ptx_type_is_float(a->type) || (of->count > 0 && most < LEAST)) return false;
    if (has_products && (!can_change(other, inputs->b) || !ptx_type_is_float(other->buffers[inputs->b].type)))
        return false;
    const PlanBuffer *given = run->filled->buffers;
    double range = range_of(&given[inputs->a]);
    if (has_products) range = fmin(range, range_of(&given[inputs->b]));
    if (range < 0x1p-12) return false;
    double unit = fmin(1, exp2(floor(log2(range / (double)most_of(fit)))));
    fill_whole(&given[inputs->a], other, inputs->a, fit, unit, of->turn);
    if (has_products && inputs->b != inputs->a)
        fill_whole(&given[inputs->b], other, inputs->b, fit, unit, of->turn);
    of->count = (of->count > 0 ? of->count : 1) / pow(unit, power_of(inputs->function->name));
    text_print(what, "with few digits in the numbers of %s, which then add up without rounding", a->name);
    return true;
}

/* Only where the input has numbers of this sign: a kernel may be meant for those of the other alone. */
static bool has_sign(const PlanBuffer *buffer, int sign) {
    for (uint64_t i = 0; i < buffer->count; i++)
        if (sign * plan_element(buffer->type, buffer->bytes, i) > 0) return true;
    return false;
}

static bool fill_one_sign(const ExpectInputs *inputs, const ExpectRun *run, int sign, Plan *other,
                          Text *what) {
    const PlanBuffer *from = &run->filled->buffers[inputs->a];
    if (!has_sign(from, sign)) return false;
    void *content = new_content(other, inputs->a);
    for (uint64_t i = 0; i < from->count; i++) {
        double x = fabs(plan_element(from->type, from->bytes, i));
        plan_element_set(from->type, content, i, sign * (x > 0 && isfinite(x) ? x : 1));
        if (sign * plan_element(from->type, content, i) <= 0) plan_element_set(from->type, content, i, sign);
    }
    text_print(what, "with %s numbers only in %s", sign < 0 ? "negative" : "positive", from->name);
    return true;
}

/* Sets what makes a whole number of the result: a mean times its count, the square of a norm. */
static bool is_mean(const ExpectInputs *inputs, const ExpectRun *run, ExpectOther *of) {
    const char *name = inputs->function->name;
    bool is_norm = strstr(name, "norm") != NULL;
    if (inputs->function->shape == EXPECT_EACH) return false;
    if (!is_norm && !strstr(name, "mean") && strcmp(name, "mse") != 0) return false;
    of->is_root = is_norm;
    of->count = is_norm ? 1 : (double)terms_of(inputs, run->filled->buffers[inputs->a].count);
    return true;
}

bool expect_other_input(const char *expectation, const ExpectRun *run, Plan *other, ExpectOther *of,
                        Text *what) {
    ExpectInputs inputs;
    of->count = 0;
    if (!expect_read_inputs(expectation, run, &inputs) || !can_change(other, inputs.a)) return false;
    const char *name = inputs.function->name;
    if (inputs.function->error == EXPECT_OF_SUM || is_mean(&inputs, run, of))
        return fill_sum(&inputs, run, other, of, what);
    if (inputs.function->error != EXPECT_EXACT || strstr(name, "arg") || strstr(name, "abs")) return false;
    if (strstr(name, "max")) return fill_one_sign(&inputs, run, -1, other, what);
    return strstr(name, "min") && fill_one_sign(&inputs, run, 1, other, what);
}

static bool is_near_whole(double x) {
    return fabs(x - round(x)) < 0.02;
}

/* A sum that is off by a part of one, or no whole number, was rounded: the kernel scales its terms. */
bool expect_other_is_wrong(const ExpectOther *of, const ExpectResult *other) {
    if (of->count == 0) return !other->correct;
    double result = of->is_root ? other->result * other->result : other->result,
           expected = of->is_root ? other->expected * other->expected : other->expected;
    result *= of->count;
    expected *= of->count;
    double rounding = 0.5 + 4 * reference_roundoff(other->type) * fabs(expected);
    return is_near_whole(result) && is_near_whole(expected) && fabs(result - expected) > rounding;
}
