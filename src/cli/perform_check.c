/* --check: prints results in the form that is asked for, and decides what fails. */
#define _POSIX_C_SOURCE 200809L
#include "cli/perform_check.h"

#include "cli/finish.h"
#include "session/progress.h"

#include <string.h>
#include <unistd.h>

bool perform_check_begin(Options *options, Accepted *accepted, Error *error) {
    accepted->fails_on_notes = options->fail_on && !strcmp(options->fail_on, "note");
    if (options->baseline || options->suppress || options->fail_on || options->tool)
        options->accepted = accepted;
    return (!options->baseline || accepted_read_baseline(accepted, options->baseline, error)) &&
           (!options->suppress || accepted_read_suppressions(accepted, options->suppress, error));
}

static AskCheckForm form_of(const Options *options) {
    if (!options->check_log) return options->json ? CHECK_JSON : CHECK_TEXT;
    return strcmp(options->check_log, "junit") != 0 ? CHECK_SARIF : CHECK_JUNIT;
}

/* Of a suite of tests: the command, or the kernel's file or name. */
static void print_run_name(const Options *options, Text *name) {
    const RunSpec *session = &options->session;
    bool is_program = options->run_files || options->program_arguments;
    if (options->run_files) text_add(name, options->run_files[0]);
    for (char **word = options->program_arguments; word && *word; word++)
        text_print(name, "%s%s", name->length ? " " : "", *word);
    if (is_program) return;
    text_add(name, session->kernel ? session->kernel : session->file ? session->file : session->saved);
}

static void print_junit(const Options *options, const CheckResults *results, Text *out) {
    const Accepted none = {0};
    Text name = {0};
    print_run_name(options, &name);
    accepted_put_junit(options->accepted ? options->accepted : &none, results, text_string(&name), out);
    text_done(&name);
}

/* What is accepted, is said apart from output for programs. */
static void print_results(const Options *options, CheckResults *results, Text *out) {
    char folder[4096];
    Text said = {0};
    AskCheckForm form = form_of(options);
    if (options->accepted) accepted_mark(options->accepted, results);
    if (options->accepted) accepted_print(options->accepted, results, form == CHECK_TEXT ? out : &said);
    if (form == CHECK_SARIF) results_put_sarif(results, getcwd(folder, sizeof folder), out);
    if (form == CHECK_JUNIT) print_junit(options, results, out);
    fputs(text_string(&said), stderr);
    text_done(&said);
}

/* `unknown`: something could not be examined. */
static int accepted_status(const Accepted *accepted, const CheckResults *results, bool unknown) {
    for (int i = 0; i < results->count; i++)
        if (accepted_fails(accepted, &results->items[i])) return RUN_FAILED;
    return unknown ? NOT_EMULATED : DONE;
}

static void check_program(const Options *options, Session *session, CheckResults *results, Text *out,
                          int *status) {
    bool failed, unknown;
    const AskCheckScope scope = {
        .form = form_of(options), .seconds = options->time_limit, .launches = options->launches};
    ask_check_program(session, &scope, results, &failed, &unknown, out);
    print_results(options, results, out);
    *status = options->accepted ? accepted_status(options->accepted, results, unknown)
              : failed          ? RUN_FAILED
              : unknown         ? NOT_EMULATED
                                : DONE;
}

static void check_kernel(const Options *options, Session *session, CheckResults *results, Text *out,
                         int *status) {
    const SessionProgress *progress = session_spec(session)->progress;
    ProgressLine *shown = progress ? progress_begin(progress) : NULL;
    AskCheckForm form = form_of(options);
    if (form == CHECK_TEXT || form == CHECK_JSON) ask_check(session, options->tool, form, out);
    ask_add_results(session, NULL, results);
    progress_end(shown);
    print_results(options, results, out);
    if (options->accepted && ask_hazards(session))
        *status = accepted_status(options->accepted, results, session_is_unsupported(session));
}

void perform_check(const Options *options, Session *session, Text *out, int *status) {
    CheckResults results = {.tool = options->tool};
    (options->session.program ? check_program : check_kernel)(options, session, &results, out, status);
    results_done(&results);
}

int perform_check_unlaunched(const Options *options, const Program *program, int status) {
    CheckResults results = {.tool = options->tool};
    Text out = {0};
    ask_add_host_results(program, NULL, &results);
    print_results(options, &results, &out);
    finish_print(&out);
    if (options->accepted && status != NOT_EMULATED)
        status = accepted_status(options->accepted, &results, false);
    results_done(&results);
    return status;
}
