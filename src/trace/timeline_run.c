#include "trace/timeline_run.h"

#include <inttypes.h>

const TimelineRun timeline_run_unknown = {
    .kernel = "", .dtype = "", .op = "", .machine = "", .driver = "", .measured = ""};

void timeline_run_write(const TimelineRun *run, Text *out) {
    const char *const rest[] = {run->dtype, run->op, run->machine, run->driver, run->measured};
    tsv_add_word(out, run->kernel);
    text_print(out, "\t%" PRIu64, run->n);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) tsv_add_word(out, rest[i]);
}

bool timeline_run_read(const TsvReader *tsv, Arena *arena, TimelineRun *run, Error *error) {
    const char **const rest[] = {&run->dtype, &run->op, &run->machine, &run->driver, &run->measured};
    run->kernel = arena_copy_string(arena, tsv_word(tsv, 1));
    for (int i = 0; i < (int)(sizeof rest / sizeof *rest); i++)
        *rest[i] = arena_copy_string(arena, tsv_word(tsv, 3 + i));
    return tsv_whole(tsv, 2, 0, UINT64_MAX, &run->n, error);
}
