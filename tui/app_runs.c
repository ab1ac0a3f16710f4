#define _POSIX_C_SOURCE 200809L
/* The sessions of the interface: opened in a worker thread, shown in place of a run or beside it, and
 * closed. */
#include "ask/ask.h"
#include "tui/app_state.h"

#include "base/language.h"
#include "base/utf8.h"
#include "tui/differences.h"
#include "tui/draw/terminal.h"
#include "tui/view/launch_view.h"
#include "tui/view/menu.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int target_of(const Comparison *comparison, Purpose purpose) {
    if (comparison->change[0] && purpose == PURPOSE_EDIT) return 1;
    return purpose != PURPOSE_BESIDE ? comparison->active : comparison->count == 2 ? !comparison->active : 1;
}

void app_finish_abandoned(App *app, bool wait) {
    int kept = 0;
    for (int i = 0; i < app->abandoned_count; i++)
        if (wait || loader_is_done(app->abandoned[i]))
            session_free(loader_finish(app->abandoned[i], NULL));
        else
            app->abandoned[kept++] = app->abandoned[i];
    app->abandoned_count = kept;
}

static void app_abandon(App *app, SessionLoader *loader) {
    if (!loader) return;
    loader_cancel(loader);
    array_push(app->abandoned, app->abandoned_count, app->abandoned_capacity, loader);
}

void app_abandon_loading(App *app) {
    app_abandon(app, app->loader);
    app->loader = NULL;
}

/* Ends what the slot waits for and frees its runs. */
static void drop(App *app, RunSlot *slot) {
    app_abandon(app, slot->counting);
    app_abandon(app, slot->timing_warps);
    app_abandon(app, slot->timing_run);
    slot->counting = slot->timing_warps = slot->timing_run = NULL;
    run_slot_done(slot);
}

void app_done(App *app) {
    app_abandon(app, app->loader);
    app_abandon(app, app->rungs.loader);
    for (int i = 0; i < 2; i++) app_abandon(app, app->curves[i].loader);
    drop(app, &app->slots[0]);
    drop(app, &app->slots[1]);
    app_finish_abandoned(app, true);
    for (int i = 0; i < app->program_count; i++) program_free(app->programs[i]);
    free(app->programs);
    view_lecture_done(&app->lecture);
    app_kept_done(&app->kept);
    free(app->abandoned);
    arena_done(&app->file.arena);
    measured_done(&app->live);
    measured_done(&app->recorded);
    ladder_counts_done(&app->rungs.counts);
}

void app_count(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    if (app->waits || slot->counting || run_slot_is_complete(slot)) return;
    RunSpec options = *session_spec(slot->current.session);
    options.first_look = false;
    options.search_races = true;
    options.has_events = session_is_captured(slot->current.session);
    slot->counting = loader_start(&options, terminal_wake);
    if (!slot->counting) app_say(app, tr("the grid"), tr("cannot be counted: no thread could be started"));
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
    view_say(app_view(app), tr("re-run: %s; i: all metrics"), most);
}

void app_give_up_warps(App *app, RunSlot *slot) {
    app_abandon(app, slot->timing_warps);
    slot->timing_warps = NULL;
}

/* The run at which the settings are open is the one that their changes are compared with. */
static void note_before(View *view, const Scene *scene) {
    Settings *settings = &view->transient.settings;
    if (!settings->has_changed)
        figures_of(scene, !view->display.times_alone, view->display.times, &settings->before);
}

/* Replaces the first look by the whole run: the same events, now with counters and result. */
bool app_finish_counting(App *app, int index) {
    RunSlot *slot = &app->slots[index];
    Error error = {0};
    if (!slot->counting || !loader_is_done(slot->counting)) return false;
    Session *session = loader_finish(slot->counting, &error);
    slot->counting = NULL;
    if (!session) {
        if (session_is_partial(slot->current.session))
            app_say(app, tr("the grid was not counted"), error.message);
        return true;
    }
    RunSlot old = *slot;
    session_take_events(session, old.current.session);
    *slot = run_slot_renew(session, &old);
    app->comparison.scene[index] = slot->current.scene;
    note_before(&app->comparison.view[index], slot->current.scene);
    app_report_change(app, index);
    app_report_try(app);
    drop(app, &old);
    return true;
}

