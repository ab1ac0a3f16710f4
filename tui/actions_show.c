/* Keys that change what is shown: values, source, picture, panes, theme; and the message that says so. */
#include "tui/actions.h"
#include "base/language.h"

/* A key that changes this pane brings it to the screen: also where it was hidden, or another is enlarged. */
void action_focus_on(View *view, Focus focus) {
    view->display.focus = focus;
    view->display.hidden &= ~(1u << focus);
}

int action_side_of(const Pane *pane) {
    int index = 0;
    while (pane_side(index) != pane) index++;
    return index;
}

/* Makes it the first side pane, and the one that z enlarges; false: it is already. */
bool action_bring_to_front(View *view, const Pane *pane) {
    int index = action_side_of(pane);
    if (view->display.side == index && view->display.focus == FOCUS_SIDE) return false;
    view->display.side = index;
    action_focus_on(view, FOCUS_SIDE);
    return true;
}

/* ---- the display --------------------------------------------------------------------------------------- */

static void show_source(View *view) {
    view->display.hidden &= ~(1u << FOCUS_SOURCE);
    if (view->display.zoomed) view->display.focus = FOCUS_SOURCE;
}

ViewAnswer act_VALUES(Press press) {
    static const char *const names[VALUE_FORMAT_COUNT] = {"in the kernel's type", "in hex",
                                                          "as signed integers", "as floats"};
    press.view->display.values = (press.view->display.values + 1) % VALUE_FORMAT_COUNT;
    view_say(press.view, tr("values %s"), tr(names[press.view->display.values]));
    return VIEW_CHANGED;
}

/* The lanes' values are on the screen, or z shows them. */
ViewAnswer act_REGISTER(Press press) {
    StepContext context;
    action_focus_on(press.view, FOCUS_LANES);
    press.view->selection.reg = (press.view->selection.reg + 1) % MOST_REGISTERS;
    if (!step_context_init(&context, press.scene, press.view)) return VIEW_IGNORED;
    const PtxRegister *reg = register_chosen(&context);
    view_say(press.view, tr("lane values: %s%s%s"), reg ? tr("register ") : tr("the instruction's own"),
             reg ? reg->name : "", press.view->display.zoomed ? "" : tr("; z shows all lanes"));
    return VIEW_CHANGED;
}

ViewAnswer act_GUTTER(Press press) {
    static const char *const names[GUTTER_SCOPE_COUNT] = {"of this interval", "of the run", "of this step",
                                                          "sampled on a GPU"};
    show_source(press.view);
    press.view->display.gutter = (press.view->display.gutter + 1) % GUTTER_SCOPE_COUNT;
    view_say(press.view, tr("counts beside the source: %s"), tr(names[press.view->display.gutter]));
    return VIEW_CHANGED;
}

ViewAnswer act_SOURCE(Press press) {
    static const char *const names[SOURCE_TEXT_COUNT] = {"the source", "the source and PTX", "PTX",
                                                         "SASS, under its source lines"};
    show_source(press.view);
    press.view->display.source = (press.view->display.source + 1) % SOURCE_TEXT_COUNT;
    view_say(press.view, tr("source pane: %s"), tr(names[press.view->display.source]));
    return VIEW_CHANGED;
}

static const char *const focus_names[FOCUS_COUNT] = {"picture", "source", "lanes", "side pane"};

ViewAnswer act_FOCUS(Press press) {
    View *view = press.view;
    do
        view->display.focus =
            (Focus)(((int)view->display.focus + press.direction + FOCUS_COUNT) % FOCUS_COUNT);
    while (view->display.hidden >> view->display.focus & 1);
    view_say(view, tr("focus: %s; z enlarges it%s"), tr(focus_names[view->display.focus]),
             view->display.focus == FOCUS_PICTURE ? "" : tr(", H hides it"));
    return VIEW_CHANGED;
}

ViewAnswer act_ZOOM(Press press) {
    press.view->display.zoomed = !press.view->display.zoomed;
    return VIEW_CHANGED;
}

