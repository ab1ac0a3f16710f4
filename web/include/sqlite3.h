/* No SQLite: opening a database fails, and the error says why. The values are only told apart. */
#ifndef WEB_SQLITE3_H
#define WEB_SQLITE3_H

#include <stddef.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

enum {
    SQLITE_OK = 0,
    SQLITE_CORRUPT = 11,
    SQLITE_NOTADB = 26,
    SQLITE_TOOBIG = 18,
    SQLITE_FULL = 13,
    SQLITE_IOERR = 10,
    SQLITE_CANTOPEN = 14,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101,
    SQLITE_INTEGER = 1,
    SQLITE_FLOAT = 2,
    SQLITE_TEXT = 3,
    SQLITE_BLOB = 4,
    SQLITE_NULL = 5,
    SQLITE_OPEN_READONLY = 1,
    SQLITE_OPEN_READWRITE = 2,
    SQLITE_OPEN_URI = 64,
    SQLITE_DBCONFIG_ENABLE_TRIGGER = 1,
    SQLITE_DBCONFIG_DEFENSIVE = 2,
    SQLITE_DBCONFIG_ENABLE_VIEW = 3,
    SQLITE_DBCONFIG_TRUSTED_SCHEMA = 4,
    SQLITE_LIMIT_LENGTH = 0,
    SQLITE_LIMIT_SQL_LENGTH = 1,
    SQLITE_LIMIT_COLUMN = 2,
    SQLITE_LIMIT_EXPR_DEPTH = 3,
    SQLITE_LIMIT_COMPOUND_SELECT = 4,
    SQLITE_LIMIT_FUNCTION_ARG = 6,
    SQLITE_LIMIT_ATTACHED = 7,
    SQLITE_LIMIT_VARIABLE_NUMBER = 9,
    SQLITE_LIMIT_TRIGGER_DEPTH = 10,
    SQLITE_LIMIT_WORKER_THREADS = 11
};

#define SQLITE_STATIC NULL

static inline int sqlite3_open_v2(const char *path, sqlite3 **database, int flags, const char *system) {
    (void)path, (void)flags, (void)system;
    *database = NULL;
    return SQLITE_CANTOPEN;
}

static inline const char *sqlite3_errstr(int code) {
    (void)code;
    return "a browser has no SQLite; redviz FILE.redviz --html FILE.html makes a page of a session";
}

/* The rest is never reached. */
#define sqlite3_open(path, database)       sqlite3_open_v2(path, database, 0, NULL)
#define sqlite3_errmsg(database)           ((void)(database), sqlite3_errstr(SQLITE_CANTOPEN))
#define sqlite3_libversion(...)            "none"
#define sqlite3_system_errno(...)          0
#define sqlite3_errcode(...)               SQLITE_CANTOPEN
#define sqlite3_close(...)                 SQLITE_OK
#define sqlite3_finalize(...)              SQLITE_OK
#define sqlite3_limit(...)                 0
#define sqlite3_db_config(...)             SQLITE_CANTOPEN
#define sqlite3_exec(...)                  SQLITE_CANTOPEN
#define sqlite3_prepare_v2(...)            SQLITE_CANTOPEN
#define sqlite3_step(...)                  SQLITE_CANTOPEN
#define sqlite3_reset(...)                 SQLITE_CANTOPEN
#define sqlite3_bind_int64(...)            SQLITE_CANTOPEN
#define sqlite3_bind_double(...)           SQLITE_CANTOPEN
#define sqlite3_bind_text(...)             SQLITE_CANTOPEN
#define sqlite3_bind_blob64(...)           SQLITE_CANTOPEN
#define sqlite3_column_type(row, column)   ((void)(row), SQLITE_NULL)
#define sqlite3_column_bytes(row, column)  ((void)(row), 0)
#define sqlite3_column_int64(row, column)  ((void)(row), (int64_t)0)
#define sqlite3_column_double(row, column) ((void)(row), 0.0)
#define sqlite3_column_text(row, column)   ((void)(row), (const unsigned char *)NULL)
#define sqlite3_column_blob(row, column)   ((void)(row), NULL)

#endif
