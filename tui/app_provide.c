/* Hazards and timings for panes, which a session alone does not hold. */
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"
#include "tui/draw/terminal.h"

void app_show_hazards(App *app, int index, bool ask) {
    RunSlot *slot = &app->slots[index];
    Session *session = slot->current.session;
    View *view = &app->comparison.view[index];
    bool is_known = run_slot_is_complete(slot) || (ask && app->waits);
    const Findings *searched = is_known ? ask_hazards(session) : NULL;
    const Findings *before = slot->current.scene->borrowed.hazards;
    slot->current.scene->borrowed.hazards = searched ? searched : ask_verdict(session);
    slot->current.scene->borrowed.hazards_note = searched         ? NULL
                                                 : slot->counting ? tr("searching all blocks for races ...")
                                                 : session_is_from_file(session)
                                                     ? tr("the session file holds no hazards")
                                                     : tr("hazards were not searched for");
    if (searched && view->selection.hazard_waits && !app->loader)
        view_go_to_hazard(view, slot->current.scene);
    if (slot->current.scene->borrowed.hazards != before) view_open_again(view, slot->current.scene);
}

/* Timings of a session file take precedence over the shipped ones. */
void app_show_timings(App *app, RunSlot *slot) {
    Error error = {0};
    const Measurements *own = session_measured(slot->current.session);
    if (!app->has_recorded && !bench_recorded(*app->machine ? app->machine : NULL, &app->recorded, &error))
        app_say(app, tr("timings"), error.message);
    app->has_recorded = true;
    slot->timings.recorded = own->timing_count ? own : &app->recorded;
    slot->timings.are_of_run = own->timing_count > 0;
    slot->timings.live = &app->live;
    slot->timings.counts = &app->rungs.counts;
    slot->timings.timed = slot == &app->slots[app->comparison.active] ? &app->live : NULL;
    slot->current.scene->borrowed.timings = &slot->timings;
}

/* Counts go on while the pane that draws them is seen. */
static void app_count_curve(App *app, int index, bool is_seen) {
    CurveCounting *counting = &app->curves[index];
    const RunSlot *slot = &app->slots[index];
    Session *session = slot->current.session; /* a saved one runs nothing */
    bool has_curve = curve_is_of(slot->current.scene->identity.run) && !session_is_from_file(session);
    if (has_curve && is_seen) curve_counting_go_on(counting, session, app->waits, terminal_wake);
    slot->current.scene->borrowed.curve = has_curve ? &counting->curve : NULL;
}

bool app_provide(App *app, int columns, int rows) {
    bool timings_seen = comparison_shows(&app->comparison, columns, rows, &pane_timings);
    bool hazards_seen = comparison_shows(&app->comparison, columns, rows, &pane_hazards);
    for (int i = 0; i < app->comparison.count; i++) {
        RunSlot *slot = &app->slots[i];
        app_show_timings(app, slot);
        app_show_hazards(app, i, hazards_seen);
        slot->current.scene->borrowed.before = slot->before.scene;
        app_count_curve(app, i, timings_seen);
    }
    app_count_rungs(app);
    return timings_seen;
}

/* Its warps, or the run itself. */
static bool is_timing_run(const App *app) {
    for (int i = 0; i < app->comparison.count; i++)
        if (app->slots[i].timing_warps || app->slots[i].timing_run) return true;
    return false;
}

/* Measures for the active run while no run itself is timed, since what runs on the GPU beside a kernel
 * changes its times: again and again, with the CPU, while the timings or the ladder are on the screen; once
 * for the row of the time below a run. */
void app_measure(App *app, bool is_seen) {
    bool is_ladder = app_shows_ladder(app) || app_view(app)->transient.overlay == OVERLAY_LATENCY;
    const Scene *scene = comparison_scene(&app->comparison);
    bool has_row = scene->identity.row && !scene->identity.is_edited;
    bool wanted = (is_seen || is_ladder || has_row) && !is_timing_run(app);
    if (wanted && !app->measuring) app->measuring = measuring_new(bench_run, bench_cpu, terminal_wake);
    if (!app->measuring) return;
    MeasuringWish wish = is_ladder ? measuring_ladder_wish(scene, app_view(app)) : measuring_wish(scene);
    wish.once = !is_seen && !is_ladder;
    if (!app->wants_cpu || wish.once) wish.cpu_n = 0;
    measuring_want(app->measuring, wanted ? &wish : NULL);
}

