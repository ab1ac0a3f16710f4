/* Collects questions from the beats of a block and the levels of its reduction. */
#include "tui/quiz_asks.h"

#include "tui/view/step_context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The formats are those of quiz_words(), each with the arguments that its header names. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

enum { MOST_BEATS = 4000, NUMBER_BYTES = 32 };
static const double MOST_VALUE = 99999; /* small enough to add up in one's head */

void asks_done(Asks *asks) {
    free(asks->asks);
    claim_runs_free(asks->values.runs);
    place_values_done(&asks->values);
    *asks = (Asks){0};
}

static bool is_known(const Asks *asks, const Ask *ask) {
    for (int i = 0; i < asks->count; i++) {
        const Ask *other = &asks->asks[i];
        if (other->kind == ask->kind && other->pc == ask->pc && other->value == ask->value) return true;
    }
    return false;
}

/* One lane alone, or all of them: too easy. */
static bool is_trivial(const Ask *ask, int all) {
    return ask->kind == ASK_LANES && (ask->value <= 1 || ask->value == all);
}

static void expect_wrong(Ask *ask, double value, const char *why) {
    enum { MOST = sizeof ask->wrong / sizeof *ask->wrong };
    bool is_other = !isnan(value) && value != ask->value;
    for (int i = 0; i < ask->wrong_count; i++) is_other &= value != ask->wrong[i].value;
    if (!is_other || ask->wrong_count == MOST) return;
    ask->wrong[ask->wrong_count].value = value;
    ask->wrong[ask->wrong_count++].why = why;
}

static double value_of(Asks *asks, const char *text) {
    const ClaimWorld world = {.context = &asks->values, .value = place_values_value};
    const LectureExpression expression = {text, {1, 1}};
    double value;
    return claim_number(&expression, "", &world, &value, NULL) ? value : NAN;
}

/* The likely wrong answers: figures of the same step that a reader may take for the one asked for. */
static void expect_wrong_answers(Asks *asks, const StepContext *context, Ask *ask) {
    const QuizWords *words = asks->words;
    int lanes = __builtin_popcount(context->event.mask),
        least_sectors = (lanes * context->event.width + 31) / 32,
        existing = __builtin_popcount(step_context_existing_lanes(context, context->event.warp));
    switch (ask->kind) {
    case ASK_LANES:
        expect_wrong(ask, existing, words->all_lanes);
        expect_wrong(ask, existing - ask->value, words->other_lanes);
        break;
    case ASK_WAVEFRONTS:
        expect_wrong(ask, context->cost.ideal, words->is_least);
        expect_wrong(ask, lanes, words->are_lanes);
        expect_wrong(ask, value_of(asks, "banks(step)"), words->are_banks);
        break;
    case ASK_SECTORS:
        expect_wrong(ask, least_sectors, words->is_least);
        expect_wrong(ask, lanes, words->all_lanes);
        break;
    case ASK_DIVERGENCE:
        expect_wrong(ask, context->step->count, words->all_warps);
        break;
    default:
        break;
    }
}

/* Asks for the expression's value at the step; `all`: all lanes that exist. */
static void add(Asks *asks, const StepContext *context, int before, Ask *ask, int all) {
    ask->step = context->view->place.step;
    ask->before = before;
    ask->pc = context->step->pc;
    Reduction *reduction = scene_reduction(context->scene, context->view->place.block);
    int level = reduction ? reduction_level_at(reduction, context->view->place.step) : 0;
    ask->region = context->step->interval_step * 1024 + (level < 1024 ? level : 1023);
    asks->values.view = context->view;
    ask->value = value_of(asks, ask->expression);
    bool known = !isnan(ask->value);
    if (!known || is_trivial(ask, all) || is_known(asks, ask)) return;
    expect_wrong_answers(asks, context, ask);
    array_push(asks->asks, asks->count, asks->capacity, *ask);
}

/* ---- accesses and branches ----------------------------------------------------------------------------- */

static const char *verb_of(const QuizWords *words, TraceKind kind) {
    switch (kind) {
    case TRACE_SHARED_LOAD:
        return words->loads_shared;
    case TRACE_SHARED_STORE:
        return words->stores_shared;
    case TRACE_GLOBAL_LOAD:
        return words->loads_global;
    case TRACE_GLOBAL_STORE:
        return words->stores_global;
    case TRACE_SHARED_ATOMIC:
    case TRACE_GLOBAL_ATOMIC:
        return words->executes_atomic;
    case TRACE_SHUFFLE:
        return words->executes_shuffle;
    case TRACE_BRANCH:
        return words->evaluates_branch;
    default:
        return NULL;
    }
}

