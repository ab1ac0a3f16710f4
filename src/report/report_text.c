/* The report as text that fits a slide and a terminal of 80 columns.
 *
 * It shows what ran, a table by source line, totals, and findings. */
#include "metrics/totals.h"
#include "report/report.h"

#include "base/characters.h"
#include "metrics/counted.h"
#include "findings/findings.h"
#include "report/report_sass.h"
#include "base/sentence.h"
#include "report/source_text.h"
#include <math.h>
#include <stdlib.h>

enum { WIDTH = 80, SOURCE_COLUMNS = 28 };

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
    if (input->lesson) sentence_print(out, "", input->lesson);
}

/* Whether the result is right, and its error. */
static void add_verdict(const ReportInput *input, Text *out) {
    if (!input->correct && isfinite(input->absolute_error) && input->absolute_error > 0)
        text_print(out, "WRONG, off by %.6g", input->absolute_error);
    else if (!input->correct)
        text_add(out, "WRONG");
    else if (input->absolute_error == 0 || isnan(input->absolute_error))
        text_add(out, input->verdict ? input->verdict : "ok");
    else if (input->verdict && !input->looks_like) /* the catalogue's says how it is inexact */
        text_add(out, input->verdict);
    else if (input->is_rounding)
        text_print(out, "%s, off by %.2g, all of it rounding (%.2g allowed)",
                   input->verdict ? input->verdict : "ok", input->absolute_error, input->bound);
    else
        text_print(out, "%s, off by %.2g (%.2g allowed)", input->verdict ? input->verdict : "ok",
                   input->absolute_error, input->bound);
}

/* What ended the run early; not all traps do. */
static const char *end_text(const Trace *trace) {
    for (int i = 0; i < trace->trap_count; i++) {
        if (!trap_kind_is_fatal(trace->traps[i].kind)) continue;
        return trace->traps[i].kind == TRAP_NOT_EMULATED
                   ? ", up to the first instruction that is not emulated"
                   : ", up to the trap";
    }
    return "";
}

/* Of partial results the total alone is compared. */
static void print_unchecked(const ReportInput *input, Text *sentence) {
    text_add(sentence, input->is_judged ? "result checked for the whole call" : "result not checked");
    if (input->looks_like)
        text_print(sentence, ": %s looks like %s",
                   strstr(input->looks_like, " partial results") ? "its total" : "it", input->looks_like);
    else if (input->changes_nothing)
        text_add(sentence, ": all memory is as before the run");
    if (!input->is_judged) text_add(sentence, "; --expect can name what it should be");
}

static void print_result(const ReportInput *input, Text *out) {
    CountText count, index;
    Text sentence = {0};
    bool is_exact = input->correct && input->absolute_error == 0;
    if (input->is_guess) text_add(&sentence, "with guessed arguments: ");
    count_text(input->compared, &count);
    if (!input->has_result && *end_text(input->trace))
        text_add(&sentence, "result not checked: a fault ended the run");
    else if (!input->has_result)
        print_unchecked(input, &sentence);
    else if (!input->result)
        text_print(&sentence, "no result: a trap ended the run; expected %s", input->expected);
    else if (input->compared > 1 && is_exact)
        text_print(&sentence, "%s results, the first is %s, expected %s: ", count.text, input->result,
                   input->expected);
    else if (input->compared > 1)
        text_print(&sentence, "%s results, largest error: result %s is %s, expected %s: ", count.text,
                   count_text(input->index, &index), input->result, input->expected);
    else
        text_print(&sentence, "result %s, expected %s: ", input->result, input->expected);
    if (input->has_result && input->result) add_verdict(input, &sentence);
    if (input->has_result && input->looks_like) text_print(&sentence, ", by %s", input->looks_like);
    sentence_print(out, "", text_string(&sentence));
    text_clear(&sentence);
    if (input->rounding) {
        text_print(&sentence, "Rounding: values are off in %s.", input->rounding);
        sentence_print(out, "", text_string(&sentence));
    }
    text_done(&sentence);
}

