#define _POSIX_C_SOURCE 200809L
/* A run: a plan goes in; the emulator's trace and the buffers after it come out. */
#include "session/state.h"

#include "base/interrupt.h"
#include "ptx/ptx_check.h"
#include <stdlib.h>

enum { /* warp instructions */
       USER_BLOCK_BUDGET = 1 << 22,
       CANDIDATE_BUDGET = 1 << 22, /* of a run with other guesses: less than a second */
       USER_BUDGET = 1 << 27       /* of a run whose n may be less: half a minute */
};

/* ---- execution ------------------------------------------------------------------------------------------ */

static uint64_t elements_of(const Session *session) {
    return session->kernel.row ? session->kernel.run.n : session->guess.account.n;
}

/* An endless loop in a user's kernel must be reported within seconds. A block of few threads may still have
 * many elements. */
static uint64_t budget_of_block(const Session *session) {
    enum { OF_ELEMENT = 16, LANES = 32 }; /* warp instructions */
    const PlanLaunch *first = &session->run->plan.launches[0];
    uint64_t threads = launch_volume(first->block), lanes = threads < LANES ? threads : LANES,
             elements = elements_of(session) / launch_volume(first->grid) / lanes;
    return elements > USER_BLOCK_BUDGET / OF_ELEMENT ? elements * OF_ELEMENT : USER_BLOCK_BUDGET;
}

/* After an interrupt, the counters and events so far stay. */
static bool run_launch(Session *session, int index, bool ends_at_interrupt, Error *error) {
    Launch *launch = &session->run->launches.bound[index];
    const PlanLaunch *planned = &session->run->plan.launches[index];
    for (int i = 0; i < planned->write_count; i++) {
        const PlanWrite *write = &planned->writes[i];
        emulator_write(session->run->emulator, write->buffer, write->offset, write->bytes, write->byte_count);
    }
    if (!session_bind_emulated(session, index, session->run->emulator, launch, error)) return false;
    if (ends_at_interrupt) interrupt_catch(&session->run->interrupted);
    bool good = emulator_run(session->run->emulator, launch, session->run->trace, error);
    if (ends_at_interrupt) interrupt_leave();
    return good || session->run->interrupted;
}

/* Refuses before the run what ptxas would refuse. */
static bool check_launches(const Session *session, Error *error) {
    for (int i = 0; i < session->run->launches.count; i++)
        if (!ptx_program_check(session->run->launches.programs[i], error)) return false;
    return true;
}

/* A first look pays if the blocks after the traced ones take noticeable time. */
static bool wants_first_look(const Session *session) {
    enum { NOT_WAITED_FOR = 1 << 18 }; /* threads, or elements where a thread takes several */
    const SessionOptions *options = &session->options;
    const Plan *plan = &session->run->plan;
    const PlanLaunch *first = &plan->launches[0];
    uint64_t blocks = launch_volume(first->grid),
             shown = plan->has_trace_blocks ? plan->trace_last + UINT64_C(1) : 1;
    uint64_t work = blocks * launch_volume(first->block), n = elements_of(session);
    if (work < n) work = n;
    return options->first_look && blocks > shown && work / blocks * (blocks - shown) >= NOT_WAITED_FOR;
}

/* At least one launch must have the first traced block. */
static bool check_traced_blocks(const Session *session, Error *error) {
    const Plan *plan = &session->run->plan;
    uint64_t most = 0;
    for (int i = 0; i < plan->launch_count; i++) {
        uint64_t blocks = launch_volume(plan->launches[i].grid);
        if (blocks > most) most = blocks;
    }
    if (!plan->has_trace_blocks || plan->trace_first < most) return true;
    return error_set(error, "--trace-blocks %u: the grid has %llu blocks, 0 to %llu", plan->trace_first,
                     (unsigned long long)most, (unsigned long long)most - 1);
}

/* The race detector's observer, if the options ask for races and the run will be kept; else NULL. */
static const TraceObserver *observer_of(Session *session) {
    bool may_go_on = !session->kernel.row && guess_may_try_block(&session->guess);
    if (!session->options.search_races || may_go_on) return NULL;
    session->run->detector = race_detector_new();
    session->run->observer = race_detector_observer(session->run->detector);
    return &session->run->observer;
}

