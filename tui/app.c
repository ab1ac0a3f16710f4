/* App: the event loop. Keys change the view, the frame is drawn from scene and view, the terminal shows it.
 * Opening another kernel runs in a worker thread; the loop never waits for it. */
#define _POSIX_C_SOURCE 200809L

#include "tui/app_state.h"

#include "tui/draw/svg.h"
#include "tui/draw/terminal.h"
#include "tui/key_script.h"
#include "tui/motion.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_MILLISECONDS = 16 }; /* playing draws no more often than that */

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
    cast_add(app->cast, canvas, view->display.theme, app_seconds() - app->cast_seconds);
    canvas_free(canvas);
}

/* Milliseconds until the loop has to act by itself; -1: only when something happens. */
static int app_patience(App *app) {
    double due = app_view(app)->transient.playing ? app->due : INFINITY;
    if (app->watch) due = fmin(due, app->look_due);
    if (due == INFINITY) return -1;
    double left = (due - app_seconds()) * 1000;
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
    double now = app_seconds();
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
        app->due = app_seconds() + 1 / view_wavefronts_per_second(app_view(app));
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
    app.cast_seconds = app_seconds();
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
        changed |= rung_counting_take(&app.rungs);
        app_finish_abandoned(&app, false);
        changed |= app_play(&app);
        waits_to_draw |= changed;
    }
    terminal_close();
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    if (app.measuring && !measuring_end(app.measuring)) app_leave(ok ? NULL : error);
    app_done(&app);
    return ok;
}
