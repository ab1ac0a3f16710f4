/* App: the event loop. Keys change the view, the frame is drawn from scene and view, the terminal shows it.
 * Opening another kernel runs in a worker thread; the loop never waits for it. */
#define _POSIX_C_SOURCE 200809L

#include "app.h"

#include "base/memory.h"
#include "cast.h"
#include "frame.h"
#include "svg.h"
#include "terminal.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { FRAME_MILLISECONDS = 16 }; /* playing draws no more often than that */
#define SECONDS_A_KEY 0.5         /* in the recording of a key script */

typedef struct Opening { /* a session that a worker thread opens */
    pthread_t thread;
    bool is_running; /* the thread was started and not joined yet */
    atomic_bool is_done;
    volatile bool cancel;
    SessionOptions options;
    char kernel[64];
    Session *session; /* NULL: `error` says why */
    Error error;
} Opening;

typedef struct App {
    Session *session;  /* what is shown */
    bool owns_session; /* it is not the caller's */
    Scene *scene;
    View view;
    bool ascii;
    Opening opening;
    double due;          /* seconds: when the next wavefront is to be shown while playing */
    Cast *cast;          /* NULL: nothing is recorded */
    double cast_seconds; /* its begin on the clock; of a script: since then */
} App;

static void app_init(App *app, Session *session, const AppStart *start) {
    *app = (App){.session = session, .scene = scene_new(session), .ascii = start->ascii};
    view_init(&app->view, app->scene);
    app->view.theme = start->theme;
}

static void app_done(App *app) {
    if (app->opening.is_running) {
        app->opening.cancel = true;
        pthread_join(app->opening.thread, NULL);
        session_free(app->opening.session);
    }
    scene_free(app->scene);
    if (app->owns_session) session_free(app->session);
}

static void app_show_session(App *app, Session *session) {
    scene_free(app->scene);
    if (app->owns_session) session_free(app->session);
    app->session = session;
    app->owns_session = true;
    app->scene = scene_new(session);
    view_restart(&app->view, app->scene);
}

/* ---- opening another kernel ---------------------------------------------------------------------------- */

/* The options that the run was started with, for another kernel. What only made sense for the old one goes.
 */
static void opening_prepare(App *app, const char *kernel) {
    Opening *opening = &app->opening;
    opening->options = *session_options(app->session);
    opening->options.kernel = kernel;
    opening->options.file = opening->options.entry = opening->options.args = NULL;
    opening->options.catalog.parameter_count = 0;
    opening->cancel = false;
    opening->options.cancel = &opening->cancel;
    opening->error = (Error){.line = 0};
    snprintf(opening->kernel, sizeof opening->kernel, "%s", kernel);
}

/* A kernel that refuses the type, block size or operation asked for is opened with its own defaults instead.
 */
static Session *opening_open(Opening *opening) {
    Session *session = session_open(&opening->options, &opening->error);
    if (session || opening->cancel) return session;
    CatalogOptions *catalog = &opening->options.catalog;
    catalog->block = catalog->grid = 0;
    catalog->dtype = PTX_NO_TYPE;
    catalog->op = NULL;
    return session_open(&opening->options, &opening->error);
}

static void *opening_work(void *context) {
    Opening *opening = context;
    opening->session = opening_open(opening);
    atomic_store(&opening->is_done, true);
    terminal_wake();
    return NULL;
}

static void app_open(App *app, const char *kernel) {
    Opening *opening = &app->opening;
    if (!kernel || opening->is_running) return; /* one at a time */
    opening_prepare(app, kernel);
    atomic_store(&opening->is_done, false);
    if (pthread_create(&opening->thread, NULL, opening_work, opening))
        snprintf(app->view.message, sizeof app->view.message, "no thread to open %s in", kernel);
    else
        opening->is_running = true;
}

/* The worker's session, or its error, once it is there. */
static bool app_finish_opening(App *app) {
    Opening *opening = &app->opening;
    if (!opening->is_running || !atomic_load(&opening->is_done)) return false;
    pthread_join(opening->thread, NULL);
    opening->is_running = false;
    if (opening->session)
        app_show_session(app, opening->session);
    else
        snprintf(app->view.message, sizeof app->view.message, "%s: %.120s", opening->kernel,
                 opening->error.message);
    opening->session = NULL;
    return true;
}

/* ---- one frame ----------------------------------------------------------------------------------------- */

static bool app_open_now(App *app, const char *kernel, Error *error) {
    opening_prepare(app, kernel);
    Session *session = opening_open(&app->opening);
    if (session)
        app_show_session(app, session);
    else if (error)
        *error = app->opening.error;
    return session != NULL;
}

static Canvas *app_canvas(const App *app, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    frame_draw(app->scene, &app->view, canvas);
    return canvas;
}

