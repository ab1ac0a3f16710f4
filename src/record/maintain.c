#define _POSIX_C_SOURCE 200809L

#include "record/maintain.h"

#include "cli/perform.h"
#include "metrics/access_csv.h"
#include "record/grid_print.h"
#include "record/sass_record.h"
#include <stdlib.h>
#include <unistd.h>

#define RECORD(action) static bool record_##action(const Options *options, Text *out, Error *error)

RECORD(DUMP_IR) {
    return session_dump_front_end(&options->session, FORM_IR, out, error);
}

RECORD(DUMP_FLOW) {
    return session_dump_front_end(&options->session, FORM_FLOW, out, error);
}

RECORD(DUMP_OPS) {
    return session_dump_front_end(&options->session, FORM_OPS, out, error);
}

RECORD(ACCESS) {
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

/* Prints as it measures, so not through *out. */
static bool record_bench(const Options *options, Text *out, Error *error) {
    (void)out;
    BenchOptions bench = perform_bench(options);
    FILE *progress = isatty(STDERR_FILENO) ? stderr : NULL;
    return options->grid ? grid_print(&bench, stdout, progress, error)
                         : record_print_sass(&bench, stdout, stderr, progress, error);
}

static bool record_nothing(const Options *options, Text *out, Error *error) {
    (void)options, (void)out;
    return error_set(error, "nothing to record; redviz-record --help lists what it prints");
}

int maintain_perform(Options *options, Error *error) {
    static PrintAction *const records[CLI_ACTION_COUNT] = {
#define RECORDED(action, ...) [ACTION_##action] = record_##action,
#include "cli/actions.def"
        [ACTION_OPEN] = record_nothing};
    PrintAction *print = options->grid || options->bench_sass ? record_bench : records[options->action];
    return perform_action(options, print ? print : perform_print(options->action), error);
}
