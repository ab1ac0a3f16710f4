/* App: the event loop. Keys change the view, the frame is drawn from scene and view, the terminal shows it.
 * Opening another kernel runs in a worker thread; the loop never waits for it. */
#define _POSIX_C_SOURCE 200809L

#include "app.h"

#include "base/memory.h"
#include "cast.h"
#include "measuring.h"
#include "opening.h"
#include "pair.h"
#include "place.h"
#include "svg.h"
#include "terminal.h"
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { FRAME_MILLISECONDS = 16 }; /* playing draws no more often than that */
#define SECONDS_A_KEY 0.5         /* in the recording of a key script */

typedef struct Side { /* a run on the screen */
    Session *session;
    bool owns_session; /* it is not the caller's */
    Scene *scene;
    SceneTimings timings;
    Opening *counting; /* the same run to its end, where `session` is a first look; NULL: not under way */
} Side;

typedef enum Purpose {                   /* what a session is opened for */
                       PURPOSE_KERNEL,   /* another kernel, in place of the active run */
                       PURPOSE_BESIDE,   /* to be compared with the active run */
                       PURPOSE_SETTINGS, /* the active run with other settings, at the same place */
                       PURPOSE_BLOCK     /* the active run with another block traced, at the same place */
} Purpose;

typedef struct App {
    Side side[2]; /* as in `pair` */
    Pair pair;
    const Session *first; /* the caller's */
    bool ascii;
    bool waits;  /* keys come from a script: sessions are opened on the spot */
    bool failed; /* a kernel that the script asks for cannot be opened: `error` */
    Error error;
    Opening *opening; /* NULL: none under way */
    Purpose purpose;
    int target; /* the side that it is for */
    bool cancelled;
    Cast *cast;                  /* NULL: nothing is recorded */
    double cast_seconds;         /* its begin on the clock; of a script: since then */
    char what[64];               /* is being opened, for people */
    Measuring *measuring;        /* NULL: the timings have not been on the screen yet */
    Measurements live, recorded; /* what it measured; what is shipped */
    bool has_recorded;           /* it was looked for */
    Opening **abandoned;         /* cancelled; they end by themselves */
    int abandoned_count, abandoned_capacity;
    double due; /* seconds: when the next wavefront is to be shown while playing */
} App;

static void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.first = session, .ascii = start->ascii, .waits = true};
    app->side[0] = (Side){.session = session, .scene = scene_new(session)};
    pair_init(&app->pair, app->side[0].scene);
    pair_view(&app->pair)->theme = start->theme;
}

static void finish_abandoned(App *app, bool wait) {
    int kept = 0;
    for (int i = 0; i < app->abandoned_count; i++)
        if (wait || opening_is_done(app->abandoned[i]))
            session_free(opening_finish(app->abandoned[i], NULL));
        else
            app->abandoned[kept++] = app->abandoned[i];
    app->abandoned_count = kept;
}

static void abandon(App *app, Opening *opening) {
    if (!opening) return;
    opening_cancel(opening);
    array_push(app->abandoned, app->abandoned_count, app->abandoned_capacity, opening);
}

static void app_drop(App *app, Side *side) {
    abandon(app, side->counting);
    scene_free(side->scene);
    if (side->owns_session) session_free(side->session);
    *side = (Side){0};
}

static void app_done(App *app) {
    abandon(app, app->opening);
    app_drop(app, &app->side[0]);
    app_drop(app, &app->side[1]);
    finish_abandoned(app, true);
    free(app->abandoned);
    measured_done(&app->live);
    measured_done(&app->recorded);
}

static View *app_view(App *app) {
    return pair_view(&app->pair);
}

static void say(App *app, const char *what, const char *message) {
    View *view = app_view(app);
    snprintf(view->message, sizeof view->message, "%.40s: %.140s", what, message);
}

/* ---- other sessions ------------------------------------------------------------------------------------ */

static int target_of(const Pair *pair, Purpose purpose) {
    return purpose != PURPOSE_BESIDE ? pair->active : pair->count == 2 ? !pair->active : 1;
}

/* A first look shows the traced blocks; the whole grid is counted behind it. */
static void app_count(App *app, int index) {
    Side *side = &app->side[index];
    if (app->waits || side->counting || !session_is_partial(side->session)) return;
    SessionOptions options = *session_options(side->session);
    options.first_look = false;
    side->counting = opening_start(&options, terminal_wake);
    if (!side->counting) say(app, "the grid", "this machine has no thread to count it in");
}

