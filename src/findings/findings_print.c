/* Prints findings as text: numbered for --check, in short for reports. */
#include "findings/findings.h"
#include "base/language.h"
#include "base/sentence.h"
#include <stdio.h>
#include <string.h>

/* "out of bounds" for "out_of_bounds" */
static void add_title(const Finding *finding, Text *out) {
    const char *title =
        finding->kind == FINDING_FAULT ? finding->kind_text : finding_kind_title(finding->kind);
    for (const char *c = title; *c; c++) text_add_bytes(out, *c == '_' ? " " : c, 1);
}

bool finding_has_count(const Finding *finding) {
    return finding->count > 1 && finding->kind != FINDING_HEAP_LEAK;
}

void finding_print_count(const Finding *finding, Text *out) {
    CountText count, blocks;
    bool is_kept = finding->kind == FINDING_FAULT;
    bool is_of_lanes =
        finding->kind == FINDING_COPY_NOT_COMMITTED || finding->kind == FINDING_COPY_NOT_AWAITED;
    text_print(out,
               is_kept       ? tr("%s such faults are kept")
               : is_of_lanes ? tr("%s such copies of a lane")
                             : tr("in %s executions by a warp"),
               count_text(finding->count, &count));
    if (finding->blocks)
        text_print(out, tr(", in %s block%s"), count_text(finding->blocks, &blocks), plural(finding->blocks));
}

/* ---- numbered --------------------------------------------------------------------------------------- */

static void print_source_line(const char *file, int line, FindingSource source, void *context, Text *out) {
    const char *text = source && line ? source(context, file, line) : NULL;
    while (text && (*text == ' ' || *text == '\t')) text++;
    if (text && *text) text_print(out, "     %5d  %s\n", line, text);
}

/* The lines of both accesses, the earlier access first. */
static void print_source(const Finding *finding, FindingSource source, void *context, Text *out) {
    const FindingAccess *access = &finding->access, *other = &finding->other;
    bool twice = access->line == other->line;
    if (!twice) print_source_line(other->file, other->line, source, context, out);
    for (int i = access->places ? access->places->line_count - 1 : 0; i > 0; i--)
        print_source_line(access->places->lines[i].file, access->places->lines[i].line, source, context, out);
    print_source_line(access->file, access->line, source, context, out);
}

static void print_sentence(const char *lead, const char *sentence, Text *out) {
    Text text = {0};
    text_print(&text, "%s%s.", lead, sentence);
    sentence_print(out, "    ", text_string(&text));
    text_done(&text);
}

static void print_finding(const Finding *finding, int number, FindingSource source, void *context,
                          Text *out) {
    text_print(out, "%2d. ", number);
    add_title(finding, out);
    text_add(out, "\n");
    print_source(finding, source, context, out);
    sentence_print(out, "    ", finding->sentence);
    if (finding_has_count(finding)) {
        Text text = {0};
        finding_print_count(finding, &text);
        if (*text.data == 'i') *text.data = 'I';
        text_print(out, "    %s.\n", text_string(&text));
        text_done(&text);
    }
    if (finding->advice) print_sentence("What to do: ", finding->advice, out);
}

/* ---- errors, by their causes ------------------------------------------------------------------------ */

/* "lines 29 to 34": the lines of all errors of the cause. */
static void add_range(const Findings *findings, int cause, Text *out) {
    int first = 0, last = 0;
    for (int i = 0; i < findings->error_count; i++) {
        const Finding *finding = &findings->items[i];
        const int lines[2] = {finding->access.line, finding->other.line};
        for (int k = 0; finding->cause == cause && k < 2; k++) {
            if (!lines[k]) continue;
            if (!first || lines[k] < first) first = lines[k];
            if (lines[k] > last) last = lines[k];
        }
    }
    if (first < last)
        text_print(out, " in lines %d to %d", first, last);
    else if (first)
        text_print(out, " in line %d", first);
}

/* All errors of the cause are pairs of accesses. */
static bool are_alike(const Findings *findings, const FindingCause *cause) {
    bool alike = true;
    for (int i = 0; i < findings->error_count; i++)
        alike &= findings->items[i].cause != findings->items[cause->lead].cause ||
                 findings->items[i].other.pc >= 0;
    return alike;
}

