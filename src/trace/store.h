/* Store: a session file, FILE.redviz: one SQLite database (https://sqlite.org/fileformat2.html).
 *
 * Its tables are those of schema.def, which documents each column. Tables are written and read in the order
 * of schema.def, row after row (their ids count from 0). The columns of a row are put and read by name, in
 * any order, all of them: a missing column, one of another table or of another type is our own bug and fails
 * an assertion. The last row is a checksum over everything before, which detects damage.
 *
 * Writing goes to another file in the same folder, which replaces the old one once it is complete and on the
 * disk: FILE.redviz is always the old session or the new one. A signal that ends the program waits until that
 * file is removed; a file that a killed program left is removed by the next one that saves to the same name.
 *
 * Reading trusts nothing: the file may have come from anywhere. It is opened read-only, without locks,
 * journals or other files beside it. Its schema must be that of its format, comments apart, before any table
 * is touched, so that no foreign view, trigger or generated column runs. What is read never exceeds the size
 * of the file. The first error is kept; after it every number reads as the minimum allowed, every text is
 * empty, and no further row comes, so that readers check once, at the end. */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include "base/error.h"
#include "base/memory.h"
#include <stdint.h>

enum {
    STORE_VERSION = 13,      /* of schema.def: its columns and their meaning */
    STORE_OLDEST_VERSION = 7 /* the oldest version that is read */
};

typedef enum StoreTable {
#define TABLE(name, comment) TABLE_##name,
#define COLUMN(table, name, type, comment)
#define COLUMN_SINCE(version, table, name, type, comment)
#include "trace/schema.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_SINCE
    STORE_TABLE_COUNT
} StoreTable;

/* clang-format off */
typedef enum StoreColumn { /* COLUMN_launch_grid_x; the columns of a table follow its id */
#define TABLE(name, comment) COLUMN_##name##_id,
#define COLUMN(table, name, type, comment) COLUMN_##table##_##name,
#define COLUMN_SINCE(version, table, name, type, comment) COLUMN_##table##_##name,
#include "trace/schema.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_SINCE
    STORE_COLUMN_COUNT
} StoreColumn;
/* clang-format on */

typedef struct Store Store;

const char *store_sqlite_version(void); /* "3.37.2" */

/* Detects damage, not malice. */
uint64_t store_checksum(const void *bytes, size_t length);

/* ---- writing: `bytes_expected`, an estimate, determines the page size -------------------------------- */

Store *store_create(const char *path, uint64_t bytes_expected, Error *error);
/* Moves the file to its place and frees the store. False: the old file is unchanged, see `error`. */
bool store_finish(Store *store, Error *error);

void store_begin_row(Store *store, StoreTable table); /* gives the row its id */
void store_put_integer(Store *store, StoreColumn column, int64_t value);
/* 64 bits; they look signed in the file. */
void store_put_word(Store *store, StoreColumn column, uint64_t value);
void store_put_real(Store *store, StoreColumn column, double value); /* NaN becomes NULL */
/* Texts (NULL: no value) and bytes are borrowed until the row ends. */
void store_put_text(Store *store, StoreColumn column, const char *text);
void store_put_bytes(Store *store, StoreColumn column, const void *bytes, size_t length);
void store_end_row(Store *store);

/* ---- reading ------------------------------------------------------------------------------------------ */

Store *store_open(const char *path, Error *error);
/* Frees the store. False: something read was wrong, or not everything was read. */
bool store_close(Store *store, Error *error);

void store_begin_table(Store *store, StoreTable table);
bool store_next_row(Store *store); /* false: no more rows, or an error */
int64_t store_integer(Store *store, StoreColumn column, int64_t least, int64_t most);
uint64_t store_word(Store *store, StoreColumn column);
bool store_flag(Store *store, StoreColumn column);
double store_real(Store *store, StoreColumn column); /* NULL is NaN */
/* Copies into the arena. NULL: no value; never for a NOT NULL column. */
char *store_text(Store *store, StoreColumn column, Arena *arena);
/* As above, for words displayed as they are: replaces characters that could control a terminal by '?'. */
char *store_name(Store *store, StoreColumn column, Arena *arena);
/* As above, but keeps tabs and line ends. */
char *store_lines(Store *store, StoreColumn column, Arena *arena);
const uint8_t *store_bytes(Store *store, StoreColumn column, size_t *length); /* valid until the next row */
/* Reports an error of this row found by the reader; always false. */
bool store_complain(Store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool store_failed(const Store *store);

#endif
