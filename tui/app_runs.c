/* The sessions of the interface: opened in a worker thread, shown in place of a run or beside it, and
 * closed. */
#include "tui/app_state.h"

#include "base/memory.h"
#include "tui/draw/terminal.h"
#include "tui/view/keep_place.h"
#include <stdlib.h>
#include <string.h>

static int target_of(const Comparison *comparison, Purpose purpose) {
    return purpose != PURPOSE_BESIDE ? comparison->active : comparison->count == 2 ? !comparison->active : 1;
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

static void app_abandon(App *app, SessionLoader *loader) {
    if (!loader) return;
    session_loader_cancel(loader);
    array_push(app->abandoned, app->abandoned_count, app->abandoned_capacity, loader);
}

void app_abandon_loading(App *app) {
    app_abandon(app, app->loader);
    app->loader = NULL;
}

static void app_drop(App *app, RunSlot *slot) {
    app_abandon(app, slot->counting);
    slot->counting = NULL;
    run_slot_done(slot);
}

void app_done(App *app) {
    app_abandon(app, app->loader);
    app_abandon(app, app->rungs.loader);
    app_drop(app, &app->slots[0]);
    app_drop(app, &app->slots[1]);
    app_finish_abandoned(app, true);
    lecture_view_done(&app->lecture);
    free(app->abandoned);
    arena_done(&app->file.arena);
    measured_done(&app->live);
    measured_done(&app->recorded);
    ladder_counts_done(&app->rungs.counts);
}

void app_count(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    if (app->waits || slot->counting || run_slot_is_complete(slot)) return;
    SessionOptions options = *session_options(slot->current.session);
    options.first_look = false;
    options.search_races = true;
    options.has_events = session_is_captured(slot->current.session);
    slot->counting = session_loader_start(&options, terminal_wake);
    if (!slot->counting) app_say(app, "the grid", "cannot be counted: no thread could be started");
}

/* Reports the largest change of the last edit in one line; later if the grid must be counted first. */
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

/* Replaces the first look by the whole run: the same events, now with counters and result. */
bool app_finish_counting(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    Error error = {0};
    if (!slot->counting || !session_loader_is_done(slot->counting)) return false;
    Session *session = session_loader_finish(slot->counting, &error);
    slot->counting = NULL;
    if (!session) {
        if (session_is_partial(slot->current.session))
            app_say(app, "the grid was not counted", error.message);
        return true;
    }
    RunSlot old = *slot;
    session_take_events(session, old.current.session);
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
    app_offer_file(app, session);
    app_count(app, index);
    if (purpose == PURPOSE_BESIDE) {
        comparison_put(comparison, index, scene);
    } else {
        if (purpose == PURPOSE_KERNEL || purpose == PURPOSE_STOP) {
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
    if (app->opened) app->opened(app, purpose);
}

/* Shows impossible settings again, with the reason. */
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
        app_say(app, what, error->message);
    }
    app->failed = purpose == PURPOSE_KERNEL || purpose == PURPOSE_BESIDE || purpose == PURPOSE_STOP;
    app->error = *error;
}

static void app_begin(App *app, const SessionOptions *options, Purpose purpose, const char *what, int target,
                      bool in_bad_order) {
    Error error = {0};
    SessionOptions wanted = *options;
    wanted.cancel = NULL;
    wanted.first_look = !app->waits && (purpose != PURPOSE_STOP || options->first_look);
    wanted.search_races = !app->waits || options->search_races;
    if (app->loader) {
        app_say(app, app->what, "is still being opened; Esc cancels it");
        return;
    }
    app->cancelled = false;
    if (app->waits) {
        Session *session = (in_bad_order ? session_open_in_bad_order : session_open)(&wanted, &error);
        if (session)
            app_show(app, session, purpose, target);
        else
            app_refuse(app, what, purpose, &error);
        return;
    }
    app->loader =
        (in_bad_order ? session_loader_start_in_bad_order : session_loader_start)(&wanted, terminal_wake);
    app->purpose = purpose;
    app->target = target;
    snprintf(app->what, sizeof app->what, "%s", what);
    if (!app->loader) app_say(app, what, "cannot be opened: no thread could be started");
}

void app_open_at(App *app, const SessionOptions *options, Purpose purpose, const char *what, int target) {
    app_begin(app, options, purpose, what, target, false);
}

void app_open_bad_order(App *app) {
    static const char what[] = "an order that loses";
    Session *session = app->slots[app->comparison.active].current.session;
    if (session_is_from_file(session))
        app_say(app, what, "a saved session does not run again");
    else
        app_begin(app, session_options(session), PURPOSE_BESIDE, what,
                  target_of(&app->comparison, PURPOSE_BESIDE), true);
}

static void app_open(App *app, const SessionOptions *options, Purpose purpose, const char *what) {
    app_open_at(app, options, purpose, what, target_of(&app->comparison, purpose));
}

void app_cancel(App *app) {
    if (app->loader) session_loader_cancel(app->loader);
    app->cancelled = true;
}

/* The options of the active run for another kernel. Kernels differ in their grids, so the traced blocks are
 * those of the command line. */
static SessionOptions app_options_of_other(App *app) {
    const SessionOptions *first = session_options(app->first);
    SessionOptions options = *session_options(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = first->has_trace_blocks;
    options.trace_first = first->trace_first;
    options.trace_last = first->trace_last;
    return options;
}

/* Opens one of the ladder's kernels, at the size and type selected there. */
static void app_open_rung(App *app, Purpose purpose, const char *kernel) {
    SessionOptions options = app_options_of_other(app);
    options.catalog.n = app->rung.n;
    plan_type_parse(app->rung.dtype, &options.catalog.dtype);
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
}

/* Opens the second of two runs to compare, once the first is open. */
static void app_open_beside_rung(App *app) {
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

void app_open_kernel(App *app, Purpose purpose) {
    MenuRow chosen;
    if (!view_menu_choice(app_view(app), &chosen)) return;
    SessionOptions options = app_options_of_other(app);
    if (chosen.kind == MENU_ENTRY) {
        SessionOptions other = app->file.options;
        other.catalog.n = options.catalog.n;
        other.has_trace_blocks = options.has_trace_blocks;
        other.trace_first = options.trace_first;
        other.trace_last = options.trace_last;
        options = other;
        session_options_for_entry(&options, chosen.name);
    } else {
        session_options_for_kernel(&options, chosen.name);
    }
    app_open(app, &options, purpose, chosen.name);
}

void app_rerun(App *app) {
    Arena arena = {0};
    const SessionOptions *made_with = session_options(app->slots[app->comparison.active].current.session);
    SessionOptions options = settings_options(&app_view(app)->transient.settings, made_with, &arena);
    app_open(app, &options, PURPOSE_SETTINGS, "the run with new settings");
    arena_done(&arena);
}

void app_trace_block(App *app) {
    char what[32];
    SessionOptions options = *session_options(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = true;
    options.trace_first = options.trace_last = app_view(app)->transient.wanted_block;
    snprintf(what, sizeof what, "block %u", options.trace_first);
    app_open(app, &options, PURPOSE_BLOCK, what);
}

void app_leave_comparison(App *app) {
    Comparison *comparison = &app->comparison;
    app_cancel(app);
    RunSlot other = app->slots[!comparison->active];
    app->slots[0] = app->slots[comparison->active];
    app->slots[1] = (RunSlot){0};
    comparison_leave(comparison);
    app_drop(app, &other);
}
