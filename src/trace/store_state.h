/* The state shared by the writer and the reader of a session file (store_write.c, store_read.c). Private to
 * store*.c. Beside them only findings/accepted.c includes sqlite3.h, to read JSON. */
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
    StoreColumn first; /* its id, followed by its other columns */
    int since;         /* the first format that has it */
} TableInfo;

typedef struct ColumnInfo {
    const char *name;
    const char *type; /* "TEXT NOT NULL" */
    const char *comment;
    int since; /* the first format that has it */
} ColumnInfo;

extern const TableInfo store_tables[STORE_TABLE_COUNT];
extern const ColumnInfo store_columns[STORE_COLUMN_COUNT];

/* Number of columns of a table, including its id. */
int store_column_count(StoreTable table);

typedef struct StoreCell { /* a cell of the row being written */
    int64_t integer;
    double real;
    const void *bytes; /* text or blob, borrowed; NULL: no value */
    size_t length;
} StoreCell;

enum { STORE_CELLS = 64 }; /* most columns of a table: one bit each in `touched` */

struct Store {
    char path[PATH_MAX];        /* as given; when writing, the final path */
    char saving[PATH_MAX + 16]; /* temporary path for writing; empty when reading */
    int file;                   /* descriptor of `saving`, locked while the file exists */
    int version;                /* version of the file's format */
    sqlite3 *database;
    sqlite3_stmt *inserts[STORE_TABLE_COUNT];
    int64_t rows[STORE_TABLE_COUNT];
    sqlite3_stmt *statement; /* for the current table */
    StoreTable table;
    StoreCell cells[STORE_CELLS]; /* the row being written */
    uint64_t touched; /* one bit for each column of the current row that was put or read; 0: no row */
    uint64_t checksum;
    uint64_t bytes_left; /* to be read; initially the file's size */
    bool failed;
    Error error;
};

/* The index of the column in the current table. Asserts that the column is in that table and has that type
 * ('I', 'R', 'T', 'B'), and marks it. */
int store_touch(Store *store, StoreColumn column, char type);
/* Asserts that all columns of the current row were used, and ends the row. */
void store_leave_row(Store *store);

/* The CREATE TABLE statement, as in the file. */
void store_table_sql(StoreTable table, int version, Text *out);

/* Keeps the first reason; always false. */
bool store_fail(Store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool store_fail_sqlite(Store *store, int code); /* an operation that SQLite failed */
bool store_run(Store *store, const char *sql);
sqlite3_stmt *store_prepare(Store *store, const char *sql);

/* Adds to the checksum. */
void store_mix_integer(Store *store, int64_t value);
void store_mix_real(Store *store, double value);
void store_mix_text(Store *store, const char *text, size_t length); /* NULL is fine */
void store_mix_bytes(Store *store, const void *bytes, size_t length);

void store_free(Store *store);

#endif