/* Of a script: the next frame of the recording. */
static void app_record(App *app, int columns, int rows) {
    if (!app->cast) return;
    Canvas *canvas = app_canvas(app, columns, rows);
    cast_add(app->cast, canvas, app->view.theme, app->cast_seconds);
    canvas_free(canvas);
    app->cast_seconds += SECONDS_A_KEY;
}

/* Presses every key of the script; a kernel that it asks for is opened on the spot. Frames of this size are
 * recorded; 0 columns: none. */
static bool app_press_script(App *app, const char *script, int columns, int rows, bool *quit, Error *error) {
    Key key;
    while (*script && !*quit) {
        if (!keys_read(&script, &key, error)) return false;
        ViewAnswer answer = view_press(&app->view, app->scene, key);
        *quit = answer == VIEW_QUIT;
        if (answer == VIEW_OPEN && !app_open_now(app, view_chosen_kernel(&app->view), error)) return false;
        if (columns && !*quit) app_record(app, columns, rows);
    }
    return true;
}

static bool app_start(App *app, const AppStart *start, int columns, int rows, bool *quit, Error *error) {
    *quit = false;
    if (start->cast) {
        app->cast = cast_open(start->cast, (int64_t)time(NULL), error);
        if (!app->cast) return false;
    }
    if (start->step > 0) view_go_to_step(&app->view, app->scene, start->step - 1);
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
            canvas_to_svg(canvas, app.view.theme, out);
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
    Canvas *canvas = canvas_new(columns, rows, app->ascii);
    View view = app->view;
    if (app->opening.is_running)
        snprintf(view.message, sizeof view.message, "opening %s ... (q quits)", app->opening.kernel);
    frame_draw(app->scene, &view, canvas);
    terminal_set_theme(view.theme);
    terminal_show(canvas);
    cast_add(app->cast, canvas, view.theme, now_seconds() - app->cast_seconds);
    canvas_free(canvas);
}

/* Milliseconds until the loop has to act by itself; -1: only when something happens. */
static int app_patience(const App *app) {
    if (!app->view.playing) return -1;
    double left = (app->due - now_seconds()) * 1000;
    return left < 0 ? 0 : (int)left + 1;
}

/* Shows the wavefronts that are due; the fastest speeds show several at once. */
static bool app_play(App *app) {
    double now = now_seconds();
    if (!app->view.playing || now < app->due) return false;
    double each = 1 / view_wavefronts_per_second(&app->view);
    int count = each * 1000 >= FRAME_MILLISECONDS ? 1 : (int)(FRAME_MILLISECONDS / 1000.0 / each + 0.5);
    while (count-- > 0 && app->view.playing) app->view.playing = view_play(&app->view, app->scene);
    app->due += each * 1000 >= FRAME_MILLISECONDS ? each : FRAME_MILLISECONDS / 1000.0;
    if (app->due < now) app->due = now; /* after a pause, or on a slow terminal: no catching up */
    return true;
}

/* False: quit. *changed: the frame has to be drawn. */
static bool app_handle(App *app, const TerminalEvent *event, bool *changed) {
    int columns, rows;
    bool was_playing = app->view.playing;
    ViewAnswer answer = VIEW_IGNORED;
    switch (event->kind) {
    case TERMINAL_KEY:
        answer = view_press(&app->view, app->scene, event->key);
        break;
    case TERMINAL_WHEEL:
        answer = view_press(&app->view, app->scene, event->direction > 0 ? SPECIAL_LEFT : SPECIAL_RIGHT);
        break;
    case TERMINAL_CLICK:
        terminal_size(&columns, &rows);
        answer = frame_click(app->scene, &app->view, columns, rows, event->column, event->row);
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
    if (answer == VIEW_OPEN) app_open(app, view_chosen_kernel(&app->view));
    if (answer == VIEW_REDRAW) terminal_forget();
    if (app->view.playing && !was_playing)
        app->due = now_seconds() + 1 / view_wavefronts_per_second(&app->view);
    *changed = answer != VIEW_IGNORED;
    return answer != VIEW_QUIT;
}

bool app_run(Session *session, const AppStart *start, Error *error) {
    App app;
    bool quit;
    app_init(&app, session, start);
    bool ok = app_start(&app, start, 0, 0, &quit, error) && (quit || terminal_open(error));
    bool changed = true;
    app.cast_seconds = now_seconds();
    while (ok && !quit) {
        if (changed) app_draw(&app);
        TerminalEvent event = terminal_wait(app_patience(&app));
        quit = !app_handle(&app, &event, &changed);
        changed |= app_finish_opening(&app);
        changed |= app_play(&app);
    }
    terminal_close();
    ok = cast_close(app.cast, ok ? error : NULL) && ok;
    app_done(&app);
    return ok;
}
