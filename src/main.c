/* The main program: the command line decides what to print, or opens the interface.
 *
 * Exit status: 0 done; 1 the run failed (the kernel is wrong, trapped or hung); 2 bad usage, bad input, or
 * output that could not be written; 3 the kernel needs what is not emulated. Ctrl-C while --report runs
 * a kernel prints what is known so far, and ends as Ctrl-C does. */
#define _POSIX_C_SOURCE 200809L

#include "base/interrupt.h"
#include "base/version.h"
#include "cli/bench_print.h"
#include "cli/generate.h"
#include "cli/grid_print.h"
#include "cli/ladder_print.h"
#include "cli/lecture_offer.h"
#include "cli/list.h"
#include "cli/sass_record.h"
#include "cli/stream.h"
#include "metrics/access_csv.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "session/session.h"
#include "tui/app.h"
#include "tui/draw/terminal.h"
#include "tui/draw/terminal_text.h"
#include "tui/quiz.h"
#include "tui/view/key_table.h"
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DONE = 0, RUN_FAILED = 1, BAD_INPUT = 2, NOT_EMULATED = 3, ACCESS_LIMIT_BYTES = 256 << 20 };

static int refuse(const Error *error) {
    fflush(stdout);
    error_print(error, stderr);
    return BAD_INPUT;
}

static int write_error; /* errno of a write that failed; a later flush may report another */