void app_keep_alone(App *app, int index) {
    Comparison *comparison = &app->comparison;
    comparison->active = index;
    RunSlot other = app->slots[!index];
    app->slots[0] = app->slots[index];
    app->slots[1] = (RunSlot){0};
    comparison_leave(comparison);
    drop(app, &other);
}

/* ---- an edit ------------------------------------------------------------------------------------------- */

int app_edited_index(const App *app) {
    return app->comparison.change[0] ? 1 : app->comparison.active;
}

/* Shows the run after an edit beside the run before it, or in place of the run after an earlier edit. */
static void app_show_beside_before(App *app, Session *session) {
    char what[sizeof app->comparison.change];
    Comparison *comparison = &app->comparison;
    bool is_first = comparison->count == 1;
    RunSlot old = app->slots[!is_first];
    /* "strided.cu  edited 12:04:31, line 26"; a script reads no clock. Changed PTX has no line that the
     * reader wrote. */
    char clock[32] = "";
    time_t now = time(NULL);
    struct tm local;
    int line = session_first_change(app->slots[0].current.session, session);
    if (!app->waits && localtime_r(&now, &local)) strftime(clock, sizeof clock, " %H:%M:%S", &local);
    if (session_spec(session)->what_if.label)
        snprintf(what, sizeof what, "%s", session_spec(session)->what_if.label);
    else if (session_spec(session)->ptx)
        snprintf(what, sizeof what, "%s", app->what);
    else if (line)
        snprintf(what, sizeof what, tr("%s  edited%s, line %d"), app->what, clock, line);
    else
        snprintf(what, sizeof what, tr("%s  edited%s"), app->what, clock);
    app->slots[1] = run_slot_follow(session, &old);
    Scene *scene = app->slots[1].current.scene;
    app_count(app, 1);
    if (is_first) {
        View *view = app_view(app); /* the pictures are what one compares */
        if (view->display.focus == FOCUS_SIDE) view->display.focus = FOCUS_PICTURE;
        comparison_put_change(comparison, scene, what);
    } else {
        keep_place(&comparison->view[1], old.current.scene, scene);
        comparison->scene[1] = scene;
        comparison->active = 1;
        memcpy(comparison->change, what, sizeof what);
        comparison_follow(comparison);
        drop(app, &old);
    }
    if (!session_spec(session)->what_if.label) run_slot_forget_files(&app->slots[0]);
    view_forget_failure(&comparison->view[0]);
    view_forget_failure(&comparison->view[1]);
    app->tried.is_opening = false;
    app_report_try(app);
}

/* ---- showing a session --------------------------------------------------------------------------------- */

/* The settings being edited become those of the new run; another kernel closes them. */
static void follow_settings(View *view, const Scene *scene, Purpose purpose) {
    if (view->transient.input != INPUT_SETTINGS) return;
    if (purpose == PURPOSE_KERNEL || purpose == PURPOSE_STOP)
        view->transient.input = INPUT_COMMANDS;
    else {
        settings_follow(&view->transient.settings, scene);
        view->transient.settings.has_changed = true;
    }
}

static void app_show_in_place(App *app, Session *session, Purpose purpose, int index) {
    Comparison *comparison = &app->comparison;
    View *view = &comparison->view[index];
    RunSlot old = app->slots[index], *slot = &app->slots[index];
    const Scene *shown = old.current.scene;
    app->tried.is_opening = false;
    *slot = purpose == PURPOSE_EDIT    ? run_slot_edited(session, &old)
            : purpose == PURPOSE_BLOCK ? run_slot_renew(session, &old)
                                       : run_slot_new(session, true);
    Scene *scene = slot->current.scene;
    app_offer_file(app, session);
    app_count(app, index);
    if (purpose == PURPOSE_BESIDE) {
        comparison_put(comparison, index, scene);
        if (ask_shown_race(session)) comparison_put_race(comparison, index, ask_shown_race(session));
    } else {
        if (purpose != PURPOSE_BLOCK) comparison->losing = NO_RACE;
        if (purpose == PURPOSE_KERNEL || purpose == PURPOSE_STOP) {
            view_restart(view);
            view_open(view, scene);
        } else {
            keep_place(view, shown, scene);
        }
        comparison->scene[index] = scene;
        follow_settings(view, scene, purpose);
        comparison_follow(comparison);
    }
    if (purpose == PURPOSE_EDIT) view_forget_failure(view);
    app_report_change(app, index);
    drop(app, &old);
}

