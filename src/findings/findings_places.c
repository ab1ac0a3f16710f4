/* The lines of an access in words: all candidates, and where its function is called. */
#include "base/language.h"
#include "findings/findings_sentences.h"

#include <stdlib.h>

enum { MOST_LINES = 2 * PTX_PLACES };

typedef struct LineSet {
    int lines[MOST_LINES];
    int count;
} LineSet;

static void add_line(LineSet *set, int line) {
    for (int i = 0; i < set->count; i++)
        if (set->lines[i] == line) return;
    if (set->count < MOST_LINES) set->lines[set->count++] = line;
}

/* Only lines of one file are named together. */
static void add_lines_in(LineSet *set, const char *file, const PtxSourceLine *lines, int count) {
    for (int i = 0; i < count; i++)
        if (!file || (lines[i].file && !strcmp(lines[i].file, file))) add_line(set, lines[i].line);
}

static int compare_lines(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* "line 17", "line 17, 18 or 20 of sum.cuh" */
static void put_lines(LineSet *set, const char *file, Text *out) {
    Text numbers = {0};
    qsort(set->lines, (size_t)set->count, sizeof *set->lines, compare_lines);
    for (int i = 0; i < set->count; i++)
        text_print(&numbers, "%s%d", !i ? "" : i + 1 < set->count ? ", " : tr(" or "), set->lines[i]);
    const char *slash = file ? strrchr(file, '/') : NULL;
    if (file)
        text_print(out, tr("line %s of %s"), text_string(&numbers), slash ? slash + 1 : file);
    else
        text_print(out, tr("line %s"), text_string(&numbers));
    text_done(&numbers);
}

void finding_add_place(const FindingAccess *access, Text *out) {
    LineSet set = {.lines = {access->line}, .count = 1};
    if (access->places) add_lines_in(&set, access->file, access->places->lines, access->places->line_count);
    put_lines(&set, access->is_elsewhere ? access->file : NULL, out);
}

void finding_begin_place(const FindingAccess *access, Text *out) {
    finding_add_place(access, out);
    text_add(out, tr(": "));
}

static const PtxPlaces *calls_of(const FindingAccess *access) {
    return access && access->pc >= 0 && access->places && access->places->caller_count ? access->places
                                                                                       : NULL;
}

void finding_add_callers(const FindingAccess *access, const FindingAccess *other, Text *out) {
    const PtxPlaces *calls[] = {calls_of(other), calls_of(access)};
    const char *file = calls[1] ? calls[1]->callers[0].file : calls[0] ? calls[0]->callers[0].file : NULL;
    const char *own = calls[1] ? access->file : calls[0] ? other->file : NULL;
    LineSet set = {.count = 0};
    for (int i = 0; i < 2; i++)
        if (calls[i]) add_lines_in(&set, file, calls[i]->callers, calls[i]->caller_count);
    if (!set.count) return;
    text_add(out, tr(". Called from "));
    put_lines(&set, file && own && strcmp(file, own) != 0 ? file : NULL, out);
}
