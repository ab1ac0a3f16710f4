/* --access: counts what the hardware would count for the accesses in a CSV file.
 *
 * Columns are found by their names in the header line: kind, width_bytes, active_mask, off0 .. off31 (offsets
 * of inactive lanes may be empty), and count, which is optional and ignored. Rows are printed unchanged, with
 * the computed count last. Empty lines and lines that begin with # are printed unchanged. */
#include "metrics/access_csv.h"

#include "base/number.h"
#include "trace/access.h"
#include "trace/trace.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 256, NO_COLUMN = -1 };

typedef struct Field {
    const char *text;
    size_t length;
    int column; /* in the line, from 1 */
} Field;

typedef struct CsvRow {
    Field fields[MOST_COLUMNS];
    int count;
} CsvRow;

typedef struct Columns {
    int kind, width, mask, count, offset[WARP_LANES];
    int total;
} Columns;

typedef struct CsvPosition { /* where an error is */
    const char *file;
    int line;
    const char *text; /* the line, for the excerpt */
    size_t length;
    Error *error;
} CsvPosition;

static bool reject(const CsvPosition *place, int column, const char *message, const Field *field) {
    if (field) {
        error_set_at(place->error, place->file, place->line, column, "%s: '%.*s'", message,
                     (int)(field->length < 64 ? field->length : 64), field->text);
    } else {
        error_set_at(place->error, place->file, place->line, column, "%s", message);
    }
    error_show_line(place->error, place->text, place->length);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void trim(Field *field) {
    while (field->length && (*field->text == ' ' || *field->text == '\t'))
        field->text++, field->length--, field->column++;
    while (field->length && strchr(" \t", field->text[field->length - 1])) field->length--;
}

static bool split(const CsvPosition *place, CsvRow *row) {
    row->count = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= place->length; i++) {
        if (i < place->length && place->text[i] != ',') continue;
        if (row->count == MOST_COLUMNS)
            return reject(place, (int)begin + 1, "too many columns: the limit is 256", NULL);
        Field field = {place->text + begin, i - begin, (int)begin + 1};
        trim(&field);
        row->fields[row->count++] = field;
        begin = i + 1;
    }
    return true;
}

static bool is_text(const Field *field, const char *text) {
    return strlen(text) == field->length && memcmp(field->text, text, field->length) == 0;
}

static bool read_header(const CsvPosition *place, const CsvRow *row, Columns *columns) {
    columns->kind = columns->width = columns->mask = columns->count = NO_COLUMN;
    for (int lane = 0; lane < WARP_LANES; lane++) columns->offset[lane] = NO_COLUMN;
    columns->total = row->count;
    for (int i = 0; i < row->count; i++) {
        const Field *field = &row->fields[i];
        int *column = is_text(field, "kind")          ? &columns->kind
                      : is_text(field, "width_bytes") ? &columns->width
                      : is_text(field, "active_mask") ? &columns->mask
                      : is_text(field, "count")       ? &columns->count
                                                      : NULL;
        for (int lane = 0; !column && lane < WARP_LANES; lane++) {
            char name[16];
            snprintf(name, sizeof name, "off%d", lane);
            if (is_text(field, name)) column = &columns->offset[lane];
        }
        if (!column)
            return reject(place, field->column,
                          "unknown column (kind, width_bytes, active_mask, off0 .. off31, count)", field);
        if (*column != NO_COLUMN) return reject(place, field->column, "duplicate column", field);
        *column = i;
    }
    if (columns->kind == NO_COLUMN) return reject(place, 1, "the header line has no column 'kind'", NULL);
    if (columns->width == NO_COLUMN)
        return reject(place, 1, "the header line has no column 'width_bytes'", NULL);
    if (columns->mask == NO_COLUMN)
        return reject(place, 1, "the header line has no column 'active_mask'", NULL);
    return true;
}

/* ---- one access ------------------------------------------------------------------------------------- */

static bool read_number(const CsvPosition *place, const Field *field, const char *what, uint64_t limit,
                        uint64_t *number) {
    char text[32];
    const char *end = text;
    if (field->length >= sizeof text) return reject(place, field->column, what, field);
    memcpy(text, field->text, field->length);
    text[field->length] = 0;
    return (number_read_digits(&end, number) && !*end && *number <= limit) ||
           reject(place, field->column, what, field);
}

typedef struct CsvAccess {
    TraceKind kind; /* NOT_RECORDED: not modelled */
    int width;
    uint32_t mask;
    uint64_t offset[WARP_LANES];
} CsvAccess;

static TraceKind kind_named(const Field *field) {
    for (TraceKind kind = TRACE_NOT_RECORDED + 1; kind < TRACE_KIND_COUNT; kind++)
        if (is_text(field, trace_kind_text(kind))) return kind;
    return TRACE_NOT_RECORDED;
}

