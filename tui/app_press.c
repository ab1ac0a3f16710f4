/* The app's answer to a key or a click. */
#include "tui/app_state.h"

#include "tui/view/key_actions.h"
#include "tui/view/menu.h"

/* The key of the action that the palette chose. */
static ViewAnswer app_press_chosen(App *app) {
    MenuRow chosen;
    Key key;
    bool has_key = menu_choice(app_view(app), &chosen) && menu_key(&chosen, &key);
    return has_key ? app_press(app, key) : VIEW_CHANGED;
}

ViewAnswer app_answer(App *app, ViewAnswer answer) {
    switch (answer) {
    case VIEW_OPEN:
        app_open_kernel(app, PURPOSE_KERNEL);
        break;
    case VIEW_LECTURE:
        app->open_lecture(app);
        break;
    case VIEW_EXERCISE:
        app_open_chosen_exercise(app);
        break;
    case VIEW_HOME:
        app_open_from_home(app);
        break;
    case VIEW_ACTION:
        return app_press_chosen(app);
    case VIEW_BESIDE:
        app_open_kernel(app, PURPOSE_BESIDE);
        break;
    case VIEW_ORDER:
        app_open_bad_order(app);
        break;
    case VIEW_BLOCK:
        app_open_other_block(app);
        break;
    case VIEW_TRY:
        app_try(app, app_view(app)->transient.wanted_remedy);
        break;
    case VIEW_RUNG:
        app_show_rung(app);
        break;
    case VIEW_MACHINE:
        app_next_machine(app);
        break;
    case VIEW_RERUN:
        app_rerun(app);
        break;
    case VIEW_EDIT:
        app_edit(app);
        break;
    case VIEW_COPY:
        app_copy_source(app);
        break;
    case VIEW_PROGRAM:
        if (app->program) app->program->is_accepted = true;
        return VIEW_QUIT;
    case VIEW_LAUNCH:
        app_open_launch(app);
        break;
    case VIEW_TRACE:
        app_trace_block(app);
        break;
    case VIEW_ALONE:
        app_leave_comparison(app);
        break;
    default:
        break;
    }
    return answer;
}

ViewAnswer app_press(App *app, Key key) {
    KeyPress press = keys_decode(key);
    if (key == SPECIAL_ESCAPE && app->loader && app_view(app)->transient.overlay == OVERLAY_NONE) {
        app_cancel(app);
        return VIEW_CHANGED;
    }
    if (app->takes_key && app->takes_key(app, press)) return VIEW_CHANGED;
    app->wants_cpu |= press.action == ACT_TIMES;
    if (app_shows_ladder(app) || press.action == ACT_LADDER)
        app_show_timings(app, &app->slots[app->comparison.active]);
    if (app->waits && press.action == ACT_HAZARD) app_show_hazards(app, app->comparison.active, true);
    return app_answer(app, comparison_press(&app->comparison, press));
}
