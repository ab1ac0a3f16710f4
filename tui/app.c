/* App: the event loop. Keys change the view, the frame is drawn from scene and view, the terminal shows it.
 * Opening another kernel runs in a worker thread; the loop never waits for it. */
#define _POSIX_C_SOURCE 200809L

#include "app.h"

#include "base/memory.h"
#include "tui/draw/cast.h"
#include "measuring.h"
#include "tui/key_script.h"
#include "tui/motion.h"
#include "tui/session_loader.h"
#include "tui/comparison.h"
#include "tui/view/keep_place.h"
#include "tui/run_slot.h"
#include "tui/draw/svg.h"
#include "tui/draw/terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_MILLISECONDS = 16 }; /* playing draws no more often than that */
#define LOOK_SECONDS 0.25         /* between looks at files that are watched */

typedef enum Purpose {                   /* what a session is opened for */
                       PURPOSE_KERNEL,   /* another kernel, in place of the active run */
                       PURPOSE_BESIDE,   /* to be compared with the active run */
                       PURPOSE_EDIT,     /* the active run of the changed file, at the same place */
                       PURPOSE_SETTINGS, /* the active run with other settings, at the same place */
                       PURPOSE_BLOCK     /* the active run with another block traced, at the same place */
} Purpose;

typedef struct App {
    RunSlot slots[2]; /* as in `comparison` */
    Comparison comparison;
    const Session *first; /* the caller's */
    bool ascii;
    bool watch;  /* files that change are re-run without a key */
    bool waits;  /* keys come from a script: sessions are opened while it waits */
    bool failed; /* the script opens a kernel that cannot be opened: `error` */
    Error error;
    SessionLoader *loader; /* NULL: none under way */
    Purpose purpose;
    int target; /* index of the slot it is for */
    bool cancelled;
    Cast *cast;                  /* NULL: nothing is recorded */
    double cast_seconds;         /* its begin on the clock; of a script: since then */
    char what[64];               /* what is being opened, as messages call it */
    Measuring *measuring;        /* NULL: the timings have not been on the screen yet */
    Measurements live, recorded; /* results of `measuring`; shipped timings */
    bool has_recorded;           /* it was looked for */
    bool wants_cpu;              /* the user asked for timings: this machine's CPU is timed, too */
    SessionLoader **abandoned;   /* cancelled; they end by themselves */
    int abandoned_count, abandoned_capacity;
    Rectangle dragged; /* the timeline in which the mouse was pressed; no rows: elsewhere */
    double look_due;   /* seconds: when files are looked at */
    double due;        /* seconds: when the next frame is to be shown while playing */
    int motion;        /* frame of the wavefront that is played */
} App;

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.first = session, .ascii = start->ascii, .waits = true};
    app->slots[0] = run_slot_new(session, false);
    comparison_init(&app->comparison, app->slots[0].current.scene);
    comparison_view(&app->comparison)->display.theme = start->theme;
    comparison_view(&app->comparison)->display.still = start->still;
}

