/* What is wrong with a run: the race detector observes it, or runs it again (session.h). */
#include "session/hazards.h"

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
    SessionOptions options = session->options;
    options.threads = threads;
    options.search_races = true;
    options.backend = BACKEND_EMULATOR;
    options.first_look = options.keep_inputs = false;
    options.progress = NULL;
    Session *watched = session_open_again(session, &options);
    if (!watched) return;
    keep_faults(session, watched->run->trace);
    race_detector_free(session->run->detector);
    session->run->detector = watched->run->detector;
    watched->run->detector = NULL;
    session_free(watched);
}

void session_report_progress(const Session *session, const char *what, uint64_t done, uint64_t all) {
    SessionProgress *progress = session->options.progress;
    if (!progress) return;
    progress->done = done;
    progress->blocks = all;
    progress->what = what;
}

const char *session_find_source_line(void *context, const char *file, int line) {
    return session_source_line(context, file, line);
}

/* ---- time ----------------------------------------------------------------------------------------------- */

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
        session_name_remedies(session, findings->hazards);
    }
    findings->has_samples |= findings->hazards != NULL;
    return findings->hazards != NULL;
}

const Findings *session_verdict(Session *session) {
    return are_known(session) ? session->findings.hazards : session_counted_findings(session);
}

const Findings *session_counted_findings(Session *session) {
    SessionFindings *findings = &session->findings;
    if (findings->counted) return findings->counted;
    FindingResult result = {.is_wrong = session->has_result && !session->result.correct};
    if (result.is_wrong && !trace_has_fatal_trap(session->run->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    findings->counted = findings_new_counted(session->run->trace, &result, session->options.has_trace_blocks);
    findings_put_samples(findings->counted, samples_of_line, session);
    session_name_remedies(session, findings->counted);
    return findings->counted;
}

/* ---- the search ----------------------------------------------------------------------------------------- */

Findings *session_hazards(Session *session) {
    if (are_known(session) || session->run->is_partial || session_is_from_file(session))
        return session->findings.hazards;
    session_find_reach(session);
    FindingResult result = {.why = session->findings.reach,
                            .is_wrong = session->has_result && !session->result.correct};
    if (!session->run->detector) search_again(session, session->options.threads);
    if (!session->run->detector) return NULL;
    if (result.is_wrong && race_detector_was_split(session->run->detector)) search_again(session, 1);
    if (result.is_wrong && !trace_has_fatal_trap(session->run->trace)) {
        result.result = session->result.result_text;
        result.expected = session->result.expected_text;
    }
    FindingKnown known = {.source = session_find_source_line, .context = session, .leak_pc = PTX_NO_PC};
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
