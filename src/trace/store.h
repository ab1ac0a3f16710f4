/* Store: a session file, FILE.redviz: one SQLite database (https://sqlite.org/fileformat2.html) with the
 * tables of schema.def, which says what each column means. The only file that includes sqlite3.h is store.c.
 *
 * Rows are written and read in one fixed order: table after table, row after row (their ids count from 0),
 * column after column. A checksum over all of it is the last row, so that a file which was damaged is told
 * from one that was not.
 *
 * Writing goes to another file in the same folder, which takes the place of the old one once it is complete
 * and on the disk: whatever happens, FILE.redviz is the old session or the new one. What a killed program
 * left there is removed by the next one that saves to the same name.
 *
 * Reading believes nothing: the file may have come from anywhere. It is opened read-only, without locks,
 * journals or anything else beside it; its schema must be ours to the letter before any table is touched, so
 * that no view, trigger or generated column of somebody else's runs; and what is read never exceeds the size
 * of the file. The first thing that is wrong is kept; from then on every number read is the least that was
 * allowed, every text is empty, and no further row comes, so that readers check once, at the end. */
#ifndef TRACE_STORE_H
#define TRACE_STORE_H

#include "base/error.h"
#include "base/memory.h"
#include <stdint.h>

enum { STORE_VERSION = 4 /* of schema.def: its columns and what they mean */ };

typedef struct Store Store;

/* Tells damage, not malice. */
uint64_t store_checksum(const void *bytes, size_t length);

/* ---- writing: `bytes_expected` is a guess from which the page size follows --------------------------- */

Store *store_create(const char *path, uint64_t bytes_expected, Error *error);
/* Puts the file in its place and frees the store. False, and all is as before store_create(): `error` says
 * why. */
bool store_finish(Store *store, Error *error);

void store_begin_row(Store *store, const char *table); /* gives it its id */
void store_put_integer(Store *store, int64_t value);
void store_put_word(Store *store, uint64_t value);   /* 64 bits; in the file they look signed */
void store_put_real(Store *store, double value);     /* NaN becomes NULL */
void store_put_text(Store *store, const char *text); /* NULL: no value */
void store_put_bytes(Store *store, const void *bytes, size_t length);
void store_end_row(Store *store);

/* ---- reading ------------------------------------------------------------------------------------------ */

Store *store_open(const char *path, Error *error);
/* Frees the store. False where anything was wrong with what has been read, or not everything was. */
bool store_close(Store *store, Error *error);

void store_begin_table(Store *store, const char *table);
bool store_next_row(Store *store); /* false: there are no more, or something is wrong */
int64_t store_integer(Store *store, int64_t least, int64_t most);
uint64_t store_word(Store *store);
bool store_flag(Store *store);
double store_real(Store *store); /* NULL is NaN */
/* Copies into the arena; NULL where there is no value. */
char *store_text(Store *store, Arena *arena);
/* The same for words that are shown as they are: characters that could steer a terminal become '?'. */
char *store_name(Store *store, Arena *arena);
const uint8_t *store_bytes(Store *store, size_t *length); /* until the next row */
/* The reader's own complaint about this row; always false. */
bool store_complain(Store *store, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool store_failed(const Store *store);

#endif
