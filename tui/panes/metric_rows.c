#include "tui/panes/metric_rows.h"

#include "base/language.h"
#include "metrics/totals.h"
#include <string.h>

static bool is_same_row(Metric a, Metric b) {
    const MetricInfo *x = &metric_infos[a], *y = &metric_infos[b];
    if (a == b) return true;
    if (!x->from_events || !y->from_events || x->shown != y->shown || strcmp(x->pane, y->pane) != 0)
        return false;
    return x->shown == SHOWN_COUNT || is_same_row(x->of, y->of);
}

static bool is_row(int row) {
    for (Metric metric = 0; (int)metric < row; metric++)
        if (is_same_row(metric, (Metric)row)) return false;
    return metric_infos[row].from_events;
}

int metric_row_count(void) {
    return METRIC_COUNT;
}

const char *metric_row_label(int row) {
    return tr(metric_infos[row].pane);
}

bool metric_row_is_part(int row) {
    return metric_infos[row].shown != SHOWN_COUNT;
}

uint64_t metric_row_value(int row, const Totals *totals) {
    uint64_t sum = 0;
    if (!is_row(row)) return 0;
    for (Metric metric = (Metric)row; metric < METRIC_COUNT; metric++)
        if (is_same_row(metric, (Metric)row)) sum += totals_value(totals, metric);
    return sum;
}

bool metric_row_has_excess(int row, const Totals *totals) {
    uint64_t ideal = 0;
    if (metric_infos[row].shown == SHOWN_WASTE) return metric_row_value(row, totals) > 0;
    bool has_ideal = false;
    for (Metric metric = 0; metric < METRIC_COUNT; metric++)
        if (metric_infos[metric].shown == SHOWN_IDEAL && is_same_row(metric_infos[metric].of, (Metric)row)) {
            ideal += totals_value(totals, metric);
            has_ideal = true;
        }
    return has_ideal && metric_row_value(row, totals) > ideal;
}

/* The step as counters: one execution of each kind of work in it. */
bool metric_row_counts(int row, const StepIndexEntry *step) {
    TraceCounter counter = {.executions = 1,
                            .lanes = step->lanes,
                            .requests = 1,
                            .wavefronts = step->wavefronts,
                            .ideal_wavefronts = step->ideal,
                            .sectors = 1,
                            .ideal_sectors = 1,
                            .divergent = step->diverges};
    Totals totals = {0};
    metrics_add_counter((TraceKind)step->kind, &counter, &totals);
    /* Generic ones may mix state spaces. */
    if (step->accesses) metrics_add_counter(TRACE_SHARED_LOAD, &counter, &totals);
    return metric_row_value(row, &totals) > 0;
}
