#include "record/grid_print.h"

#include "trace/grid_file.h"

#include <inttypes.h>

typedef struct GridPrinter {
    FILE *out, *progress;
} GridPrinter;

static void clear_progress(const GridPrinter *printer) {
    if (printer->progress) fprintf(printer->progress, "\r%40s\r", "");
}

static void take_cell(void *context, const char *kernel, uint64_t n) {
    const GridPrinter *printer = context;
    clear_progress(printer);
    if (!printer->progress) return;
    fprintf(printer->progress, "%-20s n = %-12" PRIu64, kernel, n);
    fflush(printer->progress);
}

/* Reports a skipped cell. */
static void take_timing(void *context, const Timing *timing) {
    const GridPrinter *printer = context;
    fprintf(printer->out, "# %s, n = %" PRIu64 ": %s\n", timing->kernel, timing->n,
            timing->note ? timing->note : "");
}

static void take_grid(void *context, const BenchValue *of, GridTimeline *timeline, const char *why) {
    const GridPrinter *printer = context;
    Text text = {0};
    if (timeline) {
        grid_timeline_fold(timeline, GRID_EXACT_BLOCKS);
        grid_file_write(timeline, &text);
    } else {
        text_print(&text, "# %s, n = %" PRIu64 ": %s\n", of->kernel, of->n, why);
    }
    fputs(text_string(&text), printer->out);
    text_done(&text);
}

bool grid_print(const BenchOptions *options, FILE *out, FILE *progress, Error *error) {
    GridPrinter printer = {out, progress};
    BenchSink sink = {.context = &printer, .cell = take_cell, .timing = take_timing, .grid = take_grid};
    BenchOptions wanted = *options;
    wanted.grid = true;
    bool good = bench_run(&wanted, &sink, error);
    clear_progress(&printer);
    return good;
}
