/* --report with --compare: both runs, and the metrics in which they differ (session.h). */
#include "metrics/totals.h"
#include "session/state.h"

#include <inttypes.h>

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

void session_report_compared(Session *first, Session *second, bool json, Text *out) {
    Session *const sessions[2] = {first, second};
    ComparedTotals compared = compared_of(sessions);
    if (!json) {
        session_report(first, false, out);
        text_add(out, "\n");
        session_report(second, false, out);
        print_differences(&compared, out);
        return;
    }
    text_add(out, "{\"first\":");
    session_report(first, true, out);
    text_add(out, ",\"second\":");
    session_report(second, true, out);
    text_add(out, ",");
    Json object = {.out = out};
    put_differences(&compared, &object);
    text_add(out, "}\n");
}
