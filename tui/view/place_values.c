#include "tui/view/place_values.h"

#include "metrics/fold.h"
#include "tui/view/step_context.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the step ------------------------------------------------------------------------------------------ */

static uint32_t banks_of(const StepContext *context) {
    uint32_t banks = 0;
    for (int lane = 0; lane < WARP_LANES; lane++)
        for (int byte = 0; context->event.mask >> lane & 1 && byte < context->event.width; byte += BANK_BYTES)
            banks |= 1u << ((context->address[lane] + (uint64_t)byte) / BANK_BYTES % BANK_COUNT);
    return banks;
}

/* The first word that the lane accesses, from `begin`; NaN if the lane does not access any. */
static double word_of(const StepContext *context, const uint64_t begin[WARP_LANES], int64_t lane) {
    if (lane < 0 || !(context->event.mask >> lane & 1)) return NAN;
    uint64_t word = begin[lane] / BANK_BYTES;
    return (double)word;
}

static double step_named(const StepContext *context, const char *name, int64_t lane) {
    const StepIndexEntry *entry = &context->step_index->step[context->view->place.step];
    bool is_shared = step_context_is_shared(context->event.kind);
    TraceCounter counter = fold_counter_of_event(context->launch, &context->event);
    if (!strcmp(name, "lanes")) return __builtin_popcount(context->event.mask);
    if (!strcmp(name, "lane_mask")) return context->event.mask;
    if (!strcmp(name, "block_lanes")) return entry->lanes;
    if (!strcmp(name, "warps")) return context->step->count;
    if (!strcmp(name, "diverging")) {
        /* The number of warps that a branch splits; NaN for other steps. */
        int found = 0;
        if (context->event.kind != TRACE_BRANCH) return NAN;
        for (int i = 0; i < context->step->count; i++) {
            TraceEvent event;
            trace_block_read(context->steps->block, context->steps->events[context->step->first + i], &event);
            found += event.taken && event.taken != event.mask;
        }
        return found;
    }
    if (!strcmp(name, "value")) {
        char text[64], *stop;
        View view = *context->view;
        view.display.values = 0; /* in its own type */
        StepContext plain = *context;
        plain.view = &view;
        if (lane < 0 || !context->event.has_result || !(context->event.mask >> lane & 1)) return NAN;
        step_context_print_value(&plain, context->event.value[0][lane], 0, text, sizeof text);
        double value = strtod(text, &stop);
        return *stop ? NAN : value;
    }
    if (!strcmp(name, "sectors")) return counter.sectors ? (double)counter.sectors : NAN;
    if (!is_shared) return NAN;
    if (!strcmp(name, "bank_mask")) return banks_of(context);
    if (!strcmp(name, "word")) return word_of(context, context->event.offset, lane); /* of its array */
    if (!strcmp(name, "bank")) return fmod(word_of(context, context->address, lane), BANK_COUNT);
    if (!strcmp(name, "banks")) return __builtin_popcount(banks_of(context));
    if (!context->cost.ideal) return NAN;
    if (!strcmp(name, "wavefronts")) return context->cost.wavefronts;
    if (!strcmp(name, "ideal")) return context->cost.ideal;
    return (double)context->cost.wavefronts / context->cost.ideal; /* ways */
}

static bool step_value(const PlaceValues *values, const ClaimQuery *query, double *value, Error *error) {
    StepContext context;
    if (!values->scene || !step_context_init(&context, values->scene, values->view))
        return error_set(error, "nothing is shown here, so there is no step");
    *value = step_named(&context, query->name, query->number);
    if (query->number >= 0 && !(context.event.mask >> query->number & 1))
        return error_set(error, "%s: lane %d does not execute step %d", query->name, (int)query->number,
                         values->view->place.step + 1);
    return isfinite(*value) || error_set(error, "%s: step %d has none; it is: %s", query->name,
                                         values->view->place.step + 1, trace_kind_text(context.event.kind));
}

/* ---- the reduction ------------------------------------------------------------------------------------- */

static const Scene *scene_of(PlaceValues *values, Session *session) {
    if (values->scene && session == values->session) return values->scene;
    if (session != values->other_session) {
        scene_free(values->other);
        values->other = scene_new(session);
        values->other_session = session;
    }
    return values->other;
}

/* The level that the screen numbers `number`; -1: none. */
static int level_of_number(Reduction *reduction, int64_t number) {
    for (int i = 0; i < reduction_level_count(reduction); i++) {
        const ReductionLevel *level = reduction_level(reduction, i);
        if (level && level->kind == TREE_FOLD && level->number == number) return i;
    }
    return -1;
}

static double level_named(const ReductionLevel *level, const char *name) {
    int lanes = 0, warps = 0;
    for (int warp = 0; level->adding && warp < level->warp_count; warp++) {
        int adding = __builtin_popcount(level->adding[warp]);
        lanes = adding > lanes ? adding : lanes;
        warps += adding > 0;
    }
    return !strcmp(name, "adders")         ? level->adder_count
           : !strcmp(name, "adding_lanes") ? lanes
           : !strcmp(name, "adding_warps") ? warps
           : !strcmp(name, "distance")     ? level->distance
                                           : NAN;
}

static bool level_value(Session *session, const Scene *scene, Reduction *reduction, const ClaimQuery *query,
                        double *value, Error *error) {
    int index = level_of_number(reduction, query->number);
    if (index < 0)
        return error_set(error, "the reduction of %s has levels 1 to %d, no level %lld", query->run,
                         reduction_fold_count(reduction), (long long)query->number);
    *value = level_named(reduction_level(reduction, index), query->name);
    if (isfinite(*value)) return true;
    int end = index + 1 < reduction_level_count(reduction) ? reduction_level_first(reduction, index + 1)
                                                           : scene_step_index(scene, 0)->steps->step_count;
    return claim_steps_value(session_block(session, 0), reduction_level_first(reduction, index), end,
                             query->name, value) ||
           error_set(error, "level %lld of %s has no %s", (long long)query->number, query->run, query->name);
}

bool place_values_value(void *context, const ClaimQuery *query, double *value, Error *error) {
    PlaceValues *values = context;
    bool of_levels =
        query->scope == CLAIM_LEVEL || (query->scope == CLAIM_TOTAL && !strcmp(query->name, "levels"));
    if (query->scope == CLAIM_STEP) return step_value(values, query, value, error);
    if (!of_levels) return claim_runs_value(values->runs, query, value, error);
    Session *session = claim_runs_session(values->runs, query, error);
    if (!session) return false;
    const Scene *scene = scene_of(values, session);
    Reduction *reduction = scene->traced.block_count ? scene_reduction(scene, 0) : NULL;
    if (!reduction) return error_set(error, "no reduction is known of %s", query->run);
    if (query->scope == CLAIM_LEVEL) return level_value(session, scene, reduction, query, value, error);
    *value = reduction_fold_count(reduction);
    return true;
}

void place_values_done(PlaceValues *values) {
    scene_free(values->other);
    *values = (PlaceValues){0};
}
