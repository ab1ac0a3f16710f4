/* The report as JSON, with stable names and order of fields.
 *
 * Scripts rely on them; new fields may be added. Unknown values are null. */

#include "base/json.h"
#include "metrics/counted.h"
#include "metrics/totals.h"
#include "report/report_sass.h"
#include "report/source_text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The metrics as fields of the open object; null for a metric that traced events cannot give. */
static void put_counters(Json *json, const Totals *totals, bool from_events_only) {
#define METRIC(name, in_json, from_events, shown, of, label, pane)                                           \
    if (in_json && (from_events || !from_events_only))                                                       \
        json_unsigned(json, #name, totals->name);                                                            \
    else if (in_json)                                                                                        \
        json_null(json, #name);
#include "metrics/metrics.def"
#undef METRIC
    if (from_events_only || !totals->warp_instructions)
        json_null(json, "average_active_lanes");
    else
        json_number(json, "average_active_lanes", totals_average_active_lanes(totals));
}

static void put_totals(Json *json, const Totals *totals, bool from_events_only) {
    json_open_object(json, "totals");
    put_counters(json, totals, from_events_only);
    json_close_object(json);
}

/* Exact decimal text as a number: integers to the last digit, others as the double they came from. */
static void put_decimal(Json *json, const char *key, const char *text) {
    char *end;
    errno = 0;
    if (!text) {
        json_null(json, key);
        return;
    }
    if (text[0] == '-') {
        long long number = strtoll(text, &end, 10);
        if (!*end && !errno) {
            json_integer(json, key, number);
            return;
        }
    } else {
        unsigned long long number = strtoull(text, &end, 10);
        if (!*end && !errno && end != text) {
            json_unsigned(json, key, number);
            return;
        }
    }
    double number = strtod(text, &end);
    if (*end || end == text)
        json_null(json, key);
    else
        json_number(json, key, number);
}

static void put_result(Json *json, const ReportInput *input) {
    if (!input->has_result) {
        static const char *const keys[] = {"result",         "expected", "absolute_error",
                                           "relative_error", "correct",  "error_is_rounding"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) json_null(json, keys[i]);
        return;
    }
    put_decimal(json, "result", input->result);
    put_decimal(json, "expected", input->expected);
    json_number(json, "absolute_error", input->absolute_error);
    json_number(json, "relative_error", input->relative_error);
    json_boolean(json, "correct", input->correct);
    json_boolean(json, "error_is_rounding",
                 input->is_rounding || (input->correct && input->absolute_error == 0));
}

static void put_dimensions(Json *json, const char *key, const uint32_t dimensions[3]) {
    json_open_array(json, key);
    for (int i = 0; i < 3; i++) json_unsigned(json, NULL, dimensions[i]);
    json_close_array(json);
}

static void put_launch(Json *json, const ReportInput *input, int index) {
    const TraceLaunch *launch = input->trace->launches[index];
    json_open_object(json, NULL);
    json_string(json, "entry", launch->name);
    put_dimensions(json, "grid", launch->grid);
    put_dimensions(json, "block", launch->block);
    put_dimensions(json, "cluster", launch->cluster);
    json_unsigned(json, "shared_bytes", (uint64_t)launch->static_shared_bytes + launch->dynamic_shared_bytes);
    if (input->registers && input->registers[index] >= 0)
        json_integer(json, "registers", input->registers[index]);
    else
        json_null(json, "registers");
    if (input->occupancy && input->occupancy[index] >= 0)
        json_number(json, "occupancy", input->occupancy[index]);
    else
        json_null(json, "occupancy");
    Totals totals;
    if (input->narrowed)
        metrics_of_traced_launch(launch, &totals);
    else
        metrics_of_launch(launch, &totals);
    put_totals(json, &totals, input->narrowed);
    json_close_object(json);
}

static void put_lines(Json *json, const ReportInput *input) {
    int count;
    LineMetrics *lines = metrics_by_line(input->trace, input->narrowed, &count);
    SourceText source = {.input = input};
    json_open_array(json, "lines");
    for (int i = 0; i < count; i++) {
        json_open_object(json, NULL);
        json_string(json, "file", lines[i].file);
        json_integer(json, "line", lines[i].line);
        json_string(json, "text", source_text_of(&source, lines[i].file, lines[i].line));
        put_counters(json, &lines[i].totals, input->narrowed);
        json_close_object(json);
    }
    json_close_array(json);
    source_text_done(&source);
    free(lines);
}

/* `block` is the linear index that --trace-blocks takes; `lanes` a mask. */
static void put_trap(Json *json, const Trace *trace, const Trap *trap) {
    const TraceLaunch *launch = trap->launch < trace->launch_count ? trace->launches[trap->launch] : NULL;
    json_open_object(json, NULL);
    json_string(json, "kind", trap_kind_text(trap->kind));
    if (launch && trap->pc >= 0)
        json_integer(json, "line", metrics_line_of(launch->program, trap->pc).line);
    else
        json_null(json, "line");
    uint64_t x = launch ? launch->grid[0] : 1, y = launch ? launch->grid[1] : 1;
    json_unsigned(json, "block", trap->block[0] + x * (trap->block[1] + y * trap->block[2]));
    json_integer(json, "warp", trap->warp);
    char lanes[16];
    snprintf(lanes, sizeof lanes, "0x%08x", trap->lanes);
    json_string(json, "lanes", lanes);
    json_string(json, "detail", trap->detail);
    json_close_object(json);
}

static void sum_of_run(const ReportInput *input, Totals *sum) {
    *sum = (Totals){0};
    for (int i = 0; i < input->trace->launch_count; i++) {
        Totals launch;
        if (input->narrowed)
            metrics_of_traced_launch(input->trace->launches[i], &launch);
        else
            metrics_of_launch(input->trace->launches[i], &launch);
        totals_add(sum, &launch);
    }
}

static void put_reason(Json *json, const ReportInput *input, const MeasuredCounter *counter) {
    const SassComparison *comparison = input->compared_sass ? input->compared_sass[counter->launch] : NULL;
    Text sentence = {0};
    bool is_known = counted_reason(counter, comparison, &sentence);
    json_string(json, "reason", is_known ? text_string(&sentence) : NULL);
    text_done(&sentence);
}

/* Writes NaN, "not known", as null. */
static void put_measured(Json *json, const ReportInput *input) {
    const Measurements *measured = input->measured;
    int count = measured ? measured->counter_count : 0;
    if (!count && !report_first_sass(input)) {
        json_null(json, "measured");
        return;
    }
    json_open_object(json, "measured");
    json_string(json, "device", count ? measured->counters[0].machine : NULL);
    json_string(json, "recorded", count ? input->recorded : NULL);
    json_open_array(json, "counters");
    for (int i = 0; i < count; i++) {
        const MeasuredCounter *counter = &measured->counters[i];
        CountedAgreement agreement = counted_agreement(counter);
        json_open_object(json, NULL);
        json_integer(json, "launch", counter->launch);
        json_string(json, "metric", counter->metric);
        json_string(json, "label", counter->label + strspn(counter->label, " "));
        json_number(json, "predicted", counter->predicted);
        json_number(json, "measured", counter->value);
        json_string(json, "agreement",
                    agreement == COUNTED_NOT_COMPARED ? NULL : counted_agreement_text(agreement));
        json_string(json, "note", counter->note);
        put_reason(json, input, counter);
        json_close_object(json);
    }
    json_close_array(json);
    report_put_sass(json, input);
    json_close_object(json);
}

/* 0: not known. */
static void put_known(Json *json, const char *name, uint32_t number) {
    if (number)
        json_unsigned(json, name, number);
    else
        json_null(json, name);
}

static void put_grid_launch(Json *json, const GridTimeline *timeline, int index) {
    const GridLaunch *launch = &timeline->launches[index];
    const GridFigures *figures = &launch->figures;
    json_open_object(json, NULL);
    json_string(json, "entry", launch->entry);
    json_unsigned(json, "blocks", launch->block_count);
    put_known(json, "blocks_per_multiprocessor", launch->capacity);
    put_known(json, "blocks_per_multiprocessor_without_probe", launch->plain_capacity);
    json_number(json, "waves", grid_waves(timeline, index));
    json_unsigned(json, "most_resident", figures->most_resident);
    json_unsigned(json, "used_multiprocessors", figures->used_multiprocessors);
    json_unsigned(json, "start_ns", figures->start);
    json_unsigned(json, "end_ns", figures->end);
    if (index)
        json_integer(json, "gap_ns", grid_gap(timeline, index));
    else
        json_null(json, "gap_ns");
    json_unsigned(json, "tail_ns", figures->tail);
    json_number(json, "idle_share", figures->idle);
    json_number(json, "mean_block_ns", figures->mean_block);
    json_number(json, "longest_block_ns", figures->longest_block);
    json_close_object(json);
}

static void put_grid(Json *json, const ReportInput *input) {
    const GridTimeline *timeline = input->timeline;
    if (!timeline) {
        json_null(json, "grid_on_machine");
        return;
    }
    json_open_object(json, "grid_on_machine");
    json_string(json, "device", timeline->of.machine);
    json_string(json, "driver", *timeline->of.driver ? timeline->of.driver : NULL);
    json_string(json, "recorded", input->timeline_is_live ? NULL : timeline->of.measured);
    json_unsigned(json, "multiprocessors", timeline->multiprocessors);
    put_known(json, "granularity_ns", timeline->granularity);
    json_number(json, "overhead", timeline->overhead);
    json_open_array(json, "launches");
    for (int i = 0; i < timeline->launch_count; i++) put_grid_launch(json, timeline, i);
    json_close_array(json);
    json_close_object(json);
}

void report_json(const ReportInput *input, Text *out) {
    Json json = {.out = out};
    json_open_object(&json, NULL);
    json_string(&json, "kernel", input->kernel);
    json_string(&json, "backend", input->backend);
    if (input->read) json_string(&json, "read", input->read);
    if (input->guess) json_string(&json, "guessed", input->guess);
    if (input->other_size) json_string(&json, "other_size", input->other_size);
    if (input->looks_like)
        json_string(&json, input->has_result ? "expectation" : "looks_like", input->looks_like);
    json_string(&json, "device", input->device);
    json_unsigned(&json, "n", input->n);
    json_unsigned(&json, "block", input->block);
    json_unsigned(&json, "grid", input->grid);
    if (input->interrupted) {
        json_open_object(&json, "interrupted");
        json_unsigned(&json, "blocks_done", input->blocks_done);
        json_unsigned(&json, "blocks", input->blocks);
        json_close_object(&json);
    }
    json_string(&json, "dtype", input->dtype);
    json_string(&json, "op", input->op);
    put_result(&json, input);
    Totals totals;
    sum_of_run(input, &totals);
    put_totals(&json, &totals, input->narrowed);
    json_open_array(&json, "launches");
    for (int i = 0; i < input->trace->launch_count; i++) put_launch(&json, input, i);
    json_close_array(&json);
    put_lines(&json, input);
    put_measured(&json, input);
    put_grid(&json, input);
    json_open_array(&json, "traps");
    for (int i = 0; i < input->trace->trap_count; i++) put_trap(&json, input->trace, &input->trace->traps[i]);
    json_close_array(&json);
    findings_put_json(input->hazards, &json);
    if (input->verdict_list) findings_put_verdict(input->verdict_list, &json);
    json_string(&json, "counted_by", input->counted_by);
    json_unsigned(&json, "dropped_events", input->dropped);
    if (input->put_more) input->put_more(input->put_context, &json);
    json_close_object(&json);
    text_add(out, "\n");
}
