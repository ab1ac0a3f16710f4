/* Merges races found under another schedule into the findings of this run (findings.h). */
#include "base/language.h"
#include "findings/findings_list.h"
#include "findings/findings_sentences.h"

#include <string.h>

static bool is_race(const Finding *finding) {
    return finding->kind <= FINDING_GLOBAL_RACE || finding->kind == FINDING_ASYNC_READ ||
           finding->kind == FINDING_ASYNC_WRITE || finding->kind == FINDING_MISSING_ACQUIRE ||
           finding->kind == FINDING_DATA_ORDER;
}

static bool has(const Findings *list, const Finding *finding) {
    for (int i = 0; i < list->count; i++) {
        const Finding *own = &list->items[i];
        if (own->kind == finding->kind && own->launch == finding->launch &&
            own->access.line == finding->access.line && own->other.line == finding->other.line &&
            own->access.is_store == finding->access.is_store &&
            own->other.is_store == finding->other.is_store)
            return true;
    }
    return false;
}

static const char *keep_text(Findings *list, const char *text) {
    return text ? arena_copy_string(&list->arena, text) : NULL;
}

/* Copies everything it points to, which the other run owns, except the text of its kind. */
static Finding take(Findings *list, const Finding *finding, const Trace *trace) {
    Finding own = *finding;
    const TraceLaunch *launch = trace->launches[finding->launch];
    own.what = keep_text(list, finding->what);
    own.sentence = keep_text(list, finding->sentence);
    own.advice = keep_text(list, finding->advice);
    if (finding->pair_count)
        own.pairs =
            arena_copy(&list->arena, finding->pairs, (size_t)finding->pair_count * sizeof *finding->pairs);
    finding_put_line(launch, &own.access);
    finding_put_line(launch, &own.other);
    own.access.event = own.other.event = -1; /* event indices are those of this run */
    return own;
}

/* Takes every finding of the kind of `like`. */
static void take_all(Findings *list, const Findings *other, const Trace *trace, const Finding *like) {
    FindingsBuilder builder = {.list = list, .capacity = list->count, .trace = trace};
    for (int i = 0; i < other->count; i++) {
        const Finding *finding = &other->items[i];
        if (!is_race(finding) || finding->launch >= trace->launch_count || has(list, finding)) continue;
        Finding *own = findings_add(list, &builder.capacity, finding->kind, finding->launch);
        *own = take(list, finding, trace);
        own->is_behind = like->is_behind;
        own->is_taken = like->is_taken;
        own->schedule = like->schedule;
        findings_end(&builder);
    }
}

void findings_take_races(Findings *list, const Findings *other, const Trace *trace, uint64_t schedule) {
    take_all(list, other, trace, &(Finding){.is_taken = true, .schedule = schedule});
}

void findings_take_behind(Findings *list, const Findings *other, const Trace *trace) {
    take_all(list, other, trace, &(Finding){.is_behind = true});
    list->is_complete |= other->is_complete;
}

static FindingAccess placed(const Trace *trace, int launch, const FindingAccess *access) {
    FindingAccess own = *access;
    const uint32_t *grid = trace->launches[launch]->grid;
    own.block[0] = (uint32_t)(own.linear_block % grid[0]);
    own.block[1] = (uint32_t)(own.linear_block / grid[0] % grid[1]);
    own.block[2] = (uint32_t)(own.linear_block / grid[0] / grid[1]);
    finding_put_line(trace->launches[launch], &own);
    return own;
}

void findings_add_late(Findings *list, const Trace *trace, const FindingLate *late) {
    FindingsBuilder builder = {.list = list, .capacity = list->count, .trace = trace};
    Finding *finding = findings_add(list, &builder.capacity, FINDING_LATE_ATOMIC, late->launch);
    bool is_same_block = late->atomic.linear_block == late->reader.linear_block;
    Text text = {0};
    finding->access = placed(trace, late->launch, &late->reader);
    finding->other = placed(trace, late->launch, &late->atomic);
    finding->count = finding->blocks = 1;
    finding_begin_place(&finding->other, &text);
    findings_add_thread(&finding->other, true, &text);
    text_add(&text, tr(" updates a word atomically; "));
    finding_begin_place(&finding->access, &text);
    findings_add_thread(&finding->access, true, &text);
    text_print(
        &text,
        tr(" reads it. Nothing makes the second wait for the first: with the first held until the second "
           "has happened, the result is %s, expected %s"),
        late->result, late->expected);
    finding->sentence = findings_finish_sentence(list, &text);
    finding->advice = is_same_block ? tr("put __syncthreads() after the atomic, before one thread of the "
                                         "block announces that it is done")
                                    : tr("let the thread of the atomic announce it afterwards, behind "
                                         "__threadfence(), and let the reader "
                                         "wait for every announcement");
    findings_end(&builder);
}
