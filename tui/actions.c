/* Actions: one function per row of keys.def, found through one table. */
#include "tui/actions.h"

#include "base/memory.h"
#include "tui/panes/metric_rows.h"
#include "tui/panes/pane.h"
#include "tui/scene/registers.h"
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- stepping ------------------------------------------------------------------------------------------ */

/* One line in place of the footer's hints, until the next key. */
__attribute__((format(printf, 2, 3))) static void tell(View *view, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(view->message, sizeof view->message, format, arguments);
    va_end(arguments);
}

static int repeats(const Press *press) {
    return press->number > 0 ? press->number : 1;
}

static ViewAnswer act_STEP(Press press) {
    view_go_to_step(press.view, press.scene, press.view->step + press.direction * repeats(&press));
    return VIEW_CHANGED;
}

/* To the start of the next group; backwards to the start of this one, or of the one before from there. */
static int group_target(const int *begin, int group, int step, int direction, int times) {
    if (direction < 0 && step > begin[group]) times--;
    group += direction * times;
    return begin[group < 0 ? 0 : group];
}

static ViewAnswer act_LINE(Press press) {
    const Steps *steps = view_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = repeats(&press), group = steps->steps[press.view->step].line_step;
    if (press.direction > 0 && group + times >= steps->line_step_count)
        times = steps->line_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->line_begin, group, press.view->step, press.direction, times));
    return VIEW_CHANGED;
}

static ViewAnswer act_INTERVAL(Press press) {
    const Steps *steps = view_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = repeats(&press), group = steps->steps[press.view->step].interval_step;
    if (press.direction > 0 && group + times >= steps->interval_step_count)
        times = steps->interval_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->interval_begin, group, press.view->step, press.direction, times));
    return VIEW_CHANGED;
}

static ViewAnswer act_WAVEFRONT(Press press) {
    for (int i = 0; i < repeats(&press); i++) {
        if (press.direction > 0)
            view_next_wavefront(press.view, press.scene);
        else
            view_previous_wavefront(press.view, press.scene);
    }
    return VIEW_CHANGED;
}

static ViewAnswer act_PLAY(Press press) {
    View *view = press.view;
    view->playing = !view->playing;
    View next = *view;
    if (view->playing && !view_next_wavefront(&next, press.scene))
        view_go_to_step(view, press.scene, 0); /* at the end: once more */
    return VIEW_CHANGED;
}

static ViewAnswer act_SPEED(Press press) {
    View *view = press.view;
    char speed[VIEW_SPEED_BYTES];
    int wanted = view->speed + press.direction;
    bool possible = wanted >= SPEED_SLOWEST && wanted <= SPEED_FASTEST;
    if (possible) view->speed = wanted;
    view_print_speed(view, speed);
    tell(view, "speed %s%s: %g wavefronts a second", speed, possible ? "" : " at most",
         view_wavefronts_per_second(view));
    return VIEW_CHANGED;
}

/* ---- jumps --------------------------------------------------------------------------------------------- */

/* What a jump looks for: does this step match? */
typedef bool Matches(const Press *press, const Steps *steps, const StepIndex *step_index, int step,
                     const void *context);

static ViewAnswer jump(Press press, Matches *matches, const void *context, const char *what) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->view);
    int found = -1, wanted = repeats(&press);
    for (int step = view->step + press.direction; step >= 0 && step < steps->step_count;
         step += press.direction) {
        if (!matches(&press, steps, step_index, step, context)) continue;
        found = step;
        if (--wanted == 0) break;
    }
    if (found < 0)
        tell(view, "no %.60s %s this step", what, press.direction > 0 ? "after" : "before");
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
MATCHES(step_conflicts, step_index->step[step].conflicts)
MATCHES(step_diverges, step_index->step[step].diverges)
MATCHES(step_is_barrier, step_index->step[step].kind == TRACE_BARRIER)
MATCHES(step_is_counted, metric_row_counts(press->view->traced - 1, &step_index->step[step]))
MATCHES(step_is_found, ((const bool *)context)[steps->steps[step].pc])
#undef MATCHES

