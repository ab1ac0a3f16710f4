/* The report of a run: --report, --sass; with --compare both runs, and the metrics in which they differ
 * (ask.h). */
#include "metrics/totals.h"
#include "ask/questions.h"
#include "metrics/metrics.h"
#include "plan/expression.h"
#include "report/report_sass.h"
#include "runtime/launch_list.h"
#include "runtime/user_program.h"

#include <inttypes.h>

static const char *report_source(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

typedef struct SassList { /* of all launches */
    const SassKernel *sass[PLAN_LAUNCHES];
    const SassComparison *compared[PLAN_LAUNCHES];
    const char *why[PLAN_LAUNCHES];
} SassList;

static void list_sass(Session *session, SassList *list) {
    *list = (SassList){.sass = {NULL}};
    for (int i = 0; i < session->run->launches.count && i < PLAN_LAUNCHES; i++) {
        list->sass[i] = session_sass(session, i, &list->why[i]);
        list->compared[i] = session_compared_sass(session, i);
    }
}

void session_print_sass(Session *session, bool json, Text *out) {
    SassList list;
    for (int i = 0; i < session->run->launches.count; i++) session_assemble_sass(session, i, 60);
    list_sass(session, &list);
    ReportSass input = {.kernel = session_name(session),
                        .launch_count = session->run->launches.count,
                        .sass = list.sass,
                        .compared = list.compared,
                        .why = list.why,
                        .source_text = report_source,
                        .context = session};
    (json ? report_sass_json : report_sass_text)(&input, out);
}

static uint64_t count_blocks(const Session *session) {
    uint64_t blocks = 0;
    for (int i = 0; i < session->run->plan.launch_count; i++)
        blocks += launch_volume(session->run->plan.launches[i].grid);
    return blocks;
}

/* The launches of the program before the one that is reported. */
static void print_program(Session *session, Text *out) {
    enum { MOST_ROWS = 40 };
    const RunSpec *options = &session->options;
    const Captured *capture = options->program->capture;
    const char *place = capture->launches[options->launch].place;
    LaunchShown shown = {options->launch, ask_counted(session)};
    launch_list_print(options->program, MOST_ROWS, &shown, out);
    text_print(out, "\nlaunch %d of %d%s%s\n", options->launch + 1, capture->launch_count, place ? ", " : "",
               place ? place : "");
}

static void put_program(void *context, Json *json) {
    const Session *session = context;
    json_integer(json, "launch", session->options.launch + 1);
    launch_list_put_json(session->options.program, json);
}

/* False: no argument is made of n, and no buffer has as many elements. */
static bool uses_n(const Session *session) {
    const Plan *plan = &session->run->plan;
    const char *arguments = session->options.args;
    if (session->kernel.row || !arguments || session->options.program || session->options.launches)
        return true;
    for (int i = 0; i < plan->buffer_count; i++)
        if (plan->buffers[i].count == session->kernel.n) return true;
    return expression_mentions(arguments, "n");
}

void ask_report(Session *session, bool json, Text *out) {
    SassList list;
    if (session->options.program && !json) print_program(session, out);
    list_sass(session, &list);
    const TraceLaunch *first = session->run->trace->launches[0];
    /* what the catalogue says of a kernel need not be true of a changed copy */
    const CatalogRow *as_ships = session->code.is_edited ? NULL : session->kernel.row;
    const char *readable = as_ships ? as_ships->title : NULL;
    bool known = json && (session->run->detector || session->options.is_from_file);
    if (known) ask_hazards(session); /* which may find the result wrong */
    ReportInput input = {
        .guess = session->guess.account.guessed,
        .unopened = session_unopened_source(session),
        .other_size = ask_other_size(session),
        .is_judged = session->options.program && session->options.program->is_judged,
        .hides_n = !uses_n(session),
        .compiled_by = session->code.refusal,
        .read = session->guess.account.read,
        .looks_like = session->guess.verdict.looks_like,
        .changes_nothing = session->guess.verdict.changes_nothing,
        .put_more = session->options.program ? put_program : NULL,
        .put_context = session,
        .is_guess = session_is_guess(session),
        .program = session->guess.account.has_program ? session->options.file : NULL,
        .kernel = session_name(session),
        .title = readable,
        .lesson = as_ships ? as_ships->lesson : NULL,
        .backend = session->run->trace->producer,
        .device = session->machine.device,
        .counted_by = session->options.has_trace_blocks ? session->run->trace->producer : "emulator",
        .dropped = session_dropped_events(session),
        .unprobed = session->machine.unprobed,
        .n = session->kernel.n,
        .block = (uint32_t)launch_volume(first->block),
        .grid = (uint32_t)launch_volume(first->grid),
        .dtype = session->kernel.dtype,
        .op = session->kernel.op,
        .has_result = session->has_result,
        .narrowed = session->options.has_trace_blocks,
        .interrupted = session_is_interrupted(session),
        .blocks_done = session->run->blocks_done,
        .blocks = count_blocks(session),
        .trace = session->run->trace,
        .registers = session->run->launches.registers,
        .occupancy = session->run->launches.occupancy,
        .occupancy_of = "an H200",
        .measured = &session->machine.measured,
        .timeline = session_own_grid(session),
        .timeline_is_live = session_grid(session)->is_live,
        .recorded = session_recorded(session),
        .unmeasured = session_uncounted(session),
        .counts_only = !json,
        .hazards = known ? ask_hazards(session) : NULL,
        .verdict_list = json ? ask_verdict(session) : ask_counted(session),
        .sass = list.sass,
        .compared_sass = list.compared,
        .no_sass = list.why,
        .source_text = report_source,
        .context = session,
    };
    if (session->has_result) {
        input.correct = session->result.correct;
        input.result = trace_has_fatal_trap(session->run->trace) ? NULL : session->result.result_text;
        input.expected = session->result.expected_text;
        input.absolute_error = session->result.absolute_error;
        input.relative_error = session->result.relative_error;
        input.bound = session->result.bound;
        input.is_rounding = session->result.is_rounding;
        input.rounding = session->result.rounding;
        input.verdict = session->result.verdict;
        input.compared = session->result.compared;
        input.index = session->result.index;
    }
    (json ? report_json : report_text)(&input, out);
}

/* ---- of two runs --------------------------------------------------------------------------------------- */

typedef struct ComparedTotals {
    Totals totals[2];
    const char *names[2];
} ComparedTotals;

static ComparedTotals compared_of(Session *const sessions[2]) {
    ComparedTotals compared;
    for (int i = 0; i < 2; i++) {
        metrics_of_run(sessions[i]->run->trace, &compared.totals[i]);
        compared.names[i] = sessions[i]->kernel.name;
    }
    return compared;
}

/* "shared loads, wavefronts, ideal" */
static void print_metric(Metric metric, Text *out) {
    const MetricInfo *info = &metric_infos[metric];
    if (info->of != metric && info->shown != SHOWN_LANES) {
        print_metric(info->of, out);
        text_add(out, ", ");
    }
    text_add(out, info->label);
}

static void print_differences(const ComparedTotals *compared, Text *out) {
    int differing = 0;
    text_print(out, "\n%-48s %14s %14s\n", "differences", "first", "second");
    for (int m = 0; m < METRIC_COUNT; m++) {
        const Totals *totals = compared->totals;
        uint64_t first = totals_value(&totals[0], (Metric)m), second = totals_value(&totals[1], (Metric)m);
        Text name = {0};
        print_metric((Metric)m, &name);
        if (first != second && metric_infos[m].shown == SHOWN_LANES)
            text_print(out, "  %-46s %14.1f %14.1f\n", text_string(&name),
                       totals_average_active_lanes(&totals[0]), totals_average_active_lanes(&totals[1]));
        else if (first != second)
            text_print(out, "  %-46s %14" PRIu64 " %14" PRIu64 "\n", text_string(&name), first, second);
        differing += first != second;
        text_done(&name);
    }
    if (!differing) text_add(out, "  none: all metrics are the same\n");
}

static void put_differences(const ComparedTotals *compared, Json *json) {
    json_open_object(json, "differences");
    for (int m = 0; m < METRIC_COUNT; m++) {
        uint64_t first = totals_value(&compared->totals[0], (Metric)m),
                 second = totals_value(&compared->totals[1], (Metric)m);
        if (first == second) continue;
        json_open_array(json, metric_infos[m].name);
        json_unsigned(json, NULL, first);
        json_unsigned(json, NULL, second);
        json_close_array(json);
    }
    json_close_object(json);
}

void ask_report_compared(Session *first, Session *second, bool json, Text *out) {
    Session *const sessions[2] = {first, second};
    ComparedTotals compared = compared_of(sessions);
    if (!json) {
        ask_report(first, false, out);
        text_add(out, "\n");
        ask_report(second, false, out);
        print_differences(&compared, out);
        return;
    }
    text_add(out, "{\"first\":");
    ask_report(first, true, out);
    text_add(out, ",\"second\":");
    ask_report(second, true, out);
    text_add(out, ",");
    Json object = {.out = out};
    put_differences(&compared, &object);
    text_add(out, "}\n");
}
