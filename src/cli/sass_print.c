/* Printing machine code (sass_print.h). */
#include "cli/sass_print.h"

#include "sass/recorded.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- --sass -------------------------------------------------------------------------------------------- */

enum { TEXT_COLUMNS = 52 };

static void print_measured(const SassMeasured *measured, const char *what, Text *out) {
    if (!measured->n) {
        text_print(out, "  not %s\n", what);
        return;
    }
    text_print(out, "  %s at n = %" PRIu64 ", <<<%" PRIu32 ", %" PRIu32 ">>>", what, measured->n, measured->grid,
               measured->block);
    if (measured->period) text_print(out, ", a sample every %" PRIu32 " cycles", measured->period);
    if (!isnan(measured->overhead)) text_print(out, ", %+.0f %% time", measured->overhead * 100);
    text_add(out, "\n");
}

static void print_stalls(const SassSums *sums, Text *out) {
    if (!sums->all_samples) return;
    text_print(out, "  %" PRIu64 " samples:", sums->all_samples);
    uint64_t left[SASS_STALLS];
    memcpy(left, sums->samples, sizeof left);
    const char *comma = "";
    for (SassStall top; (top = sass_top_stall(left)) != SASS_STALLS; left[top] = 0) {
        double share = 100 * (double)left[top] / (double)sums->all_samples;
        if (share < 1) break;
        text_print(out, "%s %s %.0f %%", comma, sass_stalls[top].words, share);
        comma = ",";
    }
    text_add(out, "\n");
}

static void print_place(Session *session, const SassKernel *kernel, int place, Text *out) {
    for (int at = place; at >= 0; at = kernel->places[at].inlined_at) {
        const SassPlace *where = &kernel->places[at];
        const char *line = session_source_line(session, where->file, where->line);
        text_print(out, "%s %s:%d  %s\n", at == place ? "-" : "  inlined at", where->file, where->line,
                   line ? line + strspn(line, " \t") : "");
    }
}

static void print_instruction(const SassKernel *kernel, const SassInstruction *at, Text *out) {
    SassSums sums = {0};
    sass_add_up(&sums, at);
    if (at->label) text_print(out, "  %s:\n", at->label);
    text_print(out, "    %04" PRIx32 "  %-*s", at->offset, TEXT_COLUMNS, at->text);
    if (kernel->counted.n) {
        text_print(out, "%12" PRIu64, at->executed);
        if (at->executed)
            text_print(out, "  %5.1f  %5.1f", (double)at->threads / (double)at->executed,
                       (double)at->acting / (double)at->executed);
        else
            text_add(out, "      -      -");
    }
    if (kernel->sampled.n) {
        SassStall top = sass_top_stall(sums.samples);
        text_print(out, "%9" PRIu64 "  %s", sums.all_samples, top == SASS_STALLS ? "" : sass_stalls[top].words);
    }
    text_add(out, "\n");
}

static void print_kernel(Session *session, const SassKernel *kernel, Text *out) {
    SassSums sums = sass_sums(kernel);
    text_print(out, "\n%s, launch %d: %d instructions of %s (%s)\n", kernel->entry, kernel->launch + 1, kernel->count,
               kernel->machine, kernel->driver);
    print_measured(&kernel->counted, "counted", out);
    if (kernel->counted.n)
        text_print(out, "  %" PRIu64 " warp instructions, %.1f active threads on average, %.1f with a true predicate\n",
                   sums.executed, (double)sums.threads / (double)sums.executed,
                   (double)sums.acting / (double)sums.executed);
    print_measured(&kernel->sampled, "sampled", out);
    print_stalls(&sums, out);
    text_print(out, "\n    %-*s", TEXT_COLUMNS + 6, "instruction");
    if (kernel->counted.n) text_add(out, "    executed active acting");
    if (kernel->sampled.n) text_add(out, "  samples  mostly");
    text_add(out, "\n");
    for (int i = 0, place = -2; i < kernel->count; i++) {
        if (kernel->instructions[i].place != place) print_place(session, kernel, kernel->instructions[i].place, out);
        place = kernel->instructions[i].place;
        print_instruction(kernel, &kernel->instructions[i], out);
    }
}

bool sass_print(Session *session, Text *out, Error *error) {
    const SessionSass *sass = session_sass(session);
    Text why = {0};
    for (int i = 0; i < sass->note_count; i++)
        if (sass->count)
            text_print(out, "%s\n", sass->notes[i]);
        else
            text_print(&why, "%s%s", i ? "; " : "", sass->notes[i]);
    if (sass->count)
        text_print(out, "Machine code of %s, %s\n", session_name(session), sass->is_live ? "measured now" : "recorded");
    else
        error_set(error, "%s", text_string(&why));
    text_done(&why);
    for (int i = 0; i < sass->count; i++) print_kernel(session, &sass->kernels[i], out);
    return sass->count > 0;
}

/* ---- --bench=sass -------------------------------------------------------------------------------------- */

typedef struct SassPrinter {
    FILE *out, *errors, *progress;
    bool has_begun;
} SassPrinter;

static void show_cell(void *context, const char *kernel, const char *dtype) {
    SassPrinter *printer = context;
    if (printer->progress) fprintf(printer->progress, "\r\033[K%s %s", kernel, dtype);
}

static void clear_cell(const SassPrinter *printer) {
    if (printer->progress) fputs("\r\033[K", printer->progress);
}

static void print_recorded(void *context, const SassKernel *kernel) {
    SassPrinter *printer = context;
    Text text = {0};
    if (!printer->has_begun) sass_record_begin(&text);
    printer->has_begun = true;
    sass_record_kernel(&text, kernel);
    fwrite(text_string(&text), 1, text.length, printer->out);
    fflush(printer->out);
    text_done(&text);
}

static void print_missing(void *context, const char *kernel, const char *dtype, const char *why) {
    SassPrinter *printer = context;
    clear_cell(printer);
    fprintf(printer->errors, "redviz: %s %s: %s\n", kernel, dtype, why);
}

bool sass_print_recording(const BenchOptions *options, FILE *out, FILE *errors, FILE *progress, Error *error) {
    SassPrinter printer = {out, errors, progress, false};
    BenchSassSink sink = {&printer, show_cell, print_recorded, print_missing};
    bool good = bench_sass(options, &sink, error);
    clear_cell(&printer);
    return good;
}