void app_show(App *app, Session *session, Purpose purpose, int index) {
    Program *program = session_take_program(session);
    if (program) {
        array_push(app->programs, app->program_count, app->program_capacity, program);
        app_view(app)->display.program = program;
    }
    Comparison *comparison = &app->comparison;
    bool is_pair = comparison->change[0] != 0,
         is_other = purpose == PURPOSE_KERNEL || purpose == PURPOSE_STOP;
    if (is_pair && is_other) {
        app_keep_alone(app, index);
        index = 0;
    }
    if (purpose == PURPOSE_BESIDE) comparison->change[0] = 0;
    if (purpose == PURPOSE_EDIT && (comparison->count == 1 || is_pair)) {
        app_offer_file(app, session);
        app_show_beside_before(app, session);
    } else {
        app_show_in_place(app, session, purpose, index);
    }
    /* Says which launch of the program is shown now. */
    const RunSpec *options = session_spec(session);
    Text text = {0};
    if (options->program && purpose == PURPOSE_KERNEL) {
        launch_view_print_name(options->program->capture, options->launch, &text);
        view_say(app_view(app), "%s", text_string(&text));
        utf8_drop_half(app_view(app)->transient.message);
        text_done(&text);
    }
    if (app->above) app->above(app, (AppEvent){.kind = APP_OPENED, .purpose = purpose});
}

/* The last run stays. Settings say why there is none with them; cancelled, they are again those of the
 * run. */
static void app_refuse(App *app, const char *what, Purpose purpose, const Error *error) {
    View *view = app_view(app);
    Settings *settings = &view->transient.settings;
    bool is_try = app->tried.is_opening;
    app->tried.is_opening = false;
    if (purpose == PURPOSE_SETTINGS && view->transient.input == INPUT_SETTINGS) {
        settings->is_running = false;
        if (app->cancelled)
            settings_follow(settings, comparison_scene(&app->comparison));
        else
            snprintf(settings->error, sizeof settings->error, "%.190s", error->message);
    } else if ((purpose == PURPOSE_EDIT || (purpose == PURPOSE_COPY && error->line)) && !app->cancelled &&
               !is_try) {
        view->transient.failure = *error;
        if (view->transient.overlay == OVERLAY_NONE) view->transient.overlay = OVERLAY_FAILURE;
    } else if ((purpose == PURPOSE_COPY || app->wants_order) && !app->cancelled) { /* the text has to fit */
        view_say(view, "%.190s", error->message);
    } else {
        app_say(app, what, error->message);
    }
    if (purpose == PURPOSE_COPY && !app->cancelled) app->copied = COPY_REFUSED;
    app->failed = purpose == PURPOSE_KERNEL || purpose == PURPOSE_BESIDE || purpose == PURPOSE_STOP;
    app->error = *error;
}

/* `losing`: the race whose losing order is shown; NULL: the run is in its own. */
static void app_begin(App *app, const RunSpec *options, Purpose purpose, const char *what, int target,
                      const AskRacePair *losing) {
    Error error = {0};
    RunSpec wanted = *options;
    wanted.first_look = !app->waits && (purpose != PURPOSE_STOP || options->first_look);
    wanted.search_races = !app->waits || options->search_races;
    if (app->loader && app->purpose == PURPOSE_SETTINGS && purpose == PURPOSE_SETTINGS)
        app_abandon_loading(app); /* the newest settings win */
    if (app->loader) {
        app_say(app, app->what, tr("is still being opened; Esc cancels it"));
        return;
    }
    bool runs_again = purpose == PURPOSE_SETTINGS || purpose == PURPOSE_BLOCK;
    if (app->comparison.change[0] && runs_again && target == 0) {
        app_say(app, tr("the run before the edit"), tr("does not run again; o goes to the run after it"));
        return;
    }
    app->cancelled = false;
    app->wants_order = losing;
    snprintf(app->what, sizeof app->what, "%s", what);
    if (app->waits) {
        Session *session =
            !losing ? session_open(&wanted, &error) : ask_open_in_bad_order(&wanted, *losing, &error);
        if (session)
            app_show(app, session, purpose, target);
        else
            app_refuse(app, what, purpose, &error);
        return;
    }
    app->loader = !losing ? loader_start(&wanted, terminal_wake)
                          : loader_start_in_bad_order(&wanted, *losing, terminal_wake);
    app->purpose = purpose;
    app->target = target;
    if (!app->loader) app_say(app, what, tr("cannot be opened: no thread could be started"));
}

