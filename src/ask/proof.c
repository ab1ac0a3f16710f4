/* Proofs of remedies: a copy with the barrier or the fence (findings/remedy.h) runs again under the race
 * detector. It is a copy of the PTX, where a place is found fast; if the PTX was compiled here, what is then
 * advised is inserted into a copy of the source, compiled and run, too. */
#include "ask/questions.h"

#include "base/language.h"
#include "findings/remedy.h"
#include "metrics/metrics.h"
#include "runtime/user_program.h"
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

/* A load of what was never written, if the cause is a race: it may have come too early, or not. */
static bool is_beside_race(const Findings *list, int index) {
    const Finding *finding = &list->items[index];
    return finding->kind == FINDING_FAULT &&
           list->items[list->causes[finding->cause].lead].kind != FINDING_FAULT;
}

static bool has_error(const Findings *list, const Finding *error) {
    bool has = false;
    for (int i = 0; i < list->error_count; i++) has |= is_same_error(error, &list->items[i]);
    return has;
}

/* True if all errors of the cause are gone, but loads beside its races, and no new one has appeared. */
static bool has_helped(const Findings *before, int cause, const Findings *after) {
    for (int i = 0; i < after->error_count; i++) {
        bool was_there = false;
        for (int k = 0; k < before->error_count; k++)
            was_there |= (before->items[k].cause != cause || is_beside_race(before, k)) &&
                         is_same_error(&before->items[k], &after->items[i]);
        if (!was_there) return false;
    }
    return after->is_complete || !before->is_complete;
}

static const Finding *wrong_result(const Findings *list) {
    for (int i = 0; i < list->error_count; i++)
        if (list->items[i].kind == FINDING_WRONG_RESULT) return &list->items[i];
    return NULL;
}

/* What came of a copy. */
typedef struct CopyResult {
    const char *proof;       /* the sentence; NULL: it did not help */
    const char *still_wrong; /* the errors are gone, but the call has the result that it had; NULL: not so */
} CopyResult;

/* "Proved" is said only where nothing is known to be wrong with the change. */
static CopyResult say_proof(const Session *session, Findings *list, const Session *copy,
                            const Findings *after, const char *of) {
    Arena *arena = &list->arena;
    const char *wrong = session->options.program ? session->options.program->wrong_result : NULL;
    FindingOrder other;
    if (wrong && !ask_difference(session, copy, &other)) return (CopyResult){.still_wrong = wrong};
    if (wrong)
        return (CopyResult){arena_print(arena,
                                        "In a copy of the %s the finding is gone with this; whether the "
                                        "result (%s) is then right, another run will tell.",
                                        of, wrong),
                            NULL};
    if (wrong_result(after))
        return (CopyResult){arena_print(arena,
                                        "In a copy of the %s the finding is gone with this, but the result "
                                        "is still wrong (%s, expected %s).",
                                        of, copy->result.result_text, copy->result.expected_text),
                            NULL};
    return (CopyResult){arena_print(arena, "Proved in a copy of the %s: with this the finding is gone%s.", of,
                                    wrong_result(list) ? ", and the result is right" : ""),
                        NULL};
}

/* Loads of what was never written that stay where the races of their cause are gone have another cause. */
static void part_lasting_loads(Findings *list, int cause, const Findings *after) {
    int into = -1;
    for (int i = 0; i < list->error_count; i++)
        if (list->items[i].cause == cause && is_beside_race(list, i) && has_error(after, &list->items[i]))
            into = findings_part_cause(list, i, into);
}

/* The schedules that showed errors of the cause; the run's own for those it found itself. */
static int find_schedules(const Session *session, const Findings *list, int cause, uint64_t *schedules) {
    int count = 0;
    for (int i = 0; i < list->error_count; i++) {
        if (list->items[i].cause != cause) continue;
        uint64_t schedule = list->items[i].is_taken ? list->items[i].schedule : session->options.schedule;
        bool is_new = count < ASK_ORDERS + 1;
        for (int k = 0; k < count; k++) is_new &= schedules[k] != schedule;
        if (is_new) schedules[count++] = schedule;
    }
    return count;
}