static void print_extent(const Findings *findings, const FindingCause *cause, Text *out) {
    const Finding *lead = &findings->items[cause->lead];
    Text text = {0};
    if (cause->count > 1) {
        text_print(&text,
                   are_alike(findings, cause) ? "%d such pairs of accesses" : "%d errors of this cause",
                   cause->count);
        add_range(findings, lead->cause, &text);
        if (finding_has_count(lead)) text_add(&text, "; this one ");
    }
    if (finding_has_count(lead)) finding_print_count(lead, &text);
    if (cause->count == 1 && text.length && *text.data == 'i') *text.data = 'I';
    if (text.length) text_add(&text, ".");
    if (lead->is_behind)
        text_print(&text, "%sAfter the fault: seen with --keep-going.", text.length ? " " : "");
    if (lead->is_taken)
        text_print(&text, "%sSeen with --schedule %llu.", text.length ? " " : "",
                   (unsigned long long)lead->schedule);
    if (text.length) sentence_print(out, "    ", text_string(&text));
    text_done(&text);
}

/* The first line says what to do, if that is known. */
static void print_cause(const Findings *findings, int number, FindingSource source, void *context,
                        Text *out) {
    const FindingCause *cause = &findings->causes[number];
    const Finding *lead = &findings->items[cause->lead];
    Text title = {0};
    char bullet[16];
    snprintf(bullet, sizeof bullet, "%2d. ", number + 1);
    add_title(lead, &title);
    if (cause->insert) text_print(&title, ": %s", cause->insert);
    sentence_print(out, bullet, text_string(&title));
    text_done(&title);
    print_source(lead, source, context, out);
    sentence_print(out, "    ", lead->sentence);
    print_extent(findings, cause, out);
    if (cause->proof) sentence_print(out, "    ", cause->proof);
    if (cause->order) sentence_print(out, "    ", cause->order->sentence);
    if (cause->no_order) sentence_print(out, "    ", cause->no_order);
    if (lead->advice && !cause->is_proved) print_sentence("What to do: ", lead->advice, out);
}

int findings_count(const Findings *findings, Severity severity) {
    int count = 0;
    for (int i = 0; i < findings->count; i++) count += findings->items[i].severity == severity;
    return count;
}

void findings_print(const Findings *findings, FindingSource source, void *context, Text *out) {
    static const char *const heads[] = {
        NULL, "Beyond the ideal (counts, not times):\n",
        "Notes (not guaranteed by PTX or CUDA, but not known to give a wrong result):\n"};
    int errors = findings->error_count, slow = 0, notes = findings_count(findings, SEVERITY_NOTE);
    Severity last = SEVERITY_ERROR;
    for (int i = 0; i < findings->cause_count; i++) print_cause(findings, i, source, context, out);
    int number = findings->cause_count;
    for (int i = errors; i < findings->count; i++) {
        Severity severity = findings->items[i].severity;
        if (findings->items[i].kind == FINDING_NOT_EMULATED) {
            notes--; /* the second to last line */
            continue;
        }
        if (!finding_has_place(&findings->items[i])) continue;
        slow += severity == SEVERITY_SLOW;
        if (severity != last) text_add(out, heads[severity]);
        last = severity;
        print_finding(&findings->items[i], ++number, source, context, out);
    }
    for (int i = errors; i < findings->count; i++)
        if (findings->items[i].kind == FINDING_NOT_EMULATED)
            sentence_print(out, "Not examined to the end: ", findings->items[i].sentence);
    if (!findings->is_complete) text_add(out, "The search ended before the run did: there may be more.\n");
    if (errors)
        text_print(out, "%d hazard%s", findings->cause_count, plural((uint64_t)findings->cause_count));
    else
        text_add(out, "No hazard");
    if (slow) text_print(out, "; %d place%s beyond the ideal", slow, plural((uint64_t)slow));
    if (notes) text_print(out, "; %d note%s", notes, plural((uint64_t)notes));
    text_add(out, ".\n");
}

