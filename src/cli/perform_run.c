/* Makes a run, or the runs of a lecture, and shows it. */
#define _POSIX_C_SOURCE 200809L

#include "ask/ask.h"
#include "cli/perform.h"

#include "base/interrupt.h"
#include "base/language.h"
#include "cli/config.h"
#include "cli/exercise_open.h"
#include "cli/home_offer.h"
#include "cli/lecture_offer.h"
#include "cli/page_link.h"
#include "cli/perform_check.h"
#include "cli/program_offer.h"
#include "cli/translated_files.h"
#include "session/progress.h"
#include "tui/app.h"
#include "tui/draw/terminal_text.h"
#include "tui/quiz.h"
#include "tui/view/view.h"
#include <stdlib.h>
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
                      .has_what_if = options->has_what_if,
                      .what_if = options->what_if,
                      .has_index = options->has_index,
                      .index = {options->index[0], options->index[1]},
                      .machine = options->session.machine,
                      .still = options->still,
                      .pace = options->pace,
                      .watch = options->watch,
                      .svg = options->svg,
                      .ascii = !options_writes_utf8(options) && !terminal_shows_utf8()};
}

/* True even if the names differ. */
static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* ---- what is shown ------------------------------------------------------------------------------------ */

enum { NOT_SAID = -1, RUNS_PROGRAM = -2 };

typedef struct Showing {
    const Options *options;
    Session *session;
    AppStart *start; /* of the interface */
    Text *out;       /* printed afterwards */
    int *status;     /* NOT_SAID: the run determines it; may be set */
} Showing;

/* Defines a show function; false with `error`. */
#define SHOW(action) static bool show_##action(const Showing *show, Error *error)

/* Only a plain `redviz FILE.cu` asks whether to run its main(): what else was asked for is about one
 * kernel. */
static bool asks_for_program(const Options *options, Session *session) {
    const RunSpec *asked = &options->session;
    return session_has_program(session) && asked->file && !asked->text && !options->first_for_file &&
           !options->keys && !options->watch && !options->home && !options->has_compare &&
           !options->has_what_if && !options->has_index && !options->predict && !options->has_lecture &&
           !options->record_cast && !options->save && !options->step;
}

/* For the next time. */
static void keep_pace(int pace) {
    char text[VIEW_SPEED_BYTES];
    view_print_speed(pace, text);
    text[strcspn(text, "x")] = 0;
    config_keep("pace", text);
}

/* TERM=dumb cannot show the interface. */
static bool is_plain(const Options *options) {
    const char *terminal = getenv("TERM");
    return options->plain || (terminal && !strcmp(terminal, "dumb"));
}

SHOW(OPEN) {
    ProgramOffer offer = {0};
    if (asks_for_program(show->options, show->session)) show->start->program = &offer;
    if (is_plain(show->options)) return app_plain(show->session, show->start, stdin, stdout, error);
    int pace = show->options->pace;
    show->start->last_pace = &pace;
    bool good = app_run(show->session, show->start, error);
    if (pace != show->options->pace) keep_pace(pace);
    if (offer.is_accepted) *show->status = RUNS_PROGRAM;
    return good;
}

SHOW(REPORT) {
    const Options *options = show->options;
    if (!options->has_compare) {
        ask_report(show->session, options->json, show->out);
        return true;
    }
    Session *second = session_open(&options->compare, error);
    if (second) ask_report_compared(show->session, second, options->json, show->out);
    session_free(second);
    return second != NULL;
}

SHOW(SASS) {
    (void)error;
    say_notes(show->session);
    session_print_sass(show->session, show->options->json, show->out);
    return true;
}

SHOW(CHECK) {
    (void)error;
    perform_check(show->options, show->session, show->out, show->status);
    return true;
}

