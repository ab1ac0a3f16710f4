/* Accepted results: baselines and suppressions (accepted.h). */
#include "findings/accepted.h"

#include <ctype.h>
#include <fnmatch.h>
#include <sqlite3.h>
#include <stdlib.h>

enum { MOST_BYTES = 256 << 20 }; /* of a file */

/* ---- a baseline: SQLite reads the JSON ----------------------------------------------------------------- */

enum { COLUMN_KIND, COLUMN_LEVEL, COLUMN_PRINT, COLUMN_FILE, COLUMN_LINE, COLUMN_KERNEL, COLUMN_ACCEPTED };

static const char has_results[] = "SELECT json_extract(?1, '$.runs[0].tool.driver.name') IS 'redviz' AND "
                                  "json_type(?1, '$.runs[0].results') IS 'array'";
static const char each_result[] =
    "SELECT json_extract(value, '$.ruleId'), json_extract(value, '$.level'), "
    "json_extract(value, '$.partialFingerprints.\"" RESULT_FINGERPRINT_NAME "\"'), "
    "json_extract(value, '$.locations[0].physicalLocation.artifactLocation.uri'), "
    "json_extract(value, '$.locations[0].physicalLocation.region.startLine'), "
    "json_extract(value, '$.locations[0].logicalLocations[0].name'), "
    "json_array_length(value, '$.suppressions') FROM json_each(?1, '$.runs[0].results')";

static const char *column(Arena *arena, sqlite3_stmt *row, int index) {
    return arena_copy_string(arena, (const char *)sqlite3_column_text(row, index));
}

static bool take_known(Accepted *accepted, sqlite3_stmt *row, Error *error) {
    Arena *arena = &accepted->arena;
    KnownResult known = {.kind = column(arena, row, COLUMN_KIND),
                         .kernel = column(arena, row, COLUMN_KERNEL),
                         .file = column(arena, row, COLUMN_FILE),
                         .fingerprint = column(arena, row, COLUMN_PRINT),
                         .line = sqlite3_column_int(row, COLUMN_LINE)};
    const char *level = column(arena, row, COLUMN_LEVEL);
    if (!known.kind || !level || !known.fingerprint)
        return error_set_at(error, accepted->baseline, 0, 0,
                            "result %d has no fingerprint of this version: write the file anew with "
                            "--check=sarif",
                            accepted->known_count + 1);
    known.fails = !strcmp(level, "error") || (accepted->fails_on_notes && !strcmp(level, "note"));
    if (!sqlite3_column_int(row, COLUMN_ACCEPTED))
        array_push(accepted->known, accepted->known_count, accepted->known_capacity, known);
    return true;
}

static bool refuse_baseline(const Accepted *accepted, const char *why, Error *error) {
    return error_set_at(error, accepted->baseline, 0, 0,
                        "this is no SARIF file that redviz has written "
                        "(redviz --check=sarif ... > FILE)%s%s",
                        why ? ": " : "", why ? why : "");
}

static bool read_known(Accepted *accepted, sqlite3 *database, const char *text, int bytes, Error *error) {
    sqlite3_stmt *row = NULL;
    sqlite3_prepare_v2(database, has_results, -1, &row, NULL);
    sqlite3_bind_text(row, 1, text, bytes, SQLITE_STATIC);
    int state = sqlite3_step(row);
    bool good = state == SQLITE_ROW && sqlite3_column_int(row, 0);
    if (!good) refuse_baseline(accepted, state == SQLITE_ROW ? NULL : sqlite3_errmsg(database), error);
    sqlite3_finalize(row);
    if (!good) return false;
    sqlite3_prepare_v2(database, each_result, -1, &row, NULL);
    sqlite3_bind_text(row, 1, text, bytes, SQLITE_STATIC);
    while (good && (state = sqlite3_step(row)) == SQLITE_ROW) good = take_known(accepted, row, error);
    if (good && state != SQLITE_DONE) good = refuse_baseline(accepted, sqlite3_errmsg(database), error);
    sqlite3_finalize(row);
    return good;
}

bool accepted_read_baseline(Accepted *accepted, const char *path, Error *error) {
    char *text;
    size_t length;
    sqlite3 *database = NULL;
    accepted->baseline = path;
    if (!text_read_file(path, MOST_BYTES, &text, &length, error)) return false;
    bool good = sqlite3_open(":memory:", &database) == SQLITE_OK
                    ? read_known(accepted, database, text, (int)length, error)
                    : error_set(error, "SQLite: %s", sqlite3_errmsg(database));
    sqlite3_close(database);
    free(text);
    return good;
}

/* ---- suppressions -------------------------------------------------------------------------------------- */

/* The next word of a line, which is cut there; "" at its end. */
static char *next_word(char **at) {
    while (isspace((unsigned char)**at)) ++*at;
    char *word = *at;
    while (**at && !isspace((unsigned char)**at)) ++*at;
    if (**at) *(*at)++ = 0;
    return word;
}

/* FILE:LINE. */
static void take_line(char *file, Suppression *taken) {
    char *colon = strrchr(file, ':');
    if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")]) return;
    taken->at = atoi(colon + 1);
    *colon = 0;
}

