/* The app's answer to a key or a click. */
#include "tui/app_state.h"

#include "tui/view/key_actions.h"
#include "tui/view/menu.h"

ViewAnswer app_answer(App *app, ViewAnswer answer) {
    static void (*const does[VIEW_QUIT + 1])(App * app) = {[VIEW_EXERCISE] = app_open_chosen_exercise,
                                                           [VIEW_HOME] = app_open_from_home,
                                                           [VIEW_ORDER] = app_open_bad_order,
                                                           [VIEW_BLOCK] = app_open_other_block,
                                                           [VIEW_TRY] = app_try,
                                                           [VIEW_KEEP] = app_write_kept,
                                                           [VIEW_RUNG] = app_show_rung,
                                                           [VIEW_MACHINE] = app_next_machine,
                                                           [VIEW_RERUN] = app_rerun,
                                                           [VIEW_EDIT] = app_edit,
                                                           [VIEW_COPY] = app_copy_source,
                                                           [VIEW_LAUNCH] = app_open_launch,
                                                           [VIEW_TRACE] = app_trace_block,
                                                           [VIEW_ALONE] = app_leave_comparison,
                                                           [VIEW_OPEN] = app_open_kernel};
    MenuRow chosen;
    Key key;
    if (answer == VIEW_ACTION) /* the key of the action that the palette chose */
        return menu_choice(app_view(app), &chosen) && menu_key(&chosen, &key) ? app_press(app, key)
                                                                              : VIEW_CHANGED;
    if (answer == VIEW_PROGRAM) {
        if (app->program) app->program->is_accepted = true;
        return VIEW_QUIT;
    }
    if (answer == VIEW_LECTURE && app->above) app->above(app, (AppEvent){.kind = APP_LECTURE_CHOSEN});
    if (does[answer]) does[answer](app);
    return answer;
}

/* `k` keeps the remedy on the screen; elsewhere it is a line up. */
static bool keeps_remedy(App *app, Key key) {
    const ViewTransient *transient = &app_view(app)->transient;
    return key == 'k' && app_shows_remedy(app) && transient->overlay == OVERLAY_NONE &&
           transient->input == INPUT_COMMANDS && transient->number < 0;
}

ViewAnswer app_press(App *app, Key key) {
    KeyPress press = keys_decode(key);
    if (keeps_remedy(app, key)) {
        app_keep(app);
        return VIEW_CHANGED;
    }
    if (key == SPECIAL_ESCAPE && app->loader && app_view(app)->transient.overlay == OVERLAY_NONE) {
        app_cancel(app);
        return VIEW_CHANGED;
    }
    if (app->above && app->above(app, (AppEvent){.kind = APP_KEY, .press = press})) return VIEW_CHANGED;
    app->wants_cpu |= press.action == ACT_TIMES;
    if (app_shows_ladder(app) || press.action == ACT_LADDER)
        app_show_timings(app, &app->slots[app->comparison.active]);
    if (app->waits && press.action == ACT_HAZARD) app_show_hazards(app, app->comparison.active, true);
    return app_answer(app, comparison_press(&app->comparison, press));
}