SHOW(INVARIANT) {
    static const int statuses[] = {[ORDER_IS_FIXED] = DONE,
                                   [ORDER_DIFFERS] = RUN_FAILED,
                                   [ORDER_IS_UNKNOWN] = NOT_EMULATED,
                                   [ORDER_HAS_NO_RUN] = BAD_INPUT};
    AskVariant variants[OPTIONS_VARIANTS];
    AskOrderAnswer answer = ORDER_HAS_NO_RUN;
    Arena arena = {0};
    int count;
    RunSpec first = show->options->session;
    first.progress = NULL;
    first.unsupported = NULL;
    bool good = options_invariant(show->options, &first, &arena, variants, &count, error) &&
                ask_invariant(variants, count, show->options->json, &answer, show->out, error);
    arena_done(&arena);
    *show->status = statuses[answer];
    if (good || answer == ORDER_HAS_NO_RUN) return good;
    error_print(error, stderr);
    return true;
}

SHOW(TIMELINE) {
    const SessionWarps *warps = session_warps(show->session);
    if (warps->count && warps->has_failed)
        fprintf(stderr, "redviz: recorded, since it could not be measured here: %s\n", warps->why);
    return session_print_warps(show->session, show->options->timeline, show->out, error);
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
    if (!ask_verify(show->session, show->out, &same, error)) return false;
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

static bool write_page(const Options *options, Session *session, AppStart *start, Error *error) {
    Text page = {0}, link = {0};
    if (options->handout && start->lecture && is_same_file(options->handout, start->lecture->lecture->path))
        return error_set(error, "--handout: '%s' is the lecture itself", options->handout);
    int columns = options->frame_columns, rows = options->frame_rows;
    bool as_html = options->handout && options->handout[strlen(options->handout) - 1] == 'l';
    if (options->html && page_link_add(options, &link)) start->interface = text_string(&link);
    bool good = options->html ? app_html(session, columns, rows, start, &page, error)
                              : app_handout(session, columns, rows, start, as_html, &page, error);
    good = good && finish_write_file(options->html ? options->html : options->handout, &page, error);
    start->interface = NULL;
    text_done(&page);
    text_done(&link);
    return good;
}

SHOW(PAGE) {
    return write_page(show->options, show->session, show->start, error);
}

/* A run, and what goes with it; the rest NULL. */
typedef struct ShownRun {
    Session *session;
    const LectureRun *lecture;
    Grading *grading;
    const AppOpening *opening;
} ShownRun;

static bool show_run(const Options *options, const ShownRun *shown, int *status, Error *error) {
    static bool (*const shows[CLI_ACTION_COUNT])(const Showing *, Error *) = {
#define SHOWN(action, ...) [ACTION_##action] = show_##action,
#include "cli/actions.def"
    };
    AppStart start = start_of(options);
    OfferedLectures offered = {0};
    Text out = {0};
    bool has_menu = options_draws(options) && options->action != ACTION_PAGE;
    if (has_menu) cli_lecture_offer_open(options, &offered);
    start.lectures = offered.offer.rows.count ? &offered.offer : NULL;
    OfferedExercises exercises = {0};
    if (has_menu) cli_exercise_offer_open(options, &exercises);
    start.exercises = exercises.rows.count ? &exercises.rows : NULL;
    start.command = options->argv ? options->argv[0] : NULL;
    OfferedHome home = {0};
    if (has_menu) home_offer_open(&home);
    start.home = &home.offer;
    start.opens_home = options->home;
    start.lecture = shown->lecture;
    start.grading = shown->grading;
    start.opening = shown->opening;
    start.stop = options->stop;
    Showing show = {.options = options, .session = shown->session, .start = &start, .out = &out};
    show.status = status;
    bool good = shows[options->action](&show, error);
    finish_print(&out);
    cli_lecture_offer_close(&offered);
    cli_exercise_offer_close(&exercises);
    home_offer_close(&home);
    return good;
}

static bool show_quiz(const Options *options, const ShownRun *shown, int *status, Error *error) {
    Quiz quiz;
    ShownRun with = *shown;
    if (!quiz_open(shown->session, cli_lecture_language(options), &quiz, error)) return false;
    with.lecture = &quiz.run;
    bool good = show_run(options, &with, status, error);
    quiz_close(&quiz);
    return good;
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
    bool has_hazards = options->action == ACTION_CHECK && ask_sure_errors(session) > 0;
    bool failed = ask_failed(session) || has_hazards;
    return failed ? RUN_FAILED : session_is_unsupported(session) ? NOT_EMULATED : DONE;
}

/* What the screen calls the run while it is opened. */
static const char *name_of(const RunSpec *run) {
    return run->program  ? tr("a launch of the program")
           : run->file   ? run->file
           : run->saved  ? run->saved
           : run->kernel ? run->kernel
                         : tr("the run");
}

/* Opens what the interface shows first; another output opens it at once. */
static Session *open_first(const Options *options, const RunSpec *run, AppOpening *opening, Error *error) {
    opening->ascii = !terminal_shows_utf8();
    return options_is_interface(options) && !is_plain(options)
               ? app_open_first(run, name_of(run), opening, error)
               : session_open(run, error);
}

/* The session keeps a pointer to the progress of `opening`. */
static Session *open_session(Options *options, AppOpening *opening, Text *unsupported, Error *error) {
    bool has_line = !options_is_interface(options);
    options->session.search_races = needs_hazards(options);
    options->session.finds_rounding = options->action == ACTION_REPORT || options->action == ACTION_CHECK;
    options->session.unsupported = unsupported;
    options->session.progress = has_line ? &opening->progress : NULL;
    options->session.ends_at_interrupt = options->action == ACTION_REPORT;
    ProgressLine *shown_progress = has_line ? progress_begin(&opening->progress) : NULL;
    Session *session = open_first(options, &options->session, opening, error);
    progress_end(shown_progress);
    options->session.progress = NULL;
    options->session.unsupported = NULL;
    return session;
}

/* --what-if with --report or --check. */
static int try_remedy(const Options *options, Session *session, Error *error) {
    static const char *const names[] = {"pad", "swizzle", "next"};
    Arena arena = {0};
    RunSpec changed;
    int finding, number;
    bool good =
        ask_find_remedy(session, options->what_if, &finding, &number) ||
        error_set(error, "--what-if %s: no slow place of this run has this remedy", names[options->what_if]);
    good = good && ask_try_remedy(session, finding, number, &arena, &changed, error);
    Session *after = good ? session_open(&changed, error) : NULL;
    Text out = {0};
    if (after) ask_remedy_table(session, after, finding, number, &out);
    if (after && options->action == ACTION_CHECK) ask_check(after, TOOL_NONE, CHECK_TEXT, &out);
    finish_print(&out);
    session_free(after);
    arena_done(&arena);
    return after ? DONE : finish_refuse(error);
}

/* A session file of a program: its launches are those of a program that has just run. *session: --at another
 * one. */
static Program *take_saved(Options *options, Session **session, Error *error) {
    Program *program = session_take_program(*session);
    RunSpec other = *session_spec(*session);
    options->session.program = program;
    options->session.launch = other.launch;
    if (!options->at) return program;
    Session *opened = run_spec_set(&other, "at", options->at, error) ? session_open(&other, error) : NULL;
    session_free(*session);
    *session = opened;
    return program;
}

/* *program: that of a session file, which the caller frees. */
static int run_session(Options *options, Program **program, Error *error) {
    Text unsupported = {0};
    AppOpening opening = {0};
    Session *session = open_session(options, &opening, &unsupported, error);
    if (opening.given_up) {
        text_done(&unsupported);
        return DONE;
    }
    if (session && options->session.saved) *program = take_saved(options, &session, error);
    if (!session) return refuse_unsupported(&unsupported, refuse_run(error));
    if (options->has_what_if && !options_draws(options)) {
        int done = try_remedy(options, session, error);
        session_free(session);
        return done;
    }
    if (options_is_interface(options) && !options->home && options->argv)
        home_remember(options->argc, options->argv);
    bool late = options->has_compare && (options->session.saved || options->session.program);
    int status = NOT_SAID;
    ShownRun run = {.session = session, .opening = &opening};
    bool shown = (!options->save || ask_save(session, options->save, error)) &&
                 (!late || options_compare(options, session_spec(session), error)) &&
                 (options->predict ? show_quiz(options, &run, &status, error)
                                   : show_run(options, &run, &status, error));
    if (status == NOT_SAID) status = status_of(options, session);
    bool interrupted = session_is_interrupted(session);
    session_free(session);
    if (interrupted && shown && fflush(stdout) == 0) interrupt_die();
    return shown ? status : refuse_run(error);
}

/* From here on as with --run FILE.cu. */
static void take_program(Options *options, char *files[2]) {
    files[0] = (char *)options->session.file;
    files[1] = NULL;
    options->run = true;
    options->run_files = files;
    options->session.file = NULL;
    fprintf(stderr, "redviz: compiling and running %s ... (Ctrl-C stops it)\n", files[0]);
}

/* A run that shows no fault fails if its program did, or another launch of it; what is accepted or not chosen
 * does not. */
static int with_end(const Options *options, const Program *program, int status) {
    if (options->accepted) return status;
    const LaunchChoice *chosen = &options->launches;
    bool is_whole = !chosen->kernel && !chosen->skip && !chosen->count;
    bool has_failed =
        program && (program_has_failed(program) || (is_whole && captured_has_fault(program->capture)));
    return status == DONE && has_failed ? RUN_FAILED : status;
}

static int run_program(Options *options, Error *error) {
    SessionProgress progress = {.what = "compiling"};
    bool prints = !options_draws(options) && !options->json; /* its output is its progress */
    options->session.progress = prints ? NULL : &progress;
    ProgressLine *shown = prints ? NULL : progress_begin(&progress);
    Program *program = program_offer_open(options, error), *none = NULL;
    progress_end(shown);
    options->session.progress = NULL;
    bool has_launch = program && options->session.launch >= 0;
    int status = !program      ? finish_refuse(error)
                 : !has_launch ? program_offer_refuse(options, program, error)
                               : run_session(options, &none, error);
    if (program && !has_launch && options->action == ACTION_CHECK)
        status = perform_check_unlaunched(options, program, status);
    status = with_end(options, program, status);
    program_free(program);
    return status;
}

static int run_any(Options *options, Error *error) {
    char *files[2];
    Program *saved = NULL;
    int status = options_has_program(options) ? RUNS_PROGRAM : run_session(options, &saved, error);
    status = with_end(options, saved, status);
    program_free(saved);
    if (status == RUNS_PROGRAM) {
        if (!options_has_program(options)) take_program(options, files);
        status = run_program(options, error);
    }
    return status == DONE && options->call_failed ? RUN_FAILED : status;
}

static int run(Options *options, Error *error) {
    Accepted accepted = {0};
    int status =
        perform_check_begin(options, &accepted, error) ? run_any(options, error) : finish_refuse(error);
    accepted_done(&accepted);
    options->accepted = NULL;
    return status == RUN_FAILED && options->action == ACTION_CHECK ? options->error_exit : status;
}

/* ---- a lecture ----------------------------------------------------------------------------------------- */

static int check_lecture(const Options *options, OpenLecture *open, Error *error) {
    Text out = {0};
    int failed = 0;
    bool live = options->session.backend == BACKEND_GPU;
    bool good = cli_lecture_check_languages(open, error) &&
                cli_exercise_check_lecture(open->lecture, error) &&
                app_check_lecture(&open->run, options->session.machine, live, &out, &failed, error);
    cli_lecture_close(open);
    finish_print(&out);
    return !good ? finish_refuse(error) : failed ? RUN_FAILED : DONE;
}

static int run_lecture(const Options *options, Error *error) {
    OpenLecture open;
    bool is_interface = options_is_interface(options);
    if (!cli_lecture_open(options, &open, error)) return finish_refuse(error);
    if (options->stop > open.lecture->stop_count) {
        error_set(error, "--stop %d: the lecture has %d stops", options->stop, open.lecture->stop_count);
        cli_lecture_close(&open);
        return finish_refuse(error);
    }
    /* A frame is not redrawn when races have been found. */
    for (int i = 0; i < open.lecture->stop_count; i++) {
        open.options[i].session.search_races = !is_interface;
        open.options[i].compare.first_look = is_interface;
    }
    if (options->action == ACTION_CHECK) return check_lecture(options, &open, error);
    Error why = {0};
    RunSpec first = *open.screens[0].session;
    first.first_look = is_interface;
    AppOpening opening = {0};
    Session *session = open_first(options, &first, &opening, &why);
    int status = DONE;
    ShownRun run = {.session = session, .lecture = &open.run, .opening = &opening};
    bool shown = session ? show_run(options, &run, &status, error)
                 : opening.given_up
                     ? true
                     : lecture_refuse(open.lecture, open.lecture->stops[0].command_place, &why, error);
    session_free(session);
    cli_lecture_close(&open);
    return shown ? status : finish_refuse(error);
}

/* ---- an exercise --------------------------------------------------------------------------------------- */

/* The learner's file stands in this folder; it runs with the size that the goals are about. */
static int open_solution(const Options *options, const Exercise *exercise, const char *file, Error *error) {
    Text launch = {0};
    exercise_print_launch(exercise, exercise->inputs[0], &launch);
    RunSpec run = options->session;
    run.file = file;
    run.launches = text_string(&launch);
    run.expect = exercise->expect;
    run.catalog.n = exercise->counted_n;
    run.first_look = options_is_interface(options);
    AppOpening opening = {0};
    Session *session = open_first(options, &run, &opening, error);
    Grading *grading = session ? grading_new(exercise, file, &run, error) : NULL;
    int status = DONE;
    Options shown_with = *options;
    shown_with.watch = true;
    ShownRun solution = {session, grading ? grading_lecture(grading) : NULL, grading, &opening};
    bool shown = opening.given_up || (grading && show_run(&shown_with, &solution, &status, error));
    bool opened = grading != NULL;
    grading_free(grading);
    session_free(session);
    text_done(&launch);
    if (shown) return DONE;
    int refused = finish_refuse(error);
    if (!opened) fprintf(stderr, "mend %s, or move it away to begin the exercise anew\n", file);
    if (!opened && exercise->twin)
        fprintf(stderr, "or solve it in PTX, which needs no compiler: redviz --exercise %s\n",
                exercise->twin);
    return refused;
}

static int solve_exercise(const Options *options, Error *error) {
    Exercise *exercise = cli_exercise_open(options, error);
    if (!exercise) return finish_refuse(error);
    char file[TRANSLATED_PATH_BYTES];
    snprintf(file, sizeof file, "%.200s.%s", exercise->name, exercise_suffix(exercise));
    grading_tell(exercise, NULL);
    int status = cli_exercise_write_start(exercise, file, error)
                     ? open_solution(options, exercise, file, error)
                     : finish_refuse(error);
    if (status == DONE && options_is_interface(options)) cli_exercise_print_next(options, exercise, file);
    exercise_free(exercise);
    return status;
}

static int run_exercise(const Options *options, Error *error) {
    Text out = {0};
    bool failed = false;
    if (options_draws(options)) return solve_exercise(options, error);
    bool good = options->grades ? cli_exercise_grade(options, &failed, error)
                                : cli_exercise_check(options, &out, &failed, error);
    finish_print(&out);
    return !good ? finish_refuse(error) : failed ? RUN_FAILED : DONE;
}

int perform_run(Options *options, Error *error) {
    bool is_for_students = options->grades && options->grade != GRADE_JSON;
    if (options_draws(options) || is_for_students)
        language_set(cli_lecture_language(options)); /* other output is English */
    return options->has_lecture    ? run_lecture(options, error)
           : options->has_exercise ? run_exercise(options, error)
                                   : run(options, error);
}
