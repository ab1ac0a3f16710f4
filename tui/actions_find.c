/* Keys that find: the next conflict, split, barrier or event, the text that is searched for, and findings. */
#include "tui/actions.h"
#include "base/language.h"
#include <stdlib.h>

/* ---- jumps --------------------------------------------------------------------------------------------- */

/* Whether this step matches what the jump looks for. */
typedef bool Matches(const Press *press, const Steps *steps, const StepIndex *step_index, int step,
                     const void *context);

static ViewAnswer jump(Press press, Matches *matches, const void *context, const char *what) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->place.block);
    int found = -1, wanted = action_repeats(&press);
    for (int step = view->place.step + press.direction; step >= 0 && step < steps->step_count;
         step += press.direction) {
        if (!matches(&press, steps, step_index, step, context)) continue;
        found = step;
        if (--wanted == 0) break;
    }
    if (found < 0)
        view_say(view, press.direction > 0 ? tr("no %.60s after this step") : tr("no %.60s before this step"),
                 what);
    else
        view_jump_to_step(view, press.scene, found);
    return VIEW_CHANGED;
}

#define MATCHES(name, condition)                                                                             \
    static bool name(const Press *press, const Steps *steps, const StepIndex *step_index, int step,          \
                     const void *context) {                                                                  \
        (void)press, (void)steps, (void)step_index, (void)context;                                           \
        return condition;                                                                                    \
    }
MATCHES(step_is_barrier, step_index->step[step].kind == TRACE_BARRIER)
MATCHES(step_is_counted, metric_row_counts(press->view->selection.traced - 1, &step_index->step[step]))
MATCHES(step_is_found, ((const bool *)context)[steps->steps[step].pc])
MATCHES(step_is_marked, ((const bool *)context)[step])
#undef MATCHES

static bool step_has_lane(const Press *press, const Steps *steps, const StepIndex *step_index, int step,
                          const void *context) {
    (void)context;
    const View *view = press->view;
    int event = step_index_warp_event(step_index, step, view->selection.warp, view->selection.lane);
    TraceEvent header;
    if (event < 0) return false;
    trace_block_read_header(steps->block, event, &header);
    return header.mask >> view->selection.lane & 1;
}

ViewAnswer action_search(Press press) {
    char what[SEARCH_BYTES + 24];
    if (!view_steps(press.view, press.scene)) return VIEW_IGNORED;
    /* Instructions whose PTX, source line or kind of event contains the text; the caller frees them. */
    const Scene *scene = press.scene;
    const PtxProgram *program = scene_launch(scene, press.view->place.block)->program;
    bool *found = memory_new((size_t)program->code_count);
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxCode *code = &program->code[pc];
        const char *ptx = scene_ptx_line(scene, press.view->place.block, pc);
        const char *source =
            code->line.file ? scene_source_line(scene, code->line.file, code->line.line) : NULL;
        found[pc] = (ptx && scene_text_holds(ptx, press.view->selection.search)) ||
                    (source && scene_text_holds(source, press.view->selection.search));
    }
    snprintf(what, sizeof what, tr("step with \"%s\""), press.view->selection.search);
    ViewAnswer answer = jump(press, step_is_found, found, what);
    free(found);
    return answer;
}

/* [step] owned. Of the accesses of one source line in one level, the first that conflicts. */
static bool *mark_conflicts(const Press *press) {
    const Steps *steps = view_steps(press->view, press->scene);
    const StepIndex *step_index = scene_step_index(press->scene, press->view->place.block);
    Reduction *reduction = scene_reduction(press->scene, press->view->place.block);
    bool *marked = memory_new((size_t)steps->step_count + 1);
    int last_line = -1, last_level = -1;
    for (int step = 0; step < steps->step_count; step++) {
        if (!step_index->step[step].conflicts) continue;
        int level = reduction ? reduction_level_at(reduction, step) : 0, line = steps->steps[step].line_step;
        marked[step] = line != last_line || level != last_level;
        last_line = line;
        last_level = level;
    }
    return marked;
}

/* [step] owned. */
static bool *mark_paths(const Press *press) {
    const Steps *steps = view_steps(press->view, press->scene);
    const StepIndex *step_index = scene_step_index(press->scene, press->view->place.block);
    const Paths *paths = scene_paths(press->scene, press->view->place.block);
    bool *marked = memory_new((size_t)steps->step_count + 1);
    for (int step = 0; step < steps->step_count; step++) marked[step] = step_index->step[step].diverges;
    for (int i = 0; i < paths->path_count; i++)
        if (paths->paths[i].first_event >= 0)
            marked[steps->step_of_event[paths->paths[i].first_event]] = true;
    return marked;
}

static uint64_t excess_of(const TraceCounter *counter) {
    return counter->wavefronts - counter->ideal_wavefronts;
}
static uint64_t splits_of(const TraceCounter *counter) {
    return counter->divergent;
}