static void finish_abandoned(App *app, bool wait) {
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

static void app_done(App *app) {
    abandon(app, app->loader);
    app_drop(app, &app->slots[0]);
    app_drop(app, &app->slots[1]);
    finish_abandoned(app, true);
    free(app->abandoned);
    measured_done(&app->live);
    measured_done(&app->recorded);
}

static View *app_view(App *app) {
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
static void app_count(App *app, int index) {
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
static bool app_finish_counting(App *app, int index) {
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

/* The session replaces a run, or is compared with it. */
static void app_show(App *app, Session *session, Purpose purpose, int index) {
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

/* Shows the worker's session or its error, once it has ended. */
static bool app_finish_loading(App *app) {
    Error error = {0};
    if (!app->loader || !session_loader_is_done(app->loader)) return false;
    Session *session = session_loader_finish(app->loader, &error);
    app->loader = NULL;
    if (session && !app->cancelled) {
        app_show(app, session, app->purpose, app->target);
    } else {
        if (session) error_set(&error, "cancelled");
        session_free(session);
        app_refuse(app, app->what, app->purpose, &error);
    }
    return true;
}

/* Other kernels have other grids: the traced blocks are again those of the command line. */
static void app_open_kernel(App *app, Purpose purpose) {
    const char *kernel = view_chosen_kernel(app_view(app));
    const SessionOptions *first = session_options(app->first);
    SessionOptions options = *session_options(app->slots[app->comparison.active].current.session);
    options.has_trace_blocks = first->has_trace_blocks;
    options.trace_first = first->trace_first;
    options.trace_last = first->trace_last;
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
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
static void app_rerun_stale(App *app) {
    int count;
    for (int i = 0; i < app->comparison.count && !app->loader; i++) {
        RunSlot *slot = &app->slots[i];
        if (!slot->is_stale) continue;
        slot->is_stale = false;
        const char *const *files = session_files(slot->current.session, &count);
        app_open_at(app, session_options(slot->current.session), PURPOSE_EDIT, scene_file_name(files[0]), i);
    }
}

static void app_check_files(App *app) {
    double now = now_seconds();
    if (!app->watch || now < app->look_due) return;
    app->look_due = now + LOOK_SECONDS;
    for (int i = 0; i < app->comparison.count; i++)
        if (app->slots[i].files) app->slots[i].is_stale |= file_watch_changed(app->slots[i].files);
}

/* What a key or a click asks of the app. */
static ViewAnswer app_answer(App *app, ViewAnswer answer) {
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

static ViewAnswer app_press(App *app, Key key) {
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

/* Timings of a session file take precedence over the shipped ones. */
static void app_show_timings(App *app, RunSlot *slot) {
    Error error = {0};
    const Measurements *own = session_measured(slot->current.session);
    if (!app->has_recorded && !bench_recorded(&app->recorded, &error)) say(app, "timings", error.message);
    app->has_recorded = true;
    slot->timings.recorded = own->timing_count ? own : &app->recorded;
    slot->timings.live = &app->live;
    slot->timings.timed = slot == &app->slots[app->comparison.active] ? &app->live : NULL;
    slot->current.scene->borrowed.timings = &slot->timings;
}

/* Gives panes what they are going to show. Returns whether timings are on the screen. */
static bool app_provide(App *app, int columns, int rows) {
    bool timings_seen = comparison_shows(&app->comparison, columns, rows, &pane_timings);
    bool hazards_seen = comparison_shows(&app->comparison, columns, rows, &pane_hazards);
    for (int i = 0; i < app->comparison.count; i++) {
        RunSlot *slot = &app->slots[i];
        app_show_timings(app, slot);
        app_show_hazards(app, i, hazards_seen);
        slot->current.scene->borrowed.before = slot->before.scene;
    }
    return timings_seen;
}

/* Measures while the timings are on the screen, for the run that has the keys. */
static void app_measure(App *app, bool is_seen) {
    if (is_seen && !app->measuring) app->measuring = measuring_new(bench_run, bench_cpu, terminal_wake);
    if (!app->measuring) return;
    MeasuringWish wish = measuring_wish(comparison_scene(&app->comparison));
    if (!app->wants_cpu) wish.cpu_n = 0;
    measuring_want(app->measuring, is_seen ? &wish : NULL);
}

static bool app_take_timings(App *app) {
    SceneTimings *timings = &app->slots[0].timings;
    if (!app->measuring || !measuring_take(app->measuring, &app->live, timings)) return false;
    snprintf(app->slots[1].timings.measuring, sizeof timings->measuring, "%s", timings->measuring);
    snprintf(app->slots[1].timings.failure, sizeof timings->failure, "%s", timings->failure);
    return true;
}

/* ---- one frame ----------------------------------------------------------------------------------------- */

static Canvas *app_canvas(App *app, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    app_provide(app, columns, rows);
    comparison_draw(&app->comparison, canvas);
    return canvas;
}

/* Of a script: a frame of the recording. */
static void app_record_frame(App *app, int columns, int rows) {
    Canvas *canvas = app_canvas(app, columns, rows);
    cast_add(app->cast, canvas, app_view(app)->display.theme, app->cast_seconds);
    canvas_free(canvas);
}

/* Of a script: the next frame of the recording, and how long it is shown. Where the run plays, a pause goes on
 * playing. */
static void app_record_pause(App *app, double pause, int columns, int rows) {
    if (!app->cast) return;
    app_record_frame(app, columns, rows);
    if (pause < 0)
        pause = cast_reading_seconds(app->cast);
    else
        for (double each; app_view(app)->transient.playing &&
                          (each = 1 / view_wavefronts_per_second(app_view(app))) <= pause;
             pause -= each) {
            app->cast_seconds += each;
            app_view(app)->transient.playing = comparison_play(&app->comparison);
            app_record_frame(app, columns, rows);
        }
    app->cast_seconds += pause;
}

/* Presses every key of the script. Frames of this size are recorded; 0 columns: none. */
static bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error) {
    Key key;
    double pause = key_script_pause(&script);
    if (columns) app_record_pause(app, pause, columns, rows);
    while (*script && !*quit && !app->failed) {
        if (!keys_read(&script, &key, error)) return false;
        *quit = app_press(app, key) == VIEW_QUIT;
        pause = key_script_pause(&script);
        if (columns && !*quit && !app->failed) app_record_pause(app, pause, columns, rows);
    }
    if (columns) cast_hold(app->cast, app->cast_seconds);
    if (app->failed && error) *error = app->error;
    return !app->failed;
}

/* The second run of --compare. */
static bool app_start_comparison(App *app, const SessionOptions *options, Error *error) {
    Error reason = {0};
    Session *session = session_open(options, &reason);
    if (!session && reason.file[0]) return error_set(error, "--compare: %s: %s", reason.file, reason.message);
    if (!session) return error_set(error, "--compare: %s", reason.message);
    app_show(app, session, PURPOSE_BESIDE, 1);
    return true;
}

static bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error) {
    const char *keys = start->keys ? start->keys : "";
    *quit = false;
    if (!key_script_check(keys, error)) return false;
    if (start->cast) {
        app->cast = cast_open(start->cast, (int64_t)time(NULL), error);
        if (!app->cast) return false;
    }
    if (start->compare && !app_start_comparison(app, start->compare, error)) return false;
    if (start->step > 0) comparison_go_to_step(&app->comparison, start->step - 1);
    return app_press_script(app, keys, columns, rows, quit, error);
}

bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    if (ok) {
        Canvas *canvas = app_canvas(&app, columns, rows);
        if (start->svg)
            canvas_to_svg(canvas, app_view(&app)->display.theme, out);
        else
            canvas_to_text(canvas, out);
        canvas_free(canvas);
    }
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}

bool app_record(Session *session, int columns, int rows, const AppStart *start, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static void app_draw(App *app) {
    int columns, rows;
    terminal_size(&columns, &rows);
    comparison_fit(&app->comparison, columns, rows);
    app_measure(app, app_provide(app, columns, rows));
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    Comparison shown = app->comparison;
    View *view = comparison_view(&shown);
    if (app->loader && !view->transient.message[0])
        snprintf(view->transient.message, sizeof view->transient.message, "%s %s ... (Esc cancels)",
                 app->cancelled ? "cancelling" : "opening", app->what);
    comparison_draw(&shown, canvas);
    terminal_set_theme(view->display.theme);
    terminal_show(canvas);
    cast_add(app->cast, canvas, view->display.theme, now_seconds() - app->cast_seconds);
    canvas_free(canvas);
}

/* Milliseconds until the loop has to act by itself; -1: only when something happens. */
static int app_patience(App *app) {
    double due = app_view(app)->transient.playing ? app->due : INFINITY;
    if (app->watch) due = fmin(due, app->look_due);
    if (due == INFINITY) return -1;
    double left = (due - now_seconds()) * 1000;
    return left < 0 ? 0 : (int)left + 1;
}

/* Of two times to wait, where -1 is for ever. */
static int sooner(int a, int b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The next frame of this wavefront, or the next wavefront; the fastest speeds show several at once. Returns the seconds
 * that it is shown. */
static double app_play_frame(App *app) {
    View *view = app_view(app);
    double each = 1 / view_wavefronts_per_second(view);
    int frames = view->display.still ? 1 : motion_frames(each);
    int count = each * 1000 >= FRAME_MILLISECONDS ? 1 : (int)(FRAME_MILLISECONDS / 1000.0 / each + 0.5);
    bool is_on_its_way = ++app->motion < frames;
    if (!is_on_its_way) app->motion = 0;
    while (!is_on_its_way && count-- > 0 && view->transient.playing)
        view->transient.playing = comparison_play(&app->comparison);
    view->transient.phase =
        motion_phase(view->place.wavefront, view_wavefronts(view, comparison_scene(&app->comparison)),
                     app->motion, frames);
    return fmax(each / frames, FRAME_MILLISECONDS / 1000.0);
}

static bool app_play(App *app) {
    double now = now_seconds();
    if (!app_view(app)->transient.playing || now < app->due) return false;
    app->due += app_play_frame(app);
    if (app->due < now) app->due = now; /* after a pause, or on a slow terminal: does not catch up */
    return true;
}

/* A hint of the footer presses its key. */
static ViewAnswer app_click(App *app, int column, int row) {
    int columns, rows;
    terminal_size(&columns, &rows);
    Key key =
        row == rows - 1 ? frame_footer_key(app_view(app), columns, app->ascii, column) : KEY_NONE_PRESSED;
    app->dragged = comparison_timeline_at(&app->comparison, columns, rows, column, row);
    if (key != KEY_NONE_PRESSED) return app_press(app, key);
    return app_answer(app, comparison_click(&app->comparison, columns, rows, column, row));
}

static ViewAnswer app_drag(App *app, int column) {
    int columns, rows;
    terminal_size(&columns, &rows);
    if (!app->dragged.rows || app_view(app)->transient.overlay != OVERLAY_NONE) return VIEW_IGNORED;
    return comparison_scrub(&app->comparison, columns, rows, app->dragged, column);
}

/* What the user selects meanwhile is shown as it is; then comes the next wavefront. */
static void app_end_motion(App *app) {
    app_view(app)->transient.phase = 1;
    app->motion = MOTION_FRAMES_A_SECOND;
}

/* False: quit. *changed: the frame has to be drawn. */
static bool app_handle(App *app, const TerminalEvent *event, bool *changed) {
    bool was_playing = app_view(app)->transient.playing;
    ViewAnswer answer = VIEW_IGNORED;
    switch (event->kind) {
    case TERMINAL_KEY:
        app->dragged = (Rectangle){0}; /* the key may move it */
        answer = app_press(app, event->key);
        break;
    case TERMINAL_WHEEL:
        if (app_view(app)->transient.overlay != OVERLAY_NONE)
            answer = app_press(app, event->direction > 0 ? SPECIAL_UP : SPECIAL_DOWN);
        else
            answer = app_press(app, event->direction > 0 ? SPECIAL_LEFT : SPECIAL_RIGHT);
        break;
    case TERMINAL_CLICK:
        answer = app_click(app, event->column, event->row);
        break;
    case TERMINAL_DRAG:
        answer = app_drag(app, event->column);
        break;
    case TERMINAL_RESIZE:
        app->dragged = (Rectangle){0};
        answer = VIEW_CHANGED;
        break;
    case TERMINAL_END:
        terminal_end(event->signal);
        break;
    case TERMINAL_TIMEOUT:
        break;
    }
    if (answer == VIEW_REDRAW) terminal_forget();
    if (answer != VIEW_IGNORED) app_end_motion(app);
    if (app_view(app)->transient.playing && !was_playing)
        app->due = now_seconds() + 1 / view_wavefronts_per_second(app_view(app));
    *changed = answer != VIEW_IGNORED;
    return answer != VIEW_QUIT;
}

/* The GPU does not return: nothing may wait for it any more, not even the clean-up at exit. */
static void app_leave(const Error *error) {
    enum { DONE = 0, FAILED = 2 }; /* as main() has them */
    if (error) error_print(error, stderr);
    fflush(NULL);
    _exit(error ? FAILED : DONE);
}

bool app_run(Session *session, const AppStart *start, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, 0, 0, &quit, error) && (quit || terminal_open(error));
    bool waits_to_draw = true; /* frames that a slow terminal could not show in time are dropped */
    app.cast_seconds = now_seconds();
    app.waits = false;
    app.watch = start->watch;
    for (int i = 0; i < app.comparison.count; i++) app_count(&app, i);
    while (ok && !quit) {
        int busy = waits_to_draw ? terminal_busy_milliseconds() : 0;
        if (waits_to_draw && !busy) app_draw(&app);
        waits_to_draw &= busy > 0;
        TerminalEvent event = terminal_wait(sooner(app_patience(&app), busy > 0 ? busy : -1));
        bool changed;
        quit = !app_handle(&app, &event, &changed);
        app_check_files(&app);
        changed |= app_finish_loading(&app);
        bool was_opening = app.loader != NULL;
        app_rerun_stale(&app);
        changed |= !was_opening && app.loader;
        for (int i = 0; i < 2; i++) changed |= app_finish_counting(&app, i);
        changed |= app_take_timings(&app);
        finish_abandoned(&app, false);
        changed |= app_play(&app);
        waits_to_draw |= changed;
    }
    terminal_close();
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    if (app.measuring && !measuring_end(app.measuring)) app_leave(ok ? NULL : error);
    app_done(&app);
    return ok;
}