static bool read_access(const CsvPosition *place, const CsvRow *row, const Columns *columns,
                        CsvAccess *access) {
    const Field *width_field = &row->fields[columns->width];
    uint64_t width = 0, mask = 0;
    access->kind = kind_named(&row->fields[columns->kind]);
    if (access->kind == TRACE_NOT_RECORDED || !trace_kind_is_access(access->kind))
        return reject(place, row->fields[columns->kind].column,
                      "unknown kind (shared_load, shared_store, global_load, global_store, ...)",
                      &row->fields[columns->kind]);
    if (!read_number(place, width_field, "width_bytes must be 1, 2, 4, 8, 16 or 32", 32, &width))
        return false;
    if (width == 0 || (width & (width - 1)))
        return reject(place, width_field->column, "width_bytes must be 1, 2, 4, 8, 16 or 32", width_field);
    if (!read_number(place, &row->fields[columns->mask], "active_mask must have 32 bits", UINT32_MAX, &mask))
        return false;
    access->width = (int)width;
    access->mask = (uint32_t)mask;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        access->offset[lane] = 0;
        bool active = access->mask >> lane & 1;
        int column = columns->offset[lane];
        if (column == NO_COLUMN) {
            if (!active) continue;
            char message[80];
            snprintf(message, sizeof message, "lane %d is active, but the file has no column off%d", lane,
                     lane);
            return reject(place, row->fields[columns->mask].column, message, NULL);
        }
        const Field *field = &row->fields[column];
        if (!active && field->length == 0) continue;
        if (!read_number(place, field, "an offset must be a number of bytes, 0 or more", (uint64_t)1 << 48,
                         &access->offset[lane]))
            return false;
        if (active && access->offset[lane] % width)
            return reject(place, field->column,
                          "the offset of an active lane is not a multiple of width_bytes", field);
    }
    return true;
}

/* The hardware's count: wavefronts of shared accesses, sectors of global ones; -1: not modelled. */
static int count_of(const CsvAccess *access) {
    switch (access->kind) {
    case TRACE_SHARED_LOAD:
    case TRACE_SHARED_STORE:
        return access_shared_cost(access->kind == TRACE_SHARED_LOAD, access->width, access->mask,
                                  access->offset)
            .wavefronts;
    case TRACE_GLOBAL_LOAD:
    case TRACE_GLOBAL_STORE:
    case TRACE_GLOBAL_ATOMIC:
        return access_global_sectors(access->width, access->mask, access->offset);
    default:
        return -1;
    }
}

/* ---- the file --------------------------------------------------------------------------------------- */

/* The row as read, without its count. */
static void print_row(const CsvRow *row, const Columns *columns, Text *out) {
    for (int i = 0; i < row->count; i++) {
        if (i == columns->count) continue;
        text_add_bytes(out, row->fields[i].text, row->fields[i].length);
        text_add(out, ",");
    }
}

static bool print_access(const CsvPosition *place, const CsvRow *row, const Columns *columns, Text *out) {
    CsvAccess access = {0};
    int expected = columns->total, least = columns->count == expected - 1 ? expected - 1 : expected;
    if (row->count < least || row->count > expected) {
        char message[80];
        snprintf(message, sizeof message, "%d columns, but the header line has %d", row->count, expected);
        return reject(place, row->fields[row->count < expected ? row->count - 1 : expected].column, message,
                      NULL);
    }
    if (!read_access(place, row, columns, &access)) return false;
    print_row(row, columns, out);
    int count = count_of(&access);
    if (count < 0)
        text_add(out, "not modelled\n");
    else
        text_print(out, "%d\n", count);
    return true;
}

bool access_csv_count(const char *csv, size_t length, const char *file, Text *out, Error *error) {
    CsvRow row;
    Columns columns;
    bool has_header = false;
    CsvPosition place = {.file = file, .line = 0, .error = error};
    static const char mark[] = "\xef\xbb\xbf"; /* a byte order mark, as spreadsheets write it */
    for (size_t at = length >= 3 && memcmp(csv, mark, 3) == 0 ? 3 : 0; at < length;) {
        const char *newline = memchr(csv + at, '\n', length - at);
        size_t end = newline ? (size_t)(newline - csv) : length;
        place.line++;
        place.text = csv + at;
        place.length = end - at;
        at = end + 1;
        if (place.length && place.text[place.length - 1] == '\r') place.length--;
        if (memchr(place.text, 0, place.length)) return reject(&place, 1, "this is not text", NULL);
        size_t blank = 0;
        while (blank < place.length && strchr(" \t", place.text[blank])) blank++;
        if (blank == place.length || place.text[blank] == '#') {
            text_add_bytes(out, place.text, place.length);
            text_add(out, "\n");
            continue;
        }
        if (!split(&place, &row)) return false;
        if (has_header) {
            if (!print_access(&place, &row, &columns, out)) return false;
            continue;
        }
        if (!read_header(&place, &row, &columns)) return false;
        has_header = true;
        print_row(&row, &columns, out);
        text_add(out, "count\n");
    }
    if (!has_header)
        return error_set_at(error, file, 0, 0,
                            "no header line: its columns are kind, width_bytes, active_mask, off0 .. off31");
    return true;
}