void app_time_warps(App *app, int columns, int rows) {
    bool is_seen = comparison_shows(&app->comparison, columns, rows, &pane_warps);
    for (int i = 0; i < app->comparison.count; i++) {
        RunSlot *slot = &app->slots[i];
        RunSpec wanted;
        if (!is_seen) app_give_up_warps(app, slot);
        bool begins = is_seen && !is_timing_run(app) && !slot->has_timed_warps && !slot->counting &&
                      session_wants_warps(slot->current.session, &wanted);
        if (begins) slot->timing_warps = loader_start_on_gpu(&wanted, terminal_wake);
        slot->current.scene->borrowed.warps_note =
            slot->timing_warps ? tr("measuring on the GPU ... (leaving this pane cancels)") : NULL;
    }
}

bool app_take_warps(App *app) {
    bool has_news = false;
    for (int i = 0; i < app->comparison.count; i++) {
        Error error = {0};
        RunSlot *slot = &app->slots[i];
        if (!slot->timing_warps || !loader_is_done(slot->timing_warps)) continue;
        Session *measured = loader_finish(slot->timing_warps, &error);
        slot->timing_warps = NULL;
        slot->has_timed_warps = has_news = true;
        if (session_take_warps(slot->current.session, measured, error.message))
            app->comparison.view[i].display.warps = (ViewWarps){0}; /* of the timelines before */
        session_free(measured);
    }
    return has_news;
}

/* Compared with a run that has no other time, a kernel of the catalogue is timed in the same way. */
static bool needs_own_time(const App *app) {
    for (int i = 0; i < app->comparison.count; i++)
        if (!times_are_of_catalogue(app->slots[i].current.scene)) return true;
    return false;
}

/* Every block has run, here or on the GPU: it is known whether the run ends. */
static bool may_time(const RunSlot *slot) {
    return session_is_captured(slot->current.session) || (run_slot_is_complete(slot) && !slot->counting);
}

void app_time_runs(App *app) {
    for (int i = 0; i < app->comparison.count; i++) {
        RunSpec wanted;
        RunSlot *slot = &app->slots[i];
        if (slot->timings.own.was_tried || is_timing_run(app) || !needs_own_time(app) || !may_time(slot) ||
            !session_wants_time(slot->current.session, &wanted))
            continue;
        slot->timings.own.was_tried = true;
        slot->timing_run = loader_start_on_gpu(&wanted, terminal_wake);
    }
}

/* Without a GPU no session was opened, and there is nothing to say. */
static void take_own_time(const Session *measured, const Session *of, SceneOwnTime *own) {
    if (!measured) return;
    SessionTime time = session_take_time(of, measured);
    own->microseconds = time.microseconds;
    snprintf(own->machine, sizeof own->machine, "%s", time.machine ? time.machine : "");
    snprintf(own->why, sizeof own->why, "%s", time.why ? time.why : "");
}

bool app_take_run_times(App *app) {
    bool has_news = false;
    for (int i = 0; i < app->comparison.count; i++) {
        RunSlot *slot = &app->slots[i];
        if (!slot->timing_run || !loader_is_done(slot->timing_run)) continue;
        Session *measured = loader_finish(slot->timing_run, NULL);
        slot->timing_run = NULL;
        take_own_time(measured, slot->current.session, &slot->timings.own);
        session_free(measured);
        has_news = true;
    }
    return has_news;
}

bool app_take_timings(App *app) {
    SceneTimings *timings = &app->slots[0].timings;
    if (!app->measuring || !measuring_take(app->measuring, &app->live, timings)) return false;
    snprintf(app->slots[1].timings.measuring, sizeof timings->measuring, "%s", timings->measuring);
    snprintf(app->slots[1].timings.failure, sizeof timings->failure, "%s", timings->failure);
    return true;
}
