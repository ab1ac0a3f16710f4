/* The app's answer to a key or a click. */
#include "tui/app_state.h"

ViewAnswer app_answer(App *app, ViewAnswer answer) {
    switch (answer) {
    case VIEW_OPEN:
        app_open_kernel(app, PURPOSE_KERNEL);
        break;
    case VIEW_LECTURE:
        app->open_lecture(app);
        break;
    case VIEW_BESIDE:
        app_open_kernel(app, PURPOSE_BESIDE);
        break;
    case VIEW_ORDER:
        app_open_bad_order(app);
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
