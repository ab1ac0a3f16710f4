/* Actions: one function per row of keys.def, found through one table. */
#include "tui/actions.h"

#include "base/language.h"
#include "tui/view/index_view.h"
#include "tui/view/key_actions.h"
#include "tui/view/ladder_view.h"
#include "tui/view/launch_view.h"
#include "tui/view/menu.h"
#include <limits.h>

/* ---- stepping ------------------------------------------------------------------------------------------ */

ViewAnswer act_BEAT(Press press) {
    int before = press.view->place.step;
    view_move_by_beats(press.view, press.scene, press.direction * action_repeats(&press));
    if (press.view->place.step == before)
        view_say(press.view, "%s",
                 press.direction < 0 ? tr("this is the first beat") : tr("this is the last beat"));
    return VIEW_CHANGED;
}

ViewAnswer act_STEP(Press press) {
    if (press.view->transient.playing) return act_SPEED(press);
    view_go_to_step(press.view, press.scene,
                    press.view->place.step + press.direction * action_repeats(&press));
    return VIEW_CHANGED;
}

/* Page keys move by this many beats. */
ViewAnswer act_PAGE(Press press) {
    enum { BEATS_A_PAGE = 10 };
    view_move_by_beats(press.view, press.scene, BEATS_A_PAGE * press.direction * action_repeats(&press));
    return VIEW_CHANGED;
}

/* Goes to the start of the next group; backwards to the start of this one, or from there to the start of the
 * one before. */
static int group_target(const int *begin, int group, int step, int direction, int times) {
    if (direction < 0 && step > begin[group]) times--;
    group += direction * times;
    return begin[group < 0 ? 0 : group];
}

ViewAnswer act_LINE(Press press) {
    const Steps *steps = view_steps(press.view, press.scene);
    if (!steps || !steps->step_count) return VIEW_IGNORED;
    int times = action_repeats(&press), group = steps->steps[press.view->place.step].line_step;
    if (press.direction > 0 && group + times >= steps->line_step_count)
        times = steps->line_step_count - 1 - group;
    if (press.direction > 0 && times <= 0) return VIEW_IGNORED;
    view_go_to_step(press.view, press.scene,
                    group_target(steps->line_begin, group, press.view->place.step, press.direction, times));
    return VIEW_CHANGED;
}

ViewAnswer act_LEVEL(Press press) {
    bool moved = view_move_by_levels(press.view, press.scene, press.direction * action_repeats(&press));
    return moved ? VIEW_CHANGED : VIEW_IGNORED;
}

ViewAnswer act_WAVEFRONT(Press press) {
    for (int i = 0; i < action_repeats(&press); i++) {
        if (press.direction > 0)
            view_next_wavefront(press.view, press.scene);
        else
            view_previous_wavefront(press.view, press.scene);
    }
    return VIEW_CHANGED;
}

ViewAnswer act_PLAY(Press press) {
    View *view = press.view;
    view->transient.playing = !view->transient.playing;
    View next = *view;
    if (view->transient.playing && !view_next_wavefront(&next, press.scene))
        view_go_to_step(view, press.scene, 0); /* at the end: start over */
    return VIEW_CHANGED;
}

ViewAnswer act_SPEED(Press press) {
    View *view = press.view;
    char speed[VIEW_SPEED_BYTES];
    int wanted = view->display.speed + press.direction;
    bool possible = wanted >= SPEED_SLOWEST && wanted <= SPEED_FASTEST;
    if (possible) view->display.speed = wanted;
    view_print_speed(view->display.speed, speed);
    view_say(view, tr("speed %s%s: %g seconds a wavefront"), speed, possible ? "" : tr(" (limit)"),
             view_wavefront_seconds(view));
    return VIEW_CHANGED;
}

ViewAnswer act_SEARCH(Press press) {
    press.view->transient.input = INPUT_SEARCH;
    press.view->selection.search[0] = 0;
    return VIEW_CHANGED;
}