/* The whole run in place of the first look: the same events, and now its counters and its result. */
static bool app_finish_counting(App *app, int index) {
    Side *side = &app->side[index];
    Error error = {0};
    if (!side->counting || !opening_is_done(side->counting)) return false;
    Session *session = opening_finish(side->counting, &error);
    side->counting = NULL;
    if (!session) {
        say(app, "the grid was not counted", error.message);
        return true;
    }
    Side old = *side;
    *side = (Side){.session = session, .owns_session = true, .scene = scene_new(session)};
    app->pair.scene[index] = side->scene;
    app_drop(app, &old);
    return true;
}

/* The session takes the place of a run, or stands beside it. */
static void app_show(App *app, Session *session, Purpose purpose, int index) {
    Pair *pair = &app->pair;
    Side old = app->side[index];
    Scene *scene = scene_new(session);
    app->side[index] = (Side){.session = session, .owns_session = true, .scene = scene};
    app_count(app, index);
    if (purpose == PURPOSE_BESIDE) {
        pair_put(pair, index, scene);
    } else {
        if (purpose == PURPOSE_KERNEL)
            view_restart(&pair->view[index], scene);
        else
            place_keep(&pair->view[index], old.scene, scene);
        pair->scene[index] = scene;
        pair_follow(pair);
    }
    app_drop(app, &old);
}

/* Settings that turn out to be impossible are shown again, with the reason. */
static void app_refuse(App *app, const char *what, Purpose purpose, const Error *error) {
    View *view = app_view(app);
    if (purpose == PURPOSE_SETTINGS && view->overlay == OVERLAY_NONE && !app->cancelled) {
        view->overlay = OVERLAY_SETTINGS;
        snprintf(view->settings.error, sizeof view->settings.error, "%.190s", error->message);
    } else {
        say(app, what, error->message);
    }
    app->failed = purpose == PURPOSE_KERNEL || purpose == PURPOSE_BESIDE;
    app->error = *error;
}

static void app_open(App *app, const SessionOptions *options, Purpose purpose, const char *what) {
    Error error = {0};
    SessionOptions wanted = *options;
    int target = target_of(&app->pair, purpose);
    wanted.cancel = NULL;
    wanted.first_look = !app->waits;
    if (app->opening) {
        say(app, app->what, "is still on its way; Esc cancels it");
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
    app->opening = opening_start(&wanted, terminal_wake);
    app->purpose = purpose;
    app->target = target;
    snprintf(app->what, sizeof app->what, "%s", what);
    if (!app->opening) say(app, what, "this machine has no thread to open it in");
}

static void app_cancel(App *app) {
    if (app->opening) opening_cancel(app->opening);
    app->cancelled = true;
}

/* The worker's session, or its error, once it is there. */
static bool app_finish_opening(App *app) {
    Error error = {0};
    if (!app->opening || !opening_is_done(app->opening)) return false;
    Session *session = opening_finish(app->opening, &error);
    app->opening = NULL;
    if (session && !app->cancelled) {
        app_show(app, session, app->purpose, app->target);
    } else {
        if (session) error_set(&error, "cancelled");
        session_free(session);
        app_refuse(app, app->what, app->purpose, &error);
    }
    return true;
}

/* Other kernels have other grids: which blocks are traced is as the run was started. */
static void app_open_kernel(App *app, Purpose purpose) {
    const char *kernel = view_chosen_kernel(app_view(app));
    const SessionOptions *first = session_options(app->first);
    SessionOptions options = *session_options(app->side[app->pair.active].session);
    options.has_trace_blocks = first->has_trace_blocks;
    options.trace_first = first->trace_first;
    options.trace_last = first->trace_last;
    session_options_for_kernel(&options, kernel);
    app_open(app, &options, purpose, kernel);
}

static void app_remake(App *app) {
    Arena arena = {0};
    const SessionOptions *made_with = session_options(app->side[app->pair.active].session);
    SessionOptions options = settings_options(&app_view(app)->settings, made_with, &arena);
    app_open(app, &options, PURPOSE_SETTINGS, "the new settings");
    arena_done(&arena);
}

static void app_trace_block(App *app) {
    char what[32];
    SessionOptions options = *session_options(app->side[app->pair.active].session);
    options.has_trace_blocks = true;
    options.trace_first = options.trace_last = app_view(app)->block;
    snprintf(what, sizeof what, "block %u", options.trace_first);
    app_open(app, &options, PURPOSE_BLOCK, what);
}

static void app_leave_pair(App *app) {
    Pair *pair = &app->pair;
    app_cancel(app);
    Side other = app->side[!pair->active];
    app->side[0] = app->side[pair->active];
    app->side[1] = (Side){0};
    pair_leave(pair);
    app_drop(app, &other);
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
    case VIEW_REMAKE:
        app_remake(app);
        break;
    case VIEW_TRACE:
        app_trace_block(app);
        break;
    case VIEW_ALONE:
        app_leave_pair(app);
        break;
    default:
        break;
    }
    return answer;
}

