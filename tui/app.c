/* App: the event loop. Keys change the view, the frame is drawn from scene and view, the terminal shows it. A
 * worker thread opens other kernels; the loop never waits for it. */
#include "tui/app_state.h"

#include "base/clock.h"
#include "base/language.h"
#include "tui/draw/terminal.h"
#include <math.h>
#include <unistd.h>

/* The size of the interface without a lecture's panel. */
static void app_size(const App *app, int *columns, int *rows) {
    terminal_size(columns, rows);
    app_fit(app, columns, rows);
}

/* Not while the run plays. */
static void app_say_step(App *app) {
    const Scene *scene = comparison_scene(&app->comparison);
    const View *view = app_view(app);
    StepContext context;
    if (view->transient.playing || (app->said_run == scene && app->said_step == view->place.step)) return;
    if (app_is_covered(app) || !step_context_init(&context, scene, view)) return;
    Text text = {0};
    app->said_run = scene;
    app->said_step = view->place.step;
    app_explain(app, &context, &text);
    terminal_say(text_string(&text));
    text_done(&text);
}

/* For an editor beside the interface: where the edited file is refused, else its first problem. */
static void app_mark(App *app) {
    const Scene *scene = comparison_scene(&app->comparison);
    const Findings *hazards = scene->borrowed.hazards;
    const Error *failure = &app_view(app)->transient.failure;
    int first = failure->line ? -1 : findings_first(hazards);
    const Finding *problem = first >= 0 ? &hazards->items[first] : NULL;
    int line = problem ? problem->access.line : failure->line;
    if (app->marked_run == scene && app->marked_line == line) return;
    app->marked_run = scene;
    app->marked_line = line;
    terminal_mark(line, problem && problem->sentence ? problem->sentence : failure->message);
}

static void app_draw(App *app) {
    int columns, rows, all_columns, all_rows;
    app_size(app, &columns, &rows);
    terminal_size(&all_columns, &all_rows);
    comparison_fit(&app->comparison, columns, rows);
    bool timings_seen = app_provide(app, columns, rows);
    app_time_warps(app, columns, rows);
    app_time_runs(app);
    app_measure(app, timings_seen);
    Comparison shown = app->comparison;
    View *view = comparison_view(&shown);
    bool is_stop = app->lecture.run && app->lecture.opening != STOP_THERE;
    bool is_said = view->transient.input == INPUT_SETTINGS && app->purpose == PURPOSE_SETTINGS;
    if (app->loader && !is_said && (is_stop || !view->transient.message[0]))
        view_say(view,
                 app->cancelled ? tr("cancelling %s ... (Esc cancels)") : tr("opening %s ... (Esc cancels)"),
                 app->what);
    Canvas *canvas = app_canvas(app, &shown, all_columns, all_rows);
    terminal_set_theme(view->display.theme);
    terminal_show(canvas);
    app_say_step(app);
    app_mark(app);
    cast_add(app->cast, canvas, view->display.theme, clock_seconds() - app->cast_seconds);
    canvas_free(canvas);
}

/* Milliseconds until the loop must act by itself; -1: wait for events only. */
static int app_patience(App *app) {
    double due = app_view(app)->transient.playing ? app->due : INFINITY;
    if (app->watch) due = fmin(due, app->look_due);
    if (due == INFINITY) return -1;
    double left = (due - clock_seconds()) * 1000;
    return left < 0 ? 0 : (int)left + 1;
}

