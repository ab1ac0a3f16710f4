#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/totals.h"
#include "runs.h"
#include <stdlib.h>
#include <string.h>

Session *run_kernel(const char *kernel, const CatalogOptions *options) {
    RunSpec session_spec = {.kernel = kernel, .catalog = *options, .threads = 1};
    Error error = {0};
    Session *session = session_open(&session_spec, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

Session *run_with(const char *kernel, const char *parameter, const char *second) {
    CatalogOptions options = {.parameters = {parameter, second},
                              .parameter_count = (parameter != NULL) + (second != NULL)};
    return run_kernel(kernel, &options);
}

const uint64_t RUN_SIZES[RUN_SIZE_COUNT] = {1, 2, 31, 33, 1000, 65537};
const uint32_t RUN_BLOCKS[RUN_BLOCK_COUNT] = {1, 2, 16, 32, 48, 64, 96, 128, 256, 512, 1024};

uint64_t run_limit(void) {
    const char *asked = getenv("REDVIZ_TEST_LARGEST_N");
    return asked ? strtoull(asked, NULL, 10) : UINT64_MAX;
}

static bool rule_allows(const char *rule, uint32_t block) {
    if (!strcmp(rule, "any size")) return true;
    if (!strcmp(rule, "a power of two")) return (block & (block - 1)) == 0;
    if (!strcmp(rule, "a multiple of 32")) return block % 32 == 0;
    if (!strcmp(rule, "32 threads")) return block == 32;
    if (!strcmp(rule, "128 threads")) return block == 128;
    if (!strcmp(rule, "256 threads")) return block == 256;
    fail_msg("no test knows the rule '%s'", rule);
    return false;
}

bool run_accepts_block(const CatalogRow *row, uint32_t block) {
    bool allowed =
        block >= row->minimum_block && block <= row->maximum_block && rule_allows(row->block_rule, block);
    CatalogRun run;
    Error error = {0};
    bool accepted = catalog_resolve(row, &(CatalogOptions){.block = block}, &run, &error);
    if (accepted != allowed)
        fail_msg("%s takes '%s', from %u to %u, and %s %u: %s", row->id, row->block_rule, row->minimum_block,
                 row->maximum_block, accepted ? "accepts" : "refuses", block, error.message);
    return accepted;
}

bool run_has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

Totals run_totals(Session *session) {
    Totals totals = {0};
    metrics_of_run(session_trace(session), &totals);
    return totals;
}

int run_line_of(Session *session, const char *text) {
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