/* A block of the grid has some of it, or may have: not all of them have run yet. */
static bool grid_has(const Press *press, uint64_t (*count)(const TraceCounter *counter)) {
    const TraceLaunch *launch = scene_launch(press->scene, press->view->place.block);
    uint64_t sum = press->scene->outcome.counting;
    for (int pc = 0; launch->counters && pc < launch->program->code_count; pc++)
        sum += count(&launch->counters[pc]);
    return sum;
}

/* Frees `marked`. */
static ViewAnswer jump_to_marked(Press press, bool *marked, const char *what, bool is_in_grid) {
    const Steps *steps = view_steps(press.view, press.scene);
    bool is_any = memchr(marked, 1, (size_t)steps->step_count);
    ViewAnswer answer = VIEW_CHANGED;
    if (is_any)
        answer = jump(press, step_is_marked, marked, what);
    else
        view_say(press.view, tr("this %s has no %s"), is_in_grid ? "block" : "kernel", what);
    free(marked);
    return answer;
}

ViewAnswer act_CONFLICT(Press press) {
    if (*press.view->selection.search) return action_search(press);
    if (press.view->selection.traced) return jump(press, step_is_counted, NULL, tr("marked step"));
    if (!view_steps(press.view, press.scene)) return VIEW_IGNORED;
    return jump_to_marked(press, mark_conflicts(&press), tr("bank conflict"), grid_has(&press, excess_of));
}

/* The branch, then the first step of each of its paths. */
ViewAnswer act_DIVERGENCE(Press press) {
    if (!view_steps(press.view, press.scene)) return VIEW_IGNORED;
    return jump_to_marked(press, mark_paths(&press), tr("divergent branch"), grid_has(&press, splits_of));
}
ViewAnswer act_BARRIER(Press press) {
    return jump(press, step_is_barrier, NULL, tr("barrier"));
}
ViewAnswer act_LANE_EVENT(Press press) {
    char what[48];
    snprintf(what, sizeof what, tr("event of w%d lane %d"), press.view->selection.warp,
             press.view->selection.lane);
    return jump(press, step_has_lane, NULL, what);
}

/* Selects the next metric that is not zero in this block; after the last, none. */
ViewAnswer act_TRACE(Press press) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->place.block);
    int marked = 0;
    while (!marked) {
        view->selection.traced =
            (view->selection.traced + press.direction + metric_row_count() + 1) % (metric_row_count() + 1);
        if (!view->selection.traced) break;
        for (int step = 0; step < steps->step_count; step++)
            marked += metric_row_counts(view->selection.traced - 1, &step_index->step[step]);
    }
    if (view->selection.traced)
        view_say(view, tr("%d step%s counted in %s; n, N: next, previous; Esc: off"), marked,
                 marked == 1 ? "" : "s", tr(metric_row_label(view->selection.traced - 1)));
    return VIEW_CHANGED;
}

/* ---- findings ------------------------------------------------------------------------------------------ */

/* Goes to the next access of a hazard: where it was detected, then the access it races with, then the next
 * hazard. */
static void next_hazard(View *view, const Findings *hazards, int direction) {
    bool has_other = view->selection.hazard && hazards->items[view->selection.hazard - 1].other.pc >= 0;
    if (view->selection.hazard && has_other && view->selection.hazard_other == (direction < 0)) {
        view->selection.hazard_other = !view->selection.hazard_other;
        return;
    }
    if (view->selection.hazard || direction < 0)
        view->selection.hazard += direction;
    else
        view->selection.hazard = findings_first(hazards) < 0 ? 1 : findings_first(hazards) + 1;
    if (view->selection.hazard < 1) view->selection.hazard = hazards->count;
    if (view->selection.hazard > hazards->count) view->selection.hazard = 1;
    view->selection.hazard_other = direction < 0 && hazards->items[view->selection.hazard - 1].other.pc >= 0;
}

/* Says what was looked at. */
static ViewAnswer say_nothing_found(Press press) {
    Text text = {0};
    hazards_pane_print_none(press.scene, &text);
    view_say(press.view, "%s", text_string(&text));
    text_done(&text);
    return VIEW_CHANGED;
}

ViewAnswer act_SEE(Press press) {
    const Findings *hazards = press.scene->borrowed.hazards;
    if (!hazards || !hazards->count) return say_nothing_found(press);
    press.view->display.side = action_side_of(&pane_hazards); /* beside the picture, if there is room */
    int first = findings_first(hazards);
    press.view->selection.hazard = first < 0 ? 1 : first + 1;
    press.view->selection.hazard_other = false;
    return view_go_to_hazard(press.view, press.scene);
}

ViewAnswer act_HAZARD(Press press) {
    View *view = press.view;
    const Findings *hazards = press.scene->borrowed.hazards;
    action_bring_to_front(view, &pane_hazards);
    if (!hazards || !hazards->count) return say_nothing_found(press);
    int numbered = findings_find_number(hazards, press.number);
    if (view->selection.hazard > hazards->count) view->selection.hazard = 0;
    if (numbered >= 0) {
        view->selection.hazard = numbered + 1;
        view->selection.hazard_other = false;
    } else {
        next_hazard(view, hazards, press.direction);
    }
    return view_go_to_hazard(view, press.scene);
}