ViewAnswer act_HIDE(Press press) {
    View *view = press.view;
    if (press.direction < 0 && !view->display.hidden) {
        view_say(view, tr("no pane is hidden"));
    } else if (press.direction < 0) {
        view->display.hidden = 0;
    } else if (view->display.focus == FOCUS_PICTURE) {
        view_say(view, tr("the picture stays; Tab selects another pane to hide"));
    } else {
        view_say(view, tr("hidden: %s; A shows all panes"), tr(focus_names[view->display.focus]));
        view->display.hidden |= 1u << view->display.focus;
        view->display.focus = FOCUS_PICTURE;
        view->display.zoomed = false;
    }
    return VIEW_CHANGED;
}

ViewAnswer act_PROJECTOR(Press press) {
    ViewDisplay *display = &press.view->display;
    display->projector = !display->projector;
    if (!display->projector)
        display->theme = display->behind_projector;
    else
        display->behind_projector = display->theme;
    if (display->projector && display->theme != THEME_MONO) display->theme = THEME_CONTRAST;
    return VIEW_CHANGED;
}

ViewAnswer act_THEME(Press press) {
    View *view = press.view;
    view->display.theme = (Theme)(((int)view->display.theme + press.direction + THEME_COUNT) % THEME_COUNT);
    view_say(view, tr("colours: %s"), theme_name(view->display.theme));
    return VIEW_CHANGED;
}

ViewAnswer act_PICTURE(Press press) {
    static const char *const names[SHOWN_PICTURE_COUNT] = {"the reduction, level by level", "this step",
                                                           "the tree of what the lane holds",
                                                           "the tree of the result"};
    View *view = press.view;
    if (picture_is_of_machine(view->display.picture)) view->display.picture = view->display.behind_grid;
    action_focus_on(view, FOCUS_PICTURE);
    view->display.picture =
        (ShownPicture)(((int)view->display.picture + press.direction + SHOWN_PICTURE_COUNT) %
                       SHOWN_PICTURE_COUNT);
    view_say(view, tr("picture: %s"), tr(names[view->display.picture]));
    return VIEW_CHANGED;
}

/* Shows the machine in place of the picture, then the warps of one multiprocessor, and back. */
ViewAnswer act_GRID(Press press) {
    ViewDisplay *display = &press.view->display;
    if (display->picture == SHOW_WARPS) {
        display->picture = display->behind_grid;
        return VIEW_CHANGED;
    }
    bool was_grid = display->picture == SHOW_GRID;
    if (!was_grid) display->behind_grid = display->picture;
    display->picture = was_grid ? SHOW_WARPS : SHOW_GRID;
    action_focus_on(press.view, FOCUS_PICTURE);
    if (was_grid)
        view_say(press.view, tr("arrows: waits, warps; + - , .: zoom, move; y: blocks at once; #: back"));
    else
        view_say(press.view, tr("picture: the grid on the machine; z: whole screen, #: warps in time"));
    return VIEW_CHANGED;
}

ViewAnswer act_SIDE(Press press) {
    int count = pane_side_count();
    StepContext context;
    PaneHead head = {.columns = 60};
    press.view->display.side = (press.view->display.side + press.direction + count) % count;
    action_focus_on(press.view, FOCUS_SIDE);
    if (!step_context_init(&context, press.scene, press.view)) return VIEW_IGNORED;
    pane_side(press.view->display.side)->head(&context, &head);
    view_say(press.view, tr("side pane: %s; z enlarges it, Esc leaves it"), head.title);
    return VIEW_CHANGED;
}

/* Brings the pane to the front; if it is there already, selects another way of timing. */
ViewAnswer act_TIMES(Press press) {
    View *view = press.view;
    if (!action_bring_to_front(view, &pane_timings)) {
        if (press.direction > 0)
            view->display.times = (view->display.times + 1) % TIMES_WAY_COUNT;
        else
            view->display.times_alone = !view->display.times_alone;
    }
    view_say(view, tr("timings: %s; %s"), tr(timing_way_name(view->display.times)),
             view->display.times_alone ? tr("the kernel alone") : tr("down to one scalar"));
    return VIEW_CHANGED;
}
