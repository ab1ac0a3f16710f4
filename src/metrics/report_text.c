/* --report: a run as text that fits a slide: what ran, a table by source line, totals, findings. At most 98
 * columns. */
#include "metrics/report.h"

#include "metrics/findings.h"
#include "metrics/source_text.h"
#include <stdlib.h>

enum { WIDTH = 98, SOURCE_COLUMNS = 40 };

/* ---- head ------------------------------------------------------------------------------------------- */

static void print_title(const ReportInput *input, Text *out) {
    const char *backend = strcmp(input->backend, "emulator") == 0 ? "EMULATED" : input->backend;
    size_t begin = out->length;
    text_add(out, input->kernel);
    if (input->title) text_print(out, ": %s", input->title);
    size_t used = out->length - begin,
           tail = strlen(backend) + (input->device ? strlen(input->device) + 1 : 0);
    int gap = used + tail + 2 < WIDTH ? (int)(WIDTH - used - tail) : 2;
    text_print(out, "%*s%s%s%s\n", gap, "", backend, input->device ? " " : "",
               input->device ? input->device : "");
}

static void print_head(const ReportInput *input, Text *out) {
    CountText n, grid;
    print_title(input, out);
    text_print(out, "n = %s%s%s%s%s, %s blocks of %u threads\n", count_text(input->n, &n),
               input->dtype ? " " : "", input->dtype ? input->dtype : "", input->op ? ", " : "",
               input->op ? input->op : "", count_text(input->grid, &grid), input->block);
    if (!input->has_result)
        text_add(out, "result not checked: there is no reference for this kernel\n");
    else if (!input->result)
        text_print(out, "no result, a trap ended the run; expected %s\n", input->expected);
    else if (input->correct)
        text_print(out, "result %s, expected %s: ok\n", input->result, input->expected);
    else
        text_print(out, "result %s, expected %s: WRONG\n", input->result, input->expected);
}

static void print_launches(const ReportInput *input, Text *out) {
    for (int i = 0; i < input->trace->launch_count; i++) {
        const TraceLaunch *launch = input->trace->launches[i];
        text_print(out, "%s<<<(%u,%u,%u), (%u,%u,%u)>>>", launch->name, launch->grid[0], launch->grid[1],
                   launch->grid[2], launch->block[0], launch->block[1], launch->block[2]);
        CountText bytes;
        uint64_t shared = (uint64_t)launch->static_shared_bytes + launch->dynamic_shared_bytes;
        text_print(out, "  %s bytes of shared memory", count_text(shared, &bytes));
        if (launch->cooperative) text_add(out, ", cooperative");
        if (input->registers && input->registers[i] >= 0)
            text_print(out, ", %d registers", input->registers[i]);
        if (input->occupancy && input->occupancy[i] >= 0)
            text_print(out, ", occupancy %.0f %%", 100 * input->occupancy[i]);
        text_add(out, "\n");
    }
}

/* ---- table ------------------------------------------------------------------------------------------ */

static bool did_something(const Totals *t) {
    return t->shared_loads + t->shared_stores + t->global_load_requests + t->global_store_requests +
               t->shuffles + t->barriers + t->branches + t->atomics >
           0;
}

static void print_cell(Text *out, int columns, const char *text) {
    text_print(out, "  %*s", columns, text);
}

static void print_count(Text *out, int columns, bool known, uint64_t count) {
    CountText buffer;
    print_cell(out, columns, known ? count_text(count, &buffer) : "");
}

static void print_ratio(Text *out, int columns, const char *format, uint64_t part, uint64_t whole) {
    char text[32] = "";
    if (whole) snprintf(text, sizeof text, format, (double)part / (double)whole);
    print_cell(out, columns, text);
}

/* The source, cut to its column; tabs and anything that could steer a terminal become blanks, UTF-8 counts by
 * character. */
static void print_source(Text *out, const char *source) {
    int columns = 0;
    for (const char *c = source ? source : ""; *c;) {
        int bytes = 1;
        while ((c[bytes] & 0xc0) == 0x80) bytes++;
        if (columns == SOURCE_COLUMNS - 2 && strlen(c) > 2) {
            text_add(out, "..");
            columns += 2;
            break;
        }
        if (columns == SOURCE_COLUMNS) break;
        if ((unsigned char)*c < 32 || *c == 127)
            text_add(out, " ");
        else
            text_add_bytes(out, c, (size_t)bytes);
        columns++;
        c += bytes;
    }
    text_print(out, "%*s", SOURCE_COLUMNS - columns, "");
}

