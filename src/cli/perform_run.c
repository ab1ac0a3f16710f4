/* Makes a run, or the runs of a lecture, and shows it. */
#define _POSIX_C_SOURCE 200809L

#include "cli/perform.h"

#include "base/interrupt.h"
#include "cli/lecture_offer.h"
#include "cli/progress.h"
#include "tui/app.h"
#include "tui/draw/terminal_text.h"
#include "tui/quiz.h"
#include <string.h>
#include <sys/stat.h>

/* Prints the fault that ended the run, for output that only shows values. */
static void say_fault(Session *session) {
    const Trace *trace = session_trace(session);
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        if (!trap_kind_is_fatal(trap->kind)) continue;
        const PtxCode *code =
            trap->pc == PTX_NO_PC ? NULL : &trace->launches[trap->launch]->program->code[trap->pc];
        Error error = {0};
        error_set_at(&error, code && code->line.file ? code->line.file : "", code ? code->line.line : 0, 0,
                     "the run ended early: %s: %s", trap_kind_text(trap->kind), trap->detail);
        fflush(stdout);
        error_print(&error, stderr);
        return;
    }
}

/* Prints what the GPU did not measure. */
static void say_notes(Session *session) {
    int count;
    const char *const *notes = session_sass_notes(session, &count);
    for (int i = 0; i < count; i++) fprintf(stderr, "redviz: %s\n", notes[i]);
}

static AppStart start_of(const Options *options) {
    return (AppStart){.step = options->step,
                      .keys = options->keys,
                      .compare = options->has_compare ? &options->compare : NULL,
                      .theme = options->theme,
                      .cast = options->record_cast,
                      .machine = options->session.machine,
                      .still = options->still,
                      .watch = options->watch,
                      .svg = options->svg,
                      .ascii = !terminal_shows_utf8()};
}

/* True even if the names differ. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* ---- what is shown ------------------------------------------------------------------------------------ */

enum { NOT_SAID = -1 };

typedef struct Showing {
    const Options *options;
    Session *session;
    AppStart *start; /* of the interface */
    Text *out;       /* printed afterwards */
    int *status;     /* NOT_SAID: the run determines it; may be set */
} Showing;

/* Defines a show function; false with `error`. */
#define SHOW(action) static bool show_##action(const Showing *show, Error *error)

SHOW(OPEN) {
    return app_run(show->session, show->start, error);
}

SHOW(REPORT) {
    (void)error;
    session_report(show->session, show->options->json, show->out);
    return true;
}

SHOW(SASS) {
    (void)error;
    say_notes(show->session);
    session_print_sass(show->session, show->options->json, show->out);
    return true;
}

SHOW(CHECK) {
    (void)error;
    const SessionProgress *progress = session_options(show->session)->progress;
    ProgressLine *shown = progress ? progress_begin(progress) : NULL;
    session_check(show->session,
                  show->options->sarif  ? CHECK_SARIF
                  : show->options->json ? CHECK_JSON
                                        : CHECK_TEXT,
                  show->out);
    progress_end(shown);
    return true;
}

SHOW(EVENTS) {
    (void)error;
    session_events(show->session, stdout);
    return true;
}

SHOW(DUMP) {
    if (!session_dump(show->session, show->options->dump, stdout, error)) return false;
    say_fault(show->session);
    return true;
}

/* The status says whether the two traces are equal, whatever the result of the kernel. */
SHOW(VERIFY) {
    bool same = false;
    if (!session_verify(show->session, show->out, &same, error)) return false;
    *show->status = same ? DONE : RUN_FAILED;
    return true;
}

SHOW(FRAME) {
    return app_frame(show->session, show->options->frame_columns, show->options->frame_rows, show->start,
                     show->out, error);
}

SHOW(RECORD) {
    return app_record(show->session, show->options->frame_columns, show->options->frame_rows, show->start,
                      error);
}

static bool write_page(const Options *options, Session *session, const AppStart *start, Error *error) {
    Text page = {0};
    if (options->handout && start->lecture && is_same_file(options->handout, start->lecture->lecture->path))
        return error_set(error, "--handout: '%s' is the lecture itself", options->handout);
    int columns = options->frame_columns, rows = options->frame_rows;
    bool as_html = options->handout && options->handout[strlen(options->handout) - 1] == 'l';
    bool good = options->html ? app_html(session, columns, rows, start, &page, error)
                              : app_handout(session, columns, rows, start, as_html, &page, error);
    good = good && finish_write_file(options->html ? options->html : options->handout, &page, error);
    text_done(&page);
    return good;
}

SHOW(PAGE) {
    return write_page(show->options, show->session, show->start, error);
}

static bool show_run(const Options *options, Session *session, const LectureRun *lecture, int *status,
                     Error *error) {
    static bool (*const shows[CLI_ACTION_COUNT])(const Showing *, Error *) = {
#define SHOWN(action, ...) [ACTION_##action] = show_##action,
#include "cli/actions.def"
    };
    AppStart start = start_of(options);
    OfferedLectures offered = {0};
    Text out = {0};
    if (options_draws(options) && options->action != ACTION_PAGE) lecture_offer_open(options, &offered);
    start.lectures = offered.offer.rows.count ? &offered.offer : NULL;
    start.lecture = lecture;
    start.stop = options->stop;
    Showing show = {.options = options, .session = session, .start = &start, .out = &out};
    show.status = status;
    bool shown = shows[options->action](&show, error);
    finish_print(&out);
    lecture_offer_close(&offered);
    return shown;
}

