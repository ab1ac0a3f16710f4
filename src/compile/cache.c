/* The cache: one SQLite file in the user's cache folder ($XDG_CACHE_HOME, else ~/.cache). Whatever is wrong
 * with it, compiling goes on without. Keys are whole texts, so that no two inputs can be taken for each
 * other. */
#define _POSIX_C_SOURCE 200809L
#include "compile/unit.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEPT = 500, BUSY_MILLISECONDS = 200 };

static bool make_path(char *path, size_t bytes) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_cache = cache && *cache == '/';
    if (!is_cache && (!home || *home != '/')) return false;
    int length = snprintf(path, bytes, "%s%s", is_cache ? cache : home, is_cache ? "" : "/.cache");
    if (length < 0 || (size_t)length + 32 > bytes) return false;
    mkdir(path, 0700);
    length += snprintf(path + length, bytes - (size_t)length, "/redviz");
    mkdir(path, 0700);
    snprintf(path + length, bytes - (size_t)length, "/compiled.db");
    return true;
}

static sqlite3 *cache_open(void) {
    char path[PATH_MAX];
    sqlite3 *cache = NULL;
    if (!make_path(path, sizeof path)) return NULL;
    bool good = sqlite3_open(path, &cache) == SQLITE_OK &&
                sqlite3_busy_timeout(cache, BUSY_MILLISECONDS) == SQLITE_OK &&
                sqlite3_exec(cache,
                             "create table if not exists compiled "
                             "(number integer primary key autoincrement, source text unique, ptx text)",
                             NULL, NULL, NULL) == SQLITE_OK;
    if (good) return cache;
    sqlite3_close(cache);
    return NULL;
}

static sqlite3_stmt *prepare(sqlite3 *cache, const char *sql, const char *first, const char *second) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(cache, sql, -1, &statement, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_text(statement, 1, first, -1, SQLITE_STATIC);
    if (second) sqlite3_bind_text(statement, 2, second, -1, SQLITE_STATIC);
    return statement;
}

bool cache_find(const char *key, Text *ptx) {
    sqlite3 *cache = cache_open();
    sqlite3_stmt *statement =
        cache ? prepare(cache, "select ptx from compiled where source = ?", key, NULL) : NULL;
    bool found = statement && sqlite3_step(statement) == SQLITE_ROW;
    if (found) text_add(ptx, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(cache);
    return found && ptx->length;
}

void cache_keep(const char *key, const char *ptx) {
    sqlite3 *cache = cache_open();
    sqlite3_stmt *statement =
        cache ? prepare(cache, "insert or replace into compiled (source, ptx) values (?, ?)", key, ptx)
              : NULL;
    if (statement) sqlite3_step(statement);
    sqlite3_finalize(statement);
    char drop[96];
    snprintf(drop, sizeof drop,
             "delete from compiled where number <= (select max(number) from compiled) - %d", KEPT);
    if (cache) sqlite3_exec(cache, drop, NULL, NULL, NULL);
    sqlite3_close(cache);
}
