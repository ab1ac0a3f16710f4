/* The tables that schema.def lists, errors, and the checksum (store.h). */
#include "trace/store_state.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

const TableInfo store_tables[STORE_TABLE_COUNT] = {
#define TABLE(name, comment)                {#name, comment, COLUMN_##name##_id, STORE_OLDEST_VERSION},
#define TABLE_SINCE(version, name, comment) {#name, comment, COLUMN_##name##_id, version},
#define COLUMN(table, name, type, comment)
#define COLUMN_SINCE(version, table, name, type, comment)
#include "trace/schema.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_SINCE
};

const ColumnInfo store_columns[STORE_COLUMN_COUNT] = {
#define ID                                                                                                   \
    { "id", "INTEGER PRIMARY KEY", "", STORE_OLDEST_VERSION }
#define TABLE(name, comment)                              ID,
#define COLUMN(table, name, type, comment)                {#name, #type, comment, STORE_OLDEST_VERSION},
#define COLUMN_SINCE(version, table, name, type, comment) {#name, #type, comment, version},
#include "trace/schema.def"
#undef TABLE
#undef COLUMN
#undef COLUMN_SINCE
};

int store_column_count(StoreTable table) {
    int end = table + 1 < STORE_TABLE_COUNT ? (int)store_tables[table + 1].first : STORE_COLUMN_COUNT;
    return end - (int)store_tables[table].first;
}

void store_table_sql(StoreTable table, int version, Text *out) {
    const ColumnInfo *columns = &store_columns[store_tables[table].first];
    int count = store_column_count(table), last = 0;
    for (int i = 0; i < count; i++)
        if (columns[i].since <= version) last = i;
    text_print(out, "CREATE TABLE %s(\n  -- %s\n", store_tables[table].name, store_tables[table].comment);
    for (int i = 0; i < count; i++) {
        if (columns[i].since > version) continue;
        text_print(out, "  %s %s%s", columns[i].name, columns[i].type, i < last ? "," : "");
        text_print(out, columns[i].comment[0] ? " -- %s\n" : "%s\n", columns[i].comment);
    }
    text_add(out, ")");
}

const char *store_sqlite_version(void) {
    return sqlite3_libversion();
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

int store_touch(Store *store, StoreColumn column, char type) {
    int index = (int)column - (int)store_tables[store->table].first;
    assert(index > 0 && index < store_column_count(store->table)); /* a column of the current table */
    assert(store_columns[column].type[0] == type);
    store->touched |= UINT64_C(1) << index;
    return index;
}

void store_leave_row(Store *store) {
    int count = store_column_count(store->table);
    assert(count <= STORE_CELLS);
    uint64_t all = UINT64_MAX >> (STORE_CELLS - count);
    assert(store->failed || !store->touched || store->touched == all); /* every column of schema.def */
    (void)all;
    store->touched = 0;
}

/* ---- errors -------------------------------------------------------------------------------------------- */

bool store_fail(Store *store, const char *format, ...) {
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
    return store_fail(store, "this session is damaged: %s (table %s, row %lld)", message,
                      store_tables[store->table].name, (long long)store->rows[store->table] - 1);
}

bool store_fail_sqlite(Store *store, int code) {
    int system = sqlite3_system_errno(store->database);
    if (!store->saving[0] && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_TOOBIG))
        return store_fail(store, "this session is damaged: %s", sqlite3_errstr(code));
    if ((code == SQLITE_FULL || code == SQLITE_IOERR) && system)
        return store_fail(store, "cannot %s: %s", store->saving[0] ? "save" : "read", strerror(system));
    return store_fail(store, "cannot %s: %s", store->saving[0] ? "save" : "read", sqlite3_errstr(code));
}

bool store_run(Store *store, const char *sql) {
    if (store->failed) return false;
    int code = sqlite3_exec(store->database, sql, NULL, NULL, NULL);
    return code == SQLITE_OK || store_fail_sqlite(store, code & 0xff);
}

sqlite3_stmt *store_prepare(Store *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (store->failed) return NULL;
    int code = sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL);
    if (code != SQLITE_OK) store_fail_sqlite(store, code & 0xff);
    return statement;
}

/* ---- the checksum -------------------------------------------------------------------------------------- */

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

void store_mix_integer(Store *store, int64_t value) {
    mix(store, (uint64_t)value);
}

void store_mix_bytes(Store *store, const void *bytes, size_t length) {
    mix(store, store_checksum(bytes, length));
}

void store_mix_text(Store *store, const char *text, size_t length) {
    mix(store, text != NULL);
    store_mix_bytes(store, text ? text : "", length);
}

void store_mix_real(Store *store, double value) {
    uint64_t bits;
    if (isnan(value)) value = (double)NAN;
    memcpy(&bits, &value, sizeof bits);
    mix(store, isnan(value) ? 0x7ff8000000000000u : bits);
}

void store_free(Store *store) {
    for (int i = 0; i < STORE_TABLE_COUNT; i++) sqlite3_finalize(store->inserts[i]);
    if (!store->saving[0]) sqlite3_finalize(store->statement);
    sqlite3_close(store->database);
    free(store);
}