/* ---- in short --------------------------------------------------------------------------------------- */

enum { MOST_OF_A_KIND = 4 }; /* for findings about lines */

static void print_error(const Findings *findings, const FindingCause *cause, bool is_guess, Text *out) {
    const Finding *error = &findings->items[cause->lead];
    Text text = {0};
    /* The trap instruction. */
    bool is_trap = error->kind == FINDING_FAULT && !strcmp(error->kind_text, "trap");
    if (is_guess) text_add(&text, "with guessed arguments: ");
    if (error->kind == FINDING_FAULT) text_add(&text, is_trap ? "TRAP" : "TRAP ");
    if (!is_trap) add_title(error, &text);
    text_print(&text, is_guess ? ", %s" : ": %s", error->sentence);
    if (error->kind == FINDING_FAULT && error->count > 1)
        text_print(&text, " %d more at this line.", (int)error->count - 1);
    if (cause->count > 1)
        text_print(&text,
                   are_alike(findings, cause) ? " %d more such pairs of accesses."
                                              : " %d more of this cause.",
                   cause->count - 1);
    char bullet[16];
    snprintf(bullet, sizeof bullet, "%d. ", error->cause + 1);
    sentence_print(out, bullet, text_string(&text));
    text_done(&text);
}

/* Prints the first findings of the list, then how many more lines there are. The advice of a note holds for
 * its kind. */
static void print_kind(const Findings *findings, FindingKind kind, Text *out) {
    const char *advice = NULL;
    int count = 0;
    for (int i = findings->error_count; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->kind != kind) continue;
        if (count++ < MOST_OF_A_KIND) sentence_print(out, "- ", finding->sentence);
        if (finding->severity == SEVERITY_NOTE) advice = finding->advice;
    }
    int left = count - MOST_OF_A_KIND;
    if (left > 0)
        text_print(out, "- %d more line%s with %s.\n", left, plural((uint64_t)left),
                   finding_kind_title(kind));
    if (!advice) return;
    Text text = {0};
    bool is_sentence = *advice >= 'A' && *advice <= 'Z';
    text_print(&text, is_sentence ? "%s" : "What to do: %s.", advice);
    sentence_print(out, "- ", text_string(&text));
    text_done(&text);
}

void finding_print_samples(const Finding *finding, Text *out) {
    if (!(finding->samples > 0)) return;
    if (finding->samples < 0.01)
        text_print(out, tr(" Less than 1 %% of samples on a GPU are in this line"));
    else
        text_print(out, tr(" %.0f %% of samples on a GPU are in this line"), 100 * finding->samples);
    if (finding->waits_for) text_print(out, tr(" (%s)"), tr(finding->waits_for));
    text_add(out, tr("."));
}

void finding_print_remedies(const Finding *finding, Text *out) {
    if (finding->remedies) text_print(out, tr(" Try: %s (key I)."), finding->remedies);
}

void findings_print_brief(const Findings *findings, bool is_guess, Text *out) {
    for (int i = 0; i < findings->cause_count; i++)
        print_error(findings, &findings->causes[i], is_guess, out);
    for (int i = findings->error_count; i < findings->count; i++) {
        const Finding *finding = &findings->items[i];
        Text text = {0};
        char bullet[16];
        if (finding->severity != SEVERITY_SLOW) continue;
        snprintf(bullet, sizeof bullet, "%d. ", finding_number(findings, i));
        text_add(&text, finding->sentence);
        finding_print_samples(finding, &text);
        finding_print_remedies(finding, &text);
        sentence_print(out, bullet, text_string(&text));
        text_done(&text);
    }
    if (findings->below) {
        Text text = {0};
        text_print(&text, "Below %d %% of the run: %s.", FINDINGS_LEAST_PERCENT, findings->below);
        sentence_print(out, "- ", text_string(&text));
        text_done(&text);
    }
    for (FindingKind kind = 0; kind < FINDING_KIND_COUNT; kind++)
        if (finding_kind_severity(kind) == SEVERITY_NOTE) print_kind(findings, kind, out);
}
