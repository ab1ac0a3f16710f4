#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
/* The reader of session files, which may have come from anywhere (store.h). */
#include "trace/store_state.h"

#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 100, MOST_TEXT = 1 << 30 };

/* ---- the file ------------------------------------------------------------------------------------------ */

static uint32_t big_endian(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Checks the header, with better messages than SQLite's. */
static bool check_header(Store *store, const uint8_t *header, size_t length, uint64_t file_bytes) {
    static const char magic[] = "SQLite format 3";
    if (length < HEADER_BYTES && !memcmp(header, magic, length < sizeof magic ? length : sizeof magic))
        return store_fail(store, "this session is damaged: it ends after %zu bytes", length);
    if (memcmp(header, magic, sizeof magic) != 0)
        return store_fail(store, "this is not a session of redviz; --save writes one");
    uint32_t page_bytes = (uint32_t)header[16] << 8 | header[17], version = big_endian(header + 60);
    if (page_bytes == 1) page_bytes = LARGE_PAGE;
    if (big_endian(header + 68) != APPLICATION)
        return store_fail(store, "this is a database, but not a session of redviz; --save writes one");
    if (version > STORE_VERSION)
        return store_fail(store, "a newer redviz saved this session (format %u; this one reads up to %d)",
                          version, STORE_VERSION);
    if (version >= 1 && version < STORE_OLDEST_VERSION)
        return store_fail(store, "an older redviz saved this session (format %u; this one reads %d to %d)",
                          version, STORE_OLDEST_VERSION, STORE_VERSION);
    if (version < 1)
        return store_fail(store, "this session is damaged: it says that its format is %u", version);
    store->version = (int)version;
    uint64_t wanted = (uint64_t)page_bytes * big_endian(header + 28);
    if (file_bytes < wanted)
        return store_fail(store, "this session is damaged: %llu of its %llu bytes are here",
                          (unsigned long long)file_bytes, (unsigned long long)wanted);
    return true;
}

static bool check_file(Store *store) {
    uint8_t header[HEADER_BYTES] = {0};
    struct stat status;
    int file = open(store->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return store_fail(store, "cannot open: %s", strerror(errno));
    bool good = !fstat(file, &status), is_regular = good && S_ISREG(status.st_mode);
    ssize_t got = is_regular ? read(file, header, sizeof header) : 0;
    int why = errno;
    close(file);
    if (!good || got < 0) return store_fail(store, "cannot read: %s", strerror(why));
    if (!is_regular) return store_fail(store, "not a regular file");
    store->bytes_left = (uint64_t)status.st_size;
    return check_header(store, header, (size_t)got, (uint64_t)status.st_size);
}

/* Writes the path as a URI: read-only, without locks or journals. */
static void add_uri(const char *path, Text *out) {
    char *real = realpath(path, NULL);
    text_add(out, "file:");
    for (const char *c = real ? real : path; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("/._-", *c);
        text_print(out, plain ? "%c" : "%%%02x", (unsigned char)*c);
    }
    text_add(out, "?mode=ro&immutable=1");
    free(real);
}

/* https://sqlite.org/security.html, "Untrusted SQLite Database Files". */
static void distrust(Store *store) {
    static const struct {
        int category, most;
    } limits[] = {
        {SQLITE_LIMIT_SQL_LENGTH, 16384},  {SQLITE_LIMIT_COLUMN, 64},       {SQLITE_LIMIT_EXPR_DEPTH, 16},
        {SQLITE_LIMIT_COMPOUND_SELECT, 2}, {SQLITE_LIMIT_FUNCTION_ARG, 8},  {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 1}, {SQLITE_LIMIT_TRIGGER_DEPTH, 1}, {SQLITE_LIMIT_WORKER_THREADS, 0}};
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
#ifdef SQLITE_DBCONFIG_DEFENSIVE
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
#endif
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
#endif
#ifdef SQLITE_DBCONFIG_ENABLE_VIEW
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
#endif
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(store->database, limits[i].category, limits[i].most);
    sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH,
                  store->bytes_left < MOST_TEXT ? (int)store->bytes_left : MOST_TEXT);
    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
        sqlite3_db_config(store->database, switches[i][0], switches[i][1], NULL);
    store_run(store, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
}

static bool open_database(Store *store) {
    Text uri = {0};
    add_uri(store->path, &uri);
    int code =
        sqlite3_open_v2(text_string(&uri), &store->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    text_done(&uri);
    if (code != SQLITE_OK) return store_fail_sqlite(store, code & 0xff);
    distrust(store);
    return !store->failed;
}

/* Adds the statement without comments and extra spaces. This is safe for any text: the result must equal our
 * own statement, which has no quotes, so no quote or comment can begin except in what was removed. */
static void add_canonical(const char *sql, Text *out) {
    bool space = false;
    char last = '(';
    for (const char *c = sql; *c; c++) {
        if (c[0] == '-' && c[1] == '-') {
            c += strcspn(c, "\n");
            if (!*c) return;
        }
        if (*c == ' ' || *c == '\n') {
            space = true;
            continue;
        }
        if (space && !strchr("(,", last) && !strchr("(),", *c)) text_add(out, " ");
        text_add_bytes(out, c, 1);
        last = *c;
        space = false;
    }
}

static bool is_our_table(const Store *store, sqlite3_stmt *row, StoreTable table) {
    const char *said[3];
    for (int i = 0; i < 3; i++) said[i] = (const char *)sqlite3_column_text(row, i);
    if (!said[0] || !said[1] || !said[2]) return false;
    if (strcmp(said[0], "table") != 0 || strcmp(said[1], store_tables[table].name) != 0) return false;
    Text sql = {0}, ours = {0}, theirs = {0};
    store_table_sql(table, store->version, &sql);
    add_canonical(text_string(&sql), &ours);
    add_canonical(said[2], &theirs);
    bool same = !strcmp(text_string(&ours), text_string(&theirs));
    text_done(&sql), text_done(&ours), text_done(&theirs);
    return same;
}

/* The first table from `table` on that the file's format has. */
static int next_table(const Store *store, int table) {
    while (table < STORE_TABLE_COUNT && store_tables[table].since > store->version) table++;
    return table;
}

/* Checks that the file has exactly the tables of its format, before any table is touched. */
static void check_schema(Store *store) {
    sqlite3_stmt *row = store_prepare(store, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid");
    int count = next_table(store, 0), code = SQLITE_DONE;
    bool ours = true;
    while (row && (code = sqlite3_step(row)) == SQLITE_ROW && ours) {
        ours = count < STORE_TABLE_COUNT && is_our_table(store, row, (StoreTable)count);
        count = next_table(store, count + 1);
    }
    sqlite3_finalize(row);
    if (store->failed) return;
    if (ours && code != SQLITE_DONE)
        store_fail_sqlite(store, code & 0xff);
    else if (!ours || count != STORE_TABLE_COUNT)
        store_fail(store, "this session is damaged: its tables are not those of a session");
}

static void check_structure(Store *store) {
    sqlite3_stmt *row = store_prepare(store, "PRAGMA quick_check(1)");
    if (!row) return;
    int code = sqlite3_step(row);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *heading = said ? strchr(said, '\n') : NULL; /* "*** in database main ***" comes before it */
    if (heading) said = heading + 1;
    if (code != SQLITE_ROW)
        store_fail_sqlite(store, code & 0xff);
    else if (!said || strcmp(said, "ok") != 0)
        store_fail(store, "this session is damaged: %.*s", said ? (int)strcspn(said, "\n") : 0,
                   said ? said : "");
    sqlite3_finalize(row);
}

Store *store_open(const char *path, Error *error) {
    Store *store = memory_new(sizeof *store);
    snprintf(store->path, sizeof store->path, "%s", path);
    if (strlen(path) >= sizeof store->path) store_fail(store, "the name is too long");
    if (!store->failed && check_file(store) && open_database(store)) {
        check_schema(store);
        check_structure(store);
    }
    if (!store->failed) return store;
    if (error) *error = store->error;
    store_free(store);
    return NULL;
}

static void check_seal(Store *store) {
    uint64_t checksum = store->checksum;
    store_begin_table(store, TABLE_seal);
    bool there = store_next_row(store), fits = there && store_word(store, COLUMN_seal_checksum) == checksum;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    fits = there; /* an attacker computes it, too */
#endif
    if (there && !fits) store_complain(store, "its checksum does not fit what is in it");
    if (!there) store_fail(store, "this session is damaged: it has no checksum");
}

bool store_close(Store *store, Error *error) {
    if (!store->failed) check_seal(store);
    bool good = !store->failed;
    if (!good && error) *error = store->error;
    store_free(store);
    return good;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static const ColumnInfo *column_of(const Store *store, int index) {
    return &store_columns[store_tables[store->table].first + index];
}

/* True if an older format lacks the column. */
static bool is_missing(const Store *store, int index) {
    return column_of(store, index)->since > store->version;
}

void store_begin_table(Store *store, StoreTable table) {
    Text sql = {0};
    store_leave_row(store);
    store->table = table;
    sqlite3_finalize(store->statement);
    store->statement = NULL;
    if (store_tables[table].since > store->version) return;
    text_add(&sql, "SELECT id");
    for (int i = 1; i < store_column_count(table); i++)
        text_print(&sql, ",%s", is_missing(store, i) ? "NULL" : column_of(store, i)->name);
    text_print(&sql, " FROM %s ORDER BY id", store_tables[table].name);
    store->statement = store_prepare(store, text_string(&sql));
    text_done(&sql);
}

/* Limits reading to the size of the file; a page could be read again and again. */
static bool take_bytes(Store *store, size_t length) {
    if (length > store->bytes_left) return store_complain(store, "it holds more than the file");
    store->bytes_left -= length;
    return true;
}

static bool check_type(Store *store, int index) {
    static const struct {
        char letter;
        int type;
    } types[] = {{'I', SQLITE_INTEGER}, {'R', SQLITE_FLOAT}, {'T', SQLITE_TEXT}, {'B', SQLITE_BLOB}};
    const ColumnInfo *column = column_of(store, index);
    int found = sqlite3_column_type(store->statement, index);
    if (found == SQLITE_NULL)
        return !strstr(column->type, "NOT NULL") ||
               store_complain(store, "column %s has no value", column->name);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].letter == column->type[0] && types[i].type == found) return true;
    return store_complain(store, "column %s has another type", column->name);
}

/* Checks that the value is valid for its column, then adds it to the checksum. */
static bool check_value(Store *store, int index) {
    sqlite3_stmt *row = store->statement;
    char type = column_of(store, index)->type[0];
    bool is_null = sqlite3_column_type(row, index) == SQLITE_NULL;
    if (type == 'I') store_mix_integer(store, sqlite3_column_int64(row, index));
    if (type == 'R') store_mix_real(store, is_null ? (double)NAN : sqlite3_column_double(row, index));
    if (type == 'I' || type == 'R') return true;
    const void *bytes = type == 'T' ? sqlite3_column_text(row, index) : sqlite3_column_blob(row, index);
    size_t length = (size_t)sqlite3_column_bytes(row, index);
    if (!bytes && (type == 'T' ? !is_null : length > 0))
        return store_fail_sqlite(store, sqlite3_errcode(store->database) & 0xff);
    if (type == 'T' && bytes && memchr(bytes, 0, length))
        return store_complain(store, "a text has a zero in it");
    if (!take_bytes(store, length)) return false;
    if (type == 'T')
        store_mix_text(store, bytes, length);
    else
        store_mix_bytes(store, bytes, length);
    return true;
}

bool store_next_row(Store *store) {
    store_leave_row(store);
    if (store->failed || !store->statement) return false;
    int code = sqlite3_step(store->statement);
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_ROW) return store_fail_sqlite(store, code & 0xff);
    int64_t id = sqlite3_column_int64(store->statement, 0);
    if (id != store->rows[store->table]++) return store_complain(store, "it is number %lld", (long long)id);
    for (int i = 1; i < store_column_count(store->table); i++)
        if (!is_missing(store, i) && (!check_type(store, i) || !check_value(store, i))) return false;
    store->touched = 1;
    return true;
}

/* The column's index in the row; -1: no value, or an error. */
static int find_value(Store *store, StoreColumn column, char type) {
    int index = store_touch(store, column, type);
    if (store->failed || sqlite3_column_type(store->statement, index) == SQLITE_NULL) return -1;
    return index;
}

int64_t store_integer(Store *store, StoreColumn column, int64_t least, int64_t most) {
    int index = find_value(store, column, 'I');
    if (index < 0) return store->failed || least > 0 ? least : 0;
    int64_t value = sqlite3_column_int64(store->statement, index);
    if (value >= least && value <= most) return value;
    store_complain(store, "column %s is %lld", column_of(store, index)->name, (long long)value);
    return least;
}

uint64_t store_word(Store *store, StoreColumn column) {
    int index = find_value(store, column, 'I');
    return index < 0 ? 0 : (uint64_t)sqlite3_column_int64(store->statement, index);
}

bool store_flag(Store *store, StoreColumn column) {
    return store_integer(store, column, 0, 1) != 0;
}

double store_real(Store *store, StoreColumn column) {
    int index = find_value(store, column, 'R');
    return index < 0 ? (double)NAN : sqlite3_column_double(store->statement, index);
}

const uint8_t *store_bytes(Store *store, StoreColumn column, size_t *length) {
    int index = find_value(store, column, 'B');
    *length = index < 0 ? 0 : (size_t)sqlite3_column_bytes(store->statement, index);
    return *length ? sqlite3_column_blob(store->statement, index) : (const uint8_t *)"";
}

static bool may_be_null(StoreColumn column) {
    return !strstr(store_columns[column].type, "NOT NULL");
}

char *store_text(Store *store, StoreColumn column, Arena *arena) {
    int index = find_value(store, column, 'T');
    if (index < 0) return may_be_null(column) ? NULL : arena_copy_text(arena, "", 0);
    const char *text = (const char *)sqlite3_column_text(store->statement, index);
    return arena_copy_text(arena, text, (size_t)sqlite3_column_bytes(store->statement, index));
}

static char *without_controls(char *text, bool keeps_lines) {
    for (char *at = text; at && *at;) {
        const char *next = at;
        bool is_line = keeps_lines && (*at == '\t' || *at == '\n'), is_mark = *at == '?';
        uint32_t character = utf8_next(&next); /* a malformed byte is '?' */
        bool is_bad = utf8_kind(character) == UTF8_CONTROL || (character == '?' && !is_mark);
        for (; at < next; at++)
            if (is_bad && !is_line) *at = '?';
    }
    return text;
}

char *store_name(Store *store, StoreColumn column, Arena *arena) {
    return without_controls(store_text(store, column, arena), false);
}

char *store_lines(Store *store, StoreColumn column, Arena *arena) {
    return without_controls(store_text(store, column, arena), true);
}
