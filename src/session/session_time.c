/* The time of a session's run on the GPU of this machine, all its launches together (session.h). Each
 * repetition begins with the inputs in place: they are copied on the device before its first event. */
#include "base/clock.h"
#include "session/gpu.h"
#include "session/plain_run.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 3, REPETITIONS = 20 };
static const double WARM_UP_SECONDS = 0.3, MOST_SECONDS = 1.2;

/* ---- may it be launched? ------------------------------------------------------------------------------- */

static const char *refusal_of_trap(const Trap *trap) {
    switch (trap->kind) {
    case TRAP_DIVERGENT_BARRIER:
    case TRAP_DEADLOCK:
    case TRAP_MISSING_LANES:
    case TRAP_INSTRUCTION_BUDGET:
    case TRAP_MBARRIER:
        return "it may not end";
    case TRAP_NOT_EMULATED:
    case TRAP_TOO_LARGE:
        return "the emulator did not run it to its end";
    case TRAP_ARRAY_OVERRUN:
        return trap->space == PTX_SPACE_SHARED ? NULL : "it has a fault";
    case TRAP_HEAP_OVERRUN:
    case TRAP_USE_AFTER_FREE:
        return "it has a fault";
    default:
        return trap_kind_is_fatal(trap->kind) || trap_kind_is_dropped(trap->kind) ? "it has a fault" : NULL;
    }
}

/* Of errors that are no faults, two may be worse on a GPU: a thread that waits for a word may read the old
 * one for ever, and memory of a block that has exited is an illegal address. */
static const char *refusal_of_error(const Finding *finding) {
    if (finding->kind == FINDING_STALE_READ) return "it may not end";
    return finding->kind == FINDING_BLOCK_LIFETIME ? "it has a fault" : NULL;
}

const char *session_untimed(const Session *session) {
    const Trace *trace = session->run->trace;
    const Findings *findings = session->findings.hazards;
    const char *why = NULL;
    for (int i = 0; !why && i < trace->trap_count; i++) why = refusal_of_trap(&trace->traps[i]);
    for (int i = 0; !why && findings && i < findings->error_count; i++)
        why = refusal_of_error(&findings->items[i]);
    if (!why && session_needs_emulator(&session->run->plan)) why = "only the emulator can run its launches";
    return why;
}

bool session_wants_time(const Session *session, RunSpec *wanted) {
    if (session_is_from_file(session) || (session->run->is_partial && !session_is_captured(session)))
        return false;
    *wanted = session->options;
    wanted->backend = BACKEND_EMULATOR;
    wanted->counters = COUNTERS_NONE;
    wanted->times_blocks = wanted->times_warps = wanted->measure_sass = false;
    wanted->search_races = wanted->has_events = false;
    wanted->times_run = !session_untimed(session);
    wanted->keep_inputs = wanted->first_look = true;
    wanted->progress = NULL;
    wanted->unsupported = NULL;
    return true;
}

/* ---- measured ------------------------------------------------------------------------------------------ */

typedef struct TimedRun {
    PlainRun plain;
    Timer timer;
    /* [plain.run.buffer_count] copies of the buffers as they are before the run, on the device; 0: none */
    CudaAddress *inputs;
    bool has_inputs; /* else they come from the host: the device has no room for them twice */
} TimedRun;

static bool copy(const TimedRun *timed, int index, bool is_back, Error *error) {
    const GpuBuffer *buffer = &timed->plain.run.buffers[index];
    CudaAddress from = is_back ? timed->inputs[index] : buffer->address;
    CudaAddress to = is_back ? buffer->address : timed->inputs[index];
    Cuda *cuda = timed->plain.run.cuda;
    return !timed->inputs[index] ||
           CUDA_CALL(cuda, error, cuMemcpyDtoDAsync, to, from, buffer->bytes, cuda->stream);
}