/* When the reader of the output has gone, the program ends the way the shell expects; other failures are reported. */
static int finish_output(int status) {
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (!write_error) write_error = errno;
    if (write_error == EPIPE) {
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    fprintf(stderr, "redviz: cannot write the output: %s\n", strerror(write_error));
    return BAD_INPUT;
}

static int print_text(Text *text, int status) {
    if (fwrite(text_string(text), 1, text->length, stdout) < text->length && !write_error)
        write_error = errno;
    text_done(text);
    return status;
}

static int print_access(const char *path, Error *error) {
    char *csv = NULL;
    size_t length = 0;
    Text out = {0};
    bool is_stream = text_is_stream(path);
    if (!(is_stream ? text_read_stream : text_read_file)(path, ACCESS_LIMIT_BYTES, &csv, &length, error))
        return refuse(error);
    bool ok = access_csv_count(csv, length, path, &out, error);
    free(csv);
    int status = print_text(&out, DONE);
    return ok ? status : refuse(error);
}

static int print_timings(const Options *options, Error *error) {
    BenchOptions bench = {.kernel = options->session.kernel,
                          .catalog = options->session.catalog,
                          .profile = options->profile,
                          .gpus = options->gpus,
                          .machine = options->session.machine};
    FILE *progress = isatty(STDERR_FILENO) ? stderr : NULL;
    if (options->bench_sass)
        return sass_print_recording(&bench, stdout, stderr, progress, error) ? DONE : refuse(error);
    BenchOutput output = {.out = stdout,
                          .progress = progress,
                          .format = options->tsv    ? BENCH_TSV
                                    : options->json ? BENCH_JSON
                                                    : BENCH_TABLE};
    if (options->grid) return grid_print(&bench, stdout, output.progress, error) ? DONE : refuse(error);
    Session *session = options->save ? session_open(&options->session, error) : NULL;
    if (options->save && !session) return refuse(error);
    if (session) output.kept = session_measured(session);
    if (session) output.kept_of = session_run(session);
    bool done =
        bench_print(&bench, &output, error) && (!session || session_save(session, options->save, error));
    session_free(session);
    return done ? DONE : refuse(error);
}

static int print_ladder(const Options *options, Error *error) {
    LadderPrint print = {
        .machine = options->session.machine, .catalog = &options->session.catalog, .json = options->json};
    Text out = {0};
    bool ok = (options->action == ACTION_LADDER ? ladder_print : ladder_print_latency)(&print, &out, error);
    int status = print_text(&out, DONE);
    return ok ? status : refuse(error);
}

/* The fault that ended the run, for those who are shown values alone. */
static void say_fault(const Session *session) {
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

/* What the GPU did not measure. */
static void say_notes(const Session *session) {
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

/* The whole file, or none. */
static bool write_file(const char *path, const Text *text, Error *error) {
    FILE *file = fopen(path, "wb");
    if (!file) return error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    bool written = fwrite(text_string(text), 1, text->length, file) == text->length;
    if (fclose(file) == 0 && written) return true;
    error_set_at(error, path, 0, 0, "cannot be written: %s", strerror(errno));
    remove(path);
    return false;
}

/* By whatever names. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

static bool write_page(const Options *options, Session *session, const AppStart *start, Error *error) {
    Text page = {0};
    if (options->handout && start->lecture && is_same_file(options->handout, start->lecture->lecture->path))
        return error_set(error, "--handout: '%s' is the lecture itself", options->handout);
    int columns = options->frame_columns, rows = options->frame_rows;
    bool as_html = options->handout && options->handout[strlen(options->handout) - 1] == 'l';
    bool good = options->html ? app_html(session, columns, rows, start, &page, error)
                              : app_handout(session, columns, rows, start, as_html, &page, error);
    good = good && write_file(options->html ? options->html : options->handout, &page, error);
    text_done(&page);
    return good;
}

static bool show(const Options *options, Session *session, const LectureRun *lecture, Error *error) {
    AppStart start = start_of(options);
    OfferedLectures offered = {0};
    Text out = {0};
    bool ok = true;
    bool is_interface =
        options->action == ACTION_OPEN || options->action == ACTION_FRAME || options->action == ACTION_RECORD;
    if (is_interface) lecture_offer_open(options, &offered);
    start.lectures = offered.offer.rows.count ? &offered.offer : NULL;
    start.lecture = lecture;
    start.stop = options->stop;
    switch (options->action) {
    case ACTION_REPORT:
        session_report(session, options->json, &out);
        break;
    case ACTION_SASS:
        say_notes(session);
        session_print_sass(session, options->json, &out);
        break;
    case ACTION_CHECK: {
        const SessionProgress *progress = session_options(session)->progress;
        ProgressLine *shown = progress ? progress_begin(progress) : NULL;
        session_check(session, options->sarif ? CHECK_SARIF : options->json ? CHECK_JSON : CHECK_TEXT, &out);
        progress_end(shown);
        break;
    }
    case ACTION_EVENTS:
        session_events(session, stdout);
        break;
    case ACTION_DUMP:
        ok = session_dump(session, options->dump, stdout, error);
        if (ok) say_fault(session);
        break;
    case ACTION_FRAME:
        ok = app_frame(session, options->frame_columns, options->frame_rows, &start, &out, error);
        break;
    case ACTION_RECORD:
        ok = app_record(session, options->frame_columns, options->frame_rows, &start, error);
        break;
    case ACTION_PAGE:
        ok = write_page(options, session, &start, error);
        break;
    default:
        ok = app_run(session, &start, error);
        break;
    }
    print_text(&out, DONE);
    lecture_offer_close(&offered);
    return ok;
}

/* A kernel that does not return on the GPU, or faults, is a run that failed. */
static int refuse_run(const Error *error) {
    int status = refuse(error);
    return session_gpu_has_faulted() ? RUN_FAILED : status;
}

/* The list of what is not emulated, where that is why there is no run. */
static int refuse_unsupported(Text *list, int status) {
    if (list->length) status = NOT_EMULATED;
    fputs(text_string(list), stderr);
    text_done(list);
    return status;
}

static int verify(Session *session, Error *error) {
    Text out = {0};
    bool same = false, done = session_verify(session, &out, &same, error);
    print_text(&out, DONE);
    session_free(session);
    return !done ? refuse_run(error) : same ? DONE : RUN_FAILED;
}

static bool show_quiz(const Options *options, Session *session, Error *error) {
    Quiz quiz;
    if (!quiz_open(session, lecture_language(options), &quiz, error)) return false;
    bool shown = show(options, session, &quiz.run, error);
    quiz_close(&quiz);
    return shown;
}

/* A search takes time: only what shows hazards needs one. The interface searches behind its first frame. */
static bool needs_hazards(const Options *options) {
    switch (options->action) {
    case ACTION_CHECK:
    case ACTION_FRAME:
    case ACTION_RECORD:
    case ACTION_PAGE:
        return true;
    case ACTION_REPORT:
        return options->json || options->save;
    default:
        return options->action != ACTION_OPEN && options->save;
    }
}

static int run(Options *options, Error *error) {
    options->session.search_races = needs_hazards(options);
    Text unsupported = {0};
    SessionProgress progress = {0};
    options->session.unsupported = &unsupported;
    options->session.progress = options->action == ACTION_OPEN ? NULL : &progress;
    options->session.ends_at_interrupt = options->action == ACTION_REPORT;
    ProgressLine *shown_progress = options->session.progress ? progress_begin(&progress) : NULL;
    Session *session = session_open(&options->session, error);
    progress_end(shown_progress);
    options->session.progress = NULL;
    options->session.unsupported = NULL;
    if (!session) return refuse_unsupported(&unsupported, refuse_run(error));
    if (options->action == ACTION_VERIFY) return verify(session, error);
    bool late = options->has_compare && options->session.saved;
    if (options->save) session_symmetry(session); /* a file answers what was found, and runs nothing */
    bool shown =
        (!options->save || session_save(session, options->save, error)) &&
        (!late || options_compare(options, session_options(session), error)) &&
        (options->predict ? show_quiz(options, session, error) : show(options, session, NULL, error));
    /* Whoever used the interface saw the failure; a script reads it from the status. */
    bool failed = options->action != ACTION_OPEN && session_failed(session);
    const Findings *hazards = options->action == ACTION_CHECK ? session_hazards(session) : NULL;
    failed |= hazards && hazards->error_count;
    bool stopped = options->action != ACTION_OPEN && session_is_unsupported(session);
    bool interrupted = session_is_interrupted(session);
    session_free(session);
    if (interrupted && shown && fflush(stdout) == 0) interrupt_die();
    return !shown ? refuse(error) : failed ? RUN_FAILED : stopped ? NOT_EMULATED : DONE;
}

static int check_lecture(const Options *options, OpenLecture *open, Error *error) {
    Text out = {0};
    int failed = 0;
    bool live = options->session.backend == BACKEND_GPU;
    bool ok = lecture_check_languages(open, error) &&
              app_check_lecture(&open->run, options->session.machine, live, &out, &failed, error);
    lecture_close(open);
    int status = print_text(&out, failed ? RUN_FAILED : DONE);
    return ok ? status : refuse(error);
}

static int run_lecture(const Options *options, Error *error) {
    OpenLecture open;
    if (!lecture_open(options, &open, error)) return refuse(error);
    if (options->action == ACTION_CHECK) return check_lecture(options, &open, error);
    /* A frame is not drawn again when races have been found. */
    for (int i = 0; i < open.lecture->stop_count; i++) {
        open.options[i].session.search_races = options->action != ACTION_OPEN;
        open.options[i].compare.first_look = options->action == ACTION_OPEN;
    }
    Error why = {0};
    SessionOptions first = *open.screens[0].session;
    first.first_look = options->action == ACTION_OPEN;
    Session *session = session_open(&first, &why);
    bool shown = session ? show(options, session, &open.run, error)
                         : lecture_refuse(open.lecture, open.lecture->stops[0].command_place, &why, error);
    session_free(session);
    lecture_close(&open);
    return shown ? DONE : refuse(error);
}

static int list_lectures(const Options *options, Error *error) {
    Text out = {0};
    bool ok = lecture_list(options, &out, error);
    int status = print_text(&out, DONE);
    return ok ? status : refuse(error);
}

static int list_entries(const Options *options, Error *error) {
    Text out = {0};
    bool ok = session_list_entries(&options->session, options->json, &out, error);
    int status = print_text(&out, DONE);
    return ok ? status : refuse(error);
}

static int dump_front_end(const Options *options, SessionForm form, Error *error) {
    Text out = {0};
    bool ok = session_dump_front_end(&options->session, form, &out, error);
    int status = print_text(&out, DONE);
    return ok ? status : refuse(error);
}

#ifndef REDVIZ_COMMIT
#define REDVIZ_COMMIT ""
#endif

/* Without a date, so that equal sources give equal programs. */
static void print_version(Text *out) {
    static const char built[] = REDVIZ_COMMIT, archived[] = REDVIZ_ARCHIVED_COMMIT;
    const char *commit = *built ? built : archived;
    text_add(out, "redviz " REDVIZ_VERSION "\n");
    text_print(out, "commit %s\n", *commit && !strchr(commit, '$') ? commit : "not known");
    text_print(out, "%s\n", terminal_library());
    session_about(out);
}

static int act(Options *options, Error *error) {
    Text out = {0};
    switch (options->action) {
    case ACTION_HELP:
        options_print_help(&out);
        break;
    case ACTION_KEYS:
        key_table_print(&out);
        break;
    case ACTION_VERSION:
        print_version(&out);
        break;
    case ACTION_LIST:
        if (options->session.file) return list_entries(options, error);
        list_kernels(options->json, &out);
        break;
    case ACTION_GENERATE:
        generate(options->generate, &out);
        break;
    case ACTION_LECTURES:
        return list_lectures(options, error);
    case ACTION_DUMP_IR:
        return dump_front_end(options, FORM_IR, error);
    case ACTION_DUMP_FLOW:
        return dump_front_end(options, FORM_FLOW, error);
    case ACTION_DUMP_OPS:
        return dump_front_end(options, FORM_OPS, error);
    case ACTION_ACCESS:
        return print_access(options->access_path, error);
    case ACTION_LADDER:
    case ACTION_LATENCY:
        return print_ladder(options, error);
    case ACTION_BENCH:
        return print_timings(options, error);
    default:
        return options->has_lecture ? run_lecture(options, error) : run(options, error);
    }
    return print_text(&out, DONE);
}

static int read_and_act(Options *options, Error *error) {
    char *piped;
    int status = stream_read(options, &piped, error) ? act(options, error) : refuse(error);
    free(piped);
    return status;
}

int main(int argc, char **argv) {
    Error error = {0};
    Options options;
    signal(SIGXFSZ, SIG_IGN); /* a write past the limit of a file's size fails, and is reported */
    setlocale(LC_CTYPE, "");  /* characters only: numbers are written the same everywhere */
    if (!options_parse(argc, argv, &options, &error)) return refuse(&error);
    int status = finish_output(read_and_act(&options, &error));
    if (session_gpu_is_hung()) _exit(status); /* the driver's own clean-up would wait for the kernel */
    return status;
}