/* The shorter of two waits, where -1 is for ever. */
static int sooner(int a, int b) {
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static bool app_play(App *app) {
    double now = clock_seconds();
    if (!app_view(app)->transient.playing || now < app->due) return false;
    app->due += app_play_frame(app);
    if (app->due < now) app->due = now; /* after a pause, or on a slow terminal: do not catch up */
    return true;
}

/* A click on a hint of the footer presses its key. */
static ViewAnswer app_click(App *app, int column, int row) {
    int columns, rows;
    app_size(app, &columns, &rows);
    if (app_click_lecture(app, column, row)) return VIEW_CHANGED;
    const Scene *scene = comparison_scene(&app->comparison);
    View view = *app_view(app);
    view_lecture_tell(&app->lecture, &view);
    Key key =
        row == rows - 1 ? frame_footer_key(scene, &view, columns, app->ascii, column) : KEY_NONE_PRESSED;
    app->dragged = comparison_timeline_at(&app->comparison, columns, rows, column, row);
    if (key != KEY_NONE_PRESSED) return app_press(app, key);
    return app_answer(app, comparison_click(&app->comparison, columns, rows, column, row));
}

static ViewAnswer app_drag(App *app, int column) {
    int columns, rows;
    app_size(app, &columns, &rows);
    if (!app->dragged.rows || app_view(app)->transient.overlay != OVERLAY_NONE) return VIEW_IGNORED;
    return comparison_scrub(&app->comparison, columns, rows, app->dragged, column);
}

/* False: quit. *changed: draw the frame again. */
static bool app_handle(App *app, const TerminalEvent *event, bool *changed) {
    ViewAnswer answer = VIEW_IGNORED;
    switch (event->kind) {
    case TERMINAL_KEY:
        app->dragged = (Rectangle){0}; /* the key may move it */
        answer = app_press(app, event->key);
        break;
    case TERMINAL_WHEEL:
        if (app_scroll_lecture(app, event->column, event->row, -event->direction))
            answer = VIEW_CHANGED;
        else if (app_view(app)->transient.overlay != OVERLAY_NONE)
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
    case TERMINAL_END: /* quit normally, so that nothing is left behind */
        app->signal = event->signal;
        answer = VIEW_QUIT;
        break;
    case TERMINAL_TIMEOUT:
        break;
    }
    if (answer == VIEW_REDRAW) terminal_forget();
    if (answer != VIEW_IGNORED) {
        app_end_motion(app);
        /* A run that plays stays at what this shows as long as at any other place. */
        app->due = clock_seconds() + app_place_seconds(app);
    }
    *changed = answer != VIEW_IGNORED;
    return answer != VIEW_QUIT;
}

/* The GPU does not return: wait for nothing, not even for the driver's clean-up at exit. */
static void app_leave(const Error *error) {
    enum { DONE = 0, FAILED = 2 }; /* exit status, as in main() */
    if (error) error_print(error, stderr);
    fflush(NULL);
    _exit(error ? FAILED : DONE);
}

/* What events, files, workers and the clock changed. False: quit. */
static bool app_advance(App *app, const TerminalEvent *event, bool *changed) {
    bool goes_on = app_handle(app, event, changed);
    app_check_files(app);
    *changed |= app_finish_loading(app);
    bool was_opening = app->loader != NULL;
    app_rerun_stale(app);
    *changed |= !was_opening && app->loader;
    for (int i = 0; i < 2; i++) *changed |= app_finish_counting(app, i);
    for (int i = 0; i < 2; i++) *changed |= curve_counting_take(&app->curves[i]);
    *changed |= app_take_grade(app);
    *changed |= app_take_timings(app);
    *changed |= app_take_warps(app);
    *changed |= app_take_run_times(app);
    *changed |= rung_counting_take(&app->rungs);
    app_finish_abandoned(app, false);
    *changed |= app_play(app);
    return goes_on;
}

static int app_turn(void *context, const TerminalEvent *event) {
    App *app = context;
    bool changed = false;
    if (event && !app_advance(app, event, &changed)) return TERMINAL_DONE;
    app->waits_to_draw |= changed;
    int busy = app->waits_to_draw ? terminal_busy_milliseconds() : 0;
    if (app->waits_to_draw && !busy) app_draw(app);
    app->waits_to_draw &= busy > 0;
    return sooner(app_patience(app), busy > 0 ? busy : -1);
}

bool app_run(Session *session, const AppStart *start, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    /* A line table may name any file of this machine: files elsewhere are opened only on request. */
    const char *file = session_unopened_source(session);
    if (file)
        app_say(&app, scene_file_name(file), tr("lies outside the kernel's folder; --sources DIR opens it"));
    bool ok = app_start(&app, start, 0, 0, &quit, error) && (quit || terminal_open(error));
    app.cast_seconds = clock_seconds();
    app.waits = false;
    app.waits_to_draw = true;
    app.watch = start->watch;
    for (int i = 0; i < app.comparison.count; i++) app_count(&app, i);
    if (start->program) app_view(&app)->transient.input = INPUT_PROGRAM;
    for (int i = 0; start->opening && ok && !quit && i < start->opening->typed_count; i++)
        quit = app_press(&app, start->opening->typed[i]) == VIEW_QUIT;
    if (ok && !quit) terminal_serve(app_turn, &app);
    if (start->last_pace) *start->last_pace = app_view(&app)->display.speed;
    terminal_close();
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    if (app.measuring && !measuring_end(app.measuring)) app_leave(ok ? NULL : error);
    app_done(&app);
    if (app.signal) terminal_end(app.signal);
    return ok;
}
