/* Hardware counters of the session's own run: its PTX as it is, its launches, its buffers, on the GPU, once a
 * pass (state.h). */
#include "gpu/counters.h"
#include "instrument/instrument.h"
#include "metrics/counted.h"
#include "session/gpu.h"
#include "session/plain_run.h"

#include <math.h>
#include <stdlib.h>

/* ---- beside the trace ---------------------------------------------------------------------------------- */

static void keep_launch(Session *session, int index, const double *values, const char *machine) {
    const TraceLaunch *launch = session->run->trace->launches[index];
    double predicted[COUNTED_ROWS], waiting[COUNTED_ROWS];
    bool *waits = memory_new((size_t)launch->program->code_count + 1);
    instrument_find_waiting(launch->program, waits);
    counted_predict(launch, waits, predicted, waiting);
    free(waits);
    for (int i = 0; i < COUNTED_ROWS; i++) {
        MeasuredCounter counter = {.launch = index,
                                   .metric = counted_rows[i].metric,
                                   .label = counted_rows[i].label,
                                   .machine = machine,
                                   .value = values[i],
                                   .predicted = predicted[i]};
        if (counted_is_least(launch, i))
            counter.note = "at least; other warps make the loops of atomics longer";
        if (waiting[i] > 0) counter.note = "besides those of a loop that waits for other threads";
        if (!isnan(counter.value)) measured_add_counter(&session->machine.measured, &counter);
    }
}

/* The profiler's metrics behind the rows: "a + b" is two of them. */
typedef struct Metrics {
    char names[COUNTED_METRICS][COUNTED_NAME];
    const char *list[COUNTED_METRICS];
    int row[COUNTED_METRICS];
    int count;
} Metrics;

static void list_metrics(Metrics *metrics) {
    for (int row = 0; row < COUNTED_ROWS; row++)
        for (const char *at = counted_rows[row].metric; *at; at += strspn(at, " +")) {
            int length = (int)strcspn(at, " ");
            snprintf(metrics->names[metrics->count], COUNTED_NAME, "%.*s", length, at);
            metrics->list[metrics->count] = metrics->names[metrics->count];
            metrics->row[metrics->count++] = row;
            at += length;
        }
}

/* Takes the least of several measurements: arbitration and waiting only add, and never the same amount. */
static bool measure(PlainRun *counted, Counters *counters, int count, double *values, Error *error) {
    enum { TIMES = 5 };
    CountersWork work = {plain_run_restore, plain_run_launch, counted, counted->session->run->launches.count};
    size_t total = (size_t)work.launches * (size_t)count;
    double *again = memory_new((total + 1) * sizeof *again);
    bool good = counters_measure(counters, &work, values, error);
    for (int time = 1; good && time < TIMES; time++) {
        good = counters_measure(counters, &work, again, error);
        for (size_t i = 0; good && i < total; i++) values[i] = fmin(values[i], again[i]);
    }
    free(again);
    return good;
}

static bool count(Session *session, Cuda *cuda, Error *error) {
    double values[PLAN_LAUNCHES * COUNTED_METRICS];
    Metrics metrics = {.count = 0};
    PlainRun plain = {0};
    list_metrics(&metrics);
    Counters *counters = counters_open(cuda, metrics.list, metrics.count, error);
    bool good = counters && plain_run_open(&plain, session, cuda, false, error) &&
                measure(&plain, counters, metrics.count, values, error);
    for (int i = 0; good && i < session->run->launches.count; i++) {
        double rows[COUNTED_ROWS] = {0};
        for (int k = 0; k < metrics.count; k++) rows[metrics.row[k]] += values[i * metrics.count + k];
        keep_launch(session, i, rows, cuda->name);
    }
    plain_run_done(&plain);
    counters_close(counters);
    return good;
}

static bool try_to_count(Session *session, Error *error) {
    if (session->run->is_partial) return error_set(error, "the run is not over");
    if (trace_has_fault(session->run->trace)) return error_set(error, "the run ended in a trap");
    Cuda *cuda = session_gpu_take(error);
    bool good = cuda && count(session, cuda, error);
    if (cuda) session_gpu_give_back(!good);
    return good;
}

const char *session_uncounted(const Session *session) {
    return session->machine.uncounted;
}

void session_count(Session *session) {
    Error error = {0};
    if (!try_to_count(session, &error))
        session->machine.uncounted = arena_copy_string(&session->arena, error.message);
}