/* The origin of events and counts, unless all come from the emulator. */
static void print_sources(const ReportInput *input, Text *out) {
    Text sentence = {0};
    if (input->device && input->counted_by && strcmp(input->counted_by, input->backend) != 0)
        text_print(&sentence, "events and result: %s; counts of the whole grid: the emulator", input->device);
    else if (input->device)
        text_print(&sentence, "events and result: %s; counts: the traced blocks only", input->device);
    if (input->unprobed)
        text_print(&sentence, "; %d instruction%s not recorded there", input->unprobed,
                   plural((uint64_t)input->unprobed));
    if (sentence.length) sentence_print(out, "", text_string(&sentence));
    text_done(&sentence);
}

/* The origin of a part of the launch. */
static void print_origin(const char *origin, const char *options, Text *out) {
    Text sentence = {0};
    if (!options) return;
    text_print(&sentence, "%s: %s", origin, options);
    sentence_print(out, "", text_string(&sentence));
    text_done(&sentence);
}

static void print_interrupted(const ReportInput *input, Text *out) {
    CountText done, all;
    Text sentence = {0};
    text_print(&sentence,
               "INTERRUPTED after %s of %s block%s: all counts cover what ran until then, and the result is "
               "not known",
               count_text(input->blocks_done, &done), count_text(input->blocks, &all), plural(input->blocks));
    sentence_print(out, "", text_string(&sentence));
    text_done(&sentence);
}

void report_print_guess(const char *options, const char *program, Text *out) {
    Text sentence = {0};
    if (!options) return;
    text_print(&sentence, "guessed: %s", options);
    if (program) text_print(&sentence, "; redviz --run %s runs the program itself", program);
    sentence_print(out, "", text_string(&sentence));
    text_done(&sentence);
}

static void print_head(const ReportInput *input, Text *out) {
    CountText n, grid;
    report_print_guess(input->guess, input->program, out);
    print_title(input, out);
    if (!input->hides_n)
        text_print(out, "n = %s%s%s%s%s, ", count_text(input->n, &n), input->dtype ? " " : "",
                   input->dtype ? input->dtype : "", input->op ? ", " : "", input->op ? input->op : "");
    text_print(out, "%s block%s of %u thread%s\n", count_text(input->grid, &grid), plural(input->grid),
               input->block, plural(input->block));
    print_origin("compiled by", input->compiled_by, out);
    print_origin("read in the file", input->read, out);
    if (input->trace->printed.length > TRACE_PRINTED_BYTES)
        sentence_print(out, "", "the kernel printed more than 1,048,576 bytes; only the first are kept");
    if (input->unopened) {
        Text where = {0};
        text_print(&where, "not opened: %s, outside the kernel's folder; --sources DIR opens it",
                   input->unopened);
        sentence_print(out, "", text_string(&where));
        text_done(&where);
    }
    if (input->interrupted)
        print_interrupted(input, out);
    else
        print_result(input, out);
    if (input->other_size) sentence_print(out, "", input->other_size);
    print_sources(input, out);
}

/* As CUDA writes it: <<<4096, 256>>>, or <<<(32,32), (32,8)>>>. */
static void print_dimensions(const uint32_t size[3], Text *out) {
    if (size[2] != 1)
        text_print(out, "(%u,%u,%u)", size[0], size[1], size[2]);
    else if (size[1] != 1)
        text_print(out, "(%u,%u)", size[0], size[1]);
    else
        text_print(out, "%u", size[0]);
}

