/* Symmetry of a result whose function is unknown: sum(f(a)), max(f(a, b)), ... Is every element in it, and
 * each in the same way? Runs of the same launches with other elements say so, whatever f is. Let T be the
 * fold of the results of a run:
 *
 *   - T is the same when the elements change places: each of them counts like any other. A missing one, or one that counts
 *     twice, changes T.
 *   - Of two draws of elements x and y, each element of z is that of x or that of y, by a coin, and w has the other one. If T is
 *     f(e0) + f(e1) + ..., with + for what folds them, then T(z) + T(w) = T(x) + T(y).
 *   - T depends on the elements at all: T(y) or T(z) differs from T(x).
 *
 * What f is, is not checked. */
#include "guess/user_launch.h"

#include "guess/user_launch.h"

#include "expect/expect_trial.h"
#include "expect/reference.h"
#include "guess/uses.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSTRUCTIONS = 1 << 23, /* warp instructions of each run */
    MOST_ELEMENTS = 1 << 22,
    MOST_GROUP = 4,   /* elements that are one structure */
    MOST_MEMBERS = 4, /* results that are */
    EXCHANGES = 3,
    MIXTURES = 2, /* of one, totals may be equal by chance */
    EXCHANGES_OF_EXTREMES =
        8,    /* an extreme stays where it is as often as not when half of the elements do not count */
    FEWER = 4 /* results than elements, at least: else they are no folds of them */
};

/* ---- the fold of the results -------------------------------------------------------------------------------- */

/* Extremes first: those of z and w have the sum of those of x and y as often as not. */
static const struct {
    ExpectFold fold;
    const char *name;
} folds[] = {{EXPECT_MAX, "max"}, {EXPECT_MIN, "min"}, {EXPECT_SUM, "sum"}};
enum { FOLDS = sizeof folds / sizeof *folds };

typedef struct FoldedPlace { /* of results: elements first, first + step, ... of a buffer, before `end` */
    int buffer;
    uint64_t first, step, end;
} FoldedPlace;

typedef struct Total {
    PtxType type;
    uint64_t integer;             /* a sum of integers, which may wrap */
    long double value, magnitude; /* else; of the terms without their signs */
} Total;

static uint64_t integer_element(const PlanBuffer *buffer, uint64_t i) {
    int bytes = ptx_type_bytes(buffer->type);
    uint64_t bits = 0;
    memcpy(&bits, (const uint8_t *)buffer->bytes + i * (uint64_t)bytes, (size_t)bytes);
    return bits;
}

static uint64_t mask_of(PtxType type) {
    int bytes = ptx_type_bytes(type);
    return bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX;
}

static Total total_of(const Plan *plan, const FoldedPlace *place, ExpectFold fold) {
    const PlanBuffer *buffer = &plan->buffers[place->buffer];
    Total total = {.type = buffer->type};
    for (uint64_t i = place->first; i < place->end; i += place->step) {
        long double x = expect_element(buffer, i);
        bool is_first = i == place->first;
        if (!ptx_type_is_float(buffer->type)) total.integer += integer_element(buffer, i);
        if (fold == EXPECT_SUM)
            total.value += x;
        else if (is_first || (fold == EXPECT_MAX ? x > total.value : x < total.value))
            total.value = x;
        total.magnitude += fabsl(x);
    }
    total.integer &= mask_of(buffer->type);
    return total;
}

/* The fold of two totals. */
static Total join(const Total *a, const Total *b, ExpectFold fold) {
    Total both = *a;
    both.integer = (a->integer + b->integer) & mask_of(a->type);
    both.magnitude = a->magnitude > b->magnitude ? a->magnitude : b->magnitude;
    both.value = fold == EXPECT_SUM                                                 ? a->value + b->value
                 : (fold == EXPECT_MAX ? a->value > b->value : a->value < b->value) ? a->value
                                                                                    : b->value;
    return both;
}

