/* Results of a check (results.h). */
#include "findings/results.h"

#include "trace/store.h"

#include <ctype.h>
#include <stdlib.h>

void results_begin(CheckResults *results) {
    results->additions++;
}

static bool is_same_text(const char *a, const char *b) {
    return a && b ? !strcmp(a, b) : a == b;
}

static bool is_same(const CheckResult *a, const CheckResult *b) {
    return !strcmp(a->kind, b->kind) && !strcmp(a->kernel, b->kernel) && a->place.line == b->place.line &&
           is_same_text(a->place.file, b->place.file) && !strcmp(a->source, b->source);
}

/* The text without blanks. */
static const char *squeeze(Arena *arena, const char *text) {
    char *copy = arena_copy_string(arena, text ? text : ""), *to = copy;
    for (const char *from = copy; *from; from++)
        if (!isspace((unsigned char)*from)) *to++ = *from;
    *to = 0;
    return copy;
}

static void set_fingerprint(const CheckResults *results, CheckResult *result) {
    int occurrence = 0;
    for (int i = 0; i < results->count; i++) {
        const CheckResult *other = &results->items[i];
        occurrence += !strcmp(other->kind, result->kind) && !strcmp(other->kernel, result->kernel) &&
                      !strcmp(other->source, result->source);
    }
    Text text = {0};
    text_print(&text, "%s\n%s\n%s\n%d", result->kind, result->kernel, result->source, occurrence);
    snprintf(result->fingerprint, sizeof result->fingerprint, "%016llx",
             (unsigned long long)store_checksum(text_string(&text), text.length));
    text_done(&text);
}

static CheckCase *find_case(CheckResults *results, const char *program, const char *kernel) {
    for (int i = 0; i < results->case_count; i++) {
        CheckCase *found = &results->cases[i];
        if (is_same_text(found->program, program) && !strcmp(found->kernel, kernel)) return found;
    }
    CheckCase added = {.program = arena_copy_string(&results->arena, program),
                       .kernel = arena_copy_string(&results->arena, kernel)};
    array_push(results->cases, results->case_count, results->case_capacity, added);
    return &results->cases[results->case_count - 1];
}

void results_add_case(CheckResults *results, const char *program, const char *kernel, const char *why) {
    CheckCase *found = find_case(results, program, kernel);
    found->is_checked |= !why;
    if (why) found->why = arena_copy_string(&results->arena, why);
}

/* The result belongs to the case, too: an earlier program may have shown it first. */
static void add_to_case(CheckResults *results, const CheckResult *result, int index) {
    CheckCase *found = find_case(results, result->program, result->kernel);
    found->is_checked = true;
    for (int i = 0; i < found->count; i++)
        if (found->results[i] == index) return;
    array_push(found->results, found->count, found->capacity, index);
}

bool results_add(CheckResults *results, const CheckResult *result) {
    Arena *arena = &results->arena;
    CheckResult added = *result;
    added.source = squeeze(arena, result->source);
    added.addition = results->additions;
    for (int i = 0; i < results->count; i++) {
        CheckResult *other = &results->items[i];
        if (other->addition == results->additions || !is_same(other, &added)) continue;
        other->addition = results->additions;
        add_to_case(results, result, i);
        return false;
    }
    added.kind = arena_copy_string(arena, result->kind);
    added.title = arena_copy_string(arena, result->title);
    added.program = arena_copy_string(arena, result->program);
    added.kernel = arena_copy_string(arena, result->kernel);
    added.place.file = arena_copy_string(arena, result->place.file);
    added.message = arena_copy_string(arena, result->message);
    set_fingerprint(results, &added);
    array_push(results->items, results->count, results->capacity, added);
    add_to_case(results, result, results->count - 1);
    return true;
}

void results_add_limit(CheckResults *results, const char *sentence) {
    for (int i = 0; i < results->limit_count; i++)
        if (!strcmp(results->limits[i], sentence)) return;
    array_push(results->limits, results->limit_count, results->limit_capacity,
               arena_copy_string(&results->arena, sentence));
}

static void print_message(const Finding *finding, const FindingCause *cause, Text *text) {
    if (cause && cause->insert) text_print(text, "%s. ", cause->insert);
    if (text->length && *text->data == 'i') *text->data = 'I';
    text_add(text, finding->sentence);
    if (cause && cause->count > 1) text_print(text, " %d such errors.", cause->count);
    if (cause && cause->proof) text_print(text, " %s", cause->proof);
    if (finding->advice && !(cause && cause->is_proved))
        text_print(text, " What to do: %s.", finding->advice);
}

static FoundPlace place_of(const FindingAccess *access) {
    bool is_known = access->file && access->line >= 1;
    return (FoundPlace){.file = is_known ? access->file : NULL, .line = is_known ? access->line : 0};
}

static void add_related(CheckResults *results, const FindingAccess *access, const char *what) {
    CheckResult *result = &results->items[results->count - 1];
    FoundPlace place = place_of(access);
    if (access->pc < 0 || !place.file) return;
    place.what = what;
    place.file = arena_copy_string(&results->arena, place.file);
    array_push(result->related, result->related_count, result->related_capacity, place);
}

static void add_finding(CheckResults *results, const Findings *findings, int index,
                        const ResultOrigin *origin) {
    const Finding *finding = &findings->items[index];
    const FindingCause *cause = finding->cause >= 0 ? &findings->causes[finding->cause] : NULL;
    if ((cause && cause->lead != index) || !finding_has_place(finding)) return;
    FoundPlace place = place_of(&finding->access);
    Text message = {0};
    print_message(finding, cause, &message);
    CheckResult result = {
        .kind = finding->kind_text,
        .title = finding->kind == FINDING_FAULT ? finding->kind_text : finding_kind_title(finding->kind),
        .severity = finding->severity,
        .is_sure = !origin->is_sure || origin->is_sure(origin->context, finding),
        .program = origin->program,
        .kernel = origin->trace->launches[finding->launch]->name,
        .place = place,
        .message = text_string(&message),
        .source = place.file ? origin->source(origin->context, place.file, place.line) : NULL};
    bool is_new = results_add(results, &result);
    for (int i = cause ? 0 : index; is_new && i < (cause ? findings->error_count : index + 1); i++) {
        if (findings->items[i].cause != finding->cause) continue;
        add_related(results, &findings->items[i].other, "the access before");
        if (i != index) add_related(results, &findings->items[i].access, "the access");
    }
    text_done(&message);
}

void results_add_findings(CheckResults *results, const Findings *findings, const ResultOrigin *origin) {
    results_begin(results);
    for (int i = 0; i < origin->trace->launch_count; i++)
        results_add_case(results, origin->program, origin->trace->launches[i]->name, NULL);
    for (int i = 0; i < findings->count; i++) add_finding(results, findings, i, origin);
    for (int i = 0; i < findings->limit_count; i++) results_add_limit(results, findings->limits[i]);
}

void results_done(CheckResults *results) {
    for (int i = 0; i < results->count; i++) free(results->items[i].related);
    for (int i = 0; i < results->case_count; i++) free(results->cases[i].results);
    free(results->items);
    free(results->cases);
    free(results->limits);
    arena_done(&results->arena);
    *results = (CheckResults){0};
}
