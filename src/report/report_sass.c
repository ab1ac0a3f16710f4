/* Machine code as text: instructions under their source line. */
#include "report/report_sass.h"

#include "base/sentence.h"
#include "sass/sass.h"

#include <math.h>
#include <stdlib.h>

typedef struct SassPrinter {
    const ReportSass *input;
    const SassKernel *kernel;
    const SassComparison *compared; /* NULL: without the PTX */
    SassSums all;
    Text *out;
} SassPrinter;

static void trim_line(Text *out) {
    while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    text_add(out, "\n");
}

/* ---- what was measured --------------------------------------------------------------------------------- */

static void add_overhead(Text *out, double overhead) {
    if (!isnan(overhead)) text_print(out, "; sampling makes the call %.0f times as long", 1 + overhead);
}

static void add_measured(Text *out, const SassKernel *kernel) {
    const SassMeasured *counted = &kernel->counted, *sampled = &kernel->sampled;
    CountText n;
    if (counted->n) {
        text_print(out, "; counted at n = %s", count_text(counted->n, &n));
        add_overhead(out, counted->overhead);
    }
    if (sampled->n) {
        text_print(out, "; sampled at n = %s", count_text(sampled->n, &n));
        if (sampled->period) text_print(out, " every %u cycles", sampled->period);
        add_overhead(out, sampled->overhead);
    }
    if (!counted->n && !sampled->n) text_add(out, "; neither counted nor sampled");
}

static void print_resources(Text *out, const SassResources *resources) {
    CountText shared, stack, stores, loads;
    text_print(out, "%d registers, %s bytes of static shared memory", resources->registers,
               count_text(resources->shared_bytes, &shared));
    if (resources->stack_bytes)
        text_print(out, ", %s bytes of stack", count_text(resources->stack_bytes, &stack));
    if (resources->spill_store_bytes || resources->spill_load_bytes)
        text_print(out, ", spills: %s bytes stored, %s bytes loaded",
                   count_text(resources->spill_store_bytes, &stores),
                   count_text(resources->spill_load_bytes, &loads));
    else
        text_add(out, ", no spills");
    text_add(out, "\n");
}

