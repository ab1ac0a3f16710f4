/* Opens a session: plans the kernel, runs it and checks the result. It runs on the emulator, then on a GPU
 * where that is asked for. Or opens a file of one (file.c). */
#include "session/state.h"

#include "session/file.h"
#include "runtime/user_program.h"
#include "session/gpu.h"
#include <stdlib.h>
#include <string.h>

/* ---- the plan ------------------------------------------------------------------------------------------ */

static bool plan_row(Session *session, Plan *plan, Error *error) {
    *plan = (Plan){0};
    if (!catalog_resolve(session->kernel.row, &session->options.catalog, &session->kernel.run, error) ||
        !catalog_plan(&session->kernel.run, plan, error))
        return false;
    for (int i = 0; session->options.has_shared && i < plan->launch_count;
         i++) /* a changed copy may need more */
        plan->launches[i].dynamic_shared_bytes = session->options.shared_bytes;
    return true;
}

bool session_plan(Session *session, Error *error) {
    Plan plan;
    if (!session_load_module(session, error)) return false;
    if (session->kernel.row)
        return plan_row(session, &plan, error) && session_check_source(session, &plan, error) &&
               session_take_plan(session, &plan, error);
    GuessRequest request = session_guess_request(session);
    session->guess = guess_begin(&request);
    return guess_plan(&session->guess, &plan, error) && session_take_plan(session, &plan, error);
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static bool run_guess(Session *session, Error *error) {
    Plan plan;
    GuessRequest request = session_guess_request(session);
    guess_done(&session->guess);
    session->guess = guess_begin(&request);
    if (!guess_plan(&session->guess, &plan, error)) return false;
    session->invents_n |= !session->options.catalog.n;
    session->options.catalog.n = session->guess.account.n;
    return session_run_plan(session, &plan, error);
}

static bool run_row(Session *session, Error *error) {
    Plan plan;
    if (plan_row(session, &plan, error) && session_check_source(session, &plan, error))
        return session_run_plan(session, &plan, error);
    plan_free(&plan);
    return false;
}

/* The linear index of the block with the first fault, if that block is not traced and --trace-blocks was not
 * given; else -1. */
static int64_t untraced_fault(const Session *session) {
    const Trace *trace = session->run->trace;
    if (session->options.has_trace_blocks || session->fault_block >= 0 || session->run->is_partial ||
        !trace->trap_count)
        return -1;
    const Trap *trap = &trace->traps[0];
    const TraceLaunch *launch = trace->launches[trap->launch];
    uint32_t linear = (trap->block[2] * launch->grid[1] + trap->block[1]) * launch->grid[0] + trap->block[0];
    for (int i = 0; i < launch->block_count; i++)
        if (trace_block_linear(launch->blocks[i]) == linear) return -1;
    return linear;
}

/* Runs the plan again and traces the block that has the fault. */
static bool run_at_fault(Session *session, Error *error) {
    SessionRun *first = session->run;
    session->fault_block = untraced_fault(session);
    if (session->fault_block < 0) return true;
    Plan plan;
    plan_copy(&first->plan, &plan);
    bool good = session_run_plan(session, &plan, error);
    session_run_free(first);
    return good;
}

/* Plans what the options ask for and runs it; then once more with the block that has the first fault. */
static bool run_all(Session *session, Error *error) {
    session_run_free(session->run);
    session->run = NULL;
    session->fault_block = -1;
    bool good = session->kernel.row ? run_row(session, error) : run_guess(session, error);
    return good && run_at_fault(session, error);
}

/* ---- a GPU, and the result ----------------------------------------------------------------------------- */

/* The emulator knows the faults of a kernel that trapped. It shows them unless --backend gpu was given. */
static bool capture_events(Session *session, uint32_t *most_blocks, Error *error) {
    *most_blocks = 0;
    bool is_asked_for = session->options.backend == BACKEND_GPU;
    if (session->options.keep_going && trace_has_fault(session->run->trace))
        return error_set(error, "an access out of bounds ends the run there, with or without --keep-going");
    if (!is_asked_for && trace_has_fatal_trap(session->run->trace)) return false;
    if (session_needs_emulator(&session->run->plan))
        return error_set(error, "the plan has several modules, or writes of the host between launches, "
                                "which only the emulator runs");
    return session_capture(session, most_blocks, error);
}

/* False if --backend gpu was given and no GPU can run the kernel. A grid that was not asked for shrinks to
 * the number of blocks that the GPU holds at once. */
static bool capture(Session *session, Error *error) {
    if (session->options.backend == BACKEND_EMULATOR || session->options.has_events) return true;
    while (!session->run->interrupted) {
        uint32_t most_blocks;
        Error reason = {0};
        if (capture_events(session, &most_blocks, &reason)) return true;
        if (!most_blocks || session_has_grid(session))
            return session->options.backend != BACKEND_GPU ||
                   error_set(error, "--backend gpu: %s", reason.message);
        session_set_grid(&session->options, session->kernel.row, most_blocks);
        if (!run_all(session, error)) return false;
    }
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* A saved session may come from anywhere: the files that it names are not opened. */
static bool check_origin(const RunSpec *options, Error *error) {
    if (!options->is_from_file || (options->kernel && !options->source && options->catalog.fill != FILL_FILE))
        return true;
    return error_set(error, "a saved session holds this one run; for another, open %s with its settings",
                     options->file ? options->file : "the kernel");
}

/* Measures counters, machine code and the grid if the options ask for them. */
static void measure(Session *session) {
    const RunSpec *options = &session->options;
    bool is_over = !session->run->interrupted, is_on_gpu = session->machine.device != NULL;
    if ((is_over && options->counters == COUNTERS_ASKED) ||
        (options->counters && (is_on_gpu || options->has_events)))
        session_count(session);
    session_name_run(session);
    if (options->measure_sass && is_over) session_measure_sass(session);
    if (options->times_blocks && is_on_gpu) session_measure_grid(session);
    if (options->times_warps && is_over) session_measure_warps(session);
    if (options->times_run && is_over) session_measure_time(session);
    if (!options->keep_inputs) session_drop_inputs(session);
}

/* Completes a session whose plan has run and been compared; frees it if `good` is false. */
static Session *finish(Session *session, bool good) {
    if (!good) {
        session_free(session);
        return NULL;
    }
    session_find_rounding(session);
    session_try_other_input(session);
    measure(session);
    session_describe(session);
    session->options.has_events = false;
    session->options.cancel = NULL; /* its owner may go before the session */
    return session;
}

static Session *open_captured(const RunSpec *options, Error *error) {
    Plan plan;
    bool good = captured_plan(options->program->capture, options->launch, &plan, error);
    if (good && options->ptx) plan.modules[0].ptx = arena_copy_string(&plan.arena, options->ptx);
    Session *session = good ? session_open_plan(&plan, options, error) : NULL;
    plan_free(&plan);
    return session;
}

Session *session_open(const RunSpec *options, Error *error) {
    if (options->saved) return session_load(options, error);
    if (options->program) return open_captured(options, error);
    if (!check_origin(options, error)) return NULL;
    Session *session = session_new(options);
    session->code.is_edited = options->ptx != NULL;
    bool good = session_load_module(session, error) && run_all(session, error) && capture(session, error);
    return finish(session, good && session_judge(session, error));
}

Session *session_open_on_gpu(const RunSpec *wanted, Error *error) {
    if (!session_gpu_take(error)) return NULL; /* before the run, which takes longer */
    session_gpu_give_back(false);
    return session_open(wanted, error);
}

/* ---- a plan of one's own ------------------------------------------------------------------------------- */

static bool parse_modules(Session *session, const Plan *plan, Error *error) {
    SessionCode *code = &session->code;
    if (!plan->module_count) return session_load_module(session, error);
    const Captured *capture = session->options.program ? session->options.program->capture : NULL;
    if (capture && capture->is_saved) {
        session->sources.is_closed = true;
        for (int i = 0; i < capture->source_count; i++)
            sources_add(&session->sources, capture->sources[i].file, capture->sources[i].text);
    } else if (capture) { /* the sources are where its compiler found them */
        session->sources.path = session->code.path;
        session->sources.folder = "/";
    }
    snprintf(code->path, sizeof code->path, "%s", plan->modules[0].name);
    code->text = memory_copy_text(plan->modules[0].ptx);
    code->module = ptx_module_parse(code->text, strlen(code->text), code->path, error);
    if (code->module) code->module->keeps_products = session_keeps_products(session);
    return code->module && session_parse_others(session, plan, error);
}

/* The plan's traced blocks and expectation become the options', unless those have their own. */
static void take_settings(Session *session, Plan *plan) {
    RunSpec *options = &session->options;
    if (plan->has_trace_blocks && !options->has_trace_blocks) {
        options->has_trace_blocks = true;
        options->trace_first = plan->trace_first;
        options->trace_last = plan->trace_last;
    }
    if (!options->expect) options->expect = arena_copy_string(&session->arena, plan->expect);
    plan->expect = arena_copy_string(&plan->arena, options->expect);
}

Session *session_open_plan(const Plan *plan, const RunSpec *options, Error *error) {
    Session *session = session_new(options);
    Plan copy;
    bool good = parse_modules(session, plan, error);
    if (good) {
        const PtxFunction *entries[PLAN_LAUNCHES];
        plan_copy(plan, &copy);
        take_settings(session, &copy);
        GuessRequest request = session_guess_request(session);
        session->is_planned = true;
        session_find_entries(session, plan, entries);
        session->guess = guess_of_plan(&request, plan, entries);
        good = session_run_plan(session, &copy, error) && run_at_fault(session, error) &&
               capture(session, error) && session_judge(session, error);
        session->options.catalog.n = session->guess.account.n;
    }
    return finish(session, good);
}
