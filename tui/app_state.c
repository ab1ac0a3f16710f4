/* What the interface consists of: its beginning, its end, and what a key asks of it. */
#define _POSIX_C_SOURCE 200809L

#include "tui/app_state.h"

#include <time.h>

double app_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.first = session, .ascii = start->ascii, .waits = true};
    app->slots[0] = run_slot_new(session, false);
    comparison_init(&app->comparison, app->slots[0].current.scene);
    comparison_view(&app->comparison)->display.theme = start->theme;
    comparison_view(&app->comparison)->display.still = start->still;
}

void app_done(App *app) {
    app_end_runs(app);
    measured_done(&app->live);
    measured_done(&app->recorded);
}

View *app_view(App *app) {
    return comparison_view(&app->comparison);
}

void app_say(App *app, const char *what, const char *message) {
    View *view = app_view(app);
    snprintf(view->transient.message, sizeof view->transient.message, "%.40s: %.140s", what, message);
}

ViewAnswer app_answer(App *app, ViewAnswer answer) {
    switch (answer) {
    case VIEW_OPEN:
        app_open_kernel(app, PURPOSE_KERNEL);
        break;
    case VIEW_BESIDE:
        app_open_kernel(app, PURPOSE_BESIDE);
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
    if (key == SPECIAL_ESCAPE && app->loader && app_view(app)->transient.overlay == OVERLAY_NONE) {
        app_cancel(app);
        return VIEW_CHANGED;
    }
    int direction;
    app->wants_cpu |= keys_find(key, &direction) == ACT_TIMES;
    if (app->waits && keys_find(key, &direction) == ACT_HAZARD)
        app_show_hazards(app, app->comparison.active, true);
    return app_answer(app, comparison_press(&app->comparison, key));
}
