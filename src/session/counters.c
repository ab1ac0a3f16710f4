/* Hardware counters of the session's own run: its PTX as it is, its launches, its buffers, on the GPU, once a
 * pass (state.h). */
#include "gpu/counters.h"
#include "gpu/run.h"
#include "instrument/instrument.h"
#include "metrics/counted.h"
#include "session/gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Variable { /* of the module: the kernel may change it */
    CudaAddress address;
    size_t bytes;
    uint8_t *before;
} Variable;

typedef struct CountingRun { /* the session's run on the GPU */
    const Session *session;
    GpuRun run;
    GpuLaunch launches[PLAN_LAUNCHES];
    Variable *variables;
    int variable_count, variable_capacity;
} CountingRun;

/* ---- the run ----------------------------------------------------------------------------------------- */

static bool load(CountingRun *counted, Cuda *cuda, Error *error) {
    const Session *session = counted->session;
    Text ptx = {0};
    ptx_programs_print((const PtxProgram *const *)session->launches.programs, session->launches.count, &ptx);
    bool good = gpu_run_begin(&counted->run, cuda, text_string(&ptx), error);
    text_done(&ptx);
    for (int i = 0; good && i < session->filled.buffer_count; i++) {
        const PlanBuffer *buffer = &session->filled.buffers[i];
        size_t bytes = buffer->count * (size_t)ptx_type_bytes(buffer->type);
        good = gpu_run_add_buffer(&counted->run, buffer->bytes, bytes, error) >= 0;
    }
    return good;
}

/* Variables that no launch names are not in the module that was loaded: those the driver does not find. */
static bool keep_variables(CountingRun *counted, Error *error) {
    const PtxModule *module = counted->session->code.module;
    Cuda *cuda = counted->run.cuda;
    for (int i = 0; i < module->variable_count; i++) {
        Variable variable = {0};
        if (module->variables[i]->space != PTX_SPACE_GLOBAL ||
            cuda->table.cuModuleGetGlobal(&variable.address, &variable.bytes, counted->run.module,
                                          module->variables[i]->name))
            continue;
        variable.before = memory_new(variable.bytes + 1);
        array_push(counted->variables, counted->variable_count, counted->variable_capacity, variable);
        if (!CUDA_CALL(cuda, error, cuMemcpyDtoH, variable.before, variable.address, variable.bytes))
            return false;
    }
    return true;
}

static bool prepare_launches(CountingRun *counted, Error *error) {
    const GpuRun *run = &counted->run;
    uint64_t *addresses = memory_new((size_t)(run->buffer_count + 1) * sizeof *addresses);
    bool good = true;
    for (int i = 0; i < run->buffer_count; i++) addresses[i] = run->buffers[i].address;
    for (int i = 0; good && i < counted->session->launches.count; i++) {
        GpuLaunch *launch = &counted->launches[i];
        good = session_bind(counted->session, i, addresses, &launch->launch, error) &&
               gpu_run_prepare(run, launch, error);
    }
    free(addresses);
    return good;
}

static void counted_done(CountingRun *counted) {
    for (int i = 0; i < PLAN_LAUNCHES; i++) launch_done(&counted->launches[i].launch);
    for (int i = 0; i < counted->variable_count; i++) free(counted->variables[i].before);
    free(counted->variables);
    gpu_run_end(&counted->run);
}

static bool restore(void *context, Error *error) {
    CountingRun *counted = context;
    for (int i = 0; i < counted->variable_count; i++) {
        const Variable *variable = &counted->variables[i];
        if (!CUDA_CALL(counted->run.cuda, error, cuMemcpyHtoD, variable->address, variable->before,
                       variable->bytes))
            return false;
    }
    return gpu_run_upload(&counted->run, error);
}

static bool launch(void *context, int index, Error *error) {
    const CountingRun *counted = context;
    return gpu_run_launch(&counted->run, &counted->launches[index], error);
}

/* ---- beside the trace ---------------------------------------------------------------------------------- */

static void keep_launch(Session *session, int index, const double *values, const char *machine) {
    const TraceLaunch *launch = session->trace->launches[index];
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

/* The least of several measurements: what arbitration and waiting add is never the same, and never negative. */
static bool measure(CountingRun *counted, Counters *counters, int count, double *values, Error *error) {
    enum { TIMES = 5 };
    CountersWork work = {restore, launch, counted, counted->session->launches.count};
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
    CountingRun counted = {.session = session};
    list_metrics(&metrics);
    Counters *counters = counters_open(cuda, metrics.list, metrics.count, error);
    bool good = counters && load(&counted, cuda, error) && keep_variables(&counted, error) &&
                prepare_launches(&counted, error) &&
                measure(&counted, counters, metrics.count, values, error);
    for (int i = 0; good && i < session->launches.count; i++) {
        double rows[COUNTED_ROWS] = {0};
        for (int k = 0; k < metrics.count; k++) rows[metrics.row[k]] += values[i * metrics.count + k];
        keep_launch(session, i, rows, cuda->name);
    }
    counted_done(&counted);
    counters_close(counters);
    return good;
}

static bool try_to_count(Session *session, Error *error) {
    if (session->is_partial) return error_set(error, "the run is not over");
    if (session_has_fatal_trap(session->trace)) return error_set(error, "the run ended in a trap");
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