static void print_launches(const ReportInput *input, Text *out) {
    for (int i = 0; i < input->trace->launch_count; i++) {
        const TraceLaunch *launch = input->trace->launches[i];
        uint64_t shared = (uint64_t)launch->static_shared_bytes + launch->dynamic_shared_bytes;
        CountText bytes;
        text_print(out, "%s<<<", launch->name);
        print_dimensions(launch->grid, out);
        text_add(out, ", ");
        print_dimensions(launch->block, out);
        text_print(out, ">>>%s", launch->cooperative ? " (cooperative)" : "");
        if (trace_cluster_blocks(launch) > 1) {
            text_add(out, " in clusters of ");
            print_dimensions(launch->cluster, out);
        }
        text_add(out, "\n");
        if (shared)
            text_print(out, "  %s byte%s of shared memory", count_text(shared, &bytes), plural(shared));
        else
            text_add(out, "  no shared memory");
        if (input->registers && input->registers[i] >= 0)
            text_print(out, ", %d registers", input->registers[i]);
        if (input->occupancy && input->occupancy[i] >= 0)
            text_print(out, ", occupancy %.0f %%%s%s", 100 * input->occupancy[i],
                       input->occupancy_of ? " on " : "", input->occupancy_of ? input->occupancy_of : "");
        text_add(out, "\n");
    }
}

/* ---- table ------------------------------------------------------------------------------------------ */

/* A line with only instructions that no other metric counts gets no row. */
static bool has_events(const Totals *totals) {
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_infos[metric].from_events && totals_value(totals, metric)) return true;
    return false;
}

