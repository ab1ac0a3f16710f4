/* What is wrong with a run: the race detector observes it, or runs it again (session.h). */
#include "session/hazards.h"

/* Takes over the faults that only the race search finds and that do not end a run. */
static void keep_faults(Session *session, const Trace *watched) {
    for (int i = 0; i < watched->trap_count; i++) {
        TrapKind kind = watched->traps[i].kind;
        if (kind == TRAP_UNWRITTEN || kind == TRAP_HEAP_OVERRUN || kind == TRAP_USE_AFTER_FREE ||
            kind == TRAP_ARRAY_OVERRUN)
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
    options.cancel = NULL;
    options.progress = NULL;
    Session *watched = session_open_again(session, &options, NULL);
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

Findings *session_hazards(Session *session) {
    if (session->findings.hazards || session->run->is_partial || session_is_from_file(session))
        return session->findings.hazards;
    FindingResult result = {.is_wrong = session->has_result && !session->result.correct};
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
    session->findings.hazards = findings_new_of(session->run->detector, session->run->trace, &result, &known);
    return session->findings.hazards;
}

TimeLimit session_limit_time(double seconds, double usual) {
    TimeLimit limit = {.seconds = seconds > 0 ? seconds : usual};
    limit.end = clock() + (clock_t)(limit.seconds * (double)CLOCKS_PER_SEC);
    return limit;
}

bool session_time_is_over(const TimeLimit *limit) {
    return clock() >= limit->end;
}
