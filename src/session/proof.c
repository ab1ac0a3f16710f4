/* Proofs of remedies: a changed copy of the PTX runs again under the race detector. The copy has the barrier
 * or the fence (findings/remedy.h). */
#include "session/hazards.h"

#include "findings/remedy.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SECONDS = 3 }; /* of processor time, for all of a session's proofs */

static bool is_same_error(const Finding *a, const Finding *b) {
    bool is_fault = a->kind == FINDING_FAULT; /* where the run goes on, a fault has another name */
    return a->kind == b->kind && a->launch == b->launch &&
           (is_fault || !strcmp(a->kind_text, b->kind_text)) &&
           (a->kind == FINDING_WRONG_RESULT ||
            (a->access.line == b->access.line && a->other.line == b->other.line));
}

/* True if all errors of the cause are gone and no new one has appeared. */
static bool has_helped(const Findings *before, int cause, const Findings *after) {
    for (int i = 0; i < after->error_count; i++) {
        bool was_there = false;
        for (int k = 0; k < before->error_count; k++)
            was_there |=
                before->items[k].cause != cause && is_same_error(&before->items[k], &after->items[i]);
        if (!was_there) return false;
    }
    return after->is_complete || !before->is_complete;
}

static const Finding *wrong_result(const Findings *list) {
    for (int i = 0; i < list->error_count; i++)
        if (list->items[i].kind == FINDING_WRONG_RESULT) return &list->items[i];
    return NULL;
}

static const char *say_proof(Findings *list, const Session *copy, const Findings *after) {
    static const char gone[] = "Proved in a copy of the PTX: with this the finding is gone";
    if (!wrong_result(list)) return arena_print(&list->arena, "%s.", gone);
    if (!wrong_result(after)) return arena_print(&list->arena, "%s, and the result is right.", gone);
    return arena_print(&list->arena, "%s; the result is still wrong (%s, expected %s).", gone,
                       copy->result.result_text, copy->result.expected_text);
}

/* The schedules that showed errors of the cause; the run's own for those it found itself. */
static int find_schedules(const Session *session, const Findings *list, int cause, uint64_t *schedules) {
    int count = 0;
    for (int i = 0; i < list->error_count; i++) {
        if (list->items[i].cause != cause) continue;
        uint64_t schedule = list->items[i].is_taken ? list->items[i].schedule : session->options.schedule;
        bool is_new = count < SESSION_ORDERS_SEARCHED + 1;
        for (int k = 0; k < count; k++) is_new &= schedules[k] != schedule;
        if (is_new) schedules[count++] = schedule;
    }
    return count;
}

/* Runs the copy in each of these orders. Returns the sentence of the proof, or NULL if it did not help. */
static const char *run_copy(const Session *session, Findings *list, int cause, const char *ptx) {
    uint64_t schedules[SESSION_ORDERS_SEARCHED + 1];
    int count = find_schedules(session, list, cause, schedules);
    const char *proof = NULL;
    for (int i = 0; i < count; i++) {
        Session *copy = session_open_copy(session, ptx, schedules[i], true);
        const Findings *after = copy ? session_hazards(copy) : NULL;
        bool helped = after && has_helped(list, cause, after);
        if (helped && !proof) proof = say_proof(list, copy, after);
        session_free(copy);
        if (!helped) return NULL;
    }
    return proof;
}

/* True if the finding is gone; the cause then says so. */
static bool try_remedy(Session *session, Findings *list, int cause, const Remedy *remedy) {
    FindingCause *of = &list->causes[cause];
    Text ptx = {0}, insert = {0};
    remedy_apply(remedy, &ptx);
    remedy_print(remedy, session_find_source_line, session, &insert);
    const char *proof = run_copy(session, list, cause, text_string(&ptx));
    if (proof) {
        of->insert = arena_copy_string(&list->arena, text_string(&insert));
        of->proof = proof;
        of->is_proved = true;
    } else if (!of->proof) {
        bool ends = trace_has_fatal_trap(session->run->trace) && !session->findings.behind;
        of->proof = arena_print(&list->arena, "Tried in a copy of the PTX: to %s did not help%s.",
                                text_string(&insert), ends ? " up to the fault that ends the run" : "");
    }
    text_done(&ptx);
    text_done(&insert);
    return proof;
}

static const TraceLaunch *launch_of(const Session *session, const Findings *list, int cause) {
    int launch = list->items[list->causes[cause].lead].launch;
    return session->findings.behind ? &session->findings.behind[launch]
                                    : session->run->trace->launches[launch];
}

/* Says that nothing could be tried, because the run ends before the later accesses are known. */
static void say_why_not(const Session *session, Findings *list, int cause) {
    FindingCause *of = &list->causes[cause];
    bool has_class = remedy_class(&list->items[of->lead]) != REMEDY_BY_NOTHING;
    if (!of->proof && has_class && trace_has_fatal_trap(session->run->trace) && !session->findings.behind)
        of->proof = "Not proved: a fault ends the run before it is known which threads come behind it.";
}

/* True if the time limit was reached before everything was tried. */
static bool prove_cause(Session *session, Findings *list, int cause, Remedy *remedy, const TimeLimit *limit) {
    for (int attempt = 0; attempt < REMEDY_ATTEMPTS; attempt++) {
        if (!remedy_find(list, cause, launch_of(session, list, cause), attempt, remedy) || !remedy->count)
            continue;
        if (session_time_is_over(limit)) return true;
        if (try_remedy(session, list, cause, remedy)) return false;
    }
    say_why_not(session, list, cause);
    return false;
}

void session_prove(Session *session) {
    Findings *list = session_hazards(session);
    if (!list || session->findings.has_proofs || session_is_from_file(session)) return;
    session->findings.has_proofs = true;
    session->findings.remedies = memory_new((size_t)(list->cause_count + 1) * sizeof(Remedy));
    TimeLimit limit = session_limit_time(session->options.proof_seconds, MOST_SECONDS);
    int given_up = 0;
    for (int cause = 0; cause < list->cause_count; cause++) {
        session_report_progress(session, "proving what ends each finding", (uint64_t)cause,
                                (uint64_t)list->cause_count);
        given_up += prove_cause(session, list, cause, &session->findings.remedies[cause], &limit);
    }
    Text sentence = {0};
    if (!given_up) return;
    text_print(&sentence, "The limit of %g s for proofs was reached: for %d of %d hazards not all was tried.",
               limit.seconds, given_up, list->cause_count);
    findings_add_limit(list, &sentence);
}
