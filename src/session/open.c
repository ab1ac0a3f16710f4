#define _POSIX_C_SOURCE 200809L
/* Opens a session: plans the kernel, runs it and checks the result. It runs on the emulator, then on a GPU
 * where that is asked for. Or opens a file of one (file.c). */
#include "session/state.h"

#include "base/interrupt.h"
#include "catalog/occupancy.h"
#include "ptx/ptx_check.h"
#include "session/file.h"
#include "session/gpu.h"
#include "session/hazards.h"
#include <stdlib.h>
#include <string.h>

enum { /* warp instructions */
       USER_BLOCK_BUDGET = 1 << 22,
       CANDIDATE_BUDGET = 1 << 22, /* of a run with other guesses: less than a second */
       USER_BUDGET = 1 << 27       /* of a run whose n may be less: half a minute */
};

/* ---- launches ------------------------------------------------------------------------------------------- */

/* A user's kernel may be an endless loop, which should be reported within seconds; but few threads may have many elements. */
static uint64_t budget_of_block(const Session *session) {
    enum { OF_ELEMENT = 16, LANES = 32 }; /* warp instructions */
    const PlanLaunch *first = &session->plan.launches[0];
    uint64_t threads = launch_volume(first->block), lanes = threads < LANES ? threads : LANES,
             elements = session->options.catalog.n / launch_volume(first->grid) / lanes;
    return elements > USER_BLOCK_BUDGET / OF_ELEMENT ? elements * OF_ELEMENT : USER_BLOCK_BUDGET;
}

/* An interrupt leaves what is known of the launch. */
static bool run_launch(Session *session, int index, Error *error) {
    Launch *launch = &session->launches.bound[index];
    if (!session_bind_emulated(session, index, session->emulator, launch, error)) return false;
    if (session->options.ends_at_interrupt) interrupt_catch(&session->interrupted);
    bool good = emulator_run(session->emulator, launch, session->trace, error);
    if (session->options.ends_at_interrupt) interrupt_leave();
    return good || session->interrupted;
}

/* What ptxas would refuse is refused before anything runs. */
static bool check_launches(const Session *session, Error *error) {
    for (int i = 0; i < session->launches.count; i++)
        if (!ptx_program_check(session->launches.programs[i], error)) return false;
    return true;
}

/* A first look is worth it where the blocks after the traced ones would be waited for. */
static bool wants_first_look(const Session *session) {
    enum { NOT_WAITED_FOR = 1 << 18 }; /* threads, or elements where a thread takes several */
    const SessionOptions *options = &session->options;
    const PlanLaunch *first = &session->plan.launches[0];
    uint64_t blocks = launch_volume(first->grid),
             shown = options->has_trace_blocks ? options->trace_last + UINT64_C(1) : 1;
    uint64_t work = blocks * launch_volume(first->block),
             n = session->kernel.row ? session->kernel.run.n : options->catalog.n;
    if (work < n) work = n;
    return options->first_look && blocks > shown && work / blocks * (blocks - shown) >= NOT_WAITED_FOR;
}

/* Blocks past the end are fine as long as some launch has the first. */
static bool check_traced_blocks(const Session *session, Error *error) {
    const SessionOptions *options = &session->options;
    uint64_t most = 0;
    for (int i = 0; i < session->plan.launch_count; i++) {
        uint64_t blocks = launch_volume(session->plan.launches[i].grid);
        if (blocks > most) most = blocks;
    }
    if (!options->has_trace_blocks || options->trace_first < most) return true;
    return error_set(error, "--trace-blocks %u: the grid has %llu blocks, 0 to %llu", options->trace_first,
                     (unsigned long long)most, (unsigned long long)most - 1);
}