ViewAnswer act_HELP(Press press) {
    press.view->transient.overlay = OVERLAY_HELP;
    press.view->transient.filter[0] = 0;
    press.view->transient.scroll = 0;
    return VIEW_CHANGED;
}

ViewAnswer act_COMMAND(Press press) {
    menu_open(press.view, MENU_PALETTE, NULL);
    return VIEW_CHANGED;
}

ViewAnswer act_HOME(Press press) {
    menu_open(press.view, MENU_HOME, NULL);
    return VIEW_CHANGED;
}

ViewAnswer act_MARK(Press press) {
    press.view->transient.input = INPUT_MARK;
    return VIEW_CHANGED;
}

ViewAnswer act_RETURN(Press press) {
    press.view->transient.input = INPUT_RETURN;
    return VIEW_CHANGED;
}

ViewAnswer act_LOOP(Press press) {
    static const char *const names[LOOP_COUNT] = {"off", "this barrier interval", "the whole run"};
    press.view->display.loop = (press.view->display.loop + 1) % LOOP_COUNT;
    view_say(press.view, tr("loop: %s"), tr(names[press.view->display.loop]));
    return VIEW_CHANGED;
}

ViewAnswer act_MOTION(Press press) {
    press.view->display.still = !press.view->display.still;
    view_say(press.view, tr("motion while playing: %s"), press.view->display.still ? tr("off") : tr("on"));
    return VIEW_CHANGED;
}

ViewAnswer act_BEGIN(Press press) {
    view_jump_to_step(press.view, press.scene, press.number > 0 ? press.number - 1 : 0);
    return VIEW_CHANGED;
}

ViewAnswer act_END(Press press) {
    view_jump_to_step(press.view, press.scene, press.number > 0 ? press.number - 1 : INT_MAX);
    return VIEW_CHANGED;
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
        view_say(view, tr("no other warp has an event in this step"));
    else
        view->selection.warp = warp;
    return VIEW_CHANGED;
}

ViewAnswer act_WARP(Press press) {
    View *view = press.view;
    if (!view_steps(view, press.scene)) return VIEW_IGNORED;
    int last = scene_step_index(press.scene, view->place.block)->warp_count - 1;
    view->place.wavefront = 0;
    if (press.number < 0) return next_warp(press);
    view->selection.warp = press.number < last ? press.number : last;
    return VIEW_CHANGED;
}

ViewAnswer act_LANE(Press press) {
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
        view_say(view, tr("no block %d: the grid has blocks 0 to %llu"), number,
                 (unsigned long long)count - 1);
        return VIEW_CHANGED;
    }
    view->transient.wanted_block = (uint32_t)number;
    return VIEW_TRACE;
}