/* `growth`: of rounding errors. What is no number stays none. */
static bool is_same(const Total *a, const Total *b, ExpectFold fold, double growth) {
    if (fold == EXPECT_SUM && !ptx_type_is_float(a->type)) return a->integer == b->integer;
    double x = (double)a->value, y = (double)b->value;
    if (!isfinite(x) || !isfinite(y)) return (isnan(x) && isnan(y)) || x == y;
    long double magnitude = a->magnitude > b->magnitude ? a->magnitude : b->magnitude;
    bool is_rounded = fold == EXPECT_SUM && ptx_type_is_float(a->type);
    return fabs(x - y) <= (is_rounded ? growth * reference_roundoff(a->type) * (double)magnitude : 0);
}

/* By more than terms that cancel each other may lose by rounding. */
static bool is_far_off(const Total *a, const Total *b) {
    double x = (double)a->value, y = (double)b->value;
    if (!ptx_type_is_float(a->type)) return a->integer != b->integer;
    return isfinite(x) && isfinite(y) && fabs(x - y) > 0.01 * fmax(fabs(x), fabs(y));
}

/* ---- the runs ----------------------------------------------------------------------------------------------- */

typedef struct Alike {
    const Guess *guess;
    GuessAgain *again;
    void *context;  /* of `again` */
    uint64_t count; /* elements */
    uint64_t group;
    double growth;
    bool has_failed; /* such a run does not end well: there are no more of them */
    bool keeps_any,
        moves_any; /* with exchanged elements a total stayed the same; came out clearly different */
    bool *results; /* [buffer] of several launches; NULL: any */
    Plan filled, x, y, z[MIXTURES], w[MIXTURES];
    Plan exchanged[EXCHANGES_OF_EXTREMES];
} Alike;

static bool is_kept(const Plan *plan) {
    return plan->buffer_count > 0;
}

/* The buffers after such a run, without a plan; none where it does not run. */
static bool run_with(Alike *alike, GuessElementsKind kind, uint64_t seed, bool is_rest, Plan *done) {
    GuessElements elements = {kind, alike->group, seed, is_rest};
    if (is_kept(done)) return true;
    if (alike->has_failed) return false;
    alike->has_failed = !alike->again(alike->context, &elements, done);
    return !alike->has_failed;
}

static void drop(Plan *done) {
    for (int i = 0; i < done->buffer_count; i++) free(done->buffers[i].bytes);
    free(done->buffers);
    *done = (Plan){0};
}

static void drop_runs(Alike *alike) {
    drop(&alike->y);
    for (int i = 0; i < MIXTURES; i++) {
        drop(&alike->z[i]);
        drop(&alike->w[i]);
    }
    for (int i = 0; i < EXCHANGES_OF_EXTREMES; i++) drop(&alike->exchanged[i]);
}

static bool keeps_total(Alike *alike, const FoldedPlace *place, ExpectFold fold, int run) {
    Total own = total_of(&alike->x, place, fold), other;
    if (!run_with(alike, ELEMENTS_EXCHANGED, 1 + (uint64_t)run, false, &alike->exchanged[run])) return false;
    other = total_of(&alike->exchanged[run], place, fold);
    alike->moves_any |= is_far_off(&own, &other);
    return is_same(&own, &other, fold, alike->growth);
}

typedef enum Verdict {
    DIFFERS,  /* it is made of elements in another way */
    CONSTANT, /* the elements do not show in it */
    ALIKE
} Verdict;

/* T(z) + T(w) = T(x) + T(y). */
static bool adds_up(Alike *alike, const FoldedPlace *place, ExpectFold fold, int mixture, bool *differs) {
    uint64_t seed = 99 + (uint64_t)mixture;
    if (!run_with(alike, ELEMENTS_MIXED, seed, false, &alike->z[mixture]) ||
        !run_with(alike, ELEMENTS_MIXED, seed, true, &alike->w[mixture]))
        return false;
    Total x = total_of(&alike->x, place, fold), y = total_of(&alike->y, place, fold),
          z = total_of(&alike->z[mixture], place, fold), w = total_of(&alike->w[mixture], place, fold);
    Total both = join(&x, &y, fold), mixed = join(&z, &w, fold);
    *differs |= !is_same(&x, &y, fold, alike->growth) || !is_same(&x, &z, fold, alike->growth);
    return is_same(&both, &mixed, fold, alike->growth);
}

