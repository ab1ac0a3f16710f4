/* The ladder screen: which rung is opened, whose recordings are shown, and which rungs are still to be counted. */
#include "tui/app_state.h"

#include "tui/draw/terminal.h"
#include "tui/view/ladder_view.h"

/* One of the ladder's kernels, at the size and in the type that are selected there. */
static void app_open_rung(App *app, Purpose purpose, const char *kernel) {
    SessionOptions options = app_options_of_other(app);
    options.catalog.n = app->rung.n;
    plan_type_parse(app->rung.dtype, &options.catalog.dtype);
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
}

void app_open_beside_rung(App *app) {
    if (!*app->rung.beside || app->loader) return;
    ViewRung rung = app->rung;
    app->rung.beside[0] = 0;
    app_open_rung(app, PURPOSE_BESIDE, rung.beside);
}

void app_show_rung(App *app) {
    app->rung = app_view(app)->transient.rung;
    app_open_rung(app, PURPOSE_KERNEL, app->rung.kernel);
    if (app->failed) app->rung.beside[0] = 0;
    app_open_beside_rung(app);
}

void app_next_machine(App *app) {
    Error error = {0};
    Measurements recorded = {0};
    if (!bench_next_machine(app->machine) || !bench_recorded(app->machine, &recorded, &error)) {
        app_say(app, "recordings", *error.message ? error.message : "there are none of another machine");
        return;
    }
    measured_done(&app->recorded);
    app->recorded = recorded;
}

bool app_shows_ladder(App *app) {
    return app_view(app)->transient.overlay == OVERLAY_LADDER;
}

void app_count_rungs(App *app) {
    Ladder ladder;
    bool is_live;
    if (app_shows_ladder(app) &&
        ladder_view_gather(app_view(app), comparison_scene(&app->comparison), &ladder, &is_live))
        rung_counting_go_on(&app->rungs, &ladder, app_view(app)->display.ladder.n, app->waits, terminal_wake);
}