static void ask_wavefronts(Asks *asks, const StepContext *context, int before) {
    Ask ask = {.kind = ASK_WAVEFRONTS, .expression = "wavefronts(step)"};
    bool loads = context->event.kind == TRACE_SHARED_LOAD;
    if (!loads && context->event.kind != TRACE_SHARED_STORE) return;
    if (__builtin_popcount(context->event.mask) < 2) return;
    snprintf(ask.question, sizeof ask.question,
             loads ? asks->words->load_wavefronts : asks->words->store_wavefronts, context->event.warp);
    add(asks, context, before, &ask, WARP_LANES);
}

static void ask_sectors(Asks *asks, const StepContext *context, int before) {
    Ask ask = {.kind = ASK_SECTORS, .expression = "sectors(step)"};
    bool loads = context->event.kind == TRACE_GLOBAL_LOAD;
    if (!loads && context->event.kind != TRACE_GLOBAL_STORE) return;
    if (__builtin_popcount(context->event.mask) < 2) return;
    snprintf(ask.question, sizeof ask.question,
             loads ? asks->words->load_sectors : asks->words->store_sectors, context->event.warp);
    add(asks, context, before, &ask, WARP_LANES);
}

static void ask_divergence(Asks *asks, const StepContext *context, int before) {
    Ask ask = {.kind = ASK_DIVERGENCE, .expression = "diverging(step)"};
    if (context->event.kind != TRACE_BRANCH || context->step->count < 2) return;
    snprintf(ask.question, sizeof ask.question, asks->words->divergence, context->step->count);
    add(asks, context, before, &ask, WARP_LANES);
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* A whole number that is easy to add up; NaN: another number. */
static double plain_value(const StepContext *context, PtxType type, uint64_t bits) {
    char text[64], *stop;
    step_context_print_typed(context, type, bits, text, sizeof text);
    double value = strtod(text, &stop);
    return *stop || value != floor(value) || fabs(value) > MOST_VALUE ? NAN : value;
}

/* The operands of a sum of two, one of them from the box itself. */
static const ReductionTerm *other_term(const ReductionLevel *level, const ReductionBox *box) {
    const ReductionTerm *found = NULL;
    if (!box->adds || box->term_count != 2 || !box->has_before || !box->has_after) return NULL;
    for (int i = 0; i < 2; i++) {
        const ReductionTerm *term = &level->terms[box->first_term + i];
        bool is_of_box = term->is_own || (term->place == PLACE_WORD && term->index == box->index);
        if (term->writer >= 0 && !term->is_silent) return NULL; /* a race: order decides */
        if (!is_of_box) found = found ? NULL : term;
    }
    return found && found->place == level->place ? found : NULL;
}

/* "word 0 holds 8, word 1 holds 3, word 128 holds 5": the operands among others, in order. */
static bool print_values(const QuizWords *words, const StepContext *context, const ReductionLevel *level,
                         const ReductionBox *box, int64_t other, Text *out) {
    for (int i = 0; i < level->box_count; i++) {
        const ReductionBox *at = &level->boxes[i];
        int64_t apart = at->index - box->index;
        bool is_operand = at == box || at->index == other;
        bool is_beside = apart > 0 && (apart <= 2 || apart == 4 || apart == 8);
        double value = at->has_before ? plain_value(context, level->type, at->before) : NAN;
        if (is_operand && isnan(value)) return false;
        if ((!is_operand && !is_beside) || isnan(value)) continue;
        int64_t number = level->place == PLACE_WORD ? at->index : at->index % WARP_LANES;
        if (out->length) text_add(out, words->between_values);
        text_print(out, level->place == PLACE_WORD ? words->word_holds : words->lane_holds, (long long)number,
                   value);
    }
    return true;
}

static void write_value_ask(const QuizWords *words, const StepContext *context, const ReductionLevel *level,
                            const ReductionBox *box, const char *values, Ask *ask) {
    int lane = box->thread % WARP_LANES;
    double own = plain_value(context, level->type, box->before);
    if (level->place == PLACE_WORD) {
        snprintf(ask->question, sizeof ask->question, words->stored, values, lane, box->thread / WARP_LANES,
                 (long long)box->index);
        snprintf(ask->expression, sizeof ask->expression, "value(step, %d)", lane);
        return;
    }
    bool adds = !strcmp(level->operation, "+");
    char call[16];
    snprintf(call, sizeof call, "%.10s(", level->operation);
    snprintf(ask->question, sizeof ask->question, words->held, box->thread / WARP_LANES, values, lane,
             adds ? words->addition : level->operation);
    snprintf(ask->expression, sizeof ask->expression, "%s%.0f%s value(step, %d)%s", adds ? "" : call, own,
             adds ? " +" : ",", lane, adds ? "" : ")");
}

static bool is_asked_step(const StepContext *context, const ReductionLevel *level, int thread) {
    TraceKind kind = level->place == PLACE_WORD ? TRACE_SHARED_STORE : TRACE_SHUFFLE;
    return context->event.kind == kind && context->event.warp == thread / WARP_LANES;
}

static void ask_value(Asks *asks, const Scene *scene, const ReductionLevel *level) {
    const ReductionTerm *other = NULL;
    const ReductionBox *box = NULL;
    for (int i = 0; i < level->box_count && !other; i++) {
        box = &level->boxes[i];
        if (box->thread / WARP_LANES == asks->view.selection.warp) other = other_term(level, box);
    }
    if (!other || other->is_changed || other->is_taken) return;
    bool is_asked = !strcmp(level->operation, "+") || !strcmp(level->operation, "max") ||
                    !strcmp(level->operation, "min");
    if (!is_asked) return;
    View view = asks->view;
    StepContext context;
    Text values = {0};
    Ask ask = {.kind = ASK_VALUES};
    view.selection.lane = box->thread % WARP_LANES;
    view.place.step = level->place == PLACE_WORD ? box->step : other->step;
    bool good = step_context_init(&context, scene, &view) && is_asked_step(&context, level, box->thread) &&
                print_values(asks->words, &context, level, box, other->index, &values);
    double after = good ? plain_value(&context, level->type, box->after) : NAN;
    if (good && !isnan(after)) {
        int count = asks->count;
        write_value_ask(asks->words, &context, level, box, text_string(&values), &ask);
        add(asks, &context, beats_move(scene_beats(scene, view.place.block), view.place.step, -1), &ask,
            WARP_LANES);
        if (asks->count > count && asks->asks[count].value != after) asks->count = count;
        if (asks->count > count)
            expect_wrong(&asks->asks[count], plain_value(&context, level->type, box->before),
                         asks->words->is_old);
    }
    text_done(&values);
}

/* ---- the block ----------------------------------------------------------------------------------------- */

static void ask_levels(Asks *asks, const Scene *scene) {
    View view = asks->view;
    StepContext context;
    Ask ask = {.kind = ASK_LEVELS, .expression = "here.levels"};
    Reduction *reduction = scene_reduction(scene, 0);
    view.place.step = 0;
    if (!reduction || reduction_fold_count(reduction) < 2 || view.place.block) return;
    if (!step_context_init(&context, scene, &view)) return;
    snprintf(ask.question, sizeof ask.question, "%s", asks->words->levels);
    add(asks, &context, 0, &ask, WARP_LANES);
}

static int by_step(const void *a, const void *b) {
    const Ask *left = a, *right = b;
    return left->step != right->step ? left->step - right->step : (int)left->kind - (int)right->kind;
}

void asks_find(Asks *asks, const Scene *scene, Session *session, const QuizWords *words) {
    *asks = (Asks){
        .words = words,
        .values = {.runs = claim_runs_new(&(ClaimRunsOptions){0}), .scene = scene, .session = session}};
    claim_runs_stand_at(asks->values.runs, session, NULL);
    view_init(&asks->view);
    view_open(&asks->view, scene);
    if (asks->view.place.block >= scene->traced.block_count) return;
    const Beats *beats = scene_beats(scene, asks->view.place.block);
    ask_levels(asks, scene);
    Reduction *reduction = scene_reduction(scene, asks->view.place.block);
    for (int i = 0; reduction && i < reduction_level_count(reduction); i++) {
        const ReductionLevel *level = reduction_level(reduction, i);
        if (level && level->kind == TREE_FOLD) ask_value(asks, scene, level);
    }
    for (int beat = 0; beat < beats->count && beat < MOST_BEATS; beat++) {
        StepContext context;
        View view = asks->view;
        int before = beat > 0 ? beats->step[beat - 1] : 0;
        view.place.step = beats->step[beat];
        if (!step_context_init(&context, scene, &view)) continue;
        Ask ask = {.kind = ASK_LANES, .expression = "lanes(step)"};
        const char *verb = verb_of(asks->words, context.event.kind);
        uint32_t existing = step_context_existing_lanes(&context, context.event.warp);
        if (verb) {
            snprintf(ask.question, sizeof ask.question, asks->words->lanes, WARP_LANES, context.event.warp,
                     verb);
            add(asks, &context, before, &ask, __builtin_popcount(existing));
        }
        ask_wavefronts(asks, &context, before);
        ask_sectors(asks, &context, before);
        ask_divergence(asks, &context, before);
    }
    if (asks->count) qsort(asks->asks, (size_t)asks->count, sizeof *asks->asks, by_step);
}
