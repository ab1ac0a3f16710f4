/* Actions: one function per row of keys.def, found through one table. */
#include "tui/actions.h"

#include "base/memory.h"
#include "tui/panes/metric_rows.h"
#include "tui/panes/pane.h"
#include "tui/view/ladder_view.h"
#include "tui/view/registers.h"
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- stepping ------------------------------------------------------------------------------------------ */

/* One line in place of the footer's hints, until the next key. */
__attribute__((format(printf, 2, 3))) static void show_message(View *view, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(view->transient.message, sizeof view->transient.message, format, arguments);
    va_end(arguments);
}

static int repeats(const Press *press) {
    return press->number > 0 ? press->number : 1;
}

static ViewAnswer act_BEAT(Press press) {
    view_move_by_beats(press.view, press.scene, press.direction * repeats(&press));
    return VIEW_CHANGED;
}

static ViewAnswer act_STEP(Press press) {
    view_go_to_step(press.view, press.scene, press.view->place.step + press.direction * repeats(&press));
    return VIEW_CHANGED;
}

/* Page keys move by this many beats. */
static ViewAnswer act_PAGE(Press press) {
    enum { BEATS_A_PAGE = 10 };
    view_move_by_beats(press.view, press.scene, BEATS_A_PAGE * press.direction * repeats(&press));
    return VIEW_CHANGED;
}

/* Goes to the start of the next group; backwards to the start of this one, or from there to the start of the
 * one before. */
static int group_target(const int *begin, int group, int step, int direction, int times) {
    if (direction < 0 && step > begin[group]) times--;
    group += direction * times;
    return begin[group < 0 ? 0 : group];
}

static ViewAnswer act_LINE(Press press) {
    const Steps *steps = view_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = repeats(&press), group = steps->steps[press.view->place.step].line_step;
    if (press.direction > 0 && group + times >= steps->line_step_count)
        times = steps->line_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->line_begin, group, press.view->place.step, press.direction, times));
    return VIEW_CHANGED;
}

static ViewAnswer act_LEVEL(Press press) {
    bool moved = view_move_by_levels(press.view, press.scene, press.direction * repeats(&press));
    return moved ? VIEW_CHANGED : VIEW_IGNORED;
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
    view->transient.playing = !view->transient.playing;
    View next = *view;
    if (view->transient.playing && !view_next_wavefront(&next, press.scene))
        view_go_to_step(view, press.scene, 0); /* at the end: start over */
    return VIEW_CHANGED;
}

static ViewAnswer act_SPEED(Press press) {
    View *view = press.view;
    char speed[VIEW_SPEED_BYTES];
    int wanted = view->display.speed + press.direction;
    bool possible = wanted >= SPEED_SLOWEST && wanted <= SPEED_FASTEST;
    if (possible) view->display.speed = wanted;
    view_print_speed(view, speed);
    show_message(view, "speed %s%s: %g wavefronts per second", speed, possible ? "" : " (limit)",
                 view_wavefronts_per_second(view));
    return VIEW_CHANGED;
}

/* ---- jumps --------------------------------------------------------------------------------------------- */

/* Whether this step matches what the jump looks for. */
typedef bool Matches(const Press *press, const Steps *steps, const StepIndex *step_index, int step,
                     const void *context);

static ViewAnswer jump(Press press, Matches *matches, const void *context, const char *what) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->place.block);
    int found = -1, wanted = repeats(&press);
    for (int step = view->place.step + press.direction; step >= 0 && step < steps->step_count;
         step += press.direction) {
        if (!matches(&press, steps, step_index, step, context)) continue;
        found = step;
        if (--wanted == 0) break;
    }
    if (found < 0)
        show_message(view, "no %.60s %s this step", what, press.direction > 0 ? "after" : "before");
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
MATCHES(step_is_counted, metric_row_counts(press->view->selection.traced - 1, &step_index->step[step]))
MATCHES(step_is_found, ((const bool *)context)[steps->steps[step].pc])
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