static bool take_suppression(Accepted *accepted, char *text, int line, Error *error) {
    Suppression taken = {.line = line, .kind = next_word(&text), .kernel = next_word(&text)};
    char *file = next_word(&text);
    if (!*taken.kind || *taken.kind == '#') return true;
    take_line(file, &taken);
    while (isspace((unsigned char)*text)) text++;
    taken.file = file;
    taken.reason = text;
    if (!*text)
        return error_set_at(error, accepted->suppressions, line, 0,
                            "a suppression is KIND KERNEL FILE[:LINE] and a reason (* stands for any)");
    array_push(accepted->items, accepted->count, accepted->capacity, taken);
    return true;
}

bool accepted_read_suppressions(Accepted *accepted, const char *path, Error *error) {
    char *data;
    size_t length;
    accepted->suppressions = path;
    if (!text_read_file(path, MOST_BYTES, &data, &length, error)) return false;
    char *at = arena_copy_text(&accepted->arena, data, length);
    free(data);
    bool good = true;
    for (int line = 1; good && *at; line++) {
        char *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;
        *end = 0;
        while (end > at && isspace((unsigned char)end[-1])) *--end = 0;
        good = take_suppression(accepted, at, line, error);
        at = next;
    }
    return good;
}

void accepted_done(Accepted *accepted) {
    free(accepted->known);
    free(accepted->items);
    arena_done(&accepted->arena);
    *accepted = (Accepted){0};
}

/* ---- the results --------------------------------------------------------------------------------------- */

static bool matches_file(const char *pattern, const char *file) {
    if (!file) return !strcmp(pattern, "*");
    if (!fnmatch(pattern, file, 0)) return true;
    for (const char *slash = file; (slash = strchr(slash, '/'));)
        if (!fnmatch(pattern, ++slash, 0)) return true;
    return false;
}

static bool suppresses(const Suppression *suppression, const CheckResult *result) {
    return !fnmatch(suppression->kind, result->kind, 0) && !fnmatch(suppression->kernel, result->kernel, 0) &&
           matches_file(suppression->file, result->place.file) &&
           (!suppression->at || suppression->at == result->place.line);
}

void accepted_mark(Accepted *accepted, CheckResults *results) {
    results->has_baseline = accepted->baseline != NULL;
    for (int i = 0; i < results->count; i++) {
        CheckResult *result = &results->items[i];
        for (int k = accepted->count - 1; k >= 0; k--) {
            if (!suppresses(&accepted->items[k], result)) continue;
            accepted->items[k].is_used = true;
            result->suppressed = arena_copy_string(&results->arena, accepted->items[k].reason);
        }
        for (int k = 0; k < accepted->known_count; k++) {
            if (strcmp(accepted->known[k].fingerprint, result->fingerprint) != 0) continue;
            accepted->known[k].is_seen = true;
            result->is_known = true;
        }
    }
}

/* It would fail if it was not known. */
static bool counts(const Accepted *accepted, const CheckResult *result) {
    bool is_error = result->severity == SEVERITY_ERROR && result->is_sure;
    return (is_error || (accepted->fails_on_notes && result->severity == SEVERITY_NOTE)) &&
           !result->suppressed;
}

bool accepted_fails(const Accepted *accepted, const CheckResult *result) {
    return counts(accepted, result) && !result->is_known;
}

static void print_line(const char *word, const char *kind, const char *kernel, const char *file, int line,
                       Text *out) {
    text_print(out, "  %s: %s", word, kind);
    if (kernel && *kernel) text_print(out, " in %s", kernel);
    if (file) text_print(out, ", %s line %d", file, line);
    text_add(out, "\n");
}

static void print_baseline(const Accepted *accepted, const CheckResults *results, Text *out) {
    int known = 0, added = 0, fixed = 0;
    for (int i = 0; i < results->count; i++) {
        known += counts(accepted, &results->items[i]) && results->items[i].is_known;
        added += accepted_fails(accepted, &results->items[i]);
    }
    for (int i = 0; i < accepted->known_count; i++)
        fixed += accepted->known[i].fails && !accepted->known[i].is_seen;
    text_print(out, "baseline %s: %d known, %d new, %d fixed\n", accepted->baseline, known, added, fixed);
    for (int i = 0; i < results->count; i++) {
        const CheckResult *result = &results->items[i];
        if (accepted_fails(accepted, result))
            print_line("new", result->kind, result->kernel, result->place.file, result->place.line, out);
    }
    for (int i = 0; i < accepted->known_count; i++) {
        const KnownResult *known_result = &accepted->known[i];
        if (known_result->fails && !known_result->is_seen)
            print_line("fixed", known_result->kind, known_result->kernel, known_result->file,
                       known_result->line, out);
    }
}

void accepted_print(const Accepted *accepted, const CheckResults *results, Text *out) {
    int suppressed = 0;
    if (accepted->baseline) print_baseline(accepted, results, out);
    for (int i = 0; i < results->count; i++) suppressed += results->items[i].suppressed != NULL;
    if (accepted->suppressions)
        text_print(out, "suppressions %s: %d result%s suppressed\n", accepted->suppressions, suppressed,
                   suppressed == 1 ? "" : "s");
    for (int i = 0; i < accepted->count; i++) {
        const Suppression *item = &accepted->items[i];
        if (item->is_used) continue;
        text_print(out, "  unused: line %d, %s %s %s", item->line, item->kind, item->kernel, item->file);
        if (item->at) text_print(out, ":%d", item->at);
        text_add(out, "\n");
    }
}