static bool add_buffers(SessionRun *run, Error *error) {
    for (int i = 0; i < run->plan.buffer_count; i++) {
        const PlanBuffer *buffer = &run->plan.buffers[i];
        if (buffer->address && !emulator_place_next(run->emulator, buffer->address))
            return error_set(error, "buffer '%s' cannot lie at 0x%llx: buffers ascend, 256-byte aligned",
                             buffer->name, (unsigned long long)buffer->address);
        emulator_add_buffer(run->emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
        if (buffer->fill == FILL_UNWRITTEN) emulator_mark_unwritten(run->emulator, i);
    }
    return true;
}

static bool execute(Session *session, bool is_candidate, Error *error) {
    if (!check_traced_blocks(session, error)) return false;
    const SessionOptions *options = &session->options;
    SessionProgress *progress = is_candidate ? NULL : options->progress;
    bool ends_at_interrupt = options->ends_at_interrupt && !is_candidate;
    const Plan *plan = &session->run->plan;
    EmulatorOptions settings = {
        .threads = options->threads,
        .seed = options->catalog.seed,
        .schedule = options->schedule,
        .trace_first = plan->has_trace_blocks ? plan->trace_first : 0,
        .trace_last = plan->has_trace_blocks ? plan->trace_last : 0,
        .has_trace_also = session->fault_block >= 0,
        .trace_also = session->fault_block >= 0 ? (uint32_t)session->fault_block : 0,
        .first_look = !is_candidate && wants_first_look(session),
        .keeps_going = options->keep_going,
        .instruction_budget = is_candidate                        ? CANDIDATE_BUDGET
                              : options->instruction_budget       ? options->instruction_budget
                              : session->guess.account.may_shrink ? USER_BUDGET
                                                                  : 0,
        .block_budget = session->kernel.row || options->instruction_budget ? 0 : budget_of_block(session),
        .blocks_done = progress ? &progress->done : &session->run->blocks_done,
        .multiprocessors = options->catalog.multiprocessors,
        .observer = is_candidate ? NULL : observer_of(session),
        .cancel = ends_at_interrupt ? &session->run->interrupted : options->cancel,
    };
    session->run->emulator = emulator_new(&settings);
    session->run->trace = trace_new("emulator");
    if (!add_buffers(session->run, error)) return false;
    if (!options->until_unsupported && !session_check_supported(session, error)) return false;
    uint64_t blocks = 0;
    if (progress) {
        progress->done = progress->blocks = 0;
        for (int i = 0; i < plan->launch_count; i++)
            progress->blocks += launch_volume(plan->launches[i].grid);
    }
    for (int i = 0;
         i < plan->launch_count && !trace_has_fatal_trap(session->run->trace) && !session->run->is_partial;
         i++) {
        if (!run_launch(session, i, ends_at_interrupt, error)) return false;
        if (progress) session->run->blocks_done = progress->done;
        blocks += launch_volume(plan->launches[i].grid);
        session->run->is_partial = session->run->interrupted || (session->run->blocks_done < blocks &&
                                                                 !trace_has_fatal_trap(session->run->trace));
    }
    return true;
}

/* The reference needs the inputs from before the run, which the kernel may change. */
static void keep_inputs(Session *session) {
    session->run->filled = session->run->plan;
    session->run->filled.arena = (Arena){0};
    size_t count = (size_t)session->run->plan.buffer_count;
    session->run->filled.buffers = memory_new((count + 1) * sizeof(PlanBuffer));
    for (size_t i = 0; i < count; i++) {
        PlanBuffer *copy = &session->run->filled.buffers[i];
        *copy = session->run->plan.buffers[i];
        copy->bytes = plan_copy_bytes(&session->run->plan, (int)i);
    }
}

bool session_run_plan(Session *session, const Plan *plan, const RunSettings *settings, Error *error) {
    static const GuessElements own = {0};
    uint64_t seed = session->kernel.row ? session->options.catalog.seed : session->guess.request.seed;
    bool good = session_take_plan(session, plan, error) && check_launches(session, error);
    Plan *taken = &session->run->plan;
    taken->cancel = session->options.cancel;
    taken->threads = session->options.threads;
    good = good && plan_fill(taken, seed, error) &&
           guess_change_elements(taken, settings->elements ? settings->elements : &own, seed, error);
    if (good && !session->is_unchecked) keep_inputs(session);
    return good && execute(session, settings->is_candidate, error);
}