static ViewAnswer app_press(App *app, Key key) {
    if (key == SPECIAL_ESCAPE && app->opening && app_view(app)->overlay == OVERLAY_NONE) {
        app_cancel(app);
        return VIEW_CHANGED;
    }
    return app_answer(app, pair_press(&app->pair, key));
}

/* ---- timings ------------------------------------------------------------------------------------------- */

/* What a session's file brings counts before what is shipped; that is read when it is first seen. */
static void app_show_timings(App *app, bool is_seen) {
    Error error = {0};
    if (is_seen && !app->has_recorded && !bench_recorded(&app->recorded, &error))
        say(app, "timings", error.message);
    app->has_recorded |= is_seen;
    for (int i = 0; i < 2; i++) {
        Side *side = &app->side[i];
        if (!side->scene) continue;
        const Measurements *own = session_measured(side->session);
        side->timings.recorded = own->timing_count ? own : &app->recorded;
        side->timings.live = &app->live;
        side->scene->timings = &side->timings;
    }
}

/* Measures while the timings are on the screen, for the run that has the keys. */
static void app_measure(App *app, bool is_seen) {
    if (is_seen && !app->measuring) app->measuring = measuring_new(bench_run, bench_cpu, terminal_wake);
    if (!app->measuring) return;
    MeasuringWish wish = measuring_wish(pair_scene(&app->pair));
    measuring_want(app->measuring, is_seen ? &wish : NULL);
}

static bool app_take_timings(App *app) {
    SceneTimings *timings = &app->side[0].timings;
    if (!app->measuring || !measuring_take(app->measuring, &app->live, timings)) return false;
    snprintf(app->side[1].timings.measuring, sizeof timings->measuring, "%s", timings->measuring);
    snprintf(app->side[1].timings.failure, sizeof timings->failure, "%s", timings->failure);
    return true;
}

/* ---- one frame ----------------------------------------------------------------------------------------- */

static Canvas *app_canvas(App *app, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    app_show_timings(app, pair_shows(&app->pair, columns, rows, &pane_timings));
    pair_draw(&app->pair, canvas);
    return canvas;
}

/* Of a script: the next frame of the recording. */
static void app_record(App *app, int columns, int rows) {
    if (!app->cast) return;
    Canvas *canvas = app_canvas(app, columns, rows);
    cast_add(app->cast, canvas, app_view(app)->theme, app->cast_seconds);
    canvas_free(canvas);
    app->cast_seconds += SECONDS_A_KEY;
}

/* Presses every key of the script. Frames of this size are recorded; 0 columns: none. */
static bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error) {
    Key key;
    while (*script && !*quit && !app->failed) {
        if (!keys_read(&script, &key, error)) return false;
        *quit = app_press(app, key) == VIEW_QUIT;
        if (columns && !*quit && !app->failed) app_record(app, columns, rows);
    }
    if (app->failed && error) *error = app->error;
    return !app->failed;
}

/* The second run of --compare. */
static bool app_start_pair(App *app, const SessionOptions *options, Error *error) {
    Error reason = {0};
    Session *session = session_open(options, &reason);
    if (!session && reason.file[0]) return error_set(error, "--compare: %s: %s", reason.file, reason.message);
    if (!session) return error_set(error, "--compare: %s", reason.message);
    app_show(app, session, PURPOSE_BESIDE, 1);
    return true;
}

static bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error) {
    *quit = false;
    if (start->cast) {
        app->cast = cast_open(start->cast, (int64_t)time(NULL), error);
        if (!app->cast) return false;
    }
    if (start->compare && !app_start_pair(app, start->compare, error)) return false;
    if (start->step > 0) pair_go_to_step(&app->pair, start->step - 1);
    if (columns) app_record(app, columns, rows);
    return !start->keys || app_press_script(app, start->keys, columns, rows, quit, error);
}

bool app_frame(Session *session, int columns, int rows, const AppStart *start, Text *out, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, columns, rows, &quit, error);
    if (ok) {
        Canvas *canvas = app_canvas(&app, columns, rows);
        if (start->svg)
            canvas_to_svg(canvas, app_view(&app)->theme, out);
        else
            canvas_to_text(canvas, out);
        canvas_free(canvas);
    }
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}

