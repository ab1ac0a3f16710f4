#include "tui/scene/beats.h"

#include <stdlib.h>

/* The arriving lanes must wait: other running lanes have not arrived. */
static bool is_waited_at(const StepIndex *step_index, int step) {
    for (int warp = 0; warp < step_index->warp_count; warp++) {
        WarpState state = step_index_warp_state(step_index, step, warp);
        if ((state.active | state.exited | state.waiting) != state.exists) return true;
    }
    return false;
}

static bool is_beat(const StepIndex *step_index, int step) {
    if (step_index->step[step].changes_lanes) return true;
    switch ((TraceKind)step_index->step[step].kind) {
    case TRACE_BRANCH:
        return step_index->step[step].diverges;
    case TRACE_BARRIER:
    case TRACE_NAMED_BARRIER:
        return is_waited_at(step_index, step);
    case TRACE_WARP_SYNC:
    case TRACE_CONSTANT_LOAD:
        return false;
    default:
        return true;
    }
}

Beats *beats_new(const StepIndex *step_index) {
    Beats *beats = memory_new(sizeof *beats);
    size_t count = (size_t)step_index->steps->step_count + 1;
    beats->step = memory_new(count * sizeof *beats->step);
    beats->of_step = memory_new(count * sizeof *beats->of_step);
    for (int step = 0; step < step_index->steps->step_count; step++) {
        if (is_beat(step_index, step)) beats->step[beats->count++] = step;
        beats->of_step[step] = beats->count ? beats->count - 1 : 0;
    }
    return beats;
}

void beats_free(Beats *beats) {
    if (!beats) return;
    free(beats->step);
    free(beats->of_step);
    free(beats);
}

bool beats_is_beat(const Beats *beats, int step) {
    return beats->count && beats->step[beats->of_step[step]] == step;
}

int beats_move(const Beats *beats, int step, int by) {
    if (!beats->count) return step;
    int beat = beats->of_step[step];
    bool is_between = beats->step[beat] != step;
    if (is_between && beats->step[beat] > step) beat--; /* before the first one */
    if (is_between && by < 0) by++;
    beat += by;
    int target = beats->step[beat < 0 ? 0 : beat >= beats->count ? beats->count - 1 : beat];
    return (by < 0 && target > step) || (by > 0 && target < step) ? step : target;
}