void app_open_at(App *app, const RunSpec *options, Purpose purpose, const char *what, int target) {
    app_begin(app, options, purpose, what, target, NULL);
}

void app_show_changed(App *app, const RunSpec *options, const char *what) {
    app_open_at(app, options, PURPOSE_EDIT, what, app_edited_index(app));
}

void app_open_bad_order(App *app) {
    const char *what = tr("an order that loses");
    Session *session = app->slots[app->comparison.active].current.session;
    const Findings *list = comparison_scene(&app->comparison)->borrowed.hazards;
    int selected = app_view(app)->selection.hazard;
    AskRacePair pair = {.pc = PTX_NO_PC};
    if (list && selected > 0 && selected <= list->count) pair = ask_race_pair(&list->items[selected - 1]);
    if (session_is_from_file(session))
        app_say(app, what, tr("a saved session does not run again"));
    else
        app_begin(app, session_spec(session), PURPOSE_BESIDE, what,
                  target_of(&app->comparison, PURPOSE_BESIDE), &pair);
}

static void app_open(App *app, const RunSpec *options, Purpose purpose, const char *what) {
    app_open_at(app, options, purpose, what, target_of(&app->comparison, purpose));
}

void app_open_beside(App *app, const RunSpec *options, const char *what) {
    app_open(app, options, PURPOSE_BESIDE, what);
}

void app_open_other_block(App *app) {
    enum { FEWEST = 64 };
    char what[32], value[16];
    Error error = {0};
    Session *session = app->slots[app->comparison.active].current.session;
    RunSpec options = *session_spec(session);
    int wanted = app_view(app)->transient.wanted_threads,
        threads = (int)launch_volume(session_trace(session)->launches[0]->block);
    if (!wanted) wanted = threads >= FEWEST ? threads / 2 : 2 * threads;
    snprintf(what, sizeof what, tr("blocks of %d"), wanted);
    snprintf(value, sizeof value, "%d", wanted);
    if (session_is_from_file(session) || options.program)
        app_say(app, what,
                session_is_from_file(session) ? tr("a saved session does not run again")
                                              : tr("a program chooses its block size"));
    else if (options.launches)
        app_say(app, what, tr("--launch says the block size"));
    else if (!run_spec_set(&options, "block", value, &error))
        app_say(app, what, error.message);
    else
        app_open_beside(app, &options, what);
}

void app_cancel(App *app) {
    if (app->loader) loader_cancel(app->loader);
    app->cancelled = true;
}

/* The options of the active run for another kernel. Kernels differ in their grids, so the traced blocks are
 * those of the command line. */
