#define _POSIX_C_SOURCE 200809L

#include "tui/app_state.h"

#include "base/memory.h"
#include "tui/draw/terminal.h"
#include "tui/session_loader.h"
#include "tui/view/keep_place.h"
#include "tui/view/ladder_view.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_SECONDS 0.25 /* between looks at files that are watched */

double app_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.first = session, .ascii = start->ascii, .waits = true};
    if (start->machine) snprintf(app->machine, sizeof app->machine, "%s", start->machine);
    app->slots[0] = run_slot_new(session, false);
    comparison_init(&app->comparison, app->slots[0].current.scene);
    comparison_view(&app->comparison)->display.theme = start->theme;
    comparison_view(&app->comparison)->display.still = start->still;
}

void app_finish_abandoned(App *app, bool wait) {
    int kept = 0;
    for (int i = 0; i < app->abandoned_count; i++)
        if (wait || session_loader_is_done(app->abandoned[i]))
            session_free(session_loader_finish(app->abandoned[i], NULL));
        else
            app->abandoned[kept++] = app->abandoned[i];
    app->abandoned_count = kept;
}

static void abandon(App *app, SessionLoader *loader) {
    if (!loader) return;
    session_loader_cancel(loader);
    array_push(app->abandoned, app->abandoned_count, app->abandoned_capacity, loader);
}

static void app_drop(App *app, RunSlot *slot) {
    abandon(app, slot->counting);
    slot->counting = NULL;
    run_slot_done(slot);
}

void app_done(App *app) {
    abandon(app, app->loader);
    abandon(app, app->rungs.loader);
    app_drop(app, &app->slots[0]);
    app_drop(app, &app->slots[1]);
    app_finish_abandoned(app, true);
    free(app->abandoned);
    measured_done(&app->live);
    measured_done(&app->recorded);
    ladder_counts_done(&app->rungs.counts);
}

View *app_view(App *app) {
    return comparison_view(&app->comparison);
}

static void say(App *app, const char *what, const char *message) {
    View *view = app_view(app);
    snprintf(view->transient.message, sizeof view->transient.message, "%.40s: %.140s", what, message);
}

/* ---- other sessions ------------------------------------------------------------------------------------ */

static int target_of(const Comparison *comparison, Purpose purpose) {
    return purpose != PURPOSE_BESIDE ? comparison->active : comparison->count == 2 ? !comparison->active : 1;
}

/* A first look shows the traced blocks; meanwhile the whole grid is counted and searched for hazards. */
void app_count(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    if (app->waits || slot->counting || run_slot_is_complete(slot)) return;
    SessionOptions options = *session_options(slot->current.session);
    options.first_look = false;
    options.search_races = true;
    slot->counting = session_loader_start(&options, terminal_wake);
    if (!slot->counting) say(app, "the grid", "cannot be counted: no thread could be started");
}

/* The largest change of the last edit, in one line; where the grid has to be counted first, later. */
static void app_report_change(App *app, int index) {
    Differences change;
    char most[100];
    RunSlot *slot = &app->slots[index];
    if (!slot->reports_change || index != app->comparison.active ||
        app->comparison.scene[index]->outcome.counting)
        return;
    slot->reports_change = false;
    slot->current.scene->borrowed.before = slot->before.scene;
    comparison_change(&app->comparison, &change);
    differences_describe(&change, most, sizeof most);
    snprintf(app_view(app)->transient.message, sizeof app_view(app)->transient.message,
             "re-run: %s; i: all metrics", most);
}

/* The whole run in place of the first look: the same events, and now its counters and its result. */
bool app_finish_counting(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    Error error = {0};
    if (!slot->counting || !session_loader_is_done(slot->counting)) return false;
    Session *session = session_loader_finish(slot->counting, &error);
    slot->counting = NULL;
    if (!session) {
        if (session_is_partial(slot->current.session)) say(app, "the grid was not counted", error.message);
        return true;
    }
    RunSlot old = *slot;
    *slot = run_slot_renew(session, &old);
    app->comparison.scene[index] = slot->current.scene;
    app_report_change(app, index);
    app_drop(app, &old);
    return true;
}

