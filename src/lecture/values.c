/* Values of runs, lines and intervals. */
#include "ask/ask.h"
#include "lecture/values.h"

#include "base/memory.h"
#include "bench/bench.h"
#include "lecture/times.h"
#include "lecture/warps.h"
#include "metrics/fold.h"
#include "metrics/totals.h"
#include "sass/classes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct KnownRun {
    char *spec; /* "strided n=4096" */
    Session *session;
} KnownRun;

struct ClaimRuns {
    ClaimRunsOptions options;
    Session *here, *beside;
    KnownRun *known;
    int count, capacity;
    ClaimTimes times;
};

ClaimRuns *claim_runs_new(const ClaimRunsOptions *options) {
    ClaimRuns *runs = memory_new(sizeof *runs);
    runs->options = *options;
    return runs;
}

void claim_runs_free(ClaimRuns *runs) {
    if (!runs) return;
    for (int i = 0; i < runs->count; i++) {
        free(runs->known[i].spec);
        session_free(runs->known[i].session);
    }
    free(runs->known);
    claim_times_done(&runs->times);
    free(runs);
}

void claim_runs_stand_at(ClaimRuns *runs, Session *here, Session *beside) {
    runs->here = here;
    runs->beside = beside;
}

static bool is_of_machine(const ClaimQuery *query) {
    const ClaimWord *word = query->name ? claim_word_find(query->name) : NULL;
    return word && word->scopes & CLAIM_OF_MACHINE;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

static bool is_of_warps(const ClaimQuery *query) {
    const ClaimWord *word = query->name ? claim_word_find(query->name) : NULL;
    return word && word->scopes & CLAIM_OF_WARPS;
}

/* The machine whose recordings the run must use; NULL: any. */
static const char *pinned_machine(const ClaimQuery *query) {
    return is_of_machine(query) || is_of_warps(query) ? query->machine : NULL;
}

static bool check_pinned(Session *session, const ClaimQuery *query, Error *error) {
    const char *pinned = pinned_machine(query), *machine = session_spec(session)->machine;
    if (!machine) machine = bench_default_machine();
    return !pinned || !strcmp(pinned, machine) ||
           error_set(error, "'%s' is shown with recordings of '%s': name the kernel", query->run, machine);
}

static Session *open_run(ClaimRuns *runs, const ClaimQuery *query, Error *error) {
    RunSpec options = {.kernel = query->run,
                       .threads = runs->options.threads,
                       .machine = pinned_machine(query) ? query->machine : runs->options.machine};
    if (!catalog_find(query->run, error)) return NULL;
    for (int i = 0; i < query->setting_count; i++)
        if (!run_spec_set_item(&options, query->settings[i], error)) return NULL;
    return session_open(&options, error);
}

Session *claim_runs_session(ClaimRuns *runs, const ClaimQuery *query, Error *error) {
    bool is_here = !strcmp(query->run, "here"), is_beside = !strcmp(query->run, "beside");
    if (is_here || is_beside) {
        Session *session = is_here ? runs->here : runs->beside;
        if (session && !query->setting_count) return check_pinned(session, query, error) ? session : NULL;
        error_set(error,
                  session   ? "'%s' is the run of the stop, and takes no settings"
                  : is_here ? "'%s' is the run of the stop, which shows none"
                            : "'%s' is the run that --compare shows, which this stop lacks",
                  query->run);
        return NULL;
    }
    Text spec = {0};
    text_add(&spec, query->run);
    for (int i = 0; i < query->setting_count; i++) text_print(&spec, " %s", query->settings[i]);
    if (pinned_machine(query)) text_print(&spec, " on %s", query->machine);
    Session *session = NULL;
    for (int i = 0; i < runs->count && !session; i++)
        if (!strcmp(runs->known[i].spec, text_string(&spec))) session = runs->known[i].session;
    if (!session && (session = open_run(runs, query, error))) {
        KnownRun run = {memory_copy_text(text_string(&spec)), session};
        array_push(runs->known, runs->count, runs->capacity, run);
    }
    text_done(&spec);
    return session;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static double ratio(uint64_t of, uint64_t by) {
    return by ? (double)of / (double)by : NAN;
}

static Metric metric_find(const char *name) {
    Metric metric = 0;
    while (metric < METRIC_COUNT && strcmp(metric_infos[metric].name, name) != 0) metric++;
    return metric;
}

static uint64_t excess_of(const Totals *t) {
    return totals_wavefronts(t) - totals_wavefronts_ideal(t);
}

/* A value of any totals; NaN: unknown name, or division by zero. */
static double totals_named(const Totals *totals, const char *name) {
    Metric metric = metric_find(name);
    if (metric < METRIC_COUNT) return (double)totals_value(totals, metric);
    if (!strcmp(name, "excess")) return (double)excess_of(totals);
    if (!strcmp(name, "lanes")) return ratio(totals->lane_instructions, totals->warp_instructions);
    if (!strcmp(name, "divergence")) return ratio(totals->divergent_branches, totals->branches);
    if (!strcmp(name, "wavefronts_per_load"))
        return ratio(totals->shared_load_wavefronts, totals->shared_loads);
    if (!strcmp(name, "sectors_per_load"))
        return ratio(totals->global_load_sectors, totals->global_load_requests);
    return NAN;
}

/* The machine code of all launches, or of the lines that contain a text. */
typedef struct MachineSums {
    SassSums sums;
    uint64_t branches, all_samples;
    bool is_counted, is_sampled; /* completely */
} MachineSums;

static bool holds_text(Session *session, const SassKernel *kernel, const SassInstruction *instruction,
                       const char *text) {
    int place = sass_own_place(kernel, instruction->place);
    if (place < 0) return false;
    const char *line = session_source_line(session, kernel->places[place].file, kernel->places[place].line);
    return line && strstr(line, text);
}

static void add_machine_code(Session *session, const SassKernel *kernel, const char *text, MachineSums *out) {
    for (int i = 0; i < kernel->count; i++) {
        const SassInstruction *instruction = &kernel->instructions[i];
        if (text && !holds_text(session, kernel, instruction, text)) continue;
        sass_add_up(&out->sums, instruction);
        if (sass_class_of_text(instruction->text) == SASS_BRANCH) out->branches += instruction->executed;
    }
    out->all_samples += sass_sums(kernel).all_samples;
    out->is_counted &= kernel->counted.n != 0;
    out->is_sampled &= kernel->sampled.n != 0;
}

static double machine_value(Session *session, const ClaimQuery *query, const char **why) {
    MachineSums machine = {.is_counted = true, .is_sampled = true};
    for (int i = 0; i < session_trace(session)->launch_count; i++) {
        const SassKernel *kernel = session_sass(session, i, why);
        if (!kernel) return NAN;
        add_machine_code(session, kernel, query->text, &machine);
    }
    if (query->reason)
        return machine.is_sampled
                   ? ratio(machine.sums.samples[sass_stall_find(query->reason)], machine.sums.all_samples)
                   : NAN;
    if (!strcmp(query->name, "sample_share"))
        return machine.is_sampled ? ratio(machine.sums.all_samples, machine.all_samples) : NAN;
    if (!machine.is_counted) return NAN;
    if (!strcmp(query->name, "executed")) return (double)machine.sums.executed;
    if (!strcmp(query->name, "machine_branches")) return (double)machine.branches;
    return ratio(machine.sums.threads - machine.sums.acting, machine.sums.threads); /* off_share */
}

static double total_named(Session *session, const char *name) {
    const Trace *trace = session_trace(session);
    const TraceLaunch *launch = trace->launch_count ? trace->launches[0] : NULL;
    const ExpectResult *result = session_result(session);
    if (!strcmp(name, "n")) return (double)session_n(session);
    if (!strcmp(name, "launches")) return trace->launch_count;
    if (!strcmp(name, "steps"))
        return session_block_count(session) ? session_block(session, 0)->steps->step_count : NAN;
    if (!strcmp(name, "blocks"))
        return launch ? (double)launch->grid[0] * launch->grid[1] * launch->grid[2] : NAN;
    if (!strcmp(name, "threads"))
        return launch ? (double)launch->block[0] * launch->block[1] * launch->block[2] : NAN;
    if (!strcmp(name, "shared_bytes")) return launch ? launch->dynamic_shared_bytes : NAN;
    if (!strcmp(name, "result")) return result ? result->result : NAN;
    if (!strcmp(name, "expected")) return result ? result->expected : NAN;
    if (!strcmp(name, "error")) return result ? result->relative_error : NAN;
    if (!strcmp(name, "hazards")) {
        const Findings *findings = ask_hazards(session);
        return findings ? findings->error_count : NAN;
    }
    uint64_t bytes;
    if (!strcmp(name, "thread_bytes")) return ask_thread_bytes(session, &bytes) ? (double)bytes : NAN;
    Totals totals = {0};
    metrics_of_run(trace, &totals);
    return totals_named(&totals, name);
}

/* The sum over the lines that contain the text; *lines: their number. */
static double line_named(Session *session, const char *text, const char *name, int *lines) {
    int count, worst = 0;
    Totals totals = {0};
    *lines = 0;
    LineMetrics *all = metrics_by_line(session_trace(session), false, &count);
    for (int i = 0; i < count; i++) {
        const char *line = all[i].file ? session_source_line(session, all[i].file, all[i].line) : NULL;
        if (!line || !strstr(line, text)) continue;
        (*lines)++;
        totals_add(&totals, &all[i].totals);
        if (all[i].worst_shared > worst) worst = all[i].worst_shared;
    }
    free(all);
    return !strcmp(name, "ways") ? worst : totals_named(&totals, name);
}

/* The shared accesses of a range of steps. */
typedef struct RangeAccesses {
    double ways, most_wavefronts;
    int storing_lanes;
    uint64_t storing_warps; /* one bit per warp */
} RangeAccesses;

static RangeAccesses accesses_of(const SessionBlock *view, int first, int end) {
    const Steps *steps = view->steps;
    RangeAccesses found = {0};
    TraceEvent event;
    for (int step = first; step < end; step++)
        for (int i = 0; i < steps->steps[step].count; i++) {
            trace_block_read(view->block, steps->events[steps->steps[step].first + i], &event);
            if (event.kind != TRACE_SHARED_LOAD && event.kind != TRACE_SHARED_STORE) continue;
            TraceCounter counter = fold_counter_of_event(steps->launch, &event);
            found.ways = fmax(found.ways, (double)counter.wavefronts / (double)counter.ideal_wavefronts);
            found.most_wavefronts = fmax(found.most_wavefronts, (double)counter.wavefronts);
            if (event.kind != TRACE_SHARED_STORE) continue;
            int lanes = __builtin_popcount(event.mask);
            if (lanes > found.storing_lanes) found.storing_lanes = lanes;
            found.storing_warps |= 1ULL << event.warp;
        }
    return found;
}

bool claim_steps_value(const SessionBlock *block, int first, int end, const char *name, double *value) {
    Totals totals = {0};
    RangeAccesses accesses = accesses_of(block, first, end);
    metrics_of_steps(block->steps, first, end - first, &totals);
    *value = !strcmp(name, "ways")              ? accesses.ways
             : !strcmp(name, "most_wavefronts") ? accesses.most_wavefronts
             : !strcmp(name, "storing_lanes")   ? accesses.storing_lanes
             : !strcmp(name, "storing_warps")   ? __builtin_popcountll(accesses.storing_warps)
                                                : totals_named(&totals, name);
    return isfinite(*value);
}

static bool interval_value(Session *session, const ClaimQuery *query, double *value, Error *error) {
    if (!session_block_count(session)) return error_set(error, "%s has no traced block", query->run);
    const SessionBlock *block = session_block(session, 0);
    int first = 0, end;
    while (first < block->steps->step_count && block->steps->steps[first].interval + 1 != query->number)
        first++;
    for (end = first;
         end < block->steps->step_count && block->steps->steps[end].interval + 1 == query->number;)
        end++;
    if (first == end)
        return error_set(error, "block 0 of %s has no interval %lld; intervals are counted from 1",
                         query->run, (long long)query->number);
    return claim_steps_value(block, first, end, query->name, value) ||
           error_set(error, "interval %lld of %s has no %s", (long long)query->number, query->run,
                     query->name);
}

bool claim_runs_value(void *context, const ClaimQuery *query, double *value, Error *error) {
    ClaimRuns *runs = context;
    if (query->scope & (CLAIM_TIME | CLAIM_CYCLES | CLAIM_LIMIT))
        return claim_times_value(&runs->times, query, runs->options.machine, runs->options.live, value,
                                 error);
    Session *session = query->run ? claim_runs_session(runs, query, error) : NULL;
    if (!session) return query->run ? false : error_set(error, "'%s' has no step here", query->name);
    const char *why = NULL;
    int lines = 1;
    if (is_of_warps(query)) return claim_warps_value(session, query, value, error);
    if (query->scope == CLAIM_INTERVAL) return interval_value(session, query, value, error);
    *value = query->scope == CLAIM_LINE ? line_named(session, query->text, query->name, &lines)
             : is_of_machine(query)     ? NAN
                                        : total_named(session, query->name);
    if (is_of_machine(query)) *value = machine_value(session, query, &why);
    if (!lines)
        return error_set(error, "no line of %s that was executed holds \"%s\"", query->run, query->text);
    return isfinite(*value) ||
           error_set(error, "%s has no %s%s%s", query->run, query->name, why ? ": " : "", why ? why : "");
}