static bool keep_inputs(TimedRun *timed, Error *error) {
    const GpuRun *run = &timed->plain.run;
    if (!plain_run_restore(&timed->plain, error)) return false;
    timed->inputs = memory_new((size_t)(run->buffer_count + 1) * sizeof *timed->inputs);
    timed->has_inputs = true;
    for (int i = 0; timed->has_inputs && i < run->buffer_count; i++)
        if (run->buffers[i].address && run->buffers[i].bytes)
            timed->has_inputs = cuda_allocate(run->cuda, run->buffers[i].bytes, &timed->inputs[i], NULL);
    for (int i = 0; timed->has_inputs && i < run->buffer_count; i++)
        if (!copy(timed, i, false, error)) return false;
    return true;
}

static bool restore(TimedRun *timed, Error *error) {
    const GpuRun *run = &timed->plain.run;
    if (!timed->has_inputs) return plain_run_restore(&timed->plain, error);
    for (int i = 0; i < run->buffer_count; i++)
        if (!copy(timed, i, true, error)) return false;
    return gpu_variables_restore(&timed->plain.variables, run->cuda, error);
}

static bool enqueue(void *context, Error *error) {
    TimedRun *timed = context;
    for (int i = 0; i < timed->plain.session->run->launches.count; i++)
        if (!plain_run_launch(&timed->plain, i, error)) return false;
    return true;
}

/* The first repetition loads the code; of a run that takes long it is the only one. */
static bool repeat(TimedRun *timed, Spread *out, Error *error) {
    Samples samples;
    double begin = clock_seconds(), microseconds = 0;
    samples_begin(&samples, 1, MOST_SECONDS);
    for (int i = 0; i < WARM_UPS + REPETITIONS && (!i || clock_seconds() < begin + MOST_SECONDS); i++) {
        if (!restore(timed, error) ||
            !time_once(&timed->timer, false, enqueue, timed, "timing", &microseconds, error))
            return false;
        bool is_warm = i >= WARM_UPS || clock_seconds() > begin + WARM_UP_SECONDS;
        if (is_warm) samples_add(&samples, microseconds);
    }
    if (!samples.count) samples_add(&samples, microseconds);
    *out = samples_spread(&samples);
    return true;
}

static bool measure(Session *session, Cuda *cuda, Spread *spread, Error *error) {
    TimedRun timed = {.has_inputs = false};
    bool good = plain_run_open(&timed.plain, session, cuda, false, error) &&
                timer_new(&timed.timer, cuda, error) && keep_inputs(&timed, error);
    if (good) {
        cuda_turn_begin();
        good = repeat(&timed, spread, error);
        cuda_turn_end();
    }
    for (int i = 0; timed.inputs && i < timed.plain.run.buffer_count; i++)
        if (timed.inputs[i] && !cuda->hung) cuda->table.cuMemFree(timed.inputs[i]);
    free(timed.inputs);
    timer_free(&timed.timer);
    plain_run_done(&timed.plain);
    return good;
}

void session_measure_time(Session *session) {
    Error error = {0};
    Spread spread = {.count = 0};
    SessionTime *time = &session->machine.time;
    if ((time->why = session_untimed(session))) return;
    Cuda *cuda = session_gpu_take(&error);
    if (cuda) {
        cuda->cancel = session->options.cancel;
        bool good = measure(session, cuda, &spread, &error);
        cuda->cancel = NULL;
        time->machine = arena_copy_string(&session->arena, cuda->name);
        session_gpu_give_back(!good);
    }
    time->microseconds = spread.median;
    time->repetitions = spread.count;
    time->why = spread.count ? NULL : arena_copy_string(&session->arena, error.message);
}

SessionTime session_take_time(const Session *session, const Session *measured) {
    SessionTime time = measured->machine.time;
    const char *why = session_untimed(session);
    if (!why && strcmp(session->code.text, measured->code.text) != 0)
        why = "the file has changed since this run";
    return why ? (SessionTime){.machine = time.machine, .why = why} : time;
}
