#include "tui/scene/curve.h"

#include "base/language.h"
#include "metrics/totals.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool curve_is_of(const CatalogRun *run) {
    return run && run->row && run->row->group == CATALOG_LAB && run->row->parameters[0].name &&
           !run->row->latencies;
}

bool curve_is_same(const Curve *curve, const CatalogRun *b) {
    const CatalogRun *a = &curve->run;
    return curve->count && a->row == b->row && a->n == b->n && a->block == b->block && a->grid == b->grid &&
           a->dtype == b->dtype && a->op && b->op && !strcmp(a->op, b->op) && a->fill == b->fill &&
           a->seed == b->seed &&
           !memcmp(a->parameters + 1, b->parameters + 1, sizeof a->parameters - sizeof *a->parameters);
}

/* In ascending order, once. */
static void add_value(Curve *curve, int64_t value) {
    int at = curve->count;
    for (int i = 0; i < curve->count; i++)
        if (curve->points[i].value == value) return;
    if (curve->count == CURVE_MOST_POINTS) return;
    for (; at > 0 && curve->points[at - 1].value > value; at--) curve->points[at] = curve->points[at - 1];
    curve->points[at] = (CurvePoint){.value = value};
    curve->count++;
}

void curve_begin(Curve *curve, const CatalogRun *run) {
    const CatalogParameter *of = &run->row->parameters[0];
    if (!curve_is_same(curve, run)) *curve = (Curve){0};
    curve->run = *run;
    bool is_wide = of->maximum - of->minimum >= CURVE_MOST_POINTS;
    add_value(curve, run->parameters[0]);
    add_value(curve, of->minimum);
    add_value(curve, of->maximum);
    for (int64_t value = of->minimum; value < of->maximum; value = is_wide && value ? 2 * value : value + 1)
        add_value(curve, value);
}

int curve_next(const Curve *curve) {
    int next = -1;
    for (int i = 0; i < curve->count; i++) {
        const CurvePoint *point = &curve->points[i];
        if (point->is_counted || point->has_failed) continue;
        if (next < 0 || point->value == curve->run.parameters[0]) next = i;
    }
    return next;
}

static double larger_mean(double so_far, uint64_t sum, uint64_t count) {
    return count ? fmax(so_far, (double)sum / (double)count) : so_far;
}

void curve_put(CurvePoint *point, const Trace *trace) {
    Totals totals;
    metrics_of_run(trace, &totals);
    *point = (CurvePoint){.value = point->value, .is_counted = true};
    point->cost[CURVE_INSTRUCTIONS] = (double)totals.warp_instructions;
    for (int i = 0; i < trace->launch_count; i++) {
        const TraceLaunch *launch = trace->launches[i];
        for (int pc = 0; launch->counters && pc < launch->program->code_count; pc++) {
            const TraceCounter *counter = &launch->counters[pc];
            double *cost = point->cost;
            cost[CURVE_WAVEFRONTS] =
                larger_mean(cost[CURVE_WAVEFRONTS], counter->wavefronts, counter->requests);
            cost[CURVE_SECTORS] = larger_mean(cost[CURVE_SECTORS], counter->sectors, counter->requests);
        }
    }
}

CurveCost curve_shown(const Curve *curve) {
    CurveCost found = CURVE_COSTS;
    double most_ratio = 1;
    for (int cost = 0; cost < CURVE_COSTS; cost++) {
        double least = 0, most = 0;
        for (int i = 0; i < curve->count; i++) {
            double of = curve->points[i].cost[cost];
            if (!curve->points[i].is_counted || of <= 0) continue;
            if (least <= 0 || of < least) least = of;
            if (of > most) most = of;
        }
        if (least <= 0 || most / least <= most_ratio) continue;
        most_ratio = most / least;
        found = (CurveCost)cost;
    }
    return found;
}

void curve_print_cost(CurveCost of, double cost, char *out, size_t bytes) {
    static const char *const nouns[CURVE_COSTS] = {"wavefront", "sector", "warp instruction"};
    static const char *const where[CURVE_COSTS] = {" of the worst shared access",
                                                   " of the worst global access", ""};
    char number[32] = "";
    bool is_whole = cost == floor(cost);
    if (!isnan(cost)) snprintf(number, sizeof number, is_whole ? tr("%.0f ") : tr("%.1f "), cost);
    snprintf(out, bytes, tr("%s%s%s%s"), number, tr(nouns[of]), cost == 1 ? "" : "s", tr(where[of]));
}