static RunSpec app_options_of_other(App *app) {
    const RunSpec *first = session_spec(app->first);
    RunSpec options = *session_spec(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = first->has_trace_blocks;
    options.trace_first = first->trace_first;
    options.trace_last = first->trace_last;
    return options;
}

/* Opens one of the ladder's kernels, at the size and type selected there. */
static void app_open_rung(App *app, Purpose purpose, const char *kernel) {
    RunSpec options = app_options_of_other(app);
    options.catalog.n = app->rung.n;
    plan_type_parse(app->rung.dtype, &options.catalog.dtype);
    run_spec_choose_kernel(&options, kernel);
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
    if (!app->loader || !loader_is_done(app->loader)) return false;
    Session *session = loader_finish(app->loader, &error);
    app->loader = NULL;
    if (session && !app->cancelled) {
        app_show(app, session, app->purpose, app->target);
        if (app->purpose == PURPOSE_COPY) app->copied = COPY_RAN;
        app_open_beside_rung(app);
    } else {
        app->rung.beside[0] = 0;
        if (session) error_set(&error, "cancelled");
        session_free(session);
        app_refuse(app, app->what, app->purpose, &error);
    }
    return true;
}

void app_open_kernel(App *app) {
    MenuRow chosen;
    if (!menu_choice(app_view(app), &chosen)) return;
    RunSpec options = app_options_of_other(app);
    if (chosen.kind == MENU_ENTRY) {
        RunSpec other = app->file.options;
        other.catalog.n = options.catalog.n;
        other.has_trace_blocks = options.has_trace_blocks;
        other.trace_first = options.trace_first;
        other.trace_last = options.trace_last;
        options = other;
        run_spec_choose_entry(&options, chosen.name);
    } else {
        run_spec_choose_kernel(&options, chosen.name);
    }
    bool is_beside = app_view(app)->transient.menu == MENU_BESIDE;
    app_open(app, &options, is_beside ? PURPOSE_BESIDE : PURPOSE_KERNEL, chosen.name);
}

/* The file's own settings are guessed; how it is run stays as it was. */
static RunSpec app_options_of_file(App *app, const char *file) {
    RunSpec options = *session_spec(app->first);
    RunSpec out = {.backend = options.backend, .threads = options.threads, .machine = options.machine};
    out.times_blocks = options.times_blocks;
    out.measure_sass = options.measure_sass;
    out.catalog.prefers_digits = options.catalog.prefers_digits;
    *(text_ends_with(file, ".redviz") ? &out.saved : &out.file) = file;
    return out;
}

/* How the run on the screen is made stays, unless it is of no launch of the program. Launches differ in their
 * grids, so the traced blocks are those of the command line. */
void app_open_launch(App *app) {
    char what[64];
    const View *view = app_view(app);
    const Program *program = view->display.program;
    RunSpec options = app_options_of_other(app);
    if (options.program != program) options = *session_spec(app->first);
    run_spec_drop_remedy(&options);
    options.launch = view->transient.wanted_launch;
    snprintf(what, sizeof what, tr("launch %d of %d"), options.launch + 1, program->capture->launch_count);
    app_open(app, &options, PURPOSE_KERNEL, what);
}

void app_open_from_home(App *app) {
    MenuRow chosen;
    Error error = {0};
    RunSpec options;
    if (!menu_choice(app_view(app), &chosen)) return;
    if (chosen.kind == MENU_FILE)
        options = app_options_of_file(app, chosen.name);
    else if (!app->home->open(app->home->context, chosen.index, &options, &error)) {
        app_say(app, chosen.name, error.message);
        return;
    }
    app_open(app, &options, PURPOSE_KERNEL, scene_file_name(chosen.name));
}

void app_rerun(App *app) {
    Arena arena = {0};
    if (app_shows_remedy(app)) { /* the remedy was for the settings before */
        Settings kept = app_view(app)->transient.settings;
        app_keep_alone(app, 0);
        app_view(app)->transient.input = INPUT_SETTINGS;
        app_view(app)->transient.settings = kept;
        note_before(app_view(app), app->slots[0].current.scene);
    }
    Settings *settings = &app_view(app)->transient.settings;
    const RunSpec *made_with = session_spec(app->slots[app->comparison.active].current.session);
    RunSpec options = settings_options(settings, made_with, &arena);
    run_spec_drop_remedy(&options);
    app_open(app, &options, PURPOSE_SETTINGS, tr("the run with new settings"));
    settings->is_running = app->loader && app->purpose == PURPOSE_SETTINGS;
    if (app->loader && !settings->is_running)
        snprintf(settings->error, sizeof settings->error, tr("%s is still being opened"), app->what);
    arena_done(&arena);
}

void app_trace_block(App *app) {
    char what[32];
    RunSpec options = *session_spec(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = true;
    options.trace_first = options.trace_last = app_view(app)->transient.wanted_block;
    snprintf(what, sizeof what, "block %u", options.trace_first);
    app_open(app, &options, PURPOSE_BLOCK, what);
}

void app_leave_comparison(App *app) {
    app_cancel(app);
    app_keep_alone(app, app_kept_index(app));
}
