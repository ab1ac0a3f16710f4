#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"
#include <string.h>

Session *run_kernel(const char *kernel, const CatalogOptions *options) {
    SessionOptions session_options = {.kernel = kernel, .catalog = *options, .threads = 1};
    Error error = {0};
    Session *session = session_open(&session_options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

Session *run_with(const char *kernel, const char *parameter, const char *second) {
    CatalogOptions options = {.parameters = {parameter, second},
                              .parameter_count = (parameter != NULL) + (second != NULL)};
    return run_kernel(kernel, &options);
}

Totals run_totals(const Session *session) {
    Totals totals = {0};
    metrics_of_run(session_trace(session), &totals);
    return totals;
}

int run_line_of(const Session *session, const char *text) {
    char file[128];
    snprintf(file, sizeof file, "kernels/%s", session_row(session)->source);
    int found = 0;
    for (int line = 1; line <= session_source_line_count(session, file); line++) {
        if (!strstr(session_source_line(session, file, line), text)) continue;
        if (found) fail_msg("%s: '%s' is in lines %d and %d", file, text, found, line);
        found = line;
    }
    if (!found) fail_msg("%s: no line holds '%s'", file, text);
    return found;
}
