/* What is wrong with a run: the race detector observes it, or runs it again (ask.h). */
#include "ask/questions.h"

#include "sass/sass.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes over the faults that only the race search finds and that do not end a run. */
static void keep_faults(Session *session, const Trace *watched) {
    for (int i = 0; i < watched->trap_count; i++) {
        TrapKind kind = watched->traps[i].kind;
        if (kind == TRAP_UNWRITTEN || kind == TRAP_UNWRITTEN_REGISTER || kind == TRAP_HEAP_OVERRUN ||
            kind == TRAP_USE_AFTER_FREE || kind == TRAP_ARRAY_OVERRUN)
            trace_add_trap(session->run->trace, &watched->traps[i]);
    }
}

/* Runs the kernel again under the race detector. */
static void search_again(Session *session, int threads) {
    Session *watched = session_vary(session, &(RunChange){.searches_races = true, .threads = threads}, NULL);
    if (!watched) return;
    keep_faults(session, watched->run->trace);
    race_detector_free(session->run->detector);
    session->run->detector = watched->run->detector;
    watched->run->detector = NULL;
    session_free(watched);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

static double samples_of_line(void *context, int launch, const char *file, int line, const char **waits_for) {
    const SassKernel *kernel = session_sass(context, launch, NULL);
    double share = NAN;
    if (!kernel) return share;
    SassSums all = sass_sums(kernel);
    int count;
    SassLine *lines = sass_by_line(kernel, &count);
    for (int i = 0; i < count && all.all_samples; i++) {
        bool is_named = file && lines[i].file && lines[i].line == line;
        if (!is_named || strcmp(lines[i].file, file) != 0) continue;
        SassStall stall = sass_top_stall(lines[i].sums.samples);
        share = (double)lines[i].sums.all_samples / (double)all.all_samples;
        *waits_for = stall == SASS_STALLS ? NULL : sass_stalls[stall].words;
    }
    free(lines);
    return share;
}

/* The hazards of a file get their samples here. */
static bool are_known(Session *session) {
    SessionFindings *findings = &session->findings;
    if (findings->hazards && !findings->has_samples) {
        findings_put_samples(findings->hazards, samples_of_line, session);
        ask_name_remedies(session, findings->hazards);
    }
    findings->has_samples |= findings->hazards != NULL;
    return findings->hazards != NULL;
}

const Findings *ask_verdict(Session *session) {
    return are_known(session) ? session->findings.hazards : ask_counted(session);
}

const Findings *ask_counted(Session *session) {
    SessionFindings *findings = &session->findings;
    if (findings->counted) return findings->counted;
    FindingResult result = {.is_wrong = session->has_result && !session->result.correct};
    if (result.is_wrong && !trace_has_fatal_trap(session->run->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    findings->counted =
        findings_new_counted(session->run->trace, &result, (FindingNames){ask_source_line, session},
                             session->options.has_trace_blocks);
    findings_put_samples(findings->counted, samples_of_line, session);
    ask_name_remedies(session, findings->counted);
    return findings->counted;
}

/* ---- the search ---------------------------------------------------------------------------------------- */

Findings *ask_hazards(Session *session) {
    if (are_known(session) || session->run->is_partial || session_is_from_file(session))
        return session->findings.hazards;
    ask_reach(session);
    FindingResult result = {.why = session->findings.reach,
                            .is_wrong = session->has_result && !session->result.correct};
    if (!session->run->detector) search_again(session, session->options.threads);
    if (!session->run->detector) return NULL;
    if (result.is_wrong && race_detector_was_split(session->run->detector)) search_again(session, 1);
    if (result.is_wrong && !trace_has_fatal_trap(session->run->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    FindingKnown known = {.names = {ask_source_line, session}, .leak_pc = PTX_NO_PC};
    EmulatorLeak leak;
    if (session->run->emulator && emulator_find_leak(session->run->emulator, &leak)) {
        known.leaks = leak.allocations;
        known.leaked_bytes = leak.bytes;
        known.leak_pc = leak.pc;
    }
    session->findings.hazards = findings_new(session->run->detector, session->run->trace, &result, &known);
    are_known(session);
    return session->findings.hazards;
}

bool ask_save(Session *session, const char *path, Error *error) {
    for (int i = 0; !session->run->is_partial && i < session->run->trace->launch_count; i++)
        session_trace_others(session, i);
    ask_hazards(session); /* unknown of a partial run */
    return session_save(session, path, error);
}

/* ---- what is sure of guessed arguments ----------------------------------------------------------------- */

/* Guessed arguments decide it: an access of global memory, or code that ends the run on purpose. */
static bool is_of_arguments(const char *trap_text, PtxSpace space) {
    static const TrapKind sure[] = {TRAP_DIVERGENT_BARRIER, TRAP_DEADLOCK, TRAP_MISSING_LANES, TRAP_MBARRIER,
                                    TRAP_LANE_OUTSIDE_MASK};
    for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
        if (!strcmp(trap_text, trap_kind_text(sure[i]))) return false;
    return space != PTX_SPACE_SHARED;
}

static bool is_sure(const Session *session, const char *trap_text, PtxSpace space) {
    const GuessAccount *account = &session->guess.account;
    /* The contents of guessed buffers do not matter to it. */
    if (account->reads_scalars && !account->invents_block &&
        (!strcmp(trap_text, trap_kind_text(TRAP_NARROW_INDEX)) ||
         !strcmp(trap_text, trap_kind_text(TRAP_UNINITIALIZED)) ||
         !strcmp(trap_text, trap_kind_text(TRAP_UNWRITTEN_REGISTER))))
        return true;
    return !account->invents_arguments || (!account->invents_block && !is_of_arguments(trap_text, space));
}

bool ask_is_sure(void *context, const Finding *error) {
    const Session *session = context;
    bool is_race = error->kind != FINDING_FAULT && error->kind != FINDING_WRONG_RESULT;
    if (is_race && strcmp(error->kind_text, trap_kind_text(TRAP_UNWRITTEN)) != 0)
        return !session->guess.account.invents_arguments || !session->guess.account.invents_block;
    return is_sure(session, error->kind_text, error->space);
}

int ask_sure_errors(Session *session) {
    const Findings *hazards = ask_hazards(session);
    int count = 0;
    for (int i = 0; hazards && i < hazards->error_count; i++)
        count += ask_is_sure(session, &hazards->items[i]);
    return count;
}

/* The fault that ended the run, or that a GPU would have ended at. */
static bool has_sure_fault(const Session *session) {
    const Trace *trace = session->run->trace;
    for (int i = 0; i < trace->trap_count; i++) {
        const Trap *trap = &trace->traps[i];
        bool is_fault = trap_kind_is_fatal(trap->kind) || trap_kind_is_dropped(trap->kind);
        if (is_fault && is_sure(session, trap_kind_text(trap->kind), trap->space)) return true;
    }
    return false;
}

bool ask_failed(const Session *session) {
    bool is_wrong = session->has_result && !session->result.correct;
    bool has_fault =
        trace_has_fault(session->run->trace) && (!session_is_guess(session) || has_sure_fault(session));
    return !session_is_unsupported(session) && (has_fault || is_wrong);
}