void app_print_keys(Text *out) {
    text_add(out, "| key | what it does |\n|---|---|\n");
    for (int action = 1; action < ACTION_COUNT; action++) {
        char name[24];
        text_add(out, "|");
        for (int side = 0; side < 2; side++) {
            const char *list = side ? key_rows[action].backwards : key_rows[action].forwards;
            for (int i = 0; keys_show(list, i, false, name, sizeof name); i++)
                text_print(out, "%s `%s`", side && i == 0 ? "," : "", name);
        }
        text_print(out, " | %s |\n", key_rows[action].help);
    }
}

/* ---- the loop ------------------------------------------------------------------------------------------ */

static double now_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void app_draw(App *app) {
    int columns, rows;
    terminal_size(&columns, &rows);
    pair_fit(&app->pair, columns, rows);
    bool timings_seen = pair_shows(&app->pair, columns, rows, &pane_timings);
    app_show_timings(app, timings_seen);
    app_measure(app, timings_seen);
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    Pair shown = app->pair;
    View *view = pair_view(&shown);
    if (app->opening && !view->message[0])
        snprintf(view->message, sizeof view->message, "%s %s ... (Esc cancels)",
                 app->cancelled ? "ending" : "opening", app->what);
    pair_draw(&shown, canvas);
    terminal_set_theme(view->theme);
    terminal_show(canvas);
    cast_add(app->cast, canvas, view->theme, now_seconds() - app->cast_seconds);
    canvas_free(canvas);
}

/* Milliseconds until the loop has to act by itself; -1: only when something happens. */
static int app_patience(App *app) {
    if (!app_view(app)->playing) return -1;
    double left = (app->due - now_seconds()) * 1000;
    return left < 0 ? 0 : (int)left + 1;
}

/* Shows the wavefronts that are due; the fastest speeds show several at once. */
static bool app_play(App *app) {
    double now = now_seconds();
    View *view = app_view(app);
    if (!view->playing || now < app->due) return false;
    double each = 1 / view_wavefronts_per_second(view);
    int count = each * 1000 >= FRAME_MILLISECONDS ? 1 : (int)(FRAME_MILLISECONDS / 1000.0 / each + 0.5);
    while (count-- > 0 && view->playing) view->playing = pair_play(&app->pair);
    app->due += each * 1000 >= FRAME_MILLISECONDS ? each : FRAME_MILLISECONDS / 1000.0;
    if (app->due < now) app->due = now; /* after a pause, or on a slow terminal: no catching up */
    return true;
}

/* False: quit. *changed: the frame has to be drawn. */
static bool app_handle(App *app, const TerminalEvent *event, bool *changed) {
    int columns, rows;
    bool was_playing = app_view(app)->playing;
    ViewAnswer answer = VIEW_IGNORED;
    switch (event->kind) {
    case TERMINAL_KEY:
        answer = app_press(app, event->key);
        break;
    case TERMINAL_WHEEL:
        if (app_view(app)->overlay != OVERLAY_NONE)
            answer = app_press(app, event->direction > 0 ? SPECIAL_UP : SPECIAL_DOWN);
        else
            answer = app_press(app, event->direction > 0 ? SPECIAL_LEFT : SPECIAL_RIGHT);
        break;
    case TERMINAL_CLICK:
        terminal_size(&columns, &rows);
        answer = app_answer(app, pair_click(&app->pair, columns, rows, event->column, event->row));
        break;
    case TERMINAL_RESIZE:
        answer = VIEW_CHANGED;
        break;
    case TERMINAL_END:
        terminal_end(event->signal);
        break;
    case TERMINAL_TIMEOUT:
        break;
    }
    if (answer == VIEW_REDRAW) terminal_forget();
    if (app_view(app)->playing && !was_playing)
        app->due = now_seconds() + 1 / view_wavefronts_per_second(app_view(app));
    *changed = answer != VIEW_IGNORED;
    return answer != VIEW_QUIT;
}

/* A GPU does not return: nothing may wait for it any more, not even the exit's own clean-up. */
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
    bool changed = true;
    app.cast_seconds = now_seconds();
    app.waits = false;
    for (int i = 0; i < app.pair.count; i++) app_count(&app, i);
    while (ok && !quit) {
        if (changed) app_draw(&app);
        TerminalEvent event = terminal_wait(app_patience(&app));
        quit = !app_handle(&app, &event, &changed);
        changed |= app_finish_opening(&app);
        for (int i = 0; i < 2; i++) changed |= app_finish_counting(&app, i);
        changed |= app_take_timings(&app);
        finish_abandoned(&app, false);
        changed |= app_play(&app);
    }
    terminal_close();
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    if (app.measuring && !measuring_end(app.measuring)) app_leave(ok ? NULL : error);
    app_done(&app);
    return ok;
}
