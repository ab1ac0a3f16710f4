#define _DEFAULT_SOURCE
#define _DARWIN_C_SOURCE
/* The writer of session files (store.h). */
#include "trace/store_state.h"

#include "base/interrupt.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SMALL_PAGE = 4096, LARGE_FILE = 8 << 20 };

/* ---- the file ------------------------------------------------------------------------------------------ */

/* Follows links if the file exists. */
static bool resolve(Store *store, const char *path, mode_t *mode) {
    struct stat status;
    char *real = realpath(path, NULL), leads[256];
    ssize_t length = real ? -1 : readlink(path, leads, sizeof leads - 1);
    if (length >= 0) { /* the file would be created at the link's target, or replace the link */
        leads[length] = 0;
        snprintf(store->path, sizeof store->path, "%s", path);
        return store_fail(store, "cannot save: it is a link to %.150s, which is not there", leads);
    }
    snprintf(store->path, sizeof store->path, "%s", real ? real : path);
    free(real);
    mode_t hidden = umask(0);
    umask(hidden);
    *mode = 0666 & ~hidden;
    if (strlen(store->path) + 32 >= sizeof store->path)
        return store_fail(store, "cannot save: the name is too long");
    if (stat(store->path, &status)) return true;
    *mode = status.st_mode & 0777;
    return S_ISREG(status.st_mode) || store_fail(store, "cannot save: it is there and is not a regular file");
}

static void split_path(const char *path, char *folder, size_t bytes, const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    if (!slash)
        snprintf(folder, bytes, ".");
    else
        snprintf(folder, bytes, "%.*s", slash == path ? 1 : (int)(slash - path), path);
}

/* A file without a lock was left by a killed program. */
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

/* Creates a new file and locks it. Before the lock, another program may take it for a left one. */
static bool make_file(Store *store, mode_t mode) {
    struct stat status = {0};
    for (int tries = 0; tries < 10 && !status.st_nlink; tries++) {
        if (tries) close(store->file);
        snprintf(store->saving, sizeof store->saving, "%s.saving-XXXXXX", store->path);
        store->file = mkstemp(store->saving);
        if (store->file < 0) {
            store_fail(store, "cannot save here: %s", strerror(errno));
            store->saving[0] = 0;
            return false;
        }
        if (fcntl(store->file, F_SETFD, FD_CLOEXEC) || flock(store->file, LOCK_EX | LOCK_NB) ||
            fchmod(store->file, mode) || fstat(store->file, &status))
            return store_fail(store, "cannot save here: %s", strerror(errno));
    }
    return status.st_nlink || store_fail(store, "cannot save: another program removes the file");
}

/* No journal: nothing is rolled back, and a failed file is removed. */
static void begin_writing(Store *store, uint64_t bytes_expected) {
    char sql[256];
    int code = sqlite3_open_v2(store->saving, &store->database, SQLITE_OPEN_READWRITE, NULL);
    if (code != SQLITE_OK) {
        store_fail_sqlite(store, code & 0xff);
        return;
    }
    snprintf(sql, sizeof sql,
             "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; "
             "PRAGMA page_size=%d; BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d",
             bytes_expected > LARGE_FILE ? LARGE_PAGE : SMALL_PAGE, APPLICATION, STORE_VERSION);
    store_run(store, sql);
    for (int i = 0; i < STORE_TABLE_COUNT; i++) {
        Text table = {0};
        store_table_sql((StoreTable)i, STORE_VERSION, &table);
        store_run(store, text_string(&table));
        text_done(&table);
    }
}

static void discard(Store *store) {
    if (store->saving[0]) {
        unlink(store->saving);
        close(store->file);
    }
    store_free(store);
    interrupt_release();
}

Store *store_create(const char *path, uint64_t bytes_expected, Error *error) {
    Store *store = memory_new(sizeof *store);
    mode_t mode = 0;
    store->version = STORE_VERSION;
    interrupt_hold();
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
    store_begin_row(store, TABLE_seal);
    store_put_word(store, COLUMN_seal_checksum, checksum);
    store_end_row(store);
}

