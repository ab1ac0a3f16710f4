#include "base/utf8.h"
#include "tui/view/view.h"

#include "tui/view/step_context.h"
#include <math.h>
#include <string.h>
#include <stdarg.h>
#include <stdio.h>

const Steps *view_steps(const View *view, const Scene *scene) {
    return view->place.block < scene->traced.block_count ? scene->traced.blocks[view->place.block].steps
                                                         : NULL;
}

void view_go_to_step(View *view, const Scene *scene, int step) {
    view->is_opening = false;
    const Steps *steps = view_steps(view, scene);
    int last = steps && steps->step_count ? steps->step_count - 1 : 0;
    view->place.step = canvas_clamp(step, 0, last);
    view->place.wavefront = 0;
}

void view_go_to_block(View *view, const Scene *scene, int block) {
    view->place.block = block;
    view->selection.warp = 0;
    view_go_to_step(view, scene, 0);
}

void view_jump_to_step(View *view, const Scene *scene, int step) {
    ViewPosition before = {view->place.block, view->place.step + 1};
    view_go_to_step(view, scene, step);
    if (view->place.step + 1 != before.number) view->place.back = before;
}

static Reduction *reduction_shown(const View *view, const Scene *scene) {
    Reduction *reduction = scene_reduction(scene, view->place.block);
    return reduction && reduction_is_worth_showing(reduction) ? reduction : NULL;
}

void view_move_by_beats(View *view, const Scene *scene, int by) {
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return;
    const Beats *beats = scene_beats(scene, view->place.block);
    view_go_to_step(view, scene, beats_move(beats, view->place.step, by));
}

static bool move_by_intervals(View *view, const Scene *scene, const Steps *steps, int by) {
    int step = view->place.step, interval = steps->steps[step].interval_step;
    if (by < 0 && step > steps->interval_begin[interval]) by++;
    interval += by;
    if (interval >= steps->interval_step_count) interval = steps->interval_step_count - 1;
    int target = steps->interval_begin[interval < 0 ? 0 : interval];
    if (by > 0 && target <= step) return false;
    view_go_to_step(view, scene, target);
    return true;
}

/* Where the first sum of the level is stored; of a level that adds nothing of other threads, its first
 * step. */
static int level_step(Reduction *reduction, int index) {
    const ReductionLevel *level =
        reduction_level_kind(reduction, index) == TREE_FOLD ? reduction_level(reduction, index) : NULL;
    for (int i = 0; level && i < level->box_count; i++)
        if (level->boxes[i].adds) return level->boxes[i].step;
    return reduction_level_first(reduction, index);
}

bool view_move_by_levels(View *view, const Scene *scene, int by) {
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return false;
    Reduction *reduction = reduction_shown(view, scene);
    int direction = by;
    if (!reduction || !reduction_fold_count(reduction)) return move_by_intervals(view, scene, steps, by);
    int step = view->place.step, level = reduction_level_at(reduction, step);
    int count = reduction_level_count(reduction), here = level_step(reduction, level);
    if (by < 0 && step > here) by++;
    if (by > 0 && step < here) by--;
    level += by;
    if (level >= count) level = count - 1;
    int target = level_step(reduction, level < 0 ? 0 : level);
    if (by >= 0 && target <= step && direction > 0) return false;
    view_go_to_step(view, scene, target);
    return true;
}

void view_init(View *view) {
    *view = (View){.display = {.side = VIEW_SIDE_TIMINGS}, .transient = {.number = -1, .phase = 1}};
}

/* Clears everything in progress; what the menu, the settings and the last failure hold stays. */
static void settle(ViewTransient *transient) {
    transient->playing = false;
    transient->phase = 1;
    transient->overlay = OVERLAY_NONE;
    transient->input = INPUT_COMMANDS;
    transient->number = -1;
    transient->message[0] = 0;
}

void view_restart(View *view) {
    ViewSelection *selection = &view->selection;
    view->place = (ViewPlace){0};
    selection->warp = selection->hazard = 0;
    selection->hazard_waits = false;
    memset(selection->marks, 0, sizeof selection->marks);
    settle(&view->transient);
}

void view_forget_failure(View *view) {
    view->selection.hazard = 0; /* it belonged to the old run */
    view->transient.failure = (Error){0};
    if (view->transient.overlay == OVERLAY_FAILURE) view->transient.overlay = OVERLAY_NONE;
}

void view_show_alike(View *view, const View *from) {
    view->display = from->display;
    view->selection.reg = from->selection.reg;
    view->selection.traced = from->selection.traced;
    memcpy(view->selection.search, from->selection.search, sizeof view->selection.search);
    view->transient = from->transient;
    settle(&view->transient);
}

int view_wavefronts(const View *view, const Scene *scene) {
    StepContext context;
    return step_context_init(&context, scene, view) ? step_context_wavefronts(&context) : 1;
}

bool view_next_wavefront(View *view, const Scene *scene) {
    if (view->place.wavefront + 1 < view_wavefronts(view, scene)) {
        view->place.wavefront++;
        return true;
    }
    int before = view->place.step;
    view_move_by_beats(view, scene, 1);
    return view->place.step > before;
}