void app_show(App *app, Session *session, Purpose purpose, int index) {
    Comparison *comparison = &app->comparison;
    View *view = &comparison->view[index];
    RunSlot old = app->slots[index], *slot = &app->slots[index];
    const Scene *shown = old.current.scene;
    *slot = purpose == PURPOSE_EDIT    ? run_slot_edited(session, &old)
            : purpose == PURPOSE_BLOCK ? run_slot_renew(session, &old)
                                       : run_slot_new(session, true);
    Scene *scene = slot->current.scene;
    app_count(app, index);
    if (purpose == PURPOSE_BESIDE) {
        comparison_put(comparison, index, scene);
    } else {
        if (purpose == PURPOSE_KERNEL) {
            view_restart(view);
            view_open(view, scene);
        } else {
            keep_place(view, shown, scene);
        }
        comparison->scene[index] = scene;
        comparison_follow(comparison);
    }
    if (purpose == PURPOSE_EDIT) view_forget_failure(view);
    app_report_change(app, index);
    app_drop(app, &old);
}

/* Impossible settings are shown again, with the reason. */
static void app_refuse(App *app, const char *what, Purpose purpose, const Error *error) {
    View *view = app_view(app);
    if (purpose == PURPOSE_SETTINGS && view->transient.overlay == OVERLAY_NONE && !app->cancelled) {
        view->transient.overlay = OVERLAY_SETTINGS;
        snprintf(view->transient.settings.error, sizeof view->transient.settings.error, "%.190s",
                 error->message);
    } else if (purpose == PURPOSE_EDIT && !app->cancelled) {
        view->transient.failure = *error;
        if (view->transient.overlay == OVERLAY_NONE) view->transient.overlay = OVERLAY_FAILURE;
    } else {
        say(app, what, error->message);
    }
    app->failed = purpose == PURPOSE_KERNEL || purpose == PURPOSE_BESIDE;
    app->error = *error;
}

static void app_open_at(App *app, const SessionOptions *options, Purpose purpose, const char *what,
                        int target) {
    Error error = {0};
    SessionOptions wanted = *options;
    wanted.cancel = NULL;
    wanted.first_look = wanted.search_races = !app->waits;
    if (app->loader) {
        say(app, app->what, "is still being opened; Esc cancels it");
        return;
    }
    app->cancelled = false;
    if (app->waits) {
        Session *session = session_open(&wanted, &error);
        if (session)
            app_show(app, session, purpose, target);
        else
            app_refuse(app, what, purpose, &error);
        return;
    }
    app->loader = session_loader_start(&wanted, terminal_wake);
    app->purpose = purpose;
    app->target = target;
    snprintf(app->what, sizeof app->what, "%s", what);
    if (!app->loader) say(app, what, "cannot be opened: no thread could be started");
}

static void app_open(App *app, const SessionOptions *options, Purpose purpose, const char *what) {
    app_open_at(app, options, purpose, what, target_of(&app->comparison, purpose));
}

static void app_cancel(App *app) {
    if (app->loader) session_loader_cancel(app->loader);
    app->cancelled = true;
}