/* Instructions whose PTX, source line or kind of event contains the text; the caller frees them. */
static bool *find_instructions(const Press *press) {
    const Scene *scene = press->scene;
    const PtxProgram *program = scene_launch(scene, press->view->place.block)->program;
    bool *found = memory_new((size_t)program->code_count);
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxCode *code = &program->code[pc];
        const char *ptx = scene_ptx_line(scene, press->view->place.block, pc);
        const char *source =
            code->line.file ? scene_source_line(scene, code->line.file, code->line.line) : NULL;
        found[pc] = (ptx && scene_text_holds(ptx, press->view->selection.search)) ||
                    (source && scene_text_holds(source, press->view->selection.search));
    }
    return found;
}

ViewAnswer action_search(Press press) {
    char what[SEARCH_BYTES + 24];
    if (!view_steps(press.view, press.scene)) return VIEW_IGNORED;
    bool *found = find_instructions(&press);
    snprintf(what, sizeof what, "step with \"%s\"", press.view->selection.search);
    ViewAnswer answer = jump(press, step_is_found, found, what);
    free(found);
    return answer;
}

static ViewAnswer act_CONFLICT(Press press) {
    if (*press.view->selection.search) return action_search(press);
    if (press.view->selection.traced) return jump(press, step_is_counted, NULL, "marked step");
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
    snprintf(what, sizeof what, "event of w%d lane %d", press.view->selection.warp,
             press.view->selection.lane);
    return jump(press, step_has_lane, NULL, what);
}

/* Selects the next metric that is not zero in this block; after the last, none. */
static ViewAnswer act_TRACE(Press press) {
    View *view = press.view;
    const Steps *steps = view_steps(view, press.scene);
    if (!steps) return VIEW_IGNORED;
    const StepIndex *step_index = scene_step_index(press.scene, view->place.block);
    int marked = 0;
    while (!marked) {
        view->selection.traced =
            (view->selection.traced + press.direction + METRIC_ROW_COUNT + 1) % (METRIC_ROW_COUNT + 1);
        if (!view->selection.traced) break;
        for (int step = 0; step < steps->step_count; step++)
            marked += metric_row_counts(view->selection.traced - 1, &step_index->step[step]);
    }
    if (view->selection.traced)
        show_message(view, "%d step%s counted in %s; n, N: next, previous; Esc: off", marked,
                     marked == 1 ? "" : "s", metric_row_label(view->selection.traced - 1));
    return VIEW_CHANGED;
}

