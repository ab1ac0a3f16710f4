/* Prints output that needs no run, and dispatches actions. */
#define _POSIX_C_SOURCE 200809L

#include "cli/perform.h"

#include "base/version.h"
#include "cli/bench_print.h"
#include "cli/exercise_open.h"
#include "cli/generate.h"
#include "cli/grid_print.h"
#include "cli/index_print.h"
#include "cli/ladder_print.h"
#include "cli/lecture_open.h"
#include "cli/list.h"
#include "cli/sass_record.h"
#include "cli/stream.h"
#include "metrics/access_csv.h"
#include "tui/draw/terminal.h"
#include "tui/view/keys.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Defines a print function: false with `error`; the text in *out is printed in either case. */
#define PRINT(action) static bool print_##action(const Options *options, Text *out, Error *error)

PRINT(HELP) {
    (void)options, (void)error;
    options_print_help(out);
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
    return lecture_list(options, out, error);
}

PRINT(EXERCISES) {
    return exercise_list(options, out, error);
}

PRINT(DUMP_IR) {
    return session_dump_front_end(&options->session, FORM_IR, out, error);
}

PRINT(DUMP_FLOW) {
    return session_dump_front_end(&options->session, FORM_FLOW, out, error);
}

PRINT(DUMP_OPS) {
    return session_dump_front_end(&options->session, FORM_OPS, out, error);
}

PRINT(ACCESS) {
    enum { LIMIT_BYTES = 256 << 20 };
    const char *path = options->access_path;
    char *csv = NULL;
    size_t length = 0;
    bool is_stream = text_is_stream(path);
    if (!(is_stream ? text_read_stream : text_read_file)(path, LIMIT_BYTES, &csv, &length, error))
        return false;
    bool good = access_csv_count(csv, length, path, out, error);
    free(csv);
    return good;
}

static LadderPrint ladder_of(const Options *options) {
    return (LadderPrint){
        .machine = options->session.machine, .catalog = &options->session.catalog, .json = options->json};
}

PRINT(LADDER) {
    LadderPrint print = ladder_of(options);
    return ladder_print(&print, out, error);
}

PRINT(LATENCY) {
    LadderPrint print = ladder_of(options);
    return ladder_print_latency(&print, out, error);
}

PRINT(INDEX) {
    return index_print(options->index, options->session.machine, options->json, out, error);
}

/* Prints results as they are measured, so not through *out. */
PRINT(BENCH) {
    (void)out;
    BenchOptions bench = {.kernel = options->session.kernel,
                          .catalog = options->session.catalog,
                          .profile = options->profile,
                          .gpus = options->gpus,
                          .machine = options->session.machine};
    FILE *progress = isatty(STDERR_FILENO) ? stderr : NULL;
    if (options->bench_sass) return sass_print_recording(&bench, stdout, stderr, progress, error);
    if (options->grid) return grid_print(&bench, stdout, progress, error);
    BenchOutput output = {.out = stdout,
                          .progress = progress,
                          .format = options->tsv    ? BENCH_TSV
                                    : options->json ? BENCH_JSON
                                                    : BENCH_TABLE};
    Session *session = options->save ? session_open(&options->session, error) : NULL;
    if (options->save && !session) return false;
    if (session) output.kept = session_measured(session);
    if (session) output.kept_of = session_run(session);
    bool done =
        bench_print(&bench, &output, error) && (!session || session_save(session, options->save, error));
    session_free(session);
    return done;
}

static int print_or_run(Options *options, Error *error) {
    static bool (*const print[CLI_ACTION_COUNT])(const Options *, Text *, Error *) = {
#define PRINTED(action, ...) [ACTION_##action] = print_##action,
#include "cli/actions.def"
    };
    if (!print[options->action]) return perform_run(options, error);
    Text out = {0};
    bool good = print[options->action](options, &out, error);
    finish_print(&out);
    return good ? DONE : finish_refuse(error);
}

int perform_action(Options *options, Error *error) {
    char *piped;
    int status = stream_read(options, &piped, error) ? print_or_run(options, error) : finish_refuse(error);
    free(piped);
    return status;
}
