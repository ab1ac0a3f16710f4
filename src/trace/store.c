#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
#include "trace/store.h"

#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct StoreTable {
    const char *name, *sql;
} StoreTable;

static const StoreTable tables[] = {
#define TABLE(name, columns) {#name, "CREATE TABLE " #name "(" columns ")"},
#include "trace/schema.def"
#undef TABLE
};
enum { TABLE_COUNT = sizeof tables / sizeof *tables, SEAL = TABLE_COUNT - 1 };

enum {
    APPLICATION = 0x7264767a, /* "rdvz": the application id in the file's header */
    HEADER_BYTES = 100,
    SMALL_PAGE = 4096,
    LARGE_PAGE = 65536,
    LARGE_FILE = 8 << 20,
    MOST_TEXT = 1 << 30
};

struct Store {
    char path[PATH_MAX];        /* as it was given; of a file that is written: where it will be */
    char saving[PATH_MAX + 16]; /* where it is written; empty: it is read */
    int file;                   /* of `saving`, locked while it is there */
    sqlite3 *database;
    sqlite3_stmt *inserts[TABLE_COUNT];
    int64_t rows[TABLE_COUNT];
    sqlite3_stmt *statement; /* of the current table */
    int table, column;
    uint64_t checksum;
    uint64_t bytes_left; /* to be read: the file's size at first */
    bool failed;
    Error error;
};

/* ---- what both ways share -------------------------------------------------------------------------------
 */

static bool fail(Store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first reason stays; always false. */
static bool fail(Store *store, const char *format, ...) {
    if (store->failed) return false;
    char message[256];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    store->failed = true;
    return error_set_at(&store->error, store->path, 0, 0, "%s", message);
}

bool store_failed(const Store *store) {
    return store->failed;
}

bool store_complain(Store *store, const char *format, ...) {
    char message[160];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return fail(store, "this session is damaged: %s (table %s, row %lld)", message, tables[store->table].name,
                (long long)store->rows[store->table] - 1);
}

/* What SQLite could not do. */
static bool fail_sqlite(Store *store, int code) {
    int system = sqlite3_system_errno(store->database);
    if (!store->saving[0] && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_TOOBIG))
        return fail(store, "this session is damaged: %s", sqlite3_errstr(code));
    if ((code == SQLITE_FULL || code == SQLITE_IOERR) && system)
        return fail(store, "cannot %s: %s", store->saving[0] ? "save" : "read", strerror(system));
    return fail(store, "cannot %s: %s", store->saving[0] ? "save" : "read", sqlite3_errstr(code));
}

static bool run(Store *store, const char *sql) {
    if (store->failed) return false;
    int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || fail_sqlite(store, code & 0xff);
}

static sqlite3_stmt *prepare(Store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (store->failed) return NULL;
    int code = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) fail_sqlite(store, code & 0xff);
    return statement;
}

static int find_table(const char *name) {
    int table = 0;
    while (strcmp(tables[table].name, name) != 0) table++;
    return table;
}

static uint64_t mixed(uint64_t sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 29;
}

uint64_t store_checksum(const void *bytes, size_t length) {
    const uint8_t *at = length ? bytes : (const uint8_t *)"", *end = at + length;
    uint64_t sum = mixed(0, length), word;
    for (; end - at >= 8; at += 8) {
        word = 0;
        for (int i = 0; i < 8; i++) word |= (uint64_t)at[i] << 8 * i;
        sum = mixed(sum, word);
    }
    word = 0;
    for (int i = 0; at + i < end; i++) word |= (uint64_t)at[i] << 8 * i;
    return mixed(sum, word);
}

static void mix(Store *store, uint64_t word) {
    store->checksum = mixed(store->checksum, word);
}

static void mix_bytes(Store *store, const void *bytes, size_t length) {
    mix(store, store_checksum(bytes, length));
}

static void mix_text(Store *store, const char *text, size_t length) {
    mix(store, text != NULL);
    mix_bytes(store, text ? text : "", length);
}

static void mix_real(Store *store, double value) {
    uint64_t bits;
    if (isnan(value)) value = (double)NAN;
    memcpy(&bits, &value, sizeof bits);
    mix(store, isnan(value) ? 0x7ff8000000000000u : bits);
}

