#define _POSIX_C_SOURCE 200809L
/* A run: a plan goes in; the emulator's trace and the buffers after it come out. */
#include "session/state.h"

#include "base/interrupt.h"
#include "ptx/ptx_check.h"
#include "runtime/user_program.h"

#include <stdlib.h>

enum {                           /* warp instructions */
       STOPPED_BUDGET = 1 << 24, /* a traced run takes three times as long as one of the program */
       USER_BLOCK_BUDGET = 1 << 22,
       GUESSED_BUDGET = 1 << 27 /* of a run whose arguments are invented: half a minute */
};

/* ---- execution ----------------------------------------------------------------------------------------- */

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
    const RunSpec *options = &session->options;
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
    if (session->options.observer) return session->options.observer;
    if (!session->options.search_races) return NULL;
    session->run->detector = race_detector_new();
    session->run->observer = race_detector_observer(session->run->detector);
    return &session->run->observer;
}

/* Of the module of the first launch. */
static const PtxVariable *find_variable(const Session *session, const char *name) {
    const PtxModule *module = session_module(session, session->run->plan.launches[0].module);
    for (int i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i]->name, name)) return module->variables[i];
    return NULL;
}

bool session_add_buffers(const Session *session, Emulator *emulator, const PlanBuffer *buffers, int count,
                         Error *error) {
    for (int i = 0; i < count; i++) {
        const PlanBuffer *buffer = &buffers[i];
        if (buffer->address && !emulator_place_next(emulator, buffer->address))
            return error_set(error, "buffer '%s' cannot lie at 0x%llx: buffers ascend, 256-byte aligned",
                             buffer->name, (unsigned long long)buffer->address);
        const PtxVariable *variable = buffer->variable ? find_variable(session, buffer->variable) : NULL;
        if (buffer->variable && !variable)
            return error_set(error, "the module has no variable '%s'", buffer->variable);
        if (variable && variable->bytes != buffer->count * (uint64_t)ptx_type_bytes(buffer->type))
            return error_set(error, "variable '%s' has %llu bytes in the module", buffer->variable,
                             (unsigned long long)variable->bytes);
        if (variable)
            emulator_add_variable(emulator, variable, buffer->bytes);
        else
            emulator_add_buffer(emulator, buffer->name, buffer->bytes,
                                buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
        if (buffer->fill == FILL_UNWRITTEN) emulator_mark_unwritten(emulator, i);
    }
    return true;
}

/* A launch that the program's time limit ended goes as far as it went there at most: it may have no end. */
static uint64_t budget_of_launch(const Session *session) {
    const RunSpec *options = &session->options;
    if (options->instruction_budget) return options->instruction_budget;
    if (session->guess.account.invents_arguments) return GUESSED_BUDGET;
    if (!options->program) return 0;
    const CapturedLaunch *launch = captured_original(options->program->capture, options->launch);
    if (!launch->is_cancelled) return 0;
    return launch->instructions < STOPPED_BUDGET ? launch->instructions + 1 : STOPPED_BUDGET;
}

static bool execute(Session *session, Error *error) {
    if (!check_traced_blocks(session, error)) return false;
    const RunSpec *options = &session->options;
    SessionProgress *progress = options->progress;
    bool ends_at_interrupt = options->ends_at_interrupt;
    const Plan *plan = &session->run->plan;
    size_t holds_bytes = (size_t)options->hold_count * sizeof(Hold);
    if (holds_bytes) session->run->holds = arena_copy(&session->run->arena, options->holds, holds_bytes);
    EmulatorOptions settings = {
        .threads = options->threads,
        .seed = options->catalog.seed,
        .schedule = options->schedule,
        .holds = session->run->holds,
        .hold_count = options->hold_count,
        .trace_first = plan->has_trace_blocks ? plan->trace_first : 0,
        .trace_last = plan->has_trace_blocks ? plan->trace_last : 0,
        .has_trace_also = session->fault_block >= 0,
        .trace_also = session->fault_block >= 0 ? (uint32_t)session->fault_block : 0,
        .first_look = wants_first_look(session),
        .keeps_going = options->keep_going,
        .has_shadow = options->has_shadow,
        .instruction_budget = budget_of_launch(session),
        .block_budget = session->kernel.row || options->program || options->instruction_budget
                            ? 0
                            : budget_of_block(session),
        .blocks_done = progress ? &progress->done : &session->run->blocks_done,
        .multiprocessors = options->catalog.multiprocessors,
        .observer = observer_of(session),
        .cancel = ends_at_interrupt ? &session->run->interrupted : options->cancel,
    };
    session->run->emulator = emulator_new(&settings);
    emulator_set_heap(session->run->emulator, plan->heap_bytes);
    session->run->trace = trace_new("emulator");
    if (!session_add_buffers(session, session->run->emulator, plan->buffers, plan->buffer_count, error))
        return false;
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
    const PlanLaunch *first = &session->run->plan.launches[0];
    for (int i = 0; i < first->write_count; i++) { /* before the first launch: part of the input */
        const PlanWrite *write = &first->writes[i];
        memcpy((uint8_t *)session->run->filled.buffers[write->buffer].bytes + write->offset, write->bytes,
               (size_t)write->byte_count);
    }
}

bool session_run_plan(Session *session, const Plan *plan, Error *error) {
    uint64_t seed = session->kernel.row ? session->options.catalog.seed : session->guess.request.seed;
    bool good = session_take_plan(session, plan, error) && check_launches(session, error);
    Plan *taken = &session->run->plan;
    taken->cancel = session->options.cancel;
    taken->threads = session->options.threads;
    good = good && plan_fill(taken, seed, error);
    taken->cancel = NULL; /* session_open() has an end, the plan outlives it */
    if (good && !session->is_unchecked) keep_inputs(session);
    return good && execute(session, error);
}