/* Runs the copy in each of these orders. */
static CopyResult run_copy(const Session *session, Findings *list, int cause, const char *ptx,
                           const char *of) {
    uint64_t schedules[ASK_ORDERS + 1];
    int count = find_schedules(session, list, cause, schedules);
    CopyResult result = {0};
    for (int i = 0; i < count; i++) {
        RunChange change = {.ptx = ptx, .schedule = &schedules[i], .searches_races = true};
        Session *copy = session_vary(session, &change, NULL);
        const Findings *after = copy ? ask_hazards(copy) : NULL;
        bool helped = after && has_helped(list, cause, after);
        CopyResult one = {0};
        if (helped) one = say_proof(session, list, copy, after, of);
        if (one.proof) part_lasting_loads(list, cause, after);
        session_free(copy);
        if (!one.proof) return one;
        if (!i) result = one;
    }
    return result;
}

static void put_proof(Findings *list, int cause, const char *insert, const char *proof) {
    FindingCause *of = &list->causes[cause];
    of->insert = arena_copy_string(&list->arena, insert);
    of->proof = proof;
    of->is_proved = true;
}

/* What did not help is not advised; the first that was tried is named. */
static void put_failure(const Session *session, Findings *list, int cause, const char *insert, const char *of,
                        const char *still_wrong) {
    FindingCause *to = &list->causes[cause];
    Finding *lead = &list->items[to->lead];
    bool ends = trace_has_fatal_trap(session->run->trace) && !session->findings.behind,
         is_late_load = lead->other.is_store && !lead->access.is_store && lead->access.line &&
                        lead->other.line && lead->access.line != lead->other.line;
    if (still_wrong && is_late_load) {
        to->proof = arena_print(&list->arena,
                                "Ordered by a barrier, line %d loads what line %d has stored, and the result "
                                "is still wrong (%s): what line %d needs must be loaded before line %d "
                                "stores, with a barrier between.",
                                lead->access.line, lead->other.line, still_wrong, lead->access.line,
                                lead->other.line);
        lead->advice = NULL;
    } else if (still_wrong) {
        to->proof = arena_print(&list->arena, "With a barrier between them the result is still wrong (%s).",
                                still_wrong);
    } else if (!to->proof) {
        to->proof = arena_print(&list->arena, "Tried in a copy of the %s: to %s did not help%s.", of, insert,
                                ends ? " up to the fault that ends the run" : "");
    }
}

typedef enum Tried { TRIED_NOT, TRIED_IN_VAIN, TRIED_HELPED } Tried;

/* Inserts the remedy into a copy of one source, in one way after the other. Without a remedy: a barrier
 * between the accesses of the cause's first error. */
static Tried try_in_file(Session *session, Findings *list, int cause, const Remedy *remedy,
                         const char *file) {
    const Finding *lead = &list->items[list->causes[cause].lead];
    Tried tried = TRIED_NOT;
    Text text = {0}, source = {0}, insert = {0};
    bool is_known = sources_text(&session->sources, file, &text);
    for (int choice = 0; is_known && choice < REMEDY_CHOICES && tried != TRIED_HELPED; choice++) {
        text_done(&source), text_done(&insert);
        bool has_choice =
            remedy ? remedy_apply_to_source(remedy, file, text_string(&text), choice, &source, &insert)
                   : remedy_insert_between(lead, file, text_string(&text), choice, &source, &insert);
        if (!has_choice) break;
        char *ptx = session_compile_changed(session, file, text_string(&source));
        if (!ptx) continue; /* it is no statement there */
        CopyResult ran = run_copy(session, list, cause, ptx, "source");
        free(ptx);
        if (ran.proof) {
            put_proof(list, cause, text_string(&insert), ran.proof);
            list->causes[cause].file = arena_copy_string(&list->arena, file);
            list->causes[cause].source = arena_copy_string(&list->arena, text_string(&source));
        }
        if (!ran.proof) put_failure(session, list, cause, text_string(&insert), "source", ran.still_wrong);
        tried = ran.proof ? TRIED_HELPED : TRIED_IN_VAIN;
    }
    text_done(&text);
    text_done(&source);
    text_done(&insert);
    return tried;
}

/* In the file of the first place, then in the others: a helper's header, and the kernel that calls it. */
static Tried try_in_source(Session *session, Findings *list, int cause, const Remedy *remedy) {
    const SessionCode *code = &session->code;
    const Finding *lead = &list->items[list->causes[cause].lead];
    const char *first =
        remedy ? metrics_line_of(remedy->launch->program, remedy->points[0].pc).file : lead->access.file;
    Tried tried = TRIED_NOT;
    for (int turn = 0; code->source && turn < 2; turn++)
        for (int i = 0; i < code->file_count && tried != TRIED_HELPED; i++) {
            bool is_first = first && !strcmp(first, code->files[i]);
            if (is_first != (turn == 0)) continue;
            Tried now = try_in_file(session, list, cause, remedy, code->files[i]);
            if (now > tried) tried = now;
        }
    return tried;
}