static bool close_database(Store *store) {
    for (int i = 0; i < STORE_TABLE_COUNT; i++) {
        sqlite3_finalize(store->inserts[i]);
        store->inserts[i] = NULL;
    }
    if (store->failed) return false;
    int code = sqlite3_close(store->database);
    if (code != SQLITE_OK) return store_fail_sqlite(store, code & 0xff);
    store->database = NULL;
    return true;
}

bool store_finish(Store *store, Error *error) {
    write_seal(store);
    store_run(store, "COMMIT");
    if (interrupt_waits()) store_fail(store, "not saved: a signal ends the program");
    if (close_database(store) && (fsync(store->file) || rename(store->saving, store->path)))
        store_fail(store, "cannot save: %s", strerror(errno));
    bool done = !store->failed;
    if (done) {
        flush_folder(store->path); /* some file systems cannot; the file is then as safe as they allow */
        close(store->file);
        store_free(store);
        interrupt_release();
        return true;
    }
    if (error) *error = store->error;
    discard(store);
    return false;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static sqlite3_stmt *insert_into(Store *store, StoreTable table) {
    if (store->inserts[table] || store->failed) return store->inserts[table];
    Text sql = {0};
    text_print(&sql, "INSERT INTO %s VALUES(?", store_tables[table].name);
    for (int i = 1; i < store_column_count(table); i++) text_add(&sql, ",?");
    text_add(&sql, ")");
    store->inserts[table] = store_prepare(store, text_string(&sql));
    text_done(&sql);
    return store->inserts[table];
}

void store_begin_row(Store *store, StoreTable table) {
    store->table = table;
    store->statement = insert_into(store, table);
    store->touched = 1;
    store->cells[0] = (StoreCell){.integer = store->rows[table]};
}

static void put(Store *store, StoreColumn column, char type, StoreCell cell) {
    store->cells[store_touch(store, column, type)] = cell;
}

void store_put_integer(Store *store, StoreColumn column, int64_t value) {
    put(store, column, 'I', (StoreCell){.integer = value});
}

void store_put_word(Store *store, StoreColumn column, uint64_t value) {
    StoreCell cell = {0};
    memcpy(&cell.integer, &value, sizeof value);
    put(store, column, 'I', cell);
}

void store_put_real(Store *store, StoreColumn column, double value) {
    put(store, column, 'R', (StoreCell){.real = value});
}

void store_put_text(Store *store, StoreColumn column, const char *text) {
    put(store, column, 'T', (StoreCell){.bytes = text, .length = text ? strlen(text) : 0});
}

void store_put_bytes(Store *store, StoreColumn column, const void *bytes, size_t length) {
    put(store, column, 'B', (StoreCell){.bytes = length ? bytes : "", .length = length});
}

/* The checksum omits row ids, which follow from the order. */
static int bind_cell(Store *store, int index) {
    const StoreCell *cell = &store->cells[index];
    switch (store_columns[store_tables[store->table].first + index].type[0]) {
    case 'I':
        if (index) store_mix_integer(store, cell->integer);
        return sqlite3_bind_int64(store->statement, index + 1, cell->integer);
    case 'R':
        store_mix_real(store, cell->real);
        return sqlite3_bind_double(store->statement, index + 1, cell->real);
    case 'T':
        store_mix_text(store, cell->bytes, cell->length);
        return sqlite3_bind_text(store->statement, index + 1, cell->bytes, -1, SQLITE_STATIC);
    default:
        store_mix_bytes(store, cell->bytes, cell->length);
        return sqlite3_bind_blob64(store->statement, index + 1, cell->bytes, cell->length, SQLITE_STATIC);
    }
}

void store_end_row(Store *store) {
    store_leave_row(store);
    if (interrupt_waits()) store_fail(store, "not saved: a signal ends the program");
    if (store->failed) return;
    int code = SQLITE_OK, count = store_column_count(store->table);
    for (int i = 0; i < count && code == SQLITE_OK; i++) code = bind_cell(store, i);
    if (code == SQLITE_OK) code = sqlite3_step(store->statement);
    if (code != SQLITE_DONE) store_fail_sqlite(store, code & 0xff);
    sqlite3_reset(store->statement);
    store->rows[store->table]++;
}