static void trim_line(Text *out) {
    while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    text_add(out, "\n");
}

static void print_line(const ReportInput *input, const LineMetrics *line, const char *source, Text *out) {
    const Totals *t = &line->totals;
    uint64_t ideal = t->shared_load_wavefronts_ideal + t->shared_store_wavefronts_ideal;
    text_print(out, "%5d  ", line->line);
    print_source(out, source);
    print_ratio(out, 5, "%.1f", t->lane_instructions, input->narrowed ? 0 : t->warp_instructions);
    print_count(out, 11, ideal > 0, t->shared_load_wavefronts + t->shared_store_wavefronts);
    print_count(out, 11, ideal > 0, ideal);
    print_ratio(out, 8, "%.2f", t->global_load_sectors + t->global_store_sectors,
                t->global_load_requests + t->global_store_requests);
    print_ratio(out, 6, t->divergent_branches ? "%.0f %%" : "%.0f", t->divergent_branches * 100, t->branches);
    trim_line(out);
}

static void print_table(const ReportInput *input, const LineMetrics *lines, int count, Text *out) {
    SourceText source = {.input = input};
    const char *file = NULL;
    for (int i = 0; i < count; i++) {
        if (!did_something(&lines[i].totals)) continue;
        const char *name = lines[i].file ? lines[i].file : "?";
        if (!file || strcmp(file, name) != 0) {
            text_print(out, "%s %-*s active  wavefronts        ideal   sectors  diverg.\n",
                       file ? "\n line " : " line ", SOURCE_COLUMNS, name);
            if (!file)
                text_print(out, "%*s lanes                        /request branches\n", SOURCE_COLUMNS + 7,
                           "");
        }
        file = name;
        print_line(input, &lines[i], source_text_of(&source, lines[i].file, lines[i].line), out);
    }
    source_text_done(&source);
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void print_total(Text *out, const char *label, uint64_t count) {
    CountText buffer;
    text_print(out, "  %-24s %17s\n", label, count_text(count, &buffer));
}

static void print_with_ideal(Text *out, const char *label, uint64_t count, uint64_t ideal) {
    CountText buffer, ideal_buffer;
    text_print(out, "  %-24s %17s   ideal %s\n", label, count_text(count, &buffer),
               count_text(ideal, &ideal_buffer));
}

static void print_totals(const ReportInput *input, const Totals *t, Text *out) {
    text_print(out, "PTX counts, %s\n", input->narrowed ? "traced blocks only" : "whole grid");
    if (!input->narrowed) {
        print_total(out, "warp instructions", t->warp_instructions);
        text_print(out, "  %-24s %17.1f   of 32\n", "average active lanes", totals_average_active_lanes(t));
    }
    if (t->shared_loads) {
        print_total(out, "shared loads", t->shared_loads);
        print_with_ideal(out, "  wavefronts", t->shared_load_wavefronts, t->shared_load_wavefronts_ideal);
    }
    if (t->shared_stores) {
        print_total(out, "shared stores", t->shared_stores);
        print_with_ideal(out, "  wavefronts", t->shared_store_wavefronts, t->shared_store_wavefronts_ideal);
    }
    if (t->global_load_requests) {
        print_total(out, "global load requests", t->global_load_requests);
        print_with_ideal(out, "  sectors", t->global_load_sectors, t->global_load_sectors_ideal);
    }
    if (t->global_store_requests) {
        print_total(out, "global store requests", t->global_store_requests);
        print_with_ideal(out, "  sectors", t->global_store_sectors, t->global_store_sectors_ideal);
    }
    if (t->shuffles) print_total(out, "shuffles", t->shuffles);
    if (t->atomics) print_total(out, "atomics", t->atomics);
    if (t->barriers) print_total(out, "barriers (per warp)", t->barriers);
    if (t->branches) {
        print_total(out, "conditional branches", t->branches);
        print_total(out, "  divergent", t->divergent_branches);
    }
}

void report_text(const ReportInput *input, Text *out) {
    print_head(input, out);
    print_launches(input, out);
    text_add(out, "\n");

    int count;
    LineMetrics *lines = metrics_by_line(input->trace, input->narrowed, &count);
    Totals totals = {0};
    for (int i = 0; i < count; i++) totals_add(&totals, &lines[i].totals);
    print_table(input, lines, count, out);
    text_add(out, "\n");
    print_totals(input, &totals, out);
    text_add(out, "\n");
    findings_print(input, &totals, lines, count, out);
    free(lines);
}