static bool show_quiz(const Options *options, Session *session, int *status, Error *error) {
    Quiz quiz;
    if (!quiz_open(session, lecture_language(options), &quiz, error)) return false;
    bool shown = show_run(options, session, &quiz.run, status, error);
    quiz_close(&quiz);
    return shown;
}

/* ---- a run --------------------------------------------------------------------------------------------- */

/* A kernel that hangs or faults on the GPU is a failed run. */
static int refuse_run(const Error *error) {
    int status = finish_refuse(error);
    return session_gpu_has_faulted() ? RUN_FAILED : status;
}

/* Prints the instructions that are not emulated, if they prevented the run. */
static int refuse_unsupported(Text *list, int status) {
    if (list->length) status = NOT_EMULATED;
    fputs(text_string(list), stderr);
    text_done(list);
    return status;
}

/* A search takes time, so only output that shows hazards needs it. */
static bool needs_hazards(const Options *options) {
    switch (action_rows[options->action].races) {
    case RACES_ALWAYS:
        return true;
    case RACES_IF_JSON:
        return options->json || options->save;
    case RACES_IF_KEPT:
        return options->save;
    case RACES_LATER:
        break;
    }
    return false;
}

/* The interface has already shown failures; a script reads them from the status. */
static int status_of(const Options *options, Session *session) {
    if (options_is_interface(options)) return DONE;
    const Findings *hazards = options->action == ACTION_CHECK ? session_hazards(session) : NULL;
    bool failed = session_failed(session) || (hazards && hazards->error_count);
    return failed ? RUN_FAILED : session_is_unsupported(session) ? NOT_EMULATED : DONE;
}

/* The session keeps a pointer to `progress`. */
static Session *open_session(Options *options, SessionProgress *progress, Text *unsupported, Error *error) {
    bool has_line = !options_is_interface(options);
    options->session.search_races = needs_hazards(options);
    options->session.unsupported = unsupported;
    options->session.progress = has_line ? progress : NULL;
    options->session.ends_at_interrupt = options->action == ACTION_REPORT;
    ProgressLine *shown_progress = has_line ? progress_begin(progress) : NULL;
    Session *session = session_open(&options->session, error);
    progress_end(shown_progress);
    options->session.progress = NULL;
    options->session.unsupported = NULL;
    return session;
}

static int run(Options *options, Error *error) {
    Text unsupported = {0};
    SessionProgress progress = {0};
    Session *session = open_session(options, &progress, &unsupported, error);
    if (!session) return refuse_unsupported(&unsupported, refuse_run(error));
    bool late = options->has_compare && options->session.saved;
    if (options->save) session_symmetry(session); /* a file replays the results without a run */
    int status = NOT_SAID;
    bool shown = (!options->save || session_save(session, options->save, error)) &&
                 (!late || options_compare(options, session_options(session), error)) &&
                 (options->predict ? show_quiz(options, session, &status, error)
                                   : show_run(options, session, NULL, &status, error));
    if (status == NOT_SAID) status = status_of(options, session);
    bool interrupted = session_is_interrupted(session);
    session_free(session);
    if (interrupted && shown && fflush(stdout) == 0) interrupt_die();
    return shown ? status : refuse_run(error);
}

/* ---- a lecture ----------------------------------------------------------------------------------------- */

static int check_lecture(const Options *options, OpenLecture *open, Error *error) {
    Text out = {0};
    int failed = 0;
    bool live = options->session.backend == BACKEND_GPU;
    bool good = lecture_check_languages(open, error) &&
                app_check_lecture(&open->run, options->session.machine, live, &out, &failed, error);
    lecture_close(open);
    finish_print(&out);
    return !good ? finish_refuse(error) : failed ? RUN_FAILED : DONE;
}

static int run_lecture(const Options *options, Error *error) {
    OpenLecture open;
    bool is_interface = options_is_interface(options);
    if (!lecture_open(options, &open, error)) return finish_refuse(error);
    if (options->action == ACTION_CHECK) return check_lecture(options, &open, error);
    /* A frame is not redrawn when races have been found. */
    for (int i = 0; i < open.lecture->stop_count; i++) {
        open.options[i].session.search_races = !is_interface;
        open.options[i].compare.first_look = is_interface;
    }
    Error why = {0};
    SessionOptions first = *open.screens[0].session;
    first.first_look = is_interface;
    Session *session = session_open(&first, &why);
    int status = DONE;
    bool shown = session ? show_run(options, session, &open.run, &status, error)
                         : lecture_refuse(open.lecture, open.lecture->stops[0].command_place, &why, error);
    session_free(session);
    lecture_close(&open);
    return shown ? status : finish_refuse(error);
}

int perform_run(Options *options, Error *error) {
    return options->has_lecture ? run_lecture(options, error) : run(options, error);
}