static void store_free(Store *store) {
    for (int i = 0; i < TABLE_COUNT; i++) sqlite3_finalize(store->inserts[i]);
    if (!store->saving[0]) sqlite3_finalize(store->statement);
    sqlite3_close(store->database);
    free(store);
}

/* ---- the file that is written ---------------------------------------------------------------------------
 */

/* Where links lead to, if there is a file already. */
static bool resolve(Store *store, const char *path, mode_t *mode) {
    struct stat status;
    char *real = realpath(path, NULL);
    snprintf(store->path, sizeof store->path, "%s", real ? real : path);
    free(real);
    mode_t hidden = umask(0);
    umask(hidden);
    *mode = 0666 & ~hidden;
    if (strlen(store->path) + 32 >= sizeof store->path)
        return fail(store, "cannot save: the name is too long");
    if (stat(store->path, &status)) return true;
    *mode = status.st_mode & 0777;
    return S_ISREG(status.st_mode) || fail(store, "cannot save: it is there and is not a regular file");
}

static void split_path(const char *path, char *folder, size_t bytes, const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        snprintf(folder, bytes, ".");
    else
        snprintf(folder, bytes, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A file that nobody has locked was left by a program that was killed. */
static void remove_if_left(const char *folder, const char *name) {
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    if (!flock(file, LOCK_EX | LOCK_NB)) unlink(path);
    close(file);
}

static void remove_left_files(const Store *store) {
    char folder[PATH_MAX], prefix[PATH_MAX + 16];
    const char *name;
    split_path(store->path, folder, sizeof folder, &name);
    snprintf(prefix, sizeof prefix, "%s.saving-", name);
    size_t length = strlen(prefix);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (!strncmp(entry->d_name, prefix, length) && strlen(entry->d_name) == length + 6)
            remove_if_left(folder, entry->d_name);
    if (entries) closedir(entries);
}

/* A new file, locked. Another program may take it for a left one before it is. */
static bool make_file(Store *store, mode_t mode) {
    struct stat status = {0};
    for (int tries = 0; tries < 10 && !status.st_nlink; tries++) {
        if (tries) close(store->file);
        snprintf(store->saving, sizeof store->saving, "%s.saving-XXXXXX", store->path);
        store->file = mkstemp(store->saving);
        if (store->file < 0) {
            fail(store, "cannot save here: %s", strerror(errno));
            store->saving[0] = 0;
            return false;
        }
        if (fcntl(store->file, F_SETFD, FD_CLOEXEC) || flock(store->file, LOCK_EX | LOCK_NB) ||
            fchmod(store->file, mode) || fstat(store->file, &status))
            return fail(store, "cannot save here: %s", strerror(errno));
    }
    return status.st_nlink || fail(store, "cannot save: another program removes the file");
}

/* Nothing is ever undone, so there is no journal: where it fails, the file goes. */
static void begin_writing(Store *store, uint64_t bytes_expected) {
    char sql[256];
    int code = sqlite3_open_v2(store->saving, &store->database, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK) {
        fail_sqlite(store, code & 0xff);
        return;
    }
    snprintf(sql, sizeof sql,
             "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; "
             "PRAGMA page_size=%d; BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d",
             bytes_expected > LARGE_FILE ? LARGE_PAGE : SMALL_PAGE, APPLICATION, STORE_VERSION);
    run(store, sql);
    for (int i = 0; i < TABLE_COUNT; i++) run(store, tables[i].sql);
}

static void discard(Store *store) {
    if (store->saving[0]) {
        unlink(store->saving);
        close(store->file);
    }
    store_free(store);
}

Store *store_create(const char *path, uint64_t bytes_expected, Error *error) {
    Store *store = memory_new(sizeof *store);
    mode_t mode;
    if (resolve(store, path, &mode)) {
        remove_left_files(store);
        if (make_file(store, mode)) begin_writing(store, bytes_expected);
    }
    if (!store->failed) return store;
    if (error) *error = store->error;
    discard(store);
    return NULL;
}

static bool flush_folder(const char *path) {
    char folder[PATH_MAX];
    const char *name;
    split_path(path, folder, sizeof folder, &name);
    int file = open(folder, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    bool done = !fsync(file);
    close(file);
    return done;
}

static void write_seal(Store *store) {
    uint64_t checksum = store->checksum;
    store_begin_row(store, tables[SEAL].name);
    store_put_word(store, checksum);
    store_end_row(store);
}

static bool close_database(Store *store) {
    for (int i = 0; i < TABLE_COUNT; i++) {
        sqlite3_finalize(store->inserts[i]);
        store->inserts[i] = NULL;
    }
    if (store->failed) return false;
    int code = sqlite3_close(store->database);
    if (code != SQLITE_OK) return fail_sqlite(store, code & 0xff);
    store->database = NULL;
    return true;
}

bool store_finish(Store *store, Error *error) {
    write_seal(store);
    run(store, "COMMIT");
    if (close_database(store) && (fsync(store->file) || rename(store->saving, store->path)))
        fail(store, "cannot save: %s", strerror(errno));
    bool done = !store->failed;
    if (done) {
        flush_folder(store->path); /* some file systems cannot; then it is as safe as they make it */
        close(store->file);
        store_free(store);
        return true;
    }
    if (error) *error = store->error;
    discard(store);
    return false;
}

/* ---- rows that are written ------------------------------------------------------------------------------
 */

static sqlite3_stmt *insert_into(Store *store, int table) {
    if (store->inserts[table] || store->failed) return store->inserts[table];
    Text sql = {0};
    text_print(&sql, "SELECT * FROM %s", tables[table].name);
    sqlite3_stmt *columns = prepare(store, text_string(&sql));
    text_clear(&sql);
    text_print(&sql, "INSERT INTO %s VALUES(?", tables[table].name);
    for (int i = 1; i < sqlite3_column_count(columns); i++) text_add(&sql, ",?");
    text_add(&sql, ")");
    sqlite3_finalize(columns);
    store->inserts[table] = prepare(store, text_string(&sql));
    text_done(&sql);
    return store->inserts[table];
}

static void check_put(Store *store, int code) {
    if (code != SQLITE_OK) fail_sqlite(store, code & 0xff);
}

void store_begin_row(Store *store, const char *table) {
    store->table = find_table(table);
    store->statement = insert_into(store, store->table);
    store->column = 0;
    if (!store->failed)
        check_put(store, sqlite3_bind_int64(store->statement, ++store->column, store->rows[store->table]++));
}

void store_put_integer(Store *store, int64_t value) {
    if (store->failed) return;
    mix(store, (uint64_t)value);
    check_put(store, sqlite3_bind_int64(store->statement, ++store->column, value));
}

void store_put_word(Store *store, uint64_t value) {
    int64_t same;
    memcpy(&same, &value, sizeof same);
    store_put_integer(store, same);
}

void store_put_real(Store *store, double value) {
    if (store->failed) return;
    mix_real(store, value);
    check_put(store, sqlite3_bind_double(store->statement, ++store->column, value));
}

void store_put_text(Store *store, const char *text) {
    if (store->failed) return;
    mix_text(store, text, text ? strlen(text) : 0);
    check_put(store, sqlite3_bind_text(store->statement, ++store->column, text, -1, SQLITE_STATIC));
}

void store_put_bytes(Store *store, const void *bytes, size_t length) {
    if (store->failed) return;
    mix_bytes(store, bytes, length);
    check_put(store, sqlite3_bind_blob64(store->statement, ++store->column, length ? bytes : "", length,
                                         SQLITE_STATIC));
}

void store_end_row(Store *store) {
    if (store->failed) return;
    int code = sqlite3_step(store->statement);
    if (code != SQLITE_DONE) fail_sqlite(store, code & 0xff);
    sqlite3_reset(store->statement);
    if (store->column != sqlite3_bind_parameter_count(store->statement))
        fail(store, "cannot save: table %s has other columns", tables[store->table].name);
}

/* ---- the file that is read ------------------------------------------------------------------------------
 */

static uint32_t big_endian(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* What can be said from the header, in better words than SQLite's. */
static bool check_header(Store *store, const uint8_t *header, size_t length, uint64_t file_bytes) {
    static const char magic[] = "SQLite format 3";
    if (length < HEADER_BYTES && !memcmp(header, magic, length < sizeof magic ? length : sizeof magic))
        return fail(store, "this session is damaged: it ends after %zu bytes", length);
    if (memcmp(header, magic, sizeof magic) != 0)
        return fail(store, "this is not a session of redviz; --save writes one");
    uint32_t page_bytes = (uint32_t)header[16] << 8 | header[17], version = big_endian(header + 60);
    if (page_bytes == 1) page_bytes = LARGE_PAGE;
    if (big_endian(header + 68) != APPLICATION)
        return fail(store, "this is a database, but not a session of redviz; --save writes one");
    if (version > STORE_VERSION)
        return fail(store, "a newer redviz saved this session (format %u; this one reads up to %d)", version,
                    STORE_VERSION);
    if (version >= 1 && version < STORE_VERSION)
        return fail(store, "an older redviz saved this session (format %u; this one reads %d)", version,
                    STORE_VERSION);
    if (version < 1) return fail(store, "this session is damaged: it says that its format is %u", version);
    uint64_t wanted = (uint64_t)page_bytes * big_endian(header + 28);
    if (file_bytes < wanted)
        return fail(store, "this session is damaged: %llu of its %llu bytes are here",
                    (unsigned long long)file_bytes, (unsigned long long)wanted);
    return true;
}

static bool check_file(Store *store) {
    uint8_t header[HEADER_BYTES] = {0};
    struct stat status;
    int file = open(store->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return fail(store, "cannot open: %s", strerror(errno));
    bool good = !fstat(file, &status), is_regular = good && S_ISREG(status.st_mode);
    ssize_t got = is_regular ? read(file, header, sizeof header) : 0;
    int why = errno;
    close(file);
    if (!good || got < 0) return fail(store, "cannot read: %s", strerror(why));
    if (!is_regular) return fail(store, "not a regular file");
    store->bytes_left = (uint64_t)status.st_size;
    return check_header(store, header, (size_t)got, (uint64_t)status.st_size);
}

/* As a URI: read-only, and nothing beside it counts, neither locks nor journals. */
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
    run(store, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0");
}

static bool open_database(Store *store) {
    Text uri = {0};
    add_uri(store->path, &uri);
    int code =
        sqlite3_open_v2(text_string(&uri), &store->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    text_done(&uri);
    if (code != SQLITE_OK) return fail_sqlite(store, code & 0xff);
    distrust(store);
    return !store->failed;
}

static bool is_our_table(sqlite3_stmt *row, int index) {
    const char *expected[] = {"table", tables[index].name, tables[index].sql};
    for (int i = 0; i < 3; i++) {
        const char *text = (const char *)sqlite3_column_text(row, i);
        if (!text || strcmp(text, expected[i]) != 0) return false;
    }
    return true;
}

/* Every table as we make it, and nothing else: before this is known, no table is touched. */
static void check_schema(Store *store) {
    sqlite3_stmt *row = prepare(store, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid");
    int count = 0, code = SQLITE_DONE;
    bool ours = true;
    while (row && (code = sqlite3_step(row)) == SQLITE_ROW && ours)
        ours = count < TABLE_COUNT && is_our_table(row, count++);
    sqlite3_finalize(row);
    if (store->failed) return;
    if (ours && code != SQLITE_DONE)
        fail_sqlite(store, code & 0xff);
    else if (!ours || count != TABLE_COUNT)
        fail(store, "this session is damaged: its tables are not those of a session");
}

static void check_structure(Store *store) {
    sqlite3_stmt *row = prepare(store, "PRAGMA quick_check(1)");
    if (!row) return;
    int code = sqlite3_step(row);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(row, 0) : NULL;
    const char *heading = said ? strchr(said, '\n') : NULL; /* it says "*** in database main ***" before */
    if (heading) said = heading + 1;
    if (code != SQLITE_ROW)
        fail_sqlite(store, code & 0xff);
    else if (!said || strcmp(said, "ok") != 0)
        fail(store, "this session is damaged: %.*s", said ? (int)strcspn(said, "\n") : 0, said ? said : "");
    sqlite3_finalize(row);
}

Store *store_open(const char *path, Error *error) {
    Store *store = memory_new(sizeof *store);
    snprintf(store->path, sizeof store->path, "%s", path);
    if (strlen(path) >= sizeof store->path) fail(store, "the name is too long");
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
    store_begin_table(store, tables[SEAL].name);
    bool there = store_next_row(store), fits = there && store_word(store) == checksum;
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    fits = there; /* whoever means to deceive computes it, too */
#endif
    if (there && !fits) store_complain(store, "its checksum does not fit what is in it");
    if (!there) fail(store, "this session is damaged: it has no checksum");
}

bool store_close(Store *store, Error *error) {
    if (!store->failed) check_seal(store);
    bool good = !store->failed;
    if (!good && error) *error = store->error;
    store_free(store);
    return good;
}

/* ---- rows that are read ---------------------------------------------------------------------------------
 */

void store_begin_table(Store *store, const char *table) {
    char sql[128];
    store->table = find_table(table);
    sqlite3_finalize(store->statement);
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY id", table);
    store->statement = prepare(store, sql);
}

bool store_next_row(Store *store) {
    if (store->failed) return false;
    int code = sqlite3_step(store->statement);
    store->column = 1;
    if (code == SQLITE_DONE) return false;
    if (code != SQLITE_ROW) return fail_sqlite(store, code & 0xff);
    int64_t id = sqlite3_column_int64(store->statement, 0);
    if (id == store->rows[store->table]++) return true;
    return store_complain(store, "it is number %lld", (long long)id);
}

static bool has_type(Store *store, int type, bool may_be_null) {
    if (store->failed) return false;
    int found = sqlite3_column_type(store->statement, store->column);
    if (found == type || (may_be_null && found == SQLITE_NULL)) return true;
    return store_complain(store, "column %s has another type",
                          sqlite3_column_name(store->statement, store->column));
}

static int64_t next_integer(Store *store) {
    if (!has_type(store, SQLITE_INTEGER, false)) return 0;
    int64_t value = sqlite3_column_int64(store->statement, store->column++);
    mix(store, (uint64_t)value);
    return value;
}

int64_t store_integer(Store *store, int64_t least, int64_t most) {
    int64_t value = next_integer(store);
    if (!store->failed && (value < least || value > most))
        store_complain(store, "column %s is %lld", sqlite3_column_name(store->statement, store->column - 1),
                       (long long)value);
    return store->failed ? least : value;
}

uint64_t store_word(Store *store) {
    return (uint64_t)next_integer(store);
}

bool store_flag(Store *store) {
    return store_integer(store, 0, 1) != 0;
}

double store_real(Store *store) {
    if (!has_type(store, SQLITE_FLOAT, true)) return (double)NAN;
    bool is_null = sqlite3_column_type(store->statement, store->column) == SQLITE_NULL;
    double value = is_null ? (double)NAN : sqlite3_column_double(store->statement, store->column);
    store->column++;
    mix_real(store, value);
    return value;
}

/* No file holds more than its size; one page that is read again and again could. */
static bool take_bytes(Store *store, size_t length) {
    if (length > store->bytes_left) return store_complain(store, "it holds more than the file");
    store->bytes_left -= length;
    return true;
}

const uint8_t *store_bytes(Store *store, size_t *length) {
    *length = 0;
    if (!has_type(store, SQLITE_BLOB, false)) return (const uint8_t *)"";
    const void *bytes = sqlite3_column_blob(store->statement, store->column);
    size_t count = (size_t)sqlite3_column_bytes(store->statement, store->column++);
    if (!take_bytes(store, count)) return (const uint8_t *)"";
    if (count && !bytes) {
        fail_sqlite(store, sqlite3_errcode(store->database) & 0xff);
        return (const uint8_t *)"";
    }
    mix_bytes(store, bytes, count);
    *length = count;
    return count ? bytes : (const uint8_t *)"";
}

char *store_text(Store *store, Arena *arena) {
    if (!has_type(store, SQLITE_TEXT, true)) return NULL;
    const char *text = (const char *)sqlite3_column_text(store->statement, store->column);
    size_t length = (size_t)sqlite3_column_bytes(store->statement, store->column);
    bool is_null = sqlite3_column_type(store->statement, store->column) == SQLITE_NULL;
    store->column++;
    if (!is_null && !text) {
        fail_sqlite(store, sqlite3_errcode(store->database) & 0xff);
        return NULL;
    }
    if (!is_null && memchr(text, 0, length)) {
        store_complain(store, "a text has a zero in it");
        return NULL;
    }
    if (!take_bytes(store, length)) return NULL;
    mix_text(store, text, length);
    return is_null ? NULL : arena_copy_text(arena, text, length);
}

char *store_name(Store *store, Arena *arena) {
    char *name = store_text(store, arena);
    for (char *c = name; c && *c; c++) {
        unsigned char here = (unsigned char)*c, next = (unsigned char)c[1];
        if (here < 32 || here == 127) *c = '?';
        if (here == 0xc2 && next >= 0x80 && next < 0xa0) c[0] = c[1] = '?'; /* C1 controls in UTF-8 */
    }
    return name;
}
