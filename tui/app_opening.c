/* Opens the first session. What takes long says on the terminal what it does, and can be given up there. */
#define _POSIX_C_SOURCE 200809L

#include "tui/app.h"

#include "base/clock.h"
#include "base/language.h"
#include "session/progress.h"
#include "tui/draw/terminal.h"
#include "tui/session_loader.h"
#include <math.h>
#include <pthread.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_done, is_shown; /* is_shown: the terminal is open, and waits */
} first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false};

/* In the loader's thread. */
static void end(void) {
    pthread_mutex_lock(&first.lock);
    first.is_done = true;
    bool is_shown = first.is_shown;
    pthread_cond_signal(&first.changed);
    pthread_mutex_unlock(&first.lock);
    if (is_shown) terminal_wake();
}

static bool open_terminal(void) {
    bool is_open = terminal_open(NULL);
    pthread_mutex_lock(&first.lock);
    first.is_shown = is_open;
    pthread_mutex_unlock(&first.lock);
    return is_open;
}

/* False: it takes longer. */
static bool is_quick(void) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until = clock_later(until, PROGRESS_AFTER_SECONDS);
    pthread_mutex_lock(&first.lock);
    int late = 0;
    while (!first.is_done && !late) late = pthread_cond_timedwait(&first.changed, &first.lock, &until);
    bool is_done = first.is_done;
    pthread_mutex_unlock(&first.lock);
    return is_done;
}

static void show(const AppOpening *opening, const ProgressState *state, const char *what) {
    int columns, rows;
    Text line = {0};
    terminal_size(&columns, &rows);
    Canvas *canvas = canvas_new(columns, rows, opening->ascii);
    Rectangle area = {1, 1, columns - 2, rows - 1};
    text_print(&line, opening->given_up ? tr("giving up %s") : tr("opening %s"), what);
    canvas_text(canvas, area, 0, 0, ROLE_TITLE, text_string(&line));
    text_clear(&line);
    progress_print(state, &line);
    canvas_text(canvas, area, 0, 1, ROLE_TEXT, text_string(&line));
    canvas_text(canvas, area, 0, 3, ROLE_DIM, tr("Esc gives it up"));
    terminal_show(canvas);
    canvas_free(canvas);
    text_done(&line);
}

/* A compiler in this process (NVRTC) cannot be stopped. */
static void leave(int signal) {
    enum { DONE = 0 }; /* exit status, as in main() */
    if (signal) terminal_end(signal);
    terminal_close();
    _exit(DONE);
}

/* Keys that are typed ahead are for the run. Returns the signal that ends the program; 0: none. */
static int wait_and_show(SessionLoader *loader, AppOpening *opening, const char *what) {
    enum { REFRESH_MILLISECONDS = 250 };
    const double patience = 2;
    double begin = clock_seconds() - PROGRESS_AFTER_SECONDS;
    ProgressState state = {0};
    double given_up = INFINITY;
    int signal = 0;
    while (!loader_is_done(loader)) {
        progress_follow(&state, &opening->progress, clock_seconds() - begin);
        if (!terminal_busy_milliseconds()) show(opening, &state, what);
        TerminalEvent event = terminal_wait(REFRESH_MILLISECONDS);
        if (event.kind == TERMINAL_END) signal = event.signal;
        opening->given_up |= event.kind == TERMINAL_KEY && event.key == SPECIAL_ESCAPE;
        if (opening->given_up || signal) {
            loader_cancel(loader);
            given_up = fmin(given_up, clock_seconds());
        }
        if (clock_seconds() > given_up + patience) leave(signal);
        if (event.kind == TERMINAL_KEY && opening->typed_count < APP_MOST_TYPED)
            opening->typed[opening->typed_count++] = event.key;
    }
    return signal;
}

Session *app_open_first(const RunSpec *run, const char *what, AppOpening *opening, Error *error) {
    RunSpec spec = *run;
    spec.progress = &opening->progress;
    first.is_done = first.is_shown = false;
    SessionLoader *loader = terminal_has_programs() ? loader_start(&spec, end) : NULL;
    if (!loader) return session_open(run, error);
    int signal = 0;
    if (!is_quick() && open_terminal()) signal = wait_and_show(loader, opening, what);
    Session *session = loader_finish(loader, error);
    if (signal || opening->given_up) {
        session_free(session);
        session = NULL;
    }
    if (!session) terminal_close();
    if (signal) terminal_end(signal);
    return session;
}
