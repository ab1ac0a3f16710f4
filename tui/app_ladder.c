/* The ladder screen: whose recordings it shows, and which rungs remain to be counted. */
#include "tui/app_state.h"

#include "base/language.h"
#include "tui/draw/terminal.h"
#include "tui/view/ladder_view.h"

void app_next_machine(App *app) {
    Error error = {0};
    Measurements recorded = {0};
    if (!bench_next_machine(app->machine) || !bench_recorded(app->machine, &recorded, &error)) {
        app_say(app, tr("recordings"),
                *error.message ? error.message : tr("there are none of another machine"));
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