/* True if the finding is gone; the cause then says so. */
static bool try_remedy(Session *session, Findings *list, int cause, const Remedy *remedy) {
    Text ptx = {0}, insert = {0};
    remedy_apply(remedy, &ptx);
    remedy_print(remedy, ask_source_line, session, &insert);
    CopyResult ran = run_copy(session, list, cause, text_string(&ptx), "PTX");
    Tried in_source = ran.proof ? try_in_source(session, list, cause, remedy) : TRIED_NOT;
    bool helped = ran.proof && in_source != TRIED_IN_VAIN;
    if (!ran.proof) put_failure(session, list, cause, text_string(&insert), "PTX", ran.still_wrong);
    if (helped && in_source == TRIED_NOT) put_proof(list, cause, text_string(&insert), ran.proof);
    text_done(&ptx);
    text_done(&insert);
    return helped;
}

static const TraceLaunch *launch_of(const Session *session, const Findings *list, int cause) {
    int launch = list->items[list->causes[cause].lead].launch;
    return session->findings.behind ? &session->findings.behind[launch]
                                    : session->run->trace->launches[launch];
}

/* Lets the wait leave fewer groups in flight, in a copy of the PTX and then of the source. */
static bool try_wait(Session *session, Findings *list, int cause, const RemedyWait *wait, int groups) {
    Text ptx = {0}, text = {0}, source = {0}, insert = {0};
    remedy_apply_wait(wait, groups, &ptx);
    const char *proof = run_copy(session, list, cause, text_string(&ptx), "PTX").proof,
               *file = wait->line.file;
    bool helped = proof;
    if (helped && file && session->code.source && sources_text(&session->sources, file, &text) &&
        remedy_apply_wait_to_source(wait, groups, text_string(&text), &source)) {
        char *compiled = session_compile_changed(session, file, text_string(&source));
        if (compiled) proof = run_copy(session, list, cause, compiled, "source").proof;
        helped = proof;
        free(compiled);
    }
    text_print(&insert, "let the wait of line %d leave %d group%s of copies in flight, not %d",
               wait->line.line, groups, groups == 1 ? "" : "s", wait->groups);
    if (helped) put_proof(list, cause, text_string(&insert), proof);
    text_done(&ptx), text_done(&text), text_done(&source), text_done(&insert);
    return helped;
}

static bool try_waits(Session *session, Findings *list, int cause, const TraceLaunch *launch) {
    RemedyWait waits[REMEDY_WAITS];
    FindingKind kind = list->items[list->causes[cause].lead].kind;
    bool helped = false;
    if (kind != FINDING_ASYNC_READ && kind != FINDING_ASYNC_WRITE && kind != FINDING_COPY_NOT_AWAITED)
        return false;
    int count = remedy_find_waits(launch, waits);
    for (int i = 0; i < count && !helped; i++)
        for (int groups = waits[i].groups - 1; groups >= 0 && !helped; groups--)
            helped = try_wait(session, list, cause, &waits[i], groups);
    return helped;
}

/* Says that nothing could be tried, because the run ends before the later accesses are known. */
static void say_why_not(const Session *session, Findings *list, int cause) {
    FindingCause *of = &list->causes[cause];
    bool has_class = remedy_class(&list->items[of->lead]) != REMEDY_BY_NOTHING;
    if (!of->proof && has_class && trace_has_fatal_trap(session->run->trace) && !session->findings.behind)
        of->proof = "Not proved: a fault ends the run before it is known which threads come behind it.";
}

/* Another warp of the block, held before the first access until nothing else can run, changes the result:
 * what orders the lanes of one warp is then not enough. */
