/* Prints output that needs no run, and dispatches actions. */
#define _POSIX_C_SOURCE 200809L

#include "ask/ask.h"
#include "cli/perform.h"

#include "base/version.h"
#include "cli/bench_print.h"
#include "cli/exercise_open.h"
#include "cli/generate.h"
#include "cli/index_print.h"
#include "cli/ladder_print.h"
#include "cli/lecture_open.h"
#include "cli/list.h"
#include "cli/stream.h"
#include "tui/draw/terminal.h"
#include "tui/view/keys.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Defines a print function: false with `error`; the text in *out is printed in either case. */
#define PRINT(action) static bool print_##action(const Options *options, Text *out, Error *error)

PRINT(HELP) {
    (void)options, (void)error;
    options_print_help(options->records ? FOR_RECORD : FOR_REDVIZ, out);
    return true;
}

PRINT(KEYS) {
    (void)options, (void)error;
    key_table_print(out);
    return true;
}

/* Without a date, so that equal sources give equal programs. */
PRINT(VERSION) {
    (void)error;
    static const char archived[] = REDVIZ_ARCHIVED_COMMIT;
    const char *commit = *options->commit ? options->commit : archived;
    text_add(out, "redviz " REDVIZ_VERSION "\n");
    text_print(out, "commit %s\n", *commit && !strchr(commit, '$') ? commit : "not known");
    text_print(out, "%s\n", terminal_library());
    session_about(out);
    return true;
}

PRINT(GENERATE) {
    (void)error;
    generate(options->generate, out);
    return true;
}

PRINT(LIST) {
    if (options->session.file) return session_list_entries(&options->session, options->json, out, error);
    list_kernels(options->json, out);
    return true;
}

PRINT(LECTURES) {
    return cli_lecture_list(options, out, error);
}

PRINT(EXERCISES) {
    return cli_exercise_list(options, out, error);
}

static LadderPrint ladder_of(const Options *options) {
    return (LadderPrint){
        .machine = options->session.machine, .catalog = &options->session.catalog, .json = options->json};
}

PRINT(LADDER) {
    LadderPrint print = ladder_of(options);
    return cli_ladder_print(&print, out, error);
}

PRINT(LATENCY) {
    LadderPrint print = ladder_of(options);
    return cli_ladder_print_latency(&print, out, error);
}

PRINT(INDEX) {
    return cli_index_print(options->index, options->session.machine, options->json, out, error);
}

BenchOptions perform_bench(const Options *options) {
    return (BenchOptions){.kernel = options->session.kernel,
                          .catalog = options->session.catalog,
                          .profile = options->profile,
                          .gpus = options->gpus,
                          .machine = options->session.machine};
}

/* Prints results as they are measured, so not through *out. */
PRINT(BENCH) {
    (void)out;
    BenchOptions bench = perform_bench(options);
    BenchOutput output = {.out = stdout,
                          .progress = isatty(STDERR_FILENO) ? stderr : NULL,
                          .format = options->tsv    ? BENCH_TSV
                                    : options->json ? BENCH_JSON
                                                    : BENCH_TABLE};
    Session *session = options->save ? session_open(&options->session, error) : NULL;
    if (options->save && !session) return false;
    if (session) output.kept = session_measured(session);
    if (session) output.kept_of = session_run(session);
    bool done =
        cli_bench_print(&bench, &output, error) && (!session || ask_save(session, options->save, error));
    session_free(session);
    return done;
}

PrintAction *perform_print(Action action) {
    static PrintAction *const prints[CLI_ACTION_COUNT] = {
#define PRINTED(action, ...) [ACTION_##action] = print_##action,
#include "cli/actions.def"
    };
    return prints[action];
}

static int print_or_run(Options *options, PrintAction *print, Error *error) {
    if (!print) return perform_run(options, error);
    Text out = {0};
    bool good = print(options, &out, error);
    finish_print(&out);
    return good ? DONE : finish_refuse(error);
}

int perform_action(Options *options, PrintAction *print, Error *error) {
    char *piped;
    int status =
        stream_read(options, &piped, error) ? print_or_run(options, print, error) : finish_refuse(error);
    free(piped);
    return status;
}