void view_previous_wavefront(View *view, const Scene *scene) {
    if (view->place.wavefront > 0) {
        view->place.wavefront--;
    } else if (view->place.step > 0) {
        view_move_by_beats(view, scene, -1);
        view->place.wavefront = view_wavefronts(view, scene) - 1;
    }
}

bool view_play(View *view, const Scene *scene) {
    const Steps *steps = view_steps(view, scene);
    if (!steps || !steps->step_count) return false;
    View next = *view;
    bool more = view_next_wavefront(&next, scene);
    int interval = steps->steps[view->place.step].interval_step;
    if (view->display.loop == LOOP_INTERVAL &&
        (!more || steps->steps[next.place.step].interval_step != interval))
        view_go_to_step(view, scene, steps->interval_begin[interval]);
    else if (more)
        *view = next;
    else if (view->display.loop == LOOP_RUN)
        view_go_to_step(view, scene, 0);
    else
        return false;
    return true;
}

double view_wavefront_seconds(const View *view) {
    return ldexp(1.2, -view->display.speed); /* time to read what it moves */
}

/* The level that a place belongs to; where nothing is folded, the barrier interval. */
static int part_at(const View *view, const Scene *scene) {
    Reduction *reduction = reduction_shown(view, scene);
    return reduction && reduction_fold_count(reduction)
               ? reduction_level_at(reduction, view->place.step)
               : view_steps(view, scene)->steps[view->place.step].interval_step;
}

double view_place_seconds(const View *view, const Scene *scene) {
    const Steps *steps = view_steps(view, scene);
    double seconds = view_wavefront_seconds(view);
    View next = *view;
    if (!steps || !steps->step_count || !view_next_wavefront(&next, scene)) return seconds;
    return part_at(&next, scene) == part_at(view, scene) ? seconds : 2 * seconds;
}

double view_phase(const View *view) {
    return view->transient.playing && !view->display.still ? view->transient.phase : 1;
}

void view_print_speed(int speed, char out[VIEW_SPEED_BYTES]) {
    if (speed < 0)
        snprintf(out, VIEW_SPEED_BYTES, "1/%dx", 1 << -speed);
    else
        snprintf(out, VIEW_SPEED_BYTES, "%dx", 1 << speed);
}

/* ---- hazards ------------------------------------------------------------------------------------------- */

static int find_traced(const Scene *scene, int launch, uint64_t linear) {
    for (int i = 0; i < scene->traced.block_count; i++)
        if (scene->traced.blocks[i].launch == launch &&
            trace_block_linear(scene->traced.blocks[i].block) == linear)
            return i;
    return -1;
}

/* The step of the access, else the first step of its instruction; -1: not in this block. */
static int step_of_access(const Steps *steps, const FindingAccess *access) {
    if (access->event >= 0 && access->event < trace_block_event_count(steps->block)) {
        int step = steps->step_of_event[access->event];
        /* a GPU's recording may be in another order */
        if (steps->steps[step].pc == access->pc) return step;
    }
    for (int step = 0; step < steps->step_count; step++)
        if (steps->steps[step].pc == access->pc) return step;
    return -1;
}

ViewPosition view_finding_place(const Scene *scene, const Finding *finding, const FindingAccess *access) {
    int block = find_traced(scene, finding->launch, access->linear_block);
    if (block < 0 || access->pc < 0) return (ViewPosition){0};
    return (ViewPosition){block, step_of_access(scene->traced.blocks[block].steps, access) + 1};
}

ViewAnswer view_go_to_hazard(View *view, const Scene *scene) {
    const Finding *hazard = &scene->borrowed.hazards->items[view->selection.hazard - 1];
    const FindingAccess *access = view->selection.hazard_other ? &hazard->other : &hazard->access;
    int found = find_traced(scene, hazard->launch, access->linear_block);
    bool had_waited = view->selection.hazard_waits;
    view->selection.hazard_waits = false;
    if (access->pc < 0) return VIEW_CHANGED;
    if (found < 0) {
        view->selection.hazard_waits = !had_waited;
        view->transient.wanted_block = (uint32_t)access->linear_block;
        return had_waited ? VIEW_CHANGED : VIEW_TRACE;
    }
    int step = view_finding_place(scene, hazard, access).number - 1;
    ViewPosition before = {view->place.block, view->place.step + 1};
    view->place.block = found;
    if (step >= 0) view_go_to_step(view, scene, step);
    if (hazard->severity == SEVERITY_SLOW) view->display.picture = SHOW_INSTRUCTION;
    view->place.back = before;
    if (access->warp >= 0) view->selection.warp = access->warp;
    for (int lane = 0; lane < WARP_LANES && access->lane < 0; lane++)
        if (access->lanes >> lane & 1) view->selection.lane = lane;
    if (access->lane >= 0) view->selection.lane = access->lane;
    bool is_split = access->lane < 0 && hazard->severity == SEVERITY_SLOW && access->lanes;
    if (is_split) view->selection.lane = __builtin_ctz(access->lanes); /* as the step itself selects */
    return VIEW_CHANGED;
}

void view_say(View *view, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(view->transient.message, sizeof view->transient.message, format, arguments);
    utf8_drop_half(view->transient.message);
    va_end(arguments);
}