static bool loses_to_other_warps(const Session *session, const Findings *list, int cause,
                                 const Remedy *remedy) {
    const Finding *lead = &list->items[list->causes[cause].lead];
    const TraceLaunch *launch = remedy->launch;
    const FindingAccess *first = &lead->other;
    bool has_warps = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2] > WARP_LANES;
    if (lead->kind != FINDING_WARP_RACE || !has_warps || first->pc < 0) return false;
    Text ptx = {0};
    remedy_apply(remedy, &ptx);
    uint64_t schedule = session->options.schedule;
    RunChange change = {.ptx = text_string(&ptx), .schedule = &schedule, .searches_races = true};
    Session *copy = session_vary(session, &change, NULL);
    int pc = first->pc;
    for (int i = 0; i < remedy->count; i++) pc += remedy->points[i].pc <= first->pc;
    Hold hold = {.launch = lead->launch,
                 .at = {first->linear_block, first->warp ? 0 : 1, 0, pc, 1},
                 .until = {.pc = PTX_NO_PC},
                 .lanes = UINT32_MAX};
    FindingOrder order = {.schedule = schedule, .holds = {hold}, .hold_count = 1};
    Session *held = copy ? session_vary(copy, &(RunChange){.order = &order}, NULL) : NULL;
    bool loses = held && !trace_has_fatal_trap(held->run->trace) && ask_difference(copy, held, &order);
    session_free(held);
    session_free(copy);
    text_done(&ptx);
    return loses;
}

/* True if the time limit was reached before everything was tried. */
static bool prove_cause(Session *session, Findings *list, int cause, Remedy *remedy, const TimeLimit *limit) {
    Remedy weaker = {
        /* the first one that another order of the warps defeats: an order may be free to change the result */
        0};
    for (int attempt = 0; attempt < REMEDY_ATTEMPTS; attempt++) {
        if (!remedy_find(list, cause, launch_of(session, list, cause), attempt, remedy) || !remedy->count)
            continue;
        if (ask_time_is_over(limit)) return true;
        if (loses_to_other_warps(session, list, cause, remedy)) {
            if (!weaker.count) weaker = *remedy;
            continue;
        }
        if (try_remedy(session, list, cause, remedy)) return false;
    }
    *remedy = weaker;
    if (weaker.count && try_remedy(session, list, cause, remedy)) return false;
    remedy->count = 0;
    if (try_waits(session, list, cause, launch_of(session, list, cause))) return false;
    if (try_in_source(session, list, cause, NULL) == TRIED_HELPED) return false;
    say_why_not(session, list, cause);
    return false;
}

/* What the same change mends is one cause. */
static void join_causes(Session *session, Findings *list) {
    Remedy *remedies = session->findings.remedies;
    for (int i = 1; i < list->cause_count; i++)
        for (int k = 0; k < i; k++) {
            const FindingCause *a = &list->causes[k], *b = &list->causes[i];
            if (!a->is_proved || !b->is_proved || strcmp(a->insert, b->insert) != 0 ||
                list->items[a->lead].launch != list->items[b->lead].launch)
                continue;
            findings_join_causes(list, k, i);
            memmove(&remedies[i], &remedies[i + 1], (size_t)(list->cause_count - i) * sizeof *remedies);
            i--;
            break;
        }
}

void ask_proofs(Session *session) {
    Findings *list = ask_hazards(session);
    if (!list || session->findings.has_proofs || session_is_from_file(session)) return;
    session->findings.has_proofs = true;
    session->findings.remedies = memory_new((size_t)(list->error_count + 1) * sizeof(Remedy));
    TimeLimit limit = ask_limit_time(session->options.proof_seconds, MOST_SECONDS);
    int given_up = 0;
    session_find_source(session);
    for (int cause = 0; cause < list->cause_count; cause++) {
        ask_show_progress(session, "proving what ends each finding", (uint64_t)cause,
                          (uint64_t)list->cause_count);
        given_up += prove_cause(session, list, cause, &session->findings.remedies[cause], &limit);
    }
    join_causes(session, list);
    Text sentence = {0};
    if (!given_up) return;
    text_print(&sentence, "The limit of %g s for proofs was reached: for %d of %d hazards not all was tried.",
               limit.seconds, given_up, list->cause_count);
    findings_add_limit(list, &sentence);
}

const FindingCause *ask_mend(Session *session, int finding, Error *error) {
    Findings *list = session_is_from_file(session) ? NULL : ask_hazards(session);
    if (!list) {
        error_set(error, tr("a saved session does not run again"));
        return NULL;
    }
    if (!session->code.source) {
        error_set(error, tr("it is proved in a source that is compiled here: e copies the kernel to a file"));
        return NULL;
    }
    ask_proofs(session);
    const FindingCause *cause =
        finding < list->error_count ? &list->causes[list->items[finding].cause] : NULL;
    if (cause && cause->source) return cause;
    if (cause && cause->is_proved)
        error_set(error, tr("its place is known in the PTX only: %s"), cause->insert);
    else
        error_set(error, "%s",
                  cause && cause->proof ? cause->proof : tr("no barrier or fence is known to end it"));
    return NULL;
}