/* Other kernels have other grids: the traced blocks are again those of the command line. */
static SessionOptions app_options_of_other(App *app) {
    const SessionOptions *first = session_options(app->first);
    SessionOptions options = *session_options(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = first->has_trace_blocks;
    options.trace_first = first->trace_first;
    options.trace_last = first->trace_last;
    return options;
}

static void app_open_kernel(App *app, Purpose purpose) {
    const char *kernel = view_chosen_kernel(app_view(app));
    SessionOptions options = app_options_of_other(app);
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
}

/* One of the ladder's kernels, at the size and in the type that are selected there. */
static void app_open_rung(App *app, Purpose purpose, const char *kernel) {
    SessionOptions options = app_options_of_other(app);
    options.catalog.n = app->rung.n;
    plan_type_parse(app->rung.dtype, &options.catalog.dtype);
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
}

/* The second of two that are compared, once the first is there. */
static void app_open_beside_rung(App *app) {
    if (!*app->rung.beside || app->loader) return;
    ViewRung rung = app->rung;
    app->rung.beside[0] = 0;
    app_open_rung(app, PURPOSE_BESIDE, rung.beside);
}

static void app_show_rung(App *app) {
    app->rung = app_view(app)->transient.rung;
    app_open_rung(app, PURPOSE_KERNEL, app->rung.kernel);
    if (app->failed) app->rung.beside[0] = 0;
    app_open_beside_rung(app);
}

/* Shows the worker's session or its error, once it has ended. */
bool app_finish_loading(App *app) {
    Error error = {0};
    if (!app->loader || !session_loader_is_done(app->loader)) return false;
    Session *session = session_loader_finish(app->loader, &error);
    app->loader = NULL;
    if (session && !app->cancelled) {
        app_show(app, session, app->purpose, app->target);
        app_open_beside_rung(app);
    } else {
        app->rung.beside[0] = 0;
        if (session) error_set(&error, "cancelled");
        session_free(session);
        app_refuse(app, app->what, app->purpose, &error);
    }
    return true;
}

/* The recordings of the next machine, around. */
static void app_next_machine(App *app) {
    Error error = {0};
    Measurements recorded = {0};
    if (!bench_next_machine(app->machine) || !bench_recorded(app->machine, &recorded, &error)) {
        say(app, "recordings", *error.message ? error.message : "there are none of another machine");
        return;
    }
    measured_done(&app->recorded);
    app->recorded = recorded;
}

static void app_rerun(App *app) {
    Arena arena = {0};
    const SessionOptions *made_with = session_options(app->slots[app->comparison.active].current.session);
    SessionOptions options = settings_options(&app_view(app)->transient.settings, made_with, &arena);
    app_open(app, &options, PURPOSE_SETTINGS, "the run with new settings");
    arena_done(&arena);
}

static void app_trace_block(App *app) {
    char what[32];
    SessionOptions options = *session_options(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = true;
    options.trace_first = options.trace_last = app_view(app)->transient.wanted_block;
    snprintf(what, sizeof what, "block %u", options.trace_first);
    app_open(app, &options, PURPOSE_BLOCK, what);
}

static void app_leave_comparison(App *app) {
    Comparison *comparison = &app->comparison;
    app_cancel(app);
    RunSlot other = app->slots[!comparison->active];
    app->slots[0] = app->slots[comparison->active];
    app->slots[1] = (RunSlot){0};
    comparison_leave(comparison);
    app_drop(app, &other);
}

/* ---- files that are edited ----------------------------------------------------------------------------- */

/* The line that the compiler rejected, else the line of this step. */
static EditPlace app_edit_place(App *app, const char *const *files, int count) {
    const Error *failure = &app_view(app)->transient.failure;
    for (int i = 0; i < count && failure->line; i++)
        if (!strcmp(files[i], failure->file)) return (EditPlace){files[i], failure->line};
    return edit_place(files, count, comparison_scene(&app->comparison), app_view(app));
}

static void app_edit(App *app) {
    int count;
    RunSlot *slot = &app->slots[app->comparison.active];
    const char *const *files = session_files(slot->current.session, &count);
    if (!count || app->waits) {
        say(app, "nothing to edit",
            app->waits ? "the editor needs a terminal"
                       : "open your own FILE.cu or FILE.ptx; kernels/ has examples to copy");
        return;
    }
    char **command = edit_command(app_edit_place(app, files, count));
    int status = terminal_run(command);
    free(command);
    slot->is_stale |= file_watch_changed(slot->files);
    if (status == 127)
        say(app, edit_program(), "cannot be run; set EDITOR to the name of your editor");
    else if (status)
        say(app, edit_program(), "exited with an error");
    else if (!slot->is_stale)
        say(app, scene_file_name(files[0]), "unchanged");
}

/* Repeats the runs whose files have changed. */
void app_rerun_stale(App *app) {
    int count;
    for (int i = 0; i < app->comparison.count && !app->loader; i++) {
        RunSlot *slot = &app->slots[i];
        if (!slot->is_stale) continue;
        slot->is_stale = false;
        const char *const *files = session_files(slot->current.session, &count);
        app_open_at(app, session_options(slot->current.session), PURPOSE_EDIT, scene_file_name(files[0]), i);
    }
}

void app_check_files(App *app) {
    double now = app_seconds();
    if (!app->watch || now < app->look_due) return;
    app->look_due = now + LOOK_SECONDS;
    for (int i = 0; i < app->comparison.count; i++)
        if (app->slots[i].files) app->slots[i].is_stale |= file_watch_changed(app->slots[i].files);
}

ViewAnswer app_answer(App *app, ViewAnswer answer) {
    switch (answer) {
    case VIEW_OPEN:
        app_open_kernel(app, PURPOSE_KERNEL);
        break;
    case VIEW_BESIDE:
        app_open_kernel(app, PURPOSE_BESIDE);
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

/* ---- hazards and timings ----------------------------------------------------------------------- */

/* `ask`: searches for them now where no worker does. */
static void app_show_hazards(App *app, int index, bool ask) {
    RunSlot *slot = &app->slots[index];
    Session *session = slot->current.session;
    View *view = &app->comparison.view[index];
    bool is_known = run_slot_is_complete(slot) || (ask && app->waits);
    slot->current.scene->borrowed.hazards = is_known ? session_hazards(session) : NULL;
    slot->current.scene->borrowed.hazards_note = slot->counting ? "searching all blocks for races ..."
                                                 : session_is_from_file(session)
                                                     ? "the session file holds no hazards"
                                                     : "hazards were not searched for";
    if (slot->current.scene->borrowed.hazards && view->selection.hazard_waits)
        view_go_to_hazard(view, slot->current.scene);
}

/* Timings of a session file take precedence over the shipped ones. */
static void app_show_timings(App *app, RunSlot *slot) {
    Error error = {0};
    const Measurements *own = session_measured(slot->current.session);
    if (!app->has_recorded && !bench_recorded(*app->machine ? app->machine : NULL, &app->recorded, &error))
        say(app, "timings", error.message);
    app->has_recorded = true;
    slot->timings.recorded = own->timing_count ? own : &app->recorded;
    slot->timings.live = &app->live;
    slot->timings.counts = &app->rungs.counts;
    slot->timings.timed = slot == &app->slots[app->comparison.active] ? &app->live : NULL;
    slot->current.scene->borrowed.timings = &slot->timings;
}

static bool app_shows_ladder(App *app) {
    return app_view(app)->transient.overlay == OVERLAY_LADDER;
}

ViewAnswer app_press(App *app, Key key) {
    if (key == SPECIAL_ESCAPE && app->loader && app_view(app)->transient.overlay == OVERLAY_NONE) {
        app_cancel(app);
        return VIEW_CHANGED;
    }
    int direction;
    app->wants_cpu |= keys_find(key, &direction) == ACT_TIMES;
    if (app_shows_ladder(app) || keys_find(key, &direction) == ACT_LADDER)
        app_show_timings(app, &app->slots[app->comparison.active]);
    if (app->waits && keys_find(key, &direction) == ACT_HAZARD)
        app_show_hazards(app, app->comparison.active, true);
    return app_answer(app, comparison_press(&app->comparison, key));
}

/* ---- the ladder ---------------------------------------------------------------------------------------- */

static void app_count_rungs(App *app) {
    Ladder ladder;
    bool is_live;
    if (app_shows_ladder(app) &&
        ladder_view_gather(app_view(app), comparison_scene(&app->comparison), &ladder, &is_live))
        rung_counting_go_on(&app->rungs, &ladder, app_view(app)->display.ladder.n, app->waits, terminal_wake);
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