/* Of one place of results: is its fold made of all elements alike? */
static Verdict judge_fold(Alike *alike, const FoldedPlace *place, ExpectFold fold) {
    int exchanges = fold == EXPECT_SUM ? EXCHANGES : EXCHANGES_OF_EXTREMES;
    bool differs = false, adds = true;
    if (!keeps_total(alike, place, fold, 0)) return DIFFERS;
    alike->keeps_any = true;
    if (!run_with(alike, ELEMENTS_OTHER, 0, false, &alike->y)) return DIFFERS;
    for (int i = 0; i < MIXTURES && adds; i++) adds = adds_up(alike, place, fold, i, &differs);
    if (!adds) return DIFFERS;
    if (!differs) return CONSTANT;
    for (int i = 1; i < exchanges; i++)
        if (!keeps_total(alike, place, fold, i)) return DIFFERS;
    return ALIKE;
}

/* What a result is made of, in the report: "sum(f(x, y))". */
static void name_result(const Alike *alike, const FoldedPlace *place, const char *fold, Text *what) {
    const Plan *plan = &alike->filled;
    const char *between = "";
    text_print(what, "%s(f(", fold);
    for (int i = 0; i < plan->buffer_count; i++) {
        if (!user_is_drawn(&plan->buffers[i]) || plan->buffers[i].count != alike->count) continue;
        text_print(what, "%s%s", between, plan->buffers[i].name);
        between = ", ";
    }
    text_add(what, "))");
    uint64_t results = (place->end - place->first + place->step - 1) / place->step;
    if (results > 1) text_print(what, " of %llu partial results", (unsigned long long)results);
}

/* Results `step` apart: all of these must be folds. */
static Verdict try_steps(Alike *alike, FoldedPlace place, uint64_t step, Text *what) {
    place.step = step;
    for (place.first = 0; place.first < step; place.first++) {
        int at = 0;
        Verdict verdict = DIFFERS;
        while (at < FOLDS && (verdict = judge_fold(alike, &place, folds[at].fold)) == DIFFERS) at++;
        if (verdict != ALIKE) return verdict;
        if (place.first) text_add(what, " and ");
        name_result(alike, &place, folds[at].name, what);
    }
    return ALIKE;
}

/* Most members first: what is small beside another one, or constant, would be taken for rounding. */
static bool try_place(Alike *alike, const FoldedPlace *place, Text *what) {
    Verdict verdict = DIFFERS;
    size_t before = what->length;
    for (uint64_t step = MOST_MEMBERS; step >= 1 && verdict == DIFFERS; step--) {
        text_cut(what, before);
        if (place->end % step == 0) verdict = try_steps(alike, *place, step, what);
    }
    return verdict == ALIKE;
}

static bool try_buffers(Alike *alike, Text *what) {
    ExpectRun run = {.filled = &alike->filled, .done = &alike->x, .results = alike->results};
    for (int i = alike->x.buffer_count - 1; i >= 0; i--) {
        FoldedPlace place = {.buffer = i, .step = 1, .end = expect_changes(&run, i).end};
        if (!place.end) continue;
        bool is_few = place.end <= alike->count / FEWER;
        if (is_few && try_place(alike, &place, what)) return true;
        bool is_first_alone = place.end > 1; /* partial results lie behind it, or it is made in place */
        place.end = 1;
        if (is_first_alone && try_place(alike, &place, what)) return true;
    }
    return false;
}

/* ---- is there anything to be found? ------------------------------------------------------------------------- */

/* Elements that a load takes together may be a structure. */
static bool loads_groups(const Guess *guess, uint64_t group) {
    bool found = group == 1;
    for (int l = 0; l < guess->run.trace->launch_count; l++) {
        const PtxProgram *program = guess->run.trace->launches[l]->program;
        for (int pc = 0; pc < program->code_count && !found; pc++) {
            const PtxInstruction *in = program->code[pc].instruction;
            found =
                !strcmp(in->name, "ld") && in->operand_count && (uint64_t)in->operands[0].item_count == group;
        }
    }
    return found;
}

