#include "cli/ladder_print.h"

#include "bench/bench.h"
#include "ladder/latency.h"
#include "ladder/published.h"
#include "cli/ladder_json.h"

#include <math.h>
#include <string.h>

enum { NAME_COLUMNS = 22, SIZE_COLUMNS = 8, BAR_COLUMNS = 40, UNIT_COLUMNS = 11 };

/* ---- the times ----------------------------------------------------------------------------------------- */

static void print_name(const Ladder *ladder, int row, Text *out) {
    text_print(out, "%2s %-*s", ladder_number(&ladder->rows[row]), NAME_COLUMNS, ladder->rows[row].id);
}

/* "NVIDIA H200, recorded 2026-11-21" */
static void print_machine(const char *machine, const char *measured, Text *out) {
    text_print(out, "%s, recorded %.10s", machine ? machine : "no GPU", measured ? measured : "never");
}

/* Removes trailing blanks. */
static void end_line(Text *out) {
    while (out->length && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
    text_add(out, "\n");
}

static void print_times(const Ladder *ladder, Text *out) {
    bool otherwise = false;
    text_print(out, "%s %s, microseconds %s; ", ladder->of.dtype, ladder->of.op,
               ladder->of.alone ? "of the kernel alone" : "to one number");
    print_machine(ladder->sample ? ladder->sample->machine : NULL,
                  ladder->sample ? ladder->sample->measured : NULL, out);
    text_print(out, "; %s\n%*s", timing_way_name(ladder->of.way), NAME_COLUMNS + 3, "");
    for (int i = 0; i < ladder->size_count; i++) {
        char size[24];
        ladder_print_size(ladder->sizes[i], size, sizeof size);
        text_print(out, "%*s ", SIZE_COLUMNS - 1, size);
    }
    end_line(out);
    for (int row = 0; row < ladder->row_count; row++) {
        print_name(ladder, row, out);
        for (int i = 0; i < ladder->size_count; i++) {
            char time[24];
            const Timing *timing = ladder->rows[row].times[i];
            bool is_other = timing && ladder_is_otherwise(ladder, timing);
            ladder_print_time(timing ? timing->median : (double)NAN, time, sizeof time);
            text_print(out, "%*s%s", SIZE_COLUMNS - 1, time, is_other ? "*" : " ");
            otherwise |= is_other;
        }
        end_line(out);
    }
    if (otherwise) text_add(out, "* a single call: it cannot be in a graph, or takes longer than 50 ms\n");
}

/* ---- figures at one size ------------------------------------------------------------------------------- */

static void print_ratio(double ratio, Text *out) {
    if (isnan(ratio))
        text_print(out, "%7s", "-");
    else
        text_print(out, "%7.2f", ratio);
}

static void print_whole(double number, int columns, Text *out) {
    char text[32] = "-";
    if (!isnan(number)) ladder_print_count(number, text, sizeof text);
    text_print(out, " %*s", columns - 1, text);
}

static void print_figures(const Ladder *ladder, const LadderCounts *counts, int size, Text *out) {
    char name[24];
    ladder_print_size(ladder->sizes[size], name, sizeof name);
    text_print(out, "\nat n = %-*s%7s%7s%7s%8s%9s%9s%9s%9s%3s  %s\n", NAME_COLUMNS - 4, name, "x K0", "x row",
               "GB/s", "of read", "SASS", "wavefr.", "sectors", "barriers", "L", "limited by");
    for (int row = 0; row < ladder->row_count; row++) {
        LadderFigures figures;
        char limit[128], share[16] = "-", launches[16] = "-";
        ladder_figures(ladder, counts, row, size, &figures);
        if (isnan(figures.microseconds)) continue;
        if (limit_print(&figures.limit, limit, sizeof limit) == LIMIT_UNKNOWN)
            snprintf(limit, sizeof limit, "not profiled");
        if (!isnan(figures.read_share)) snprintf(share, sizeof share, "%.0f %%", figures.read_share * 100);
        if (figures.launches) snprintf(launches, sizeof launches, "%d", figures.launches);
        print_name(ladder, row, out);
        print_ratio(figures.over_first, out);
        print_ratio(figures.over_before, out);
        text_print(out, "%7.*f%8s", figures.gigabytes < 99.95, figures.gigabytes, share);
        print_whole(figures.sass, 9, out);
        print_whole(figures.wavefronts, 9, out);
        print_whole(figures.sectors, 9, out);
        print_whole(figures.barriers, 9, out);
        text_print(out, "%3s  %s", launches, ladder->rows[row].row ? limit : "");
        end_line(out);
    }
    text_add(out,
             "SASS: machine instructions of warps. Wavefronts of shared memory, sectors of global memory, "
             "barriers by warps: emulated.\nL: launches to one number.\n");
}

/* ---- articles ------------------------------------------------------------------------------------------ */

/* Prints its figures, its gain over its first step, and ours over the same step. */
static void print_step(const PublishedStep *step, const Ladder *ours, int first, int size, Text *out) {
    int row = ladder_find_row(ours, step->kernel);
    const Timing *timing = row < 0 ? NULL : ours->rows[row].times[size];
    const Timing *before = first < 0 ? NULL : ours->rows[first].times[size];
    uint64_t n = ours->sizes[size], at;
    text_print(out, "    %-3s%-25s%-21s", step->number, step->words, step->kernel);
    for (int i = 0; published_unit(step->article, i); i++)
        text_print(out, "%*.10g", UNIT_COLUMNS,
                   published_figure(step, published_unit(step->article, i), n, &at));
    text_print(out, "%7.2fx", published_gain(step, n));
    if (timing && before)
        text_print(out, "%7.2fx\n", before->median / timing->median);
    else
        text_print(out, "%8s\n", "-");
}

static void print_article(ArticleId id, const Measurements *recorded, uint64_t n, Text *out) {
    const Article *article = published_article(id);
    Ladder ours;
    LadderOf of = {.dtype = article->timed, .op = "sum"};
    char size_name[24], at_name[24] = "n not given";
    const PublishedStep *first = NULL;
    uint64_t at;
    ladder_gather(&ours, recorded, NULL, &of);
    int size = ladder_find_size(&ours, n);
    for (int i = published_step_count() - 1; i >= 0; i--)
        if (published_step(i)->article == id) first = published_step(i);
    published_figure(first, article->unit, n, &at);
    ladder_print_size(ours.sizes[size], size_name, sizeof size_name);
    if (at) ladder_print_size(at, at_name, sizeof at_name);
    text_print(out, "\n%s  %s; %s, on %s, %s\n    %-28s%-21s", article->letter, article->title,
               article->timed, article->machine, at_name, "step", "ours");
    for (int i = 0; published_unit(id, i); i++) text_print(out, "%*s", UNIT_COLUMNS, published_unit(id, i));
    text_print(out, "%8s%8s at %s\n", "gain", "ours", size_name);
    for (int i = 0; i < published_step_count(); i++)
        if (first && published_step(i)->article == id)
            print_step(published_step(i), &ours, ladder_find_row(&ours, first->kernel), size, out);
}

static void print_claims(const Measurements *recorded, const LadderCounts *counts, Text *out) {
    char says[128], measured[160];
    bool any = false;
    for (ClaimVerdict verdict = CLAIM_REFUTED; verdict <= CLAIM_HOLDS; verdict++)
        for (int i = 0; i < published_claim_count(); i++) {
            if (published_claim(i, recorded, counts, says, sizeof says, measured, sizeof measured) != verdict)
                continue;
            if (!any) text_add(out, "\nWhat they claim, and what this machine measures\n");
            any = true;
            text_print(out, "  %-8s %-46s %s\n", verdict == CLAIM_REFUTED ? "refuted" : "holds", says,
                       measured);
        }
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

/* Rungs that fail have no counts. */
static void count_rungs(const Ladder *ladder, int size, LadderCounts *counts) {
    for (int row = 0; row < ladder->row_count; row++) {
        if (!ladder->rows[row].row || ladder->sizes[size] > LADDER_COUNTED_N) continue;
        RunSpec options =
            ladder_counts_options(ladder->rows[row].id, ladder->sizes[size], ladder->of.dtype, ladder->of.op);
        Session *session = session_open(&options, NULL);
        ladder_counts_add(counts, &options, session);
        session_free(session);
    }
}

bool cli_ladder_print(const LadderPrint *print, Text *out, Error *error) {
    Measurements recorded = {0};
    LadderCounts counts = {0};
    Ladder ladder;
    const CatalogOptions *catalog = print->catalog;
    uint64_t n = catalog->n ? catalog->n : 1 << 20;
    LadderOf of = {.dtype = catalog->dtype == PTX_NO_TYPE ? "int" : plan_type_name(catalog->dtype),
                   .op = catalog->op ? catalog->op : "sum"};
    bool ok = bench_recorded(print->machine, &recorded, error);
    if (ok) {
        ladder_gather(&ladder, &recorded, NULL, &of);
        ok = ladder.row_count ||
             error_set(error, "--ladder: no rung takes %s, and no other sum was timed in it", of.dtype);
    }
    if (ok) {
        int size = ladder_find_size(&ladder, n);
        count_rungs(&ladder, size, &counts);
        if (print->json) {
            cli_ladder_json(&ladder, &counts, size, out);
        } else {
            print_times(&ladder, out);
            print_figures(&ladder, &counts, size, out);
            text_add(out, "\nThe ladders of articles: their numbers, their figures, their machines\n");
            for (int i = 0; i < ARTICLE_COUNT; i++) print_article((ArticleId)i, &recorded, n, out);
            print_claims(&recorded, &counts, out);
        }
    }
    ladder_counts_done(&counts);
    measured_done(&recorded);
    return ok;
}

bool cli_ladder_print_latency(const LadderPrint *print, Text *out, Error *error) {
    Measurements recorded = {0};
    Latencies latencies;
    bool ok = bench_recorded(print->machine, &recorded, error);
    if (ok) latency_gather(&latencies, &recorded);
    if (ok && print->json) latency_json(&latencies, out);
    if (ok && !print->json) {
        text_add(out, "Cycles until the result can be used; ");
        print_machine(latencies.machine, latencies.measured, out);
        if (!isnan(latencies.clock)) text_print(out, ", %.0f MHz", latencies.clock);
        text_add(out, "\n");
    }
    for (int i = 0; ok && !print->json && i < latencies.count; i++) {
        const LatencyRow *row = &latencies.rows[i];
        if (row->group) text_print(out, "\n%s\n", row->group);
        if (isnan(row->cycles)) {
            text_print(out, "  %-22s%8s\n", row->label, "-");
            continue;
        }
        text_print(out, "  %-22s%8.0f%8.1f ns  ", row->label, row->cycles, row->nanoseconds);
        for (int at = 0; at < (int)(row->cycles / latencies.most * BAR_COLUMNS + 0.5); at++)
            text_add(out, "#");
        text_add(out, "\n");
    }
    measured_done(&recorded);
    return ok;
}