ViewAnswer act_BLOCK(Press press) {
    View *view = press.view;
    int next = view->place.block + press.direction;
    if (press.number >= 0 && view->place.block < press.scene->traced.block_count)
        return go_to_block(view, press.scene, press.number);
    if (next < 0 || next >= press.scene->traced.block_count) {
        view_say(view, "%s",
                 press.direction > 0 ? tr("no later traced block or launch; 17} traces block 17")
                                     : tr("no earlier traced block or launch; 17} traces block 17"));
        return VIEW_CHANGED;
    }
    view_go_to_block(view, press.scene, next);
    return VIEW_CHANGED;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

/* Its name in the menu; a changed copy is found under that of the kernel. */
static const char *menu_name(const Scene *scene) {
    return scene->identity.row ? scene->identity.row->id : scene->identity.kernel;
}

ViewAnswer act_KERNEL(Press press) {
    menu_open(press.view, MENU_KERNELS, menu_name(press.scene));
    return VIEW_CHANGED;
}

/* Backwards: another block size, whose tree of additions is compared. */
ViewAnswer act_ORDER(Press press) {
    View *view = press.view;
    view->transient.playing = false;
    if (press.direction >= 0) return VIEW_ORDER;
    view->transient.wanted_threads = press.number > 0 ? press.number : 0;
    action_focus_on(view, FOCUS_PICTURE);
    view->display.picture = SHOW_RESULT_TREE;
    return VIEW_BLOCK;
}

ViewAnswer act_TRY(Press press) {
    press.view->transient.playing = false;
    press.view->transient.wanted_remedy = press.number > 0 ? press.number : 0;
    return VIEW_TRY;
}

/* The menu opens at the next kernel of the catalogue that is not a variant of this one: the usual
 * comparison. */
ViewAnswer act_COMPARE(Press press) {
    View *view = press.view;
    int next = 0;
    MenuList list;
    const char *name = menu_name(press.scene);
    size_t length = strlen(name);
    if (press.direction < 0) return VIEW_ALONE;
    menu_open(view, MENU_BESIDE, name);
    menu_list(view, &list);
    for (int i = view->transient.choice; !next && i < list.count; i++)
        if (strncmp(list.rows[i].name, name, length) != 0) next = i;
    view->transient.choice = next;
    return VIEW_CHANGED;
}

/* A kernel that times itself opens what it measures. */
ViewAnswer act_LADDER(Press press) {
    const CatalogRow *row = press.scene->identity.row;
    press.view->transient.playing = false;
    view_ladder_open(press.view, press.scene);
    if (row && row->latencies) press.view->transient.overlay = OVERLAY_LATENCY;
    return VIEW_CHANGED;
}

ViewAnswer act_INDEX(Press press) {
    StepContext context;
    bool has_step = step_context_init(&context, press.scene, press.view);
    press.view->transient.playing = false;
    if (!has_step || !view_index_open_access(press.view, &context)) {
        view_index_open(press.view, NULL, NULL);
        view_say(press.view, tr("this step is no load or store of shared or global memory"));
    }
    return VIEW_CHANGED;
}

/* False, with a message: the run is of no program. */
static bool has_program(const Press *press) {
    bool has = press->view->display.program != NULL;
    if (!has) view_say(press->view, tr("this run is of no program; redviz --run FILE.cu runs one"));
    return has;
}

ViewAnswer act_LAUNCHES(Press press) {
    if (!has_program(&press)) return VIEW_CHANGED;
    if (press.direction > 0)
        launch_view_open(press.view, press.scene, press.number - 1);
    else
        launch_view_open_output(press.view);
    return VIEW_CHANGED;
}

ViewAnswer act_LAUNCH(Press press) {
    if (!has_program(&press)) return VIEW_CHANGED;
    press.view->transient.playing = false;
    return launch_view_go_on(press.view, press.scene, press.direction, action_repeats(&press));
}

ViewAnswer act_PARAMETERS(Press press) {
    if (launch_view_shown(press.view, press.scene) >= 0) {
        view_say(press.view,
                 tr("the program sets n, grid, block and arguments; --run FILE.cu -- ARGS changes them"));
        return VIEW_CHANGED;
    }
    press.view->transient.input = INPUT_SETTINGS;
    press.view->transient.playing = false;
    Settings *settings = &press.view->transient.settings;
    settings_init(settings, press.scene);
    figures_of(press.scene, !press.view->display.times_alone, press.view->display.times, &settings->before);
    if (curve_is_of(press.scene->identity.run)) press.view->display.side = action_side_of(&pane_timings);
    return VIEW_CHANGED;
}

ViewAnswer act_EDIT(Press press) {
    press.view->transient.playing = false;
    return VIEW_EDIT;
}

ViewAnswer act_OTHER(Press press) {
    return press.direction < 0 ? VIEW_EXCHANGE : VIEW_OTHER;
}

ViewAnswer act_LINK(Press press) {
    (void)press;
    return VIEW_LINK;
}

ViewAnswer act_DIFFERENCES(Press press) {
    press.view->transient.overlay = OVERLAY_DIFFERENCES;
    press.view->transient.scroll = 0;
    return VIEW_CHANGED;
}

ViewAnswer act_REDRAW(Press press) {
    (void)press;
    return VIEW_REDRAW;
}

ViewAnswer act_QUIT(Press press) {
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
