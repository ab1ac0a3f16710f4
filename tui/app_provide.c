/* Hazards and timings for panes, which a session alone does not hold. */
#include "tui/app_state.h"

#include "tui/draw/terminal.h"

void app_show_hazards(App *app, int index, bool ask) {
    RunSlot *slot = &app->slots[index];
    Session *session = slot->current.session;
    View *view = &app->comparison.view[index];
    bool is_known = run_slot_is_complete(slot) || (ask && app->waits);
    slot->current.scene->borrowed.hazards = is_known ? session_hazards(session) : NULL;
    slot->current.scene->borrowed.hazards_note = slot->counting ? "searching all blocks for races ..."
                                                 : session_is_from_file(session)
                                                     ? "the session file holds no hazards"
                                                     : "hazards were not searched for";
    if (slot->current.scene->borrowed.hazards && view->selection.hazard_waits && !app->loader)
        view_go_to_hazard(view, slot->current.scene);
}

/* Timings of a session file take precedence over the shipped ones. */
void app_show_timings(App *app, RunSlot *slot) {
    Error error = {0};
    const Measurements *own = session_measured(slot->current.session);
    if (!app->has_recorded && !bench_recorded(*app->machine ? app->machine : NULL, &app->recorded, &error))
        app_say(app, "timings", error.message);
    app->has_recorded = true;
    slot->timings.recorded = own->timing_count ? own : &app->recorded;
    slot->timings.are_of_run = own->timing_count > 0;
    slot->timings.live = &app->live;
    slot->timings.counts = &app->rungs.counts;
    slot->timings.timed = slot == &app->slots[app->comparison.active] ? &app->live : NULL;
    slot->current.scene->borrowed.timings = &slot->timings;
}

bool app_provide(App *app, int columns, int rows) {
    bool timings_seen = comparison_shows(&app->comparison, columns, rows, &pane_timings);
    bool hazards_seen = comparison_shows(&app->comparison, columns, rows, &pane_hazards);
    for (int i = 0; i < app->comparison.count; i++) {
        RunSlot *slot = &app->slots[i];
        app_show_timings(app, slot);
        app_show_hazards(app, i, hazards_seen);
        slot->current.scene->borrowed.before = slot->before.scene;
    }
    app_count_rungs(app);
    return timings_seen;
}

/* Measures for the active run while the timings are on the screen. */
void app_measure(App *app, bool is_seen) {
    bool is_ladder = app_shows_ladder(app) || app_view(app)->transient.overlay == OVERLAY_LATENCY;
    const Scene *scene = comparison_scene(&app->comparison);
    is_seen |= is_ladder;
    if (is_seen && !app->measuring) app->measuring = measuring_new(bench_run, bench_cpu, terminal_wake);
    if (!app->measuring) return;
    MeasuringWish wish = is_ladder ? measuring_ladder_wish(scene, app_view(app)) : measuring_wish(scene);
    if (!app->wants_cpu) wish.cpu_n = 0;
    measuring_want(app->measuring, is_seen ? &wish : NULL);
}

bool app_take_timings(App *app) {
    SceneTimings *timings = &app->slots[0].timings;
    if (!app->measuring || !measuring_take(app->measuring, &app->live, timings)) return false;
    snprintf(app->slots[1].timings.measuring, sizeof timings->measuring, "%s", timings->measuring);
    snprintf(app->slots[1].timings.failure, sizeof timings->failure, "%s", timings->failure);
    return true;
}
