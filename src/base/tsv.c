/* Writes and reads columns separated by tabs (tsv.h). */
#include "base/tsv.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_LIMIT_BYTES = 64 << 20 };

void tsv_add_word(Text *out, const char *word) {
    text_add(out, "\t");
    if (!word || !*word) word = "-";
    for (const char *at = word; *at; at++) text_add_bytes(out, *at == '\t' || *at == '\n' ? " " : at, 1);
}

void tsv_add_number(Text *out, double number, int digits) {
    if (isnan(number))
        text_add(out, "\t-");
    else
        text_print(out, "\t%.*g", digits, number);
}

/* ---- lines --------------------------------------------------------------------------------------------- */

bool tsv_open(TsvReader *reader, const char *path, Error *error) {
    size_t length;
    *reader = (TsvReader){.path = path};
    if (!text_read_file(path, FILE_LIMIT_BYTES, &reader->text, &length, error)) return false;
    reader->rest = reader->text;
    return true;
}

void tsv_open_text(TsvReader *reader, const char *text, const char *path) {
    *reader = (TsvReader){.path = path, .text = memory_copy_text(text)};
    reader->rest = reader->text;
}

void tsv_close(TsvReader *reader) {
    free(reader->text);
    *reader = (TsvReader){0};
}

static void split(TsvReader *reader, char *line) {
    reader->count = 0;
    for (char *next = line; next; reader->count++) {
        if (reader->count < TSV_COLUMNS) reader->columns[reader->count] = next;
        next = strchr(next, '\t');
        if (next) *next++ = 0;
    }
}

bool tsv_next(TsvReader *reader) {
    while (reader->rest && *reader->rest) {
        char *line = reader->rest;
        reader->rest = strchr(line, '\n');
        if (reader->rest) *reader->rest++ = 0;
        reader->line++;
        if (!*line || *line == '#') continue;
        split(reader, line);
        return true;
    }
    return false;
}

/* ---- columns ------------------------------------------------------------------------------------------- */

bool tsv_is(const TsvReader *reader, const char *kind) {
    return !strcmp(reader->columns[0], kind);
}

bool tsv_read_kinds(TsvReader *reader, const TsvKind *kinds, size_t count, void *context, Error *error) {
    while (tsv_next(reader)) {
        size_t i = 0;
        while (i < count && !tsv_is(reader, kinds[i].name)) i++;
        if (i == count) return tsv_refuse(reader, error, "'%.24s' is not a kind of line", reader->columns[0]);
        if (!kinds[i].read(context, error)) return false;
    }
    return true;
}

const char *tsv_word(const TsvReader *reader, int column) {
    return strcmp(reader->columns[column], "-") ? reader->columns[column] : "";
}

bool tsv_refuse(const TsvReader *reader, Error *error, const char *format, ...) {
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return error_set_at(error, reader->path, reader->line, 0, "%s", why);
}

bool tsv_has_columns(const TsvReader *reader, int count, Error *error) {
    return reader->count == count || tsv_refuse(reader, error, "'%.24s' has %d columns, not %d",
                                                reader->columns[0], count, reader->count);
}

bool tsv_whole(const TsvReader *reader, int column, uint64_t least, uint64_t most, uint64_t *out,
               Error *error) {
    const char *text = reader->columns[column];
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= least && *out <= most) return true;
    return tsv_refuse(reader, error, "column %d is '%.24s', not a whole number from %" PRIu64 " to %" PRIu64,
                      column + 1, text, least, most);
}

bool tsv_whole32(const TsvReader *reader, int column, uint32_t least, uint32_t most, uint32_t *out,
                 Error *error) {
    uint64_t number;
    if (!tsv_whole(reader, column, least, most, &number, error)) return false;
    *out = (uint32_t)number;
    return true;
}

bool tsv_number(const TsvReader *reader, int column, double *out, Error *error) {
    const char *text = reader->columns[column];
    char *end;
    *out = NAN;
    if (!strcmp(text, "-")) return true;
    *out = strtod(text, &end);
    if (end > text && !*end && isfinite(*out)) return true;
    return tsv_refuse(reader, error, "column %d is '%.24s', not a number", column + 1, text);
}

bool tsv_number_within(const TsvReader *reader, int column, double least, double most, double *out,
                       Error *error) {
    if (tsv_number(reader, column, out, NULL) && !(*out < least || *out > most)) return true;
    return tsv_refuse(reader, error, "column %d is '%.24s', not a number from %g to %g", column + 1,
                      reader->columns[column], least, most);
}