static void print_cell(Text *out, int columns, const char *text) {
    text_print(out, " %*s", columns, text);
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

/* Reads the next character of a source line, appends it to `out` (may be NULL) with tabs and controls as
 * blanks, and returns its columns. */
static int take_character(const char **at, Text *out) {
    if ((unsigned char)**at < 32) {
        if (out) text_add(out, " ");
        ++*at;
        return 1;
    }
    Character character = character_next(at, 0);
    char bytes[CHARACTER_BYTES];
    if (out && character.columns)
        text_add_bytes(out, bytes, character_encode(character.glyph, character.marks, bytes));
    return character.columns;
}

/* The source text, cut to its column. */
static void print_source(Text *out, const char *source) {
    int columns = 0, room = SOURCE_COLUMNS, all = 0;
    if (!source) source = "";
    for (const char *at = source; *at;) all += take_character(&at, NULL);
    if (all > SOURCE_COLUMNS) room -= 2;
    for (const char *at = source, *next = source; *at; at = next) {
        int width = take_character(&next, NULL);
        if (columns + width > room) break;
        columns += take_character(&at, out);
    }
    if (all > SOURCE_COLUMNS) text_add(out, "..");
    text_print(out, "%*s", room - columns, "");
}

static void trim_line(Text *out) {
    while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    text_add(out, "\n");
}

static void print_line(const ReportInput *input, const LineMetrics *line, const char *source, Text *out) {
    const Totals *t = &line->totals;
    uint64_t ideal = totals_wavefronts_ideal(t);
    text_print(out, "%5d  ", line->line);
    print_source(out, source);
    print_ratio(out, 6, "%.1f", t->lane_instructions, input->narrowed ? 0 : t->warp_instructions);
    print_count(out, 10, ideal > 0, totals_wavefronts(t));
    print_count(out, 10, ideal > 0, ideal);
    print_ratio(out, 7, "%.2f", t->global_load_sectors + t->global_store_sectors,
                t->global_load_requests + t->global_store_requests);
    print_ratio(out, 7, t->divergent_branches ? "%.0f %%" : "%.0f", t->divergent_branches * 100, t->branches);
    trim_line(out);
}

/* A name that is too long loses its folders. */
static void print_header(const char *file, bool is_first, Text *out) {
    const char *slash = characters_columns(file, SIZE_MAX) > SOURCE_COLUMNS ? strrchr(file, '/') : NULL;
    text_print(out, "%s%*s active wavefronts      ideal sectors diverg.\n", is_first ? "" : "\n",
               SOURCE_COLUMNS + 7, "");
    text_add(out, " line  ");
    print_source(out, slash ? slash + 1 : file);
    text_add(out, "  lanes                      /request  branch\n");
}

static void print_table(const ReportInput *input, const LineMetrics *lines, int count, Text *out) {
    SourceText source = {.input = input};
    const char *file = NULL;
    for (int i = 0; i < count; i++) {
        if (!has_events(&lines[i].totals)) continue;
        const char *name = lines[i].file ? lines[i].file : "?";
        if (!file || strcmp(file, name) != 0) print_header(name, !file, out);
        file = name;
        print_line(input, &lines[i], source_text_of(&source, lines[i].file, lines[i].line), out);
    }
    source_text_done(&source);
    if (file) text_add(out, "\n");
}

/* ---- totals ----------------------------------------------------------------------------------------- */

static void print_total(const char *label, bool is_part, const Totals *totals, Metric metric, Text *out) {
    CountText count;
    text_print(out, "  %s%-*s %17s", is_part ? "  " : "", is_part ? 22 : 24, label,
               count_text(totals_value(totals, metric), &count));
}

/* Below a count: its average, or its parts, each with its ideal. */
static void print_parts(const Totals *totals, Metric count, Text *out) {
    for (Metric part = 0; part < METRIC_COUNT; part++) {
        const MetricInfo *info = &metric_infos[part];
        if (info->of != count || part == count) continue;
        if (info->shown == SHOWN_LANES) {
            uint64_t whole = totals_value(totals, count);
            double average = whole ? (double)totals_value(totals, part) / (double)whole : 0;
            text_print(out, "  %-24s %17.1f   of %d\n", info->label, average, WARP_LANES);
            continue;
        }
        print_total(info->label, true, totals, part, out);
        for (Metric ideal = 0; ideal < METRIC_COUNT; ideal++) {
            CountText least;
            if (metric_infos[ideal].shown == SHOWN_IDEAL && metric_infos[ideal].of == part)
                text_print(out, "   %s %s", metric_infos[ideal].label,
                           count_text(totals_value(totals, ideal), &least));
        }
        text_add(out, "\n");
    }
}

static void print_totals(const ReportInput *input, const Totals *totals, Text *out) {
    text_print(out, "PTX counts, %s%s\n", input->narrowed ? "traced blocks only" : "whole grid",
               input->interrupted ? ", up to the interrupt" : end_text(input->trace));
    for (Metric metric = 0; metric < METRIC_COUNT; metric++) {
        const MetricInfo *info = &metric_infos[metric];
        if (info->shown != SHOWN_COUNT) continue;
        if (info->from_events ? !totals_value(totals, metric) : input->narrowed) continue;
        print_total(info->label, false, totals, metric, out);
        text_add(out, "\n");
        print_parts(totals, metric, out);
    }
}

/* ---- hardware counters ------------------------------------------------------------------------------ */

static void print_counted(const MeasuredCounter *counter, Text *out) {
    CountText measured, predicted;
    text_print(out, "  %-24s %17s %17s   %s%s", counter->label,
               isnan(counter->predicted) ? "" : count_text((uint64_t)counter->predicted, &predicted),
               count_text((uint64_t)counter->value, &measured),
               counted_agreement_text(counted_agreement(counter)), counter->note ? "*" : "");
    trim_line(out);
}

/* The reason for a difference in the machine code, or why that is not known. */
static bool print_reason(const ReportInput *input, const MeasuredCounter *counter, Text *out) {
    const SassComparison *comparison = input->compared_sass ? input->compared_sass[counter->launch] : NULL;
    const char *why = input->no_sass ? input->no_sass[counter->launch] : NULL;
    const CountedRow *row = counted_find(counter->metric);
    Text sentence = {0};
    bool is_known = counted_reason(counter, comparison, &sentence);
    if (!is_known && !comparison && why && row && counted_agreement(counter) == COUNTED_DIFFERS) {
        text_print(&sentence, "%s: the reason is in the machine code: %s.",
                   row->label + strspn(row->label, " "), why);
        is_known = true;
    }
    if (is_known) sentence_print(out, "- ", text_string(&sentence));
    text_done(&sentence);
    return is_known;
}

/* Why counters differ from their predictions: each reason once. */
static void print_remarks(const ReportInput *input, const MeasuredCounter *counters, int count, Text *out) {
    const char *printed[COUNTED_ROWS], *note = NULL;
    int printed_count = 0;
    for (int i = 0; i < count; i++) {
        const CountedRow *row = counted_find(counters[i].metric);
        if (counters[i].note) note = counters[i].note;
        if (print_reason(input, &counters[i], out)) continue;
        bool skip = !row || !row->why || counters[i].value == counters[i].predicted;
        for (int k = 0; k < printed_count && !skip; k++) skip = printed[k] == row->why;
        if (!skip && printed_count < COUNTED_ROWS) {
            sentence_print(out, "- ", row->why);
            printed[printed_count++] = row->why;
        }
    }
    Text sentence = {0};
    text_print(&sentence, "*: %s.", note ? note : "");
    if (note) sentence_print(out, "- ", text_string(&sentence));
    text_done(&sentence);
}

static void print_measured(const ReportInput *input, Text *out) {
    const Measurements *measured = input->measured;
    if (input->unmeasured) text_print(out, "No hardware counters: %s\n\n", input->unmeasured);
    for (int first = 0, last; measured && first < measured->counter_count; first = last) {
        const MeasuredCounter *counter = &measured->counters[first];
        for (last = first; last < measured->counter_count; last++)
            if (measured->counters[last].launch != counter->launch) break;
        text_print(out, "%s on %s", input->recorded ? "Recorded" : "Counted", counter->machine);
        if (input->recorded) text_print(out, ", %.10s", input->recorded);
        if (input->trace->launch_count > 1)
            text_print(out, ": %s", input->trace->launches[counter->launch]->name);
        text_print(out, "\n  %-24s %17s %17s\n", "whole grid", "predicted", "measured");
        for (int i = first; i < last; i++) print_counted(&measured->counters[i], out);
        print_remarks(input, counter, last - first, out);
        text_add(out, "\n");
    }
}

/* ---- findings --------------------------------------------------------------------------------------- */

static void print_findings(const ReportInput *input, Text *out) {
    FindingResult result = {input->has_result && !input->correct, input->result, input->expected, NULL};
    FindingNames names = {input->source_text, input->context};
    const Findings *list = input->verdict_list ? input->verdict_list : input->hazards;
    Findings *own = list ? NULL : findings_new_counted(input->trace, &result, names, input->narrowed);
    findings_print_brief(list ? list : own, input->is_guess, out);
    findings_free(own);
}

static bool is_ideal(uint64_t count, uint64_t ideal) {
    return count && count == ideal;
}

static void print_what_is_ideal(const Totals *t, Text *out) {
    bool is_known = !t->shared_atomics || t->shared_atomic_wavefronts;
    if (is_known && is_ideal(totals_wavefronts(t), totals_wavefronts_ideal(t)))
        text_add(out, "- No shared access has a bank conflict.\n");
    if (is_ideal(t->global_load_sectors + t->global_store_sectors,
                 t->global_load_sectors_ideal + t->global_store_sectors_ideal))
        text_add(out, "- Every global request touches the fewest sectors possible.\n");
    if (t->branches && !t->divergent_branches) text_add(out, "- No branch diverges.\n");
}

static void print_lanes(const ReportInput *input, const Totals *totals, Text *out) {
    double lanes = totals_average_active_lanes(totals);
    if (input->narrowed || !totals->warp_instructions || lanes >= 31.95) return;
    text_print(out, "- %.1f of 32 lanes active on average.\n", lanes);
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
    print_totals(input, &totals, out);
    text_add(out, "\n");
    print_measured(input, out);
    report_print_sass(input, out);
    print_findings(input, out);
    print_lanes(input, &totals, out);
    if (!*end_text(input->trace)) print_what_is_ideal(&totals, out);
    bool ends_by_guess = input->is_guess && *end_text(input->trace); /* a search would find the same */
    if (input->counts_only && !ends_by_guess)
        text_add(out, "- Hazards are not searched for here; --check searches for them.\n");
    free(lines);
}