static void print_head(const SassPrinter *printer, int launch) {
    const SassKernel *kernel = printer->kernel;
    Text sentence = {0};
    text_print(printer->out, "%s", printer->input->kernel);
    if (printer->input->launch_count > 1) text_print(printer->out, ", launch %d", launch + 1);
    text_print(printer->out, ": %s\n", kernel->entry);
    if (kernel->assembler) {
        text_print(&sentence, "machine code by %s for %s; executed counts are not measured: that needs a GPU",
                   kernel->assembler, kernel->architecture);
    } else {
        text_print(&sentence, "machine code of %s", kernel->machine ? kernel->machine : "a GPU");
        if (kernel->driver) text_print(&sentence, ", driver %s", kernel->driver);
        if (kernel->measured) text_print(&sentence, ", %.10s", kernel->measured);
        add_measured(&sentence, kernel);
    }
    sentence_print(printer->out, "", text_string(&sentence));
    text_done(&sentence);
    if (kernel->has_resources) print_resources(printer->out, &kernel->resources);
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* Nothing of assembled code; else executions, active lanes of 32, share of lanes with a false predicate,
 * samples, most frequent stall. */
static void print_counts(const SassPrinter *printer, const SassSums *sums, bool is_line) {
    CountText count;
    Text *out = printer->out;
    char lanes[16] = "", off[16] = "", samples[32] = "";
    const char *stall = "";
    if (printer->kernel->assembler) return;
    bool is_counted = printer->kernel->counted.n, is_sampled = printer->kernel->sampled.n;
    if (is_counted && sums->executed)
        snprintf(lanes, sizeof lanes, "%.1f", (double)sums->threads / (double)sums->executed);
    if (is_counted && sums->threads && sums->acting < sums->threads)
        snprintf(off, sizeof off, "%.0f %%", 100 - 100 * (double)sums->acting / (double)sums->threads);
    if (is_sampled && is_line && printer->all.all_samples)
        snprintf(samples, sizeof samples, "%.1f %%",
                 100 * (double)sums->all_samples / (double)printer->all.all_samples);
    else if (is_sampled)
        snprintf(samples, sizeof samples, "%s", count_text(sums->all_samples, &count));
    SassStall top = sass_top_stall(sums->samples);
    if (is_sampled && top < SASS_STALLS) stall = sass_stalls[top].words;
    text_print(out, " %11s %5s %5s %8s  %-28s", is_counted ? count_text(sums->executed, &count) : "", lanes,
               off, samples, stall);
}

static void print_count(const SassPrinter *printer, int instructions) {
    text_print(printer->out, "  %4d", instructions);
    if (printer->kernel->assembler) text_print(printer->out, " instruction%s", instructions == 1 ? "" : "s");
}

static void print_instruction(const SassPrinter *printer, const SassInstruction *in) {
    const SassKernel *kernel = printer->kernel;
    SassSums sums = {.executed = 0};
    const SassPlace *place = in->place < 0 ? NULL : &kernel->places[in->place];
    sass_add_up(&sums, in);
    if (in->label) text_print(printer->out, "%s:\n", in->label);
    text_print(printer->out, "  %04x", in->offset);
    print_counts(printer, &sums, false);
    text_print(printer->out, " %s", in->text);
    if (place && place->inlined_at >= 0 && !place->line)
        text_print(printer->out, "   (%s)", place->file);
    else if (place && place->inlined_at >= 0)
        text_print(printer->out, "   (%s:%d)", place->file, place->line);
    trim_line(printer->out);
}

static bool is_of_line(const SassPrinter *printer, const SassDifference *difference, const SassLine *line) {
    PtxSourceLine own = sass_difference_line(printer->compared, difference);
    if (!own.file || !line->file) return !own.file && !line->file;
    return own.line == line->line && !strcmp(own.file, line->file);
}

/* Why the machine code of the line and its PTX have different counts. */
static void print_differences(const SassPrinter *printer, const SassLine *line) {
    for (int i = 0; printer->compared && i < printer->compared->count; i++) {
        const SassDifference *difference = &printer->compared->differences[i];
        if (!is_of_line(printer, difference, line)) continue;
        text_add(printer->out, "  * ");
        sass_difference_print(printer->compared, difference, printer->out);
        text_add(printer->out, "\n");
    }
}

static void print_line(const SassPrinter *printer, const SassLine *line) {
    const ReportSass *input = printer->input;
    const char *source = line->file && line->line && input->source_text
                             ? input->source_text(input->context, line->file, line->line)
                             : NULL;
    text_add(printer->out, "\n");
    if (!line->file)
        text_add(printer->out, "without a source line\n");
    else if (!line->line)
        text_print(printer->out, "%s, called from several lines\n", line->file);
    else
        text_print(printer->out, "%s:%d  %s\n", line->file, line->line,
                   source ? source + strspn(source, " \t") : "");
    print_count(printer, line->instruction_count);
    print_counts(printer, &line->sums, true);
    trim_line(printer->out);
    print_differences(printer, line);
    for (int i = 0; i < printer->kernel->count; i++)
        if (sass_is_on_line(printer->kernel, &printer->kernel->instructions[i], line))
            print_instruction(printer, &printer->kernel->instructions[i]);
}

static void print_launch(SassPrinter *printer, int launch) {
    int count;
    Text *out = printer->out;
    SassLine *lines = sass_by_line(printer->kernel, &count);
    printer->all = sass_sums(printer->kernel);
    print_head(printer, launch);
    if (printer->kernel->assembler)
        text_print(out, "\n  %4s instruction\n", "at");
    else
        text_print(out, "\n  %4s %11s %5s %5s %8s  %-28s %s\n", "at", "executed", "lanes", "off", "samples",
                   "mostly", "instruction");
    for (int i = 0; i < count; i++) print_line(printer, &lines[i]);
    text_add(out, "\nin total\n");
    print_count(printer, printer->kernel->count);
    print_counts(printer, &printer->all, false);
    trim_line(out);
    free(lines);
}

void report_sass_text(const ReportSass *input, Text *out) {
    for (int i = 0; i < input->launch_count; i++) {
        SassPrinter printer = {.input = input, .kernel = input->sass[i], .out = out};
        if (input->compared) printer.compared = input->compared[i];
        if (i) text_add(out, "\n");
        if (printer.kernel)
            print_launch(&printer, i);
        else if (input->launch_count > 1)
            text_print(out, "%s, launch %d: %s\n", input->kernel, i + 1, input->why[i]);
        else
            text_print(out, "%s: %s\n", input->kernel, input->why[i]);
    }
}

/* ---- in a report --------------------------------------------------------------------------------------- */

const SassKernel *report_first_sass(const ReportInput *input) {
    for (int i = 0; input->sass && i < input->trace->launch_count; i++)
        if (input->sass[i]) return input->sass[i];
    return NULL;
}

static double share(uint64_t part, uint64_t whole) {
    return whole ? 100 * (double)part / (double)whole : 0;
}

static int by_samples(const void *a, const void *b) {
    const SassSums *x = &((const SassLine *)a)->sums, *y = &((const SassLine *)b)->sums;
    if (x->all_samples != y->all_samples) return x->all_samples < y->all_samples ? 1 : -1;
    return (x->executed < y->executed) - (x->executed > y->executed);
}

/* "  line 22   41 % of the samples, 55 % of the instructions; mostly waits for arithmetic" */
static void print_busy_line(const SassKernel *kernel, const SassLine *line, const SassSums *all, Text *out) {
    SassStall top = sass_top_stall(line->sums.samples);
    Text where = {0};
    const char *slash = line->file ? strrchr(line->file, '/') : NULL;
    if (!line->file)
        text_add(&where, "no line");
    else if (!line->line)
        text_add(&where, line->file);
    else
        text_print(&where, "%s:%d", slash ? slash + 1 : line->file, line->line);
    text_print(out, "  %-26s", text_string(&where));
    if (kernel->sampled.n)
        text_print(out, " %3.0f %% of samples", share(line->sums.all_samples, all->all_samples));
    if (kernel->counted.n) text_print(out, " %3.0f %% of SASS", share(line->sums.executed, all->executed));
    if (kernel->sampled.n && top < SASS_STALLS) text_print(out, "  %s", sass_stalls[top].words);
    text_add(out, "\n");
    text_done(&where);
}

static void print_busy_lines(const ReportInput *input, int launch, Text *out) {
    enum { SHOWN = 4 };
    const SassKernel *kernel = input->sass[launch];
    int count;
    CountText executed;
    SassSums all = sass_sums(kernel);
    SassLine *lines = sass_by_line(kernel, &count);
    qsort(lines, (size_t)count, sizeof *lines, by_samples);
    Text sentence = {0};
    text_add(&sentence, "Machine code");
    if (input->trace->launch_count > 1) text_print(&sentence, " of %s", input->trace->launches[launch]->name);
    text_print(&sentence, ", %s", kernel->machine ? kernel->machine : "a GPU");
    if (kernel->measured) text_print(&sentence, ", %.10s", kernel->measured);
    if (kernel->counted.n)
        text_print(&sentence, ": %s instructions executed", count_text(all.executed, &executed));
    if (kernel->counted.n) text_print(&sentence, " at n = %s", count_text(kernel->counted.n, &executed));
    sentence_print(out, "", text_string(&sentence));
    text_done(&sentence);
    for (int i = 0; i < count && i < SHOWN; i++)
        if (lines[i].sums.executed || lines[i].sums.all_samples)
            print_busy_line(kernel, &lines[i], &all, out);
    text_add(out, "\n");
    free(lines);
}

void report_print_sass(const ReportInput *input, Text *out) {
    for (int i = 0; input->sass && i < input->trace->launch_count; i++)
        if (input->sass[i] && (input->sass[i]->counted.n || input->sass[i]->sampled.n))
            print_busy_lines(input, i, out);
}