static bool step_has_lane(const Press *press, const Steps *steps, const StepIndex *step_index, int step,
                          const void *context) {
    (void)context;
    const View *view = press->view;
    int event = step_index_warp_event(step_index, step, view->warp, view->lane);
    TraceEvent header;
    if (event < 0) return false;
    trace_block_read_header(steps->block, event, &header);
    return header.mask >> view->lane & 1;
}

/* Instructions whose PTX, source line or kind of event holds the text; the caller frees. */
static bool *find_instructions(const Press *press) {
    const Scene *scene = press->scene;
    const PtxProgram *program = scene_launch(scene, press->view->view)->program;
    bool *found = memory_new((size_t)program->code_count);
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxCode *code = &program->code[pc];
        const char *ptx = scene->ptx_line(scene->context, scene->views[press->view->view].launch, pc);
        const char *source =
            code->line.file ? scene->source_line(scene->context, code->line.file, code->line.line) : NULL;
        found[pc] = (ptx && scene_text_holds(ptx, press->view->search)) ||
                    (source && scene_text_holds(source, press->view->search));
    }
    return found;
}

ViewAnswer action_search(Press press) {
    char what[SEARCH_BYTES + 24];
    if (!view_steps(press.view, press.scene)) return VIEW_IGNORED;
    bool *found = find_instructions(&press);
    snprintf(what, sizeof what, "step with \"%s\"", press.view->search);
    ViewAnswer answer = jump(press, step_is_found, found, what);
    free(found);
    return answer;
}

static ViewAnswer act_CONFLICT(Press press) {
    if (*press.view->search) return action_search(press);
    if (press.view->traced) return jump(press, step_is_counted, NULL, "marked step");
    return jump(press, step_conflicts, NULL, "bank conflict");
}
static ViewAnswer act_DIVERGENCE(Press press) {
    return jump(press, step_diverges, NULL, "divergent branch");
}
static ViewAnswer act_BARRIER(Press press) {
    return jump(press, step_is_barrier, NULL, "barrier");
}
static ViewAnswer act_LANE_EVENT(Press press) {
    char what[32];
    snprintf(what, sizeof what, "event of w%d lane %d", press.view->warp, press.view->lane);
    return jump(press, step_has_lane, NULL, what);
}

/* The next metric that this block has any of; then none. */
static ViewAnswer act_TRACE(Press press) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->view);
    int marked = 0;
    while (!marked) {
        view->traced = (view->traced + press.direction + METRIC_ROW_COUNT + 1) % (METRIC_ROW_COUNT + 1);
        if (!view->traced) break;
        for (int step = 0; step < steps->step_count; step++)
            marked += metric_row_counts(view->traced - 1, &step_index->step[step]);
    }
    if (view->traced)
        tell(view, "%d steps count for %s; n, N go through them, Esc ends it", marked,
             metric_row_label(view->traced - 1));
    return VIEW_CHANGED;
}