static ViewAnswer act_SEARCH(Press press) {
    press.view->transient.input = INPUT_SEARCH;
    press.view->selection.search[0] = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_HELP(Press press) {
    press.view->transient.overlay = OVERLAY_HELP;
    press.view->transient.scroll = 0;
    return VIEW_CHANGED;
}

static ViewAnswer act_COMMAND(Press press) {
    press.view->transient.input = INPUT_COLON;
    press.view->transient.colon[0] = 0;
    return VIEW_CHANGED;
}

ViewAnswer action_command(Press press, const char *command) {
    static const char *const quits[] = {"q", "q!", "qa", "quit", "wq", "x"};
    View *view = press.view;
    while (*command == ' ') command++;
    for (size_t i = 0; i < sizeof quits / sizeof *quits; i++)
        if (!strcmp(command, quits[i])) return VIEW_QUIT;
    if (!strcmp(command, "h") || !strcmp(command, "help")) return act_HELP(press);
    char *end;
    long step = strtol(command, &end, 10);
    if (*command >= '0' && *command <= '9' && !*end)
        view_jump_to_step(view, press.scene, step > INT_MAX ? INT_MAX : step > 0 ? (int)step - 1 : 0);
    else if (!strcmp(command, "$"))
        view_jump_to_step(view, press.scene, INT_MAX);
    else if (*command)
        show_message(view, "no command :%s; :74 goes to step 74, :$ to the last; :h: help, :q: quit",
                     command);
    return VIEW_CHANGED;
}

static ViewAnswer act_MARK(Press press) {
    press.view->transient.input = INPUT_MARK;
    return VIEW_CHANGED;
}

static ViewAnswer act_RETURN(Press press) {
    press.view->transient.input = INPUT_RETURN;
    return VIEW_CHANGED;
}

static ViewAnswer act_LOOP(Press press) {
    static const char *const names[LOOP_COUNT] = {"off", "this barrier interval", "the whole run"};
    press.view->display.loop = (press.view->display.loop + 1) % LOOP_COUNT;
    show_message(press.view, "loop: %s", names[press.view->display.loop]);
    return VIEW_CHANGED;
}

static ViewAnswer act_MOTION(Press press) {
    press.view->display.still = !press.view->display.still;
    show_message(press.view, "motion while playing: %s", press.view->display.still ? "off" : "on");
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

/* Makes it the first side pane, and the one that z enlarges; false: it is already. */
static bool bring_to_front(View *view, const Pane *pane) {
    int index = 0;
    while (pane_side(index) != pane) index++;
    if (view->display.side == index && view->display.focus == FOCUS_SIDE) return false;
    view->display.side = index;
    view->display.focus = FOCUS_SIDE;
    view->display.hidden &= ~(1u << FOCUS_SIDE);
    return true;
}

/* Goes to the next access of a hazard: where it was detected, then the access it races with, then the next
 * hazard. */
static void next_hazard(View *view, const Findings *hazards, int direction) {
    bool has_other = view->selection.hazard && hazards->items[view->selection.hazard - 1].other.pc >= 0;
    if (view->selection.hazard && has_other && view->selection.hazard_other == (direction < 0)) {
        view->selection.hazard_other = !view->selection.hazard_other;
        return;
    }
    view->selection.hazard += direction;
    if (view->selection.hazard < 1) view->selection.hazard = hazards->count;
    if (view->selection.hazard > hazards->count) view->selection.hazard = 1;
    view->selection.hazard_other = direction < 0 && hazards->items[view->selection.hazard - 1].other.pc >= 0;
}

static ViewAnswer act_HAZARD(Press press) {
    View *view = press.view;
    const Findings *hazards = press.scene->borrowed.hazards;
    bring_to_front(view, &pane_hazards);
    if (!hazards || !hazards->count) {
        show_message(view, "%s",
                     hazards                              ? "no hazards were found"
                     : press.scene->borrowed.hazards_note ? press.scene->borrowed.hazards_note
                                                          : "hazards are not known");
        return VIEW_CHANGED;
    }
    if (view->selection.hazard > hazards->count) view->selection.hazard = 0;
    if (press.number > 0 && press.number <= hazards->count) {
        view->selection.hazard = press.number;
        view->selection.hazard_other = false;
    } else {
        next_hazard(view, hazards, press.direction);
    }
    return view_go_to_hazard(view, press.scene);
}

/* ---- selection ----------------------------------------------------------------------------------------- */

/* Selects the next warp of the block, cyclically, that has an event in this step. */
static ViewAnswer next_warp(Press press) {
    View *view = press.view;
    StepContext context;
    if (!step_context_init(&context, press.scene, view)) return VIEW_IGNORED;
    int count = context.step_index->warp_count, warp = context.event.warp;
    do warp = (warp + press.direction + count) % count;
    while (warp != context.event.warp &&
           step_index_warp_event(context.step_index, view->place.step, warp, view->selection.lane) < 0);
    if (warp == context.event.warp)
        show_message(view, "no other warp has an event in this step");
    else
        view->selection.warp = warp;
    return VIEW_CHANGED;
}

static ViewAnswer act_WARP(Press press) {
    View *view = press.view;
    if (!view_steps(view, press.scene)) return VIEW_IGNORED;
    int last = scene_step_index(press.scene, view->place.block)->warp_count - 1;
    view->place.wavefront = 0;
    if (press.number < 0) return next_warp(press);
    view->selection.warp = press.number < last ? press.number : last;
    return VIEW_CHANGED;
}

static ViewAnswer act_LANE(Press press) {
    View *view = press.view;
    if (press.number >= 0)
        view->selection.lane = press.number < WARP_LANES ? press.number : WARP_LANES - 1;
    else
        view->selection.lane = (view->selection.lane + press.direction + WARP_LANES) % WARP_LANES;
    return VIEW_CHANGED;
}

/* Goes to block `number` of the shown launch; asks to trace it if it is not traced yet. */
static ViewAnswer go_to_block(View *view, const Scene *scene, int number) {
    const TraceLaunch *launch = scene_launch(scene, view->place.block);
    uint64_t count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    for (int i = 0; i < scene->traced.block_count; i++) {
        if (scene->traced.blocks[i].launch != scene->traced.blocks[view->place.block].launch) continue;
        if (trace_block_linear(scene->traced.blocks[i].block) != (uint32_t)number) continue;
        view_go_to_block(view, scene, i);
        return VIEW_CHANGED;
    }
    if ((uint64_t)number >= count) {
        show_message(view, "no block %d: the grid has blocks 0 to %llu", number,
                     (unsigned long long)count - 1);
        return VIEW_CHANGED;
    }
    view->transient.wanted_block = (uint32_t)number;
    return VIEW_TRACE;
}

static ViewAnswer act_BLOCK(Press press) {
    View *view = press.view;
    int next = view->place.block + press.direction;
    if (press.number >= 0 && view->place.block < press.scene->traced.block_count)
        return go_to_block(view, press.scene, press.number);
    if (next < 0 || next >= press.scene->traced.block_count) {
        show_message(view, "no %s traced block or launch; 17} traces block 17",
                     press.direction > 0 ? "later" : "earlier");
        return VIEW_CHANGED;
    }
    view_go_to_block(view, press.scene, next);
    return VIEW_CHANGED;
}

/* ---- the display --------------------------------------------------------------------------------------- */

static ViewAnswer act_VALUES(Press press) {
    static const char *const names[VALUE_FORMAT_COUNT] = {"in the kernel's type", "in hex",
                                                          "as signed integers", "as floats"};
    press.view->display.values = (press.view->display.values + 1) % VALUE_FORMAT_COUNT;
    show_message(press.view, "values %s", names[press.view->display.values]);
    return VIEW_CHANGED;
}

static ViewAnswer act_REGISTER(Press press) {
    StepContext context;
    press.view->selection.reg = (press.view->selection.reg + 1) % MOST_REGISTERS;
    if (!step_context_init(&context, press.scene, press.view)) return VIEW_IGNORED;
    const PtxRegister *reg = register_chosen(&context);
    show_message(press.view, "lane values: %s%s", reg ? "register " : "the instruction's own",
                 reg ? reg->name : "");
    return VIEW_CHANGED;
}

static ViewAnswer act_GUTTER(Press press) {
    press.view->display.gutter = (press.view->display.gutter + 1) % GUTTER_SCOPE_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_SOURCE(Press press) {
    press.view->display.source = (press.view->display.source + 1) % SOURCE_TEXT_COUNT;
    return VIEW_CHANGED;
}

static ViewAnswer act_FOCUS(Press press) {
    static const char *const names[FOCUS_COUNT] = {"picture", "source", "lanes", "side pane"};
    View *view = press.view;
    do
        view->display.focus =
            (Focus)(((int)view->display.focus + press.direction + FOCUS_COUNT) % FOCUS_COUNT);
    while (view->display.hidden >> view->display.focus & 1);
    show_message(view, "focus: %s; z enlarges it%s", names[view->display.focus],
                 view->display.focus == FOCUS_PICTURE ? "" : ", H hides it");
    return VIEW_CHANGED;
}

static ViewAnswer act_ZOOM(Press press) {
    press.view->display.zoomed = !press.view->display.zoomed;
    return VIEW_CHANGED;
}

static ViewAnswer act_HIDE(Press press) {
    View *view = press.view;
    if (press.direction < 0 && !view->display.hidden) {
        show_message(view, "no pane is hidden");
    } else if (press.direction < 0) {
        view->display.hidden = 0;
    } else if (view->display.focus == FOCUS_PICTURE) {
        show_message(view, "the picture stays; Tab selects another pane to hide");
    } else {
        view->display.hidden |= 1u << view->display.focus;
        view->display.focus = FOCUS_PICTURE;
        view->display.zoomed = false;
    }
    return VIEW_CHANGED;
}

static ViewAnswer act_PROJECTOR(Press press) {
    press.view->display.projector = !press.view->display.projector;
    return VIEW_CHANGED;
}

static ViewAnswer act_THEME(Press press) {
    View *view = press.view;
    view->display.theme = (Theme)(((int)view->display.theme + press.direction + THEME_COUNT) % THEME_COUNT);
    show_message(view, "colours: %s", theme_name(view->display.theme));
    return VIEW_CHANGED;
}

static ViewAnswer act_PICTURE(Press press) {
    static const char *const names[SHOWN_PICTURE_COUNT] = {"the reduction, level by level", "this step",
                                                           "the tree of what the lane holds",
                                                           "the tree of the result"};
    View *view = press.view;
    if (view->display.picture == SHOW_GRID) view->display.picture = view->display.behind_grid;
    view->display.picture =
        (ShownPicture)(((int)view->display.picture + press.direction + SHOWN_PICTURE_COUNT) %
                       SHOWN_PICTURE_COUNT);
    show_message(view, "picture: %s", names[view->display.picture]);
    return VIEW_CHANGED;
}

/* Shows the machine in place of the picture, and back. */
static ViewAnswer act_GRID(Press press) {
    ViewDisplay *display = &press.view->display;
    if (display->picture == SHOW_GRID) {
        display->picture = display->behind_grid;
        return VIEW_CHANGED;
    }
    display->behind_grid = display->picture;
    display->picture = SHOW_GRID;
    display->focus = FOCUS_PICTURE;
    show_message(press.view, "picture: the grid on the machine; z: whole screen, #: back");
    return VIEW_CHANGED;
}

static ViewAnswer act_SIDE(Press press) {
    int count = pane_side_count();
    StepContext context;
    PaneHead head = {.columns = 60};
    press.view->display.side = (press.view->display.side + press.direction + count) % count;
    if (!step_context_init(&context, press.scene, press.view)) return VIEW_IGNORED;
    pane_side(press.view->display.side)->head(&context, &head);
    show_message(press.view, "side pane: %s", head.title);
    return VIEW_CHANGED;
}

/* Brings the pane to the front; if it is there already, selects another way of timing. */
static ViewAnswer act_TIMES(Press press) {
    View *view = press.view;
    if (!bring_to_front(view, &pane_timings)) {
        if (press.direction > 0)
            view->display.times = (view->display.times + 1) % TIMES_WAY_COUNT;
        else
            view->display.times_alone = !view->display.times_alone;
    }
    show_message(view, "timings: %s; %s", timing_way_name(view->display.times),
                 view->display.times_alone ? "the kernel alone" : "down to one scalar");
    return VIEW_CHANGED;
}

static ViewAnswer act_KERNEL(Press press) {
    press.view->transient.overlay = OVERLAY_MENU;
    press.view->transient.playing = press.view->transient.beside = false;
    press.view->transient.filter[0] = 0;
    press.view->transient.choice = 0;
    MenuRow row;
    for (int i = 0; view_menu_row(press.view, i, &row) && !press.view->transient.choice; i++)
        if (!strcmp(row.name, press.scene->identity.kernel)) press.view->transient.choice = i;
    return VIEW_CHANGED;
}

static ViewAnswer act_ORDER(Press press) {
    press.view->transient.playing = false;
    return VIEW_ORDER;
}

/* The menu opens at the next kernel of the catalogue that is not a variant of this one: the usual
 * comparison. */
static ViewAnswer act_COMPARE(Press press) {
    View *view = press.view;
    int next = 0;
    MenuRow row;
    size_t length = strlen(press.scene->identity.kernel);
    if (press.direction < 0) return VIEW_ALONE;
    act_KERNEL(press);
    view->transient.beside = true; /* offer kernels only */
    for (int i = view->transient.choice; !next && view_menu_row(view, i, &row); i++)
        if (strncmp(row.name, press.scene->identity.kernel, length) != 0) next = i;
    view->transient.choice = next;
    return VIEW_CHANGED;
}

/* A kernel that times itself opens what it measures. */
static ViewAnswer act_LADDER(Press press) {
    const CatalogRow *row = press.scene->identity.row;
    press.view->transient.playing = false;
    ladder_view_open(press.view, press.scene);
    if (row && row->latencies) press.view->transient.overlay = OVERLAY_LATENCY;
    return VIEW_CHANGED;
}

static ViewAnswer act_PARAMETERS(Press press) {
    press.view->transient.overlay = OVERLAY_SETTINGS;
    press.view->transient.playing = false;
    settings_init(&press.view->transient.settings, press.scene);
    return VIEW_CHANGED;
}

static ViewAnswer act_EDIT(Press press) {
    press.view->transient.playing = false;
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
    press.view->transient.overlay = OVERLAY_DIFFERENCES;
    press.view->transient.scroll = 0;
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
#define KEY(action, ...) act_##action,
#include "tui/view/keys.def"
};

ViewAnswer action_run(KeyAction action, Press press) {
    return action == ACT_NONE ? VIEW_IGNORED : handlers[action](press);
}
