#include "ladder/counts.h"

#include "base/memory.h"
#include "metrics/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const LadderCount *ladder_counts_find(const LadderCounts *counts, const char *kernel, uint64_t n,
                                      const char *dtype, const char *op) {
    for (int i = 0; counts && i < counts->count; i++) {
        const LadderCount *item = &counts->items[i];
        if (item->n == n && !strcmp(item->kernel, kernel) && !strcmp(item->dtype, dtype) &&
            !strcmp(item->op, op))
            return item;
    }
    return NULL;
}

RunSpec ladder_counts_options(const char *kernel, uint64_t n, const char *dtype, const char *op) {
    RunSpec options = {.kernel = kernel, .backend = BACKEND_EMULATOR, .catalog = {.n = n, .op = op}};
    plan_type_parse(dtype, &options.catalog.dtype);
    return options;
}

void ladder_counts_add(LadderCounts *counts, const RunSpec *options, Session *session) {
    LadderCount item = {.n = options->catalog.n, .failed = !session};
    Totals totals = {0};
    snprintf(item.kernel, sizeof item.kernel, "%s", options->kernel);
    snprintf(item.dtype, sizeof item.dtype, "%s", plan_type_name(options->catalog.dtype));
    snprintf(item.op, sizeof item.op, "%s", options->catalog.op);
    if (session) metrics_of_run(session_trace(session), &totals);
    item.accesses = (double)(totals.shared_loads + totals.shared_stores + totals.shared_atomics);
    item.wavefronts = (double)totals_wavefronts(&totals);
    item.excess = item.wavefronts - (double)totals_wavefronts_ideal(&totals);
    item.sectors = (double)(totals.global_load_sectors + totals.global_store_sectors);
    item.barriers = (double)totals.barriers;
    array_push(counts->items, counts->count, counts->capacity, item);
}

void ladder_counts_done(LadderCounts *counts) {
    free(counts->items);
    *counts = (LadderCounts){0};
}