static bool may_be_alike(const Guess *guess) {
    return !guess->verdict.has_result && !guess->request.expect && guess->run.done->buffer_count &&
           !guess->run.is_partial && !trace_has_fault(guess->run.trace) &&
           user_any_entry(guess, uses_communicate) &&
           trace_count_instructions(guess->run.trace) <= MOST_INSTRUCTIONS;
}

/* The elements as they were before the run. */
static bool fill_again(const Guess *guess, Plan *filled) {
    *filled = *guess->run.done;
    filled->arena = (Arena){0};
    filled->buffers = memory_new((size_t)filled->buffer_count * sizeof *filled->buffers);
    for (int i = 0; i < filled->buffer_count; i++) {
        filled->buffers[i] = guess->run.done->buffers[i];
        filled->buffers[i].bytes = NULL;
    }
    return plan_fill(filled, guess->request.seed, NULL);
}

/* Bytes that loads took at most, each element as often as it was loaded; UINT64_MAX: other instructions load, too. */
static uint64_t count_loaded(const Guess *guess) {
    uint64_t loaded = 0;
    for (int l = 0; l < guess->run.trace->launch_count; l++) {
        const TraceLaunch *launch = guess->run.trace->launches[l];
        for (int pc = 0; pc < launch->program->code_count; pc++) {
            const PtxInstruction *in = launch->program->code[pc].instruction;
            if (!strncmp(in->name, "cp", 2) || !strncmp(in->name, "wmma", 4)) return UINT64_MAX;
            bool is_global = in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC;
            if (strcmp(in->name, "ld") != 0 || !is_global || !in->type_count) continue;
            uint64_t bytes = (uint64_t)ptx_type_bytes(in->types[in->type_count - 1]);
            loaded += launch->counters[pc].lanes * bytes * (uint64_t)in->vector;
        }
    }
    return loaded;
}

/* Bytes of the inputs that have the elements. */
static uint64_t count_input_bytes(const Alike *alike) {
    uint64_t bytes = UINT64_MAX;
    for (int i = 0; i < alike->filled.buffer_count; i++) {
        const PlanBuffer *buffer = &alike->filled.buffers[i];
        uint64_t all = buffer->count * (uint64_t)ptx_type_bytes(buffer->type);
        if (user_is_drawn(buffer) && buffer->count == alike->count && all < bytes) bytes = all;
    }
    return bytes;
}

static void find_alike(const Guess *guess, GuessAgain *again, void *context, Text *what) {
    Alike alike = {.guess = guess,
                   .again = again,
                   .context = context,
                   .x = *guess->run.done,
                   .count = user_count_elements(guess->run.done)};
    if (alike.count < 2 * FEWER || alike.count > MOST_ELEMENTS) return;
    ExpectRun run = {.done = guess->run.done, .atomics = trace_count_atomics(guess->run.trace)};
    alike.growth = expect_growth(&run, alike.count);
    alike.results = user_find_results(guess, guess->run.done->buffer_count);
    bool good = fill_again(guess, &alike.filled), found = false;
    for (alike.group = 1; good && alike.group <= MOST_GROUP && !found; alike.group++) {
        if (alike.count % alike.group != 0 || !loads_groups(guess, alike.group)) continue;
        if (alike.group > 1)
            text_print(what, "all groups of %d elements count alike, as in ", (int)alike.group);
        else
            text_add(what, "every element counts alike, as in ");
        found = try_buffers(&alike, what);
        drop_runs(&alike);
        if (!found) text_clear(what);
    }
    bool is_moved = alike.moves_any && !alike.keeps_any;
    if (is_moved && count_loaded(guess) < count_input_bytes(&alike))
        text_add(what, "not all elements are loaded");
    else if (is_moved)
        text_add(what, "it depends on the order of the elements");
    drop(&alike.filled);
    free(alike.results);
}

const char *guess_symmetry(Guess *guess, const GuessRun *run, GuessAgain *again, void *context) {
    Text what = {0};
    guess->run = *run;
    if (may_be_alike(guess)) find_alike(guess, again, context, &what);
    const char *found = what.length ? arena_copy_text(&guess->arena, text_string(&what), what.length) : NULL;
    text_done(&what);
    return found;
}
