/* Proofs: a copy of the PTX gets the barrier or fence that seems to be missing (metrics/remedy.h), and runs again under the
 * race detector. */
#include "session/hazards.h"

#include "metrics/remedy.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SECONDS = 3 }; /* of processor time, for all of a session's proofs */

static bool is_same_error(const Finding *a, const Finding *b) {
    return a->kind == b->kind && a->launch == b->launch && !strcmp(a->kind_text, b->kind_text) &&
           (a->kind == FINDING_WRONG_RESULT ||
            (a->access.line == b->access.line && a->other.line == b->other.line));
}

/* None of the cause's errors is left, and no other one is new. */
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

/* Runs the copy; true: the finding is gone, which the cause now says. */
static bool try_remedy(const Session *session, Findings *list, int cause, const Remedy *remedy) {
    Text ptx = {0}, insert = {0};
    remedy_apply(remedy, &ptx);
    Session *copy = session_open_copy(session, text_string(&ptx), session->options.schedule, true);
    const Findings *after = copy ? session_hazards(copy) : NULL;
    bool helped = after && has_helped(list, cause, after);
    FindingCause *of = &list->causes[cause];
    remedy_print(remedy, session_find_source_line, (void *)(uintptr_t)session, &insert);
    if (helped) {
        of->insert = arena_copy_string(&list->arena, text_string(&insert));
        of->proof = say_proof(list, copy, after);
        of->is_proved = true;
    } else if (!of->proof) {
        of->proof = arena_print(&list->arena, "Tried in a copy of the PTX: to %s did not help.",
                                text_string(&insert));
    }
    session_free(copy);
    text_done(&ptx);
    text_done(&insert);
    return helped;
}

void session_prove(const Session *session) {
    Session *cache = (Session *)(uintptr_t)session; /* logically const: looked for at the first question */
    Findings *list = (Findings *)(uintptr_t)session_hazards(session);
    if (!list || session->findings.has_proofs || session_is_from_file(session)) return;
    cache->findings.has_proofs = true;
    Remedy *remedy = memory_new(sizeof *remedy);
    clock_t end = clock() + MOST_SECONDS * CLOCKS_PER_SEC;
    for (int cause = 0; cause < list->cause_count; cause++) {
        bool helped = false;
        for (int attempt = 0; !helped && attempt < REMEDY_ATTEMPTS && clock() < end; attempt++)
            if (remedy_find(list, cause, session->trace, attempt, remedy) && remedy->count)
                helped = try_remedy(session, list, cause, remedy);
    }
    free(remedy);
}
