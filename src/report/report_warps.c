#include "report/report_warps.h"

#include "base/json.h"
#include "base/sentence.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 96, LEAST_LABEL = 14, MOST_LINES = 32 };

/* ---- sentences ----------------------------------------------------------------------------------------- */

/* "+9 % (probes elsewhere: +1 %), traced blocks live 1.35x" */
static void print_cost(const WarpTimeline *timeline, Text *out) {
    double slower = timeline->traced_us / timeline->plain_us - 1;
    double untraced = timeline->untraced_us / timeline->plain_us - 1;
    double longer = timeline->traced_life / timeline->plain_life;
    const char *gap = "";
    if (isfinite(slower)) {
        text_print(out, "%+.0f %% (probes elsewhere: %+.0f %%)", slower * 100, untraced * 100);
        gap = ", ";
    }
    if (isfinite(longer)) text_print(out, "%straced blocks live %.2fx", gap, longer);
    if (warp_timeline_is_perturbed(timeline)) text_add(out, "; the probes change what they measure");
}

/* "of 5,120 cycles a warp is ready in 59 %, all wait in 38 % (global 30, barrier 8), none is resident in 3
 * %" */
static void print_summary(const WarpTimeline *timeline, Text *out) {
    WarpSummary summary = timeline->summary;
    double waiting = 0;
    if (summary.cycles <= 0) return;
    for (int state = 0; state < WARP_STATES; state++) waiting += summary.waiting[state];
    CountText count;
    text_print(out, "per scheduler: of %s cycles a warp is ready in %.0f %%, all wait in %.0f %%",
               count_text(timeline->cycles, &count), summary.ready / summary.cycles * 100,
               waiting / summary.cycles * 100);
    const char *gap = " (";
    for (int state = WARP_WORKS + 1; state < WARP_STATES; state++) {
        double share = summary.waiting[state] / summary.cycles * 100;
        if (share < 0.5) continue;
        text_print(out, "%s%s %.0f", gap, warp_state_name((WarpActivity)state), share);
        gap = ", ";
    }
    text_print(out, "%s, none is resident in %.0f %%", *gap == ',' ? ")" : "",
               summary.empty / summary.cycles * 100);
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static char letter_of(const WarpTimeline *timeline, const WarpCell *cell, uint32_t each) {
    return cell->site == WARP_CELL_ABSENT  ? ' '
           : cell->site == WARP_CELL_WORKS ? '-'
           : warp_cell_is_tick(cell, each) ? '\''
                                           : warp_state_letter(timeline->sites[cell->site].state);
}

static void print_line(const WarpTimeline *timeline, const WarpLine *line, bool is_first, Text *out) {
    char label[48] = "", letters[COLUMNS + 1] = "";
    WarpCell cells[COLUMNS];
    uint32_t each = timeline->cycles / COLUMNS + 1;
    warp_line_cells(line, 0, each, cells, COLUMNS);
    for (int i = 0; i < COLUMNS; i++) letters[i] = letter_of(timeline, &cells[i], each);
    if (is_first) snprintf(label, sizeof label, "block %llu", (unsigned long long)line->block);
    text_print(out, "  %-*s w%-2u |%s|\n", LEAST_LABEL, label, line->warp, letters);
}

static void print_sites(const ReportWarps *report, const WarpTimeline *timeline, Text *out) {
    for (int i = 0; i < timeline->site_count; i++) {
        const WarpSite *site = &timeline->sites[i];
        uint64_t waits = 0, cycles = 0;
        for (int k = 0; k < timeline->line_count; k++)
            for (int w = 0; w < timeline->lines[k].wait_count; w++) {
                const WarpWait *wait = &timeline->lines[k].waits[w];
                if (wait->site != i) continue;
                waits++;
                cycles += wait->end - wait->begin;
            }
        if (!waits) continue;
        const char *text = report->source_text(report->context, site);
        text_print(out, "  %c %-8s", warp_state_letter(site->state), warp_state_name(site->state));
        if (site->line)
            text_print(out, " line %-5d", site->line);
        else
            text_print(out, " pc %-7d", warp_site_pc(site));
        text_print(out, "%9llu ", (unsigned long long)waits);
        if (site->state == WARP_PASSES_LINE)
            text_print(out, "%-23s", "times");
        else
            text_print(out, "waits of %7.0f cycles", (double)cycles / (double)waits);
        text_print(out, "  %s\n", text ? text + strspn(text, " \t") : "");
    }
}

static void print_timeline(const ReportWarps *report, const WarpTimeline *timeline, Text *out) {
    CountText count;
    text_print(out, "%s, n = %s", timeline->of.kernel, count_text(timeline->of.n, &count));
    if (*timeline->of.dtype) text_print(out, ", %s", timeline->of.dtype);
    text_print(out, ": warps on multiprocessor %u of %s%s%s\n", timeline->multiprocessor,
               timeline->of.machine, report->is_live ? "" : ", recorded ",
               report->is_live ? "" : timeline->of.measured);
    if (timeline->resident)
        text_print(out, "made to hold %u block%s at once; ", timeline->resident,
                   timeline->resident == 1 ? "" : "s");
    if (isfinite(timeline->plain_us)) text_print(out, "%.2f us; while traced ", timeline->plain_us);
    print_cost(timeline, out);
    text_add(out, "\n");
    if (timeline->dropped) text_print(out, "%llu waits had no room\n", (unsigned long long)timeline->dropped);
    print_summary(timeline, out);
    text_print(out, "\n\n  %*s     cycles 0 .. %s, %u a column\n", LEAST_LABEL, "",
               count_text(timeline->cycles, &count), timeline->cycles / COLUMNS + 1);
    for (int i = 0; i < timeline->line_count && i < MOST_LINES; i++) {
        const WarpLine *line = &timeline->lines[i];
        bool is_first = !i || !warp_line_same_block(line, line - 1);
        print_line(timeline, line, is_first, out);
    }
    if (timeline->line_count > MOST_LINES)
        text_print(out, "  ... and %d more warps\n", timeline->line_count - MOST_LINES);
    text_add(out, "\n");
    print_sites(report, timeline, out);
    text_add(
        out,
        timeline->is_order_only
            ? "  with so many probes only the order of waits means something, not their lengths\n"
            : "  ': waits for less than half of a column; -: does not wait, or is ready and not chosen\n");
}

void report_warps_text(const ReportWarps *report, Text *out) {
    if (report->instead_of)
        text_print(out, "%s is not recorded; the nearest recording:\n\n", report->instead_of);
    for (int i = 0; i < report->count; i++) {
        if (i) text_add(out, "\n");
        print_timeline(report, report->timelines[i], out);
    }
    if (!report->count)
        text_print(out, "no timeline of warps: %s\n", report->why ? report->why : "not measured");
    if (report->count < 2) return;
    text_add(out, "\nblocks at once        us   elements a us   a warp is ready\n");
    for (int i = 0; i < report->count; i++) {
        const WarpTimeline *timeline = report->timelines[i];
        WarpSummary summary = timeline->summary;
        if (timeline->resident)
            text_print(out, "%14u", timeline->resident);
        else
            text_print(out, "%14s", "all");
        text_print(out, "%10.2f%16.0f%16.0f %%\n", timeline->plain_us,
                   (double)timeline->of.n / timeline->plain_us, summary.ready / summary.cycles * 100);
    }
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void put_summary(const WarpTimeline *timeline, Json *json) {
    WarpSummary summary = timeline->summary;
    double cycles[WARP_STATES];
    warp_state_cycles(timeline, cycles);
    json_open_object(json, "schedulers");
    json_number(json, "cycles", summary.cycles);
    json_number(json, "ready", summary.ready);
    json_open_object(json, "all_wait");
    for (int state = WARP_WORKS + 1; state < WARP_PASSES_LINE; state++)
        json_number(json, warp_state_name((WarpActivity)state), summary.waiting[state]);
    json_close_object(json);
    json_number(json, "none_resident", summary.empty);
    json_close_object(json);
    json_open_object(json, "warp_cycles");
    for (int state = 0; state < WARP_PASSES_LINE; state++)
        json_number(json, warp_state_name((WarpActivity)state), cycles[state]);
    json_close_object(json);
}

static void put_lines(const WarpTimeline *timeline, Json *json) {
    json_open_array(json, "warps");
    for (int i = 0; i < timeline->line_count; i++) {
        const WarpLine *line = &timeline->lines[i];
        json_open_object(json, NULL);
        json_integer(json, "launch", line->launch);
        json_unsigned(json, "block", line->block);
        json_unsigned(json, "warp", line->warp);
        json_unsigned(json, "scheduler", line->slot % WARP_SCHEDULERS);
        json_unsigned(json, "begin", line->begin);
        json_unsigned(json, "end", line->end);
        json_open_array(json, "waits");
        for (int k = 0; k < line->wait_count; k++) {
            json_open_array(json, NULL);
            json_unsigned(json, NULL, line->waits[k].site);
            json_unsigned(json, NULL, line->waits[k].begin);
            json_unsigned(json, NULL, line->waits[k].end);
            json_unsigned(json, NULL, line->waits[k].lane);
            json_close_array(json);
        }
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
}

static void put_timeline(const WarpTimeline *timeline, bool is_live, Json *json) {
    json_open_object(json, NULL);
    json_string(json, "kernel", timeline->of.kernel);
    json_unsigned(json, "n", timeline->of.n);
    json_string(json, "dtype", *timeline->of.dtype ? timeline->of.dtype : NULL);
    json_string(json, "machine", timeline->of.machine);
    json_string(json, "driver", timeline->of.driver);
    json_string(json, "measured", timeline->of.measured);
    json_boolean(json, "recorded", !is_live);
    json_unsigned(json, "multiprocessor", timeline->multiprocessor);
    if (timeline->resident)
        json_unsigned(json, "blocks_at_once", timeline->resident);
    else
        json_null(json, "blocks_at_once");
    json_boolean(json, "order_only", timeline->is_order_only);
    json_unsigned(json, "dropped", timeline->dropped);
    json_number(json, "plain_us", timeline->plain_us);
    json_number(json, "untraced_us", timeline->untraced_us);
    json_number(json, "traced_us", timeline->traced_us);
    json_number(json, "plain_block_cycles", timeline->plain_life);
    json_number(json, "traced_block_cycles", timeline->traced_life);
    json_unsigned(json, "cycles", timeline->cycles);
    put_summary(timeline, json);
    json_open_array(json, "sites");
    for (int i = 0; i < timeline->site_count; i++) {
        const WarpSite *site = &timeline->sites[i];
        json_open_object(json, NULL);
        json_string(json, "waits_for", warp_state_name(site->state));
        json_integer(json, "launch", site->launch);
        json_integer(json, "pc", site->pc);
        if (site->load >= 0)
            json_integer(json, "load_pc", site->load);
        else
            json_null(json, "load_pc");
        if (site->line)
            json_integer(json, "line", site->line);
        else
            json_null(json, "line");
        json_close_object(json);
    }
    json_close_array(json);
    put_lines(timeline, json);
    json_close_object(json);
}

void report_warps_json(const ReportWarps *report, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_open_array(&json, "timelines");
    for (int i = 0; i < report->count; i++) put_timeline(report->timelines[i], report->is_live, &json);
    json_close_array(&json);
    json_string(&json, "why", report->count ? NULL : report->why);
    json_close_object(&json);
    text_add(out, "\n");
}

/* ---- Perfetto ------------------------------------------------------------------------------------------ */

typedef struct PerfettoWarp {
    const ReportWarps *report;
    const WarpTimeline *timeline;
    Json *json;
    int process, thread;
} PerfettoWarp;

static void put_name(Json *json, const char *what, int process, int thread, const char *name) {
    json_open_object(json, NULL);
    json_string(json, "ph", "M");
    json_string(json, "name", what);
    json_integer(json, "pid", process);
    json_integer(json, "tid", thread);
    json_open_object(json, "args");
    json_string(json, "name", name);
    json_close_object(json);
    json_close_object(json);
}

static void put_stretch(void *context, uint32_t begin, uint32_t end, int site) {
    const PerfettoWarp *warp = context;
    Json *json = warp->json;
    const WarpSite *at = site < 0 ? NULL : &warp->timeline->sites[site];
    const char *text = at ? warp->report->source_text(warp->report->context, at) : NULL;
    json_open_object(json, NULL);
    json_string(json, "ph", "X");
    json_string(json, "name", at ? warp_state_name(at->state) : "does not wait");
    json_string(json, "cat", "warp");
    json_integer(json, "pid", warp->process);
    json_integer(json, "tid", warp->thread);
    json_unsigned(json, "ts", begin);
    json_unsigned(json, "dur", end - begin);
    if (at) {
        json_open_object(json, "args");
        json_integer(json, "pc", warp_site_pc(at));
        if (at->line) json_integer(json, "line", at->line);
        if (text) json_string(json, "source", text);
        json_close_object(json);
    }
    json_close_object(json);
}

void report_warps_perfetto(const ReportWarps *report, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "displayTimeUnit", "ns");
    json_open_array(&json, "traceEvents");
    for (int i = 0; i < report->count; i++) {
        const WarpTimeline *timeline = report->timelines[i];
        Text name = {0};
        text_print(&name, "%s on multiprocessor %u of %s (1 us is 1 cycle)", timeline->of.kernel,
                   timeline->multiprocessor, timeline->of.machine);
        put_name(&json, "process_name", i + 1, 0, text_string(&name));
        text_done(&name);
        for (int k = 0; k < timeline->line_count; k++) {
            const WarpLine *line = &timeline->lines[k];
            PerfettoWarp warp = {report, timeline, &json, i + 1, k + 1};
            char label[64];
            snprintf(label, sizeof label, "block %llu warp %u", (unsigned long long)line->block, line->warp);
            put_name(&json, "thread_name", i + 1, k + 1, label);
            warp_line_stretches(line, put_stretch, &warp);
        }
    }
    json_close_array(&json);
    json_close_object(&json);
    text_add(out, "\n");
}
