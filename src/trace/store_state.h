/* The state that the writer and the reader of a session file share (store_write.c, store_read.c). Private to
 * store*.c, the only files that include sqlite3.h. */
#ifndef TRACE_STORE_STATE_H
#define TRACE_STORE_STATE_H

#include "trace/store.h"

#include "base/text.h"
#include <limits.h>
#include <sqlite3.h>

enum {
    APPLICATION = 0x7264767a, /* "rdvz": the application id in the file's header */
    LARGE_PAGE = 65536,
    SEAL = TABLE_seal /* the last table */
};

typedef struct TableInfo {
    const char *name, *comment;
    StoreColumn first; /* its id; the other columns follow it */
} TableInfo;

typedef struct ColumnInfo {
    const char *name;
    const char *type; /* "TEXT NOT NULL" */
    const char *comment;
    int since; /* the first format that has it */
} ColumnInfo;

extern const TableInfo store_tables[STORE_TABLE_COUNT];
extern const ColumnInfo store_columns[STORE_COLUMN_COUNT];

/* Columns of a table, with its id. */
int store_column_count(StoreTable table);

typedef struct StoreCell { /* of the row that is written */
    int64_t integer;
    double real;
    const void *bytes; /* text or blob, borrowed; NULL: no value */
    size_t length;
} StoreCell;

enum { STORE_CELLS = 64 }; /* columns of a table, at most: a bit each in `touched` */

struct Store {
    char path[PATH_MAX];        /* as it was given; of a file that is written: where it will be */
    char saving[PATH_MAX + 16]; /* where it is written; empty: it is read */
    int file;                   /* of `saving`, locked while it is there */
    int version;                /* of the file's format */
    sqlite3 *database;
    sqlite3_stmt *inserts[STORE_TABLE_COUNT];
    int64_t rows[STORE_TABLE_COUNT];
    sqlite3_stmt *statement; /* of the current table */
    StoreTable table;
    StoreCell cells[STORE_CELLS]; /* of the row that is written */
    uint64_t touched; /* columns of the current row that were put or read, a bit each; 0: no row */
    uint64_t checksum;
    uint64_t bytes_left; /* to be read: the file's size at first */
    bool failed;
    Error error;
};

/* The number of the column in the current table. Asserts that it is one of it, of that type ('I', 'R',
 * 'T', 'B'), and marks it. */
int store_touch(Store *store, StoreColumn column, char type);
/* Asserts that no column of the current row was forgotten, and ends the row. */
void store_leave_row(Store *store);

/* CREATE TABLE, as the file has it. */
void store_table_sql(StoreTable table, int version, Text *out);

/* The first reason stays; always false. */
bool store_fail(Store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool store_fail_sqlite(Store *store, int code); /* what SQLite could not do */
bool store_run(Store *store, const char *sql);
sqlite3_stmt *store_prepare(Store *store, const char *sql);

/* Into the checksum. */
void store_mix_integer(Store *store, int64_t value);
void store_mix_real(Store *store, double value);
void store_mix_text(Store *store, const char *text, size_t length); /* or NULL */
void store_mix_bytes(Store *store, const void *bytes, size_t length);

void store_free(Store *store);

#endif