static bool execute(Session *session, Error *error) {
    if (!check_traced_blocks(session, error)) return false;
    const SessionOptions *options = &session->options;
    EmulatorOptions settings = {
        .threads = options->threads,
        .seed = options->catalog.seed,
        .schedule = options->schedule,
        .trace_first = options->has_trace_blocks ? options->trace_first : 0,
        .trace_last = options->has_trace_blocks ? options->trace_last : 0,
        .has_trace_also = session->fault_block >= 0,
        .trace_also = session->fault_block >= 0 ? (uint32_t)session->fault_block : 0,
        .first_look = wants_first_look(session),
        .keeps_going = options->keep_going,
        .instruction_budget = session->trial.is_candidate   ? CANDIDATE_BUDGET
                              : options->instruction_budget ? options->instruction_budget
                              : session->kernel.may_shrink  ? USER_BUDGET
                                                            : 0,
        .block_budget = session->kernel.row || options->instruction_budget ? 0 : budget_of_block(session),
        .blocks_done = options->progress ? &options->progress->done : &session->blocks_done,
        .multiprocessors = options->catalog.multiprocessors,
        .observer = session_observer(session),
        .cancel = options->ends_at_interrupt ? &session->interrupted : options->cancel,
    };
    Plan *plan = &session->plan;
    session->emulator = emulator_new(&settings);
    session->trace = trace_new("emulator");
    for (int i = 0; i < plan->buffer_count; i++) {
        const PlanBuffer *buffer = &plan->buffers[i];
        emulator_add_buffer(session->emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
        if (buffer->fill == FILL_UNWRITTEN) emulator_mark_unwritten(session->emulator, i);
    }
    if (!options->until_unsupported && !session_check_supported(session, error)) return false;
    uint64_t blocks = 0;
    if (options->progress) {
        options->progress->done = options->progress->blocks = 0;
        for (int i = 0; i < plan->launch_count; i++)
            options->progress->blocks += launch_volume(plan->launches[i].grid);
    }
    for (int i = 0; i < plan->launch_count && !session_has_fatal_trap(session->trace) && !session->is_partial;
         i++) {
        if (!run_launch(session, i, error)) return false;
        if (options->progress) session->blocks_done = options->progress->done;
        blocks += launch_volume(plan->launches[i].grid);
        session->is_partial = session->interrupted ||
                              (session->blocks_done < blocks && !session_has_fatal_trap(session->trace));
    }
    return true;
}

/* The reference needs the inputs as they were; a kernel may have changed them. */
static void keep_inputs(Session *session) {
    session->filled = session->plan;
    session->filled.arena = (Arena){0};
    size_t count = (size_t)session->plan.buffer_count;
    session->filled.buffers = memory_new((count + 1) * sizeof(PlanBuffer));
    for (size_t i = 0; i < count; i++) {
        PlanBuffer *copy = &session->filled.buffers[i];
        *copy = session->plan.buffers[i];
        copy->bytes = plan_copy_bytes(&session->plan, (int)i);
    }
}

static void find_occupancy(Session *session) {
    size_t count = (size_t)session->plan.launch_count;
    session->launches.registers = arena_new(&session->arena, count * sizeof *session->launches.registers);
    session->launches.occupancy = arena_new(&session->arena, count * sizeof *session->launches.occupancy);
    for (int i = 0; i < session->plan.launch_count; i++) {
        session->launches.registers[i] = -1;
        session->launches.occupancy[i] = -1;
        if (!session->kernel.row || i >= session->trace->launch_count) continue;
        const TraceLaunch *launch = session->trace->launches[i];
        session->launches.registers[i] =
            occupancy_registers(session->launches.programs[i]->entry->name, OCCUPANCY_H200);
        if (session->launches.registers[i] < 0) continue;
        session->launches.occupancy[i] =
            occupancy_theoretical(OCCUPANCY_H200, (uint32_t)session->launches.registers[i],
                                  launch->static_shared_bytes + launch->dynamic_shared_bytes,
                                  (uint32_t)launch_volume(launch->block));
    }
}

static void name_run(Session *session) {
    session->kernel.name = session->kernel.row ? session->kernel.row->id : session->trace->launches[0]->name;
    session->kernel.n = session->kernel.row ? session->kernel.run.n : session->options.catalog.n;
    session->kernel.dtype = session->kernel.row ? plan_type_name(session->kernel.run.dtype) : NULL;
    session->kernel.op = session->kernel.row ? session->kernel.run.op : NULL;
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* A file may say anything: that it names other files is no reason to open them. */
static bool check_origin(const SessionOptions *options, Error *error) {
    if (!options->is_from_file || (options->kernel && options->catalog.fill != FILL_FILE)) return true;
    return error_set(error, "a saved session holds this one run; for another, open %s with its settings",
                     options->file ? options->file : "the kernel");
}

/* The same run with as many blocks as the GPU holds at once. */
static Session *open_smaller(Session *session, uint32_t blocks, Error *error) {
    SessionOptions options = session_options_of_grid(session, blocks);
    Session *smaller = session_open(&options, error);
    session_free(session);
    return smaller;
}

/* A kernel that has trapped is shown where its faults are known, unless the GPU is asked for. */
static bool capture_events(Session *session, uint32_t *most_blocks, Error *error) {
    *most_blocks = 0;
    bool is_asked_for = session->options.backend == BACKEND_GPU;
    if (session->options.keep_going && session_has_fault(session->trace))
        return error_set(error, "an access out of bounds ends the run there, with or without --keep-going");
    if (!is_asked_for && session_has_fatal_trap(session->trace)) return false;
    return session_capture(session, most_blocks, error);
}

/* The first fault, where its block is not among the traced ones and which those are was left to us: its linear index; -1:
 * there is none. */
static int64_t untraced_fault(const Session *session) {
    const Trace *trace = session->trace;
    if (session->options.has_trace_blocks || session->fault_block >= 0 || session->is_partial ||
        !trace->trap_count)
        return -1;
    const Trap *trap = &trace->traps[0];
    const TraceLaunch *launch = trace->launches[trap->launch];
    uint32_t linear = (trap->block[2] * launch->grid[1] + trap->block[1]) * launch->grid[0] + trap->block[0];
    for (int i = 0; i < launch->block_count; i++)
        if (trace_block_linear(launch->blocks[i]) == linear) return -1;
    return linear;
}

static Session *open_tracing(const SessionOptions *options, int64_t fault_block, Error *error);
static Session *open_with(const SessionOptions *options, int64_t fault_block, const SessionTrial *trial,
                          Error *error);

/* The same run, with the events of the block that has the fault, too. */
static Session *open_at_fault(Session *session, const SessionOptions *options, int64_t block, Error *error) {
    SessionTrial trial = session->trial;
    session_free(session);
    return open_with(options, block, &trial, error);
}

Session *session_open(const SessionOptions *options, Error *error) {
    return open_tracing(options, -1, error);
}

/* The same kernel with the sizes of `trial`. */
static Session *open_resized(Session *session, const SessionOptions *options, Error *error) {
    SessionTrial trial = session->trial;
    session_free(session);
    return open_with(options, -1, &trial, error);
}

/* The same kernel with other guesses. */
static Session *open_trial(const SessionOptions *options, const SessionTrial *trial) {
    return open_with(options, -1, trial, NULL);
}

Session *session_open_again(const Session *session, const SessionOptions *options) {
    SessionTrial trial = session->trial;
    trial.is_copy = true;
    trial.has_no_result = !session->has_result;
    SessionOptions same = *options;
    same.catalog.n = session->asked_n; /* what was made of it is made of it once more */
    return open_with(&same, session->fault_block, &trial, NULL);
}

static Session *open_tracing(const SessionOptions *options, int64_t fault_block, Error *error) {
    return open_with(options, fault_block, NULL, error);
}

static Session *open_with(const SessionOptions *options, int64_t fault_block, const SessionTrial *trial,
                          Error *error) {
    const SessionOptions *given = options;
    if (options->saved) return session_load(options, error);
    if (!check_origin(options, error)) return NULL;
    Session *session = memory_new(sizeof *session);
    session->options = session_options_copy(options, &session->arena);
    session->asked_n = options->catalog.n;
    session->options.is_from_file = session->options.has_events = false;
    session->fault_block = fault_block;
    if (trial) session->trial = *trial;
    bool captures = options->backend != BACKEND_EMULATOR && !options->has_events,
         has_events = options->has_events;
    options = &session->options;
    bool good = session_plan(session, error) && session_link_launches(session, error) &&
                check_launches(session, error);
    session->plan.cancel = options->cancel;
    session->plan.threads = options->threads;
    uint64_t seed = options->catalog.seed;
    good = good && plan_fill(&session->plan, seed, error) &&
           session_change_elements(&session->plan, &session->trial.elements, seed, error);
    bool is_copy = session->trial.is_copy, is_compared = !session->trial.has_no_result;
    if (good && is_compared &&
        (session->kernel.row || options->file || options->keep_inputs ||
         options->counters == COUNTERS_ASKED || options->measure_sass ||
         options->backend != BACKEND_EMULATOR))
        keep_inputs(session);
    if (!good || !execute(session, error)) {
        session_free(session);
        return NULL;
    }
    if (!is_copy && !session->interrupted && session_resize(session))
        return open_resized(session, given, error);
    if (!session->kernel.row && is_compared) {
        if (!session_compare_user_kernel(session, error)) {
            session_free(session);
            return NULL;
        }
        if (!is_copy && !session->interrupted && (session_leave_loop(session) || session_try_block(session)))
            return open_resized(session, given, error);
        Session *other = session->interrupted ? NULL : session_try_others(session, given, open_trial);
        if (other || session_is_dropped(session)) {
            session_free(session);
            return other;
        }
    }
    int64_t untraced = is_copy ? -1 : untraced_fault(session);
    if (untraced >= 0) return open_at_fault(session, given, untraced, error);
    if (captures && !session->interrupted) {
        uint32_t most_blocks;
        Error reason = {0};
        bool captured = capture_events(session, &most_blocks, &reason);
        if (!captured && most_blocks && !session_has_grid(session))
            return open_smaller(session, most_blocks, error);
        if (!captured && options->backend == BACKEND_GPU) {
            error_set(error, "--backend gpu: %s", reason.message);
            session_free(session);
            return NULL;
        }
    }
    if (!session->kernel.row && session->machine.device && !session_compare_user_kernel(session, error)) {
        session_free(session);
        return NULL;
    }
    if (session->kernel.row && is_compared &&
        (!session->is_partial || session->machine.device)) { /* a GPU runs all blocks */
        session->has_result = true;
        session->kernel.row->check(&session->kernel.run, &session->filled, &session->plan, &session->result);
        if (session_has_fatal_trap(session->trace)) session->result.correct = false;
    }
    bool is_over = !session->interrupted;
    if ((is_over && options->counters == COUNTERS_ASKED) ||
        (options->counters && (session->machine.device || has_events)))
        session_count(session);
    name_run(session);
    if (options->measure_sass && is_over) session_measure_sass(session);
    if (options->times_blocks && session->machine.device) session_measure_grid(session);
    if (!options->keep_inputs) session_drop_inputs(session);
    find_occupancy(session);
    session_list_blocks(session);
    return session;
}