static ViewAnswer act_SEARCH(Press press) {
    press.view->input = INPUT_SEARCH;
    press.view->search[0] = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_MARK(Press press) {
    press.view->input = INPUT_MARK;
    return VIEW_CHANGED;
}

static ViewAnswer act_RETURN(Press press) {
    press.view->input = INPUT_RETURN;
    return VIEW_CHANGED;
}

static ViewAnswer act_LOOP(Press press) {
    static const char *const told[LOOP_COUNT] = {
        "play stops at the end", "play goes round this barrier interval", "play goes round the whole run"};
    press.view->loop = (press.view->loop + 1) % LOOP_COUNT;
    tell(press.view, "%s", told[press.view->loop]);
    return VIEW_CHANGED;
}

static ViewAnswer act_BEGIN(Press press) {
    view_jump_to_step(press.view, press.scene, press.number > 0 ? press.number - 1 : 0);
    return VIEW_CHANGED;
}

static ViewAnswer act_END(Press press) {
    view_jump_to_step(press.view, press.scene, press.number > 0 ? press.number - 1 : INT_MAX);
    return VIEW_CHANGED;
}

/* First of those at the side, and the one that z enlarges; false: it was that already. */
static bool bring_to_front(View *view, const Pane *pane) {
    int index = 0;
    while (pane_side(index) != pane) index++;
    if (view->side == index && view->focus == FOCUS_SIDE) return false;
    view->side = index;
    view->focus = FOCUS_SIDE;
    view->hidden &= ~(1u << FOCUS_SIDE);
    return true;
}

/* The next access of a hazard: where it showed, then what it clashes with, then the next hazard. */
static void next_hazard(View *view, const Findings *hazards, int direction) {
    bool has_other = view->hazard && hazards->items[view->hazard - 1].other.pc >= 0;
    if (view->hazard && has_other && view->hazard_other == (direction < 0)) {
        view->hazard_other = !view->hazard_other;
        return;
    }
    view->hazard += direction;
    if (view->hazard < 1) view->hazard = hazards->count;
    if (view->hazard > hazards->count) view->hazard = 1;
    view->hazard_other = direction < 0 && hazards->items[view->hazard - 1].other.pc >= 0;
}

static ViewAnswer act_HAZARD(Press press) {
    View *view = press.view;
    const Findings *hazards = press.scene->hazards;
    bring_to_front(view, &pane_hazards);
    if (!hazards || !hazards->count) {
        tell(view, "%s",
             hazards                     ? "nothing wrong was found"
             : press.scene->hazards_note ? press.scene->hazards_note
                                         : "hazards are not known");
        return VIEW_CHANGED;
    }
    if (view->hazard > hazards->count) view->hazard = 0;
    if (press.number > 0 && press.number <= hazards->count) {
        view->hazard = press.number;
        view->hazard_other = false;
    } else {
        next_hazard(view, hazards, press.direction);
    }
    return view_go_to_hazard(view, press.scene);
}

/* ---- what is selected ---------------------------------------------------------------------------------- */

/* The next warp that has an event in this step, around the block, from the one that is shown. */
static ViewAnswer next_warp(Press press) {
    View *view = press.view;
    StepContext now;
    if (!step_context_init(&now, press.scene, view)) return VIEW_IGNORED;
    int count = now.step_index->warp_count, warp = now.event.warp;
    do warp = (warp + press.direction + count) % count;
    while (warp != now.event.warp && step_index_warp_event(now.step_index, view->step, warp, view->lane) < 0);
    if (warp == now.event.warp)
        tell(view, "no other warp has an event in this step");
    else
        view->warp = warp;
    return VIEW_CHANGED;
}

static ViewAnswer act_WARP(Press press) {
    View *view = press.view;
    if (!view_steps(view, press.scene)) return VIEW_IGNORED;
    int last = scene_step_index(press.scene, view->view)->warp_count - 1;
    view->wavefront = 0;
    if (press.number < 0) return next_warp(press);
    view->warp = press.number < last ? press.number : last;
    return VIEW_CHANGED;
}

static ViewAnswer act_LANE(Press press) {
    View *view = press.view;
    if (press.number >= 0)
        view->lane = press.number < WARP_LANES ? press.number : WARP_LANES - 1;
    else
        view->lane = (view->lane + press.direction + WARP_LANES) % WARP_LANES;
    return VIEW_CHANGED;
}

/* Block `number` of the launch shown: one that is traced already, else it is asked for. */
static ViewAnswer go_to_block(View *view, const Scene *scene, int number) {
    const TraceLaunch *launch = scene_launch(scene, view->view);
    uint64_t count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (int i = 0; i < scene->view_count; i++) {
        if (scene->views[i].launch != scene->views[view->view].launch) continue;
        if (trace_block_linear(scene->views[i].block) != (uint32_t)number) continue;
        view->view = i;
        view->warp = 0;
        view_go_to_step(view, scene, 0);
        return VIEW_CHANGED;
    }
    if ((uint64_t)number >= count) {
        tell(view, "no block %d: the grid has blocks 0 to %llu", number, (unsigned long long)count - 1);
        return VIEW_CHANGED;
    }
    view->block = (uint32_t)number;
    return VIEW_TRACE;
}

static ViewAnswer act_BLOCK(Press press) {
    View *view = press.view;
    int next = view->view + press.direction;
    if (press.number >= 0 && view->view < press.scene->view_count)
        return go_to_block(view, press.scene, press.number);
    if (next < 0 || next >= press.scene->view_count) {
        tell(view, "no %s traced block or launch; a number before } traces that block: 17}",
             press.direction > 0 ? "later" : "earlier");
        return VIEW_CHANGED;
    }
    view->view = next;
    view->warp = 0;
    view_go_to_step(view, press.scene, 0);
    return VIEW_CHANGED;
}

/* ---- how it is shown ----------------------------------------------------------------------------------- */

static ViewAnswer act_VALUES(Press press) {
    static const char *const told[VALUE_FORMAT_COUNT] = {"in the kernel's type", "in hex",
                                                         "as signed integers", "as floats"};
    press.view->values = (press.view->values + 1) % VALUE_FORMAT_COUNT;
    tell(press.view, "values %s", told[press.view->values]);
    return VIEW_CHANGED;
}

static ViewAnswer act_REGISTER(Press press) {
    StepContext now;
    press.view->reg = (press.view->reg + 1) % MOST_REGISTERS;
    if (!step_context_init(&now, press.scene, press.view)) return VIEW_IGNORED;
    const PtxRegister *reg = register_chosen(&now);
    tell(press.view, "beside the lanes: %s%s", reg ? "register " : "the instruction's values",
         reg ? reg->name : "");
    return VIEW_CHANGED;
}

static ViewAnswer act_GUTTER(Press press) {
    press.view->gutter = (press.view->gutter + 1) % GUTTER_SCOPE_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_SOURCE(Press press) {
    press.view->source = (press.view->source + 1) % SOURCE_TEXT_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_FOCUS(Press press) {
    static const char *const names[FOCUS_COUNT] = {"picture", "source", "lanes", "pane at the side"};
    View *view = press.view;
    do view->focus = (Focus)(((int)view->focus + press.direction + FOCUS_COUNT) % FOCUS_COUNT);
    while (view->hidden >> view->focus & 1);
    tell(view, "at the %s: z enlarges it%s", names[view->focus],
         view->focus == FOCUS_PICTURE ? "" : ", H hides it");
    return VIEW_CHANGED;
}

static ViewAnswer act_ZOOM(Press press) {
    press.view->zoomed = !press.view->zoomed;
    return VIEW_CHANGED;
}

static ViewAnswer act_HIDE(Press press) {
    View *view = press.view;
    if (press.direction < 0 && !view->hidden) {
        tell(view, "no pane is hidden");
    } else if (press.direction < 0) {
        view->hidden = 0;
    } else if (view->focus == FOCUS_PICTURE) {
        tell(view, "Tab goes to the pane that is to be hidden");
    } else {
        view->hidden |= 1u << view->focus;
        view->focus = FOCUS_PICTURE;
        view->zoomed = false;
    }
    return VIEW_CHANGED;
}

static ViewAnswer act_PROJECTOR(Press press) {
    press.view->projector = !press.view->projector;
    return VIEW_CHANGED;
}

static ViewAnswer act_THEME(Press press) {
    View *view = press.view;
    view->theme = (Theme)(((int)view->theme + press.direction + THEME_COUNT) % THEME_COUNT);
    tell(view, "colours: %s", theme_name(view->theme));
    return VIEW_CHANGED;
}

static ViewAnswer act_TREE(Press press) {
    press.view->tree =
        (ShownTree)(((int)press.view->tree + press.direction + SHOWN_TREE_COUNT) % SHOWN_TREE_COUNT);
    return VIEW_CHANGED;
}

static ViewAnswer act_SIDE(Press press) {
    int count = pane_side_count();
    StepContext now;
    PaneHead head = {.columns = 60};
    press.view->side = (press.view->side + press.direction + count) % count;
    if (!step_context_init(&now, press.scene, press.view)) return VIEW_IGNORED;
    pane_side(press.view->side)->head(&now, &head);
    tell(press.view, "at the side: %s", head.title);
    return VIEW_CHANGED;
}

/* The pane comes to the front; when it stands there already, the times are shown in another way. */
static ViewAnswer act_TIMES(Press press) {
    static const char *const ways[TIMES_WAY_COUNT] = {"L2 cold, in a CUDA graph", "L2 warm, in a CUDA graph",
                                                      "L2 cold, single calls", "L2 warm, single calls"};
    View *view = press.view;
    if (!bring_to_front(view, &pane_timings)) {
        if (press.direction > 0)
            view->times = (view->times + 1) % TIMES_WAY_COUNT;
        else
            view->times_alone = !view->times_alone;
    }
    tell(view, "timings: %s; %s", ways[view->times],
         view->times_alone ? "the kernel alone" : "to one scalar");
    return VIEW_CHANGED;
}

static ViewAnswer act_KERNEL(Press press) {
    press.view->overlay = OVERLAY_MENU;
    press.view->playing = press.view->beside = false;
    press.view->filter[0] = 0;
    press.view->choice = 0;
    for (int i = 0; view_menu_row(press.view, i) >= 0; i++)
        if (!strcmp(catalog_row(view_menu_row(press.view, i))->id, press.scene->kernel))
            press.view->choice = i;
    return VIEW_CHANGED;
}

/* The menu stands at the next kernel of the catalogue that is no variant of this one: with it a lecture
 * compares. */
static ViewAnswer act_COMPARE(Press press) {
    View *view = press.view;
    int row, next = 0;
    size_t length = strlen(press.scene->kernel);
    if (press.direction < 0) return VIEW_ALONE;
    act_KERNEL(press);
    view->beside = true;
    for (int i = view->choice; !next && (row = view_menu_row(view, i)) >= 0; i++)
        if (strncmp(catalog_row(row)->id, press.scene->kernel, length) != 0) next = i;
    view->choice = next;
    return VIEW_CHANGED;
}

static ViewAnswer act_PARAMETERS(Press press) {
    press.view->overlay = OVERLAY_SETTINGS;
    press.view->playing = false;
    settings_init(&press.view->settings, press.scene);
    return VIEW_CHANGED;
}

static ViewAnswer act_EDIT(Press press) {
    press.view->playing = false;
    return VIEW_EDIT;
}

static ViewAnswer act_OTHER(Press press) {
    return press.direction < 0 ? VIEW_EXCHANGE : VIEW_OTHER;
}

static ViewAnswer act_LINK(Press press) {
    (void)press;
    return VIEW_LINK;
}

static ViewAnswer act_DIFFERENCES(Press press) {
    press.view->overlay = OVERLAY_DIFFERENCES;
    press.view->scroll = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_HELP(Press press) {
    press.view->overlay = OVERLAY_HELP;
    press.view->scroll = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_REDRAW(Press press) {
    (void)press;
    return VIEW_REDRAW;
}

static ViewAnswer act_QUIT(Press press) {
    (void)press;
    return VIEW_QUIT;
}

static ViewAnswer (*const handlers[ACTION_COUNT])(Press) = {
    NULL,
#define KEY(action, forwards, backwards, name, help) act_##action,
#include "tui/view/keys.def"
#undef KEY
};

ViewAnswer action_run(KeyAction action, Press press) {
    return action == ACT_NONE ? VIEW_IGNORED : handlers[action](press);
}
