/* The cache of compiled PTX, in the user's cache folder: $XDG_CACHE_HOME, else ~/.cache.
 *
 * A file holds each PTX; its name is a hash of everything that determines it. A file also holds that whole
 * text, so that no two inputs are confused, and a checksum: a damaged file is removed, and the PTX compiled
 * again. Errors of the folder never stop a compilation.
 *
 *     redviz ptx 1 CHECKSUM KEY-BYTES PTX-BYTES
 *     KEY PTX */
#define _XOPEN_SOURCE 700
#include "compile/cache.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "compile/unit.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT = 500, FILE_BYTES = COMPILE_PTX_LIMIT + (64 << 20) };

/* FNV-1a */
static uint64_t hash(uint64_t sum, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) sum = (sum ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static const uint64_t START = UINT64_C(0xcbf29ce484222325);

uint64_t cache_hash(const char *key) {
    return hash(START, key, strlen(key));
}

bool cache_folder(const char *name, char *path, size_t bytes) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool is_cache = cache && *cache == '/';
    if (!is_cache && (!home || *home != '/')) return false;
    int length = snprintf(path, bytes, "%s%s", is_cache ? cache : home, is_cache ? "" : "/.cache");
    if (length < 0 || (size_t)length + 64 > bytes) return false;
    mkdir(path, 0700);
    length += snprintf(path + length, bytes - (size_t)length, "/redviz");
    mkdir(path, 0700);
    length += snprintf(path + length, bytes - (size_t)length, "/%.40s", name);
    mkdir(path, 0700);
    snprintf(path + length, bytes - (size_t)length, "/");
    return true;
}

static bool find_file(const char *key, char path[PATH_MAX]) {
    if (!cache_folder("ptx", path, PATH_MAX - 64)) return false;
    size_t length = strlen(path);
    snprintf(path + length, PATH_MAX - length, "%016" PRIx64, cache_hash(key));
    return true;
}

/* The PTX in the text of a file with this key; NULL: damaged. */
static const char *check(const char *text, size_t length, const char *key) {
    uint64_t checksum;
    size_t key_bytes, ptx_bytes, head = strcspn(text, "\n") + 1;
    if (sscanf(text, "redviz ptx 1 %" SCNx64 " %zu %zu", &checksum, &key_bytes, &ptx_bytes) != 3) return NULL;
    if (head > length || key_bytes != strlen(key) || length - head != key_bytes + ptx_bytes || !ptx_bytes)
        return NULL;
    if (hash(START, text + head, length - head) != checksum) return NULL;
    const char *ptx = text + head + key_bytes;
    return memcmp(text + head, key, key_bytes) != 0 || memchr(ptx, 0, ptx_bytes) ? NULL : ptx;
}

bool cache_find(const char *key, Text *ptx) {
    char path[PATH_MAX], *text;
    size_t length;
    if (!find_file(key, path) || !text_read_file(path, FILE_BYTES, &text, &length, NULL)) return false;
    const char *found = check(text, length, key);
    if (found)
        text_add(ptx, found);
    else
        unlink(path);
    free(text);
    return found != NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *key, const char *ptx) {
    uint64_t checksum = hash(hash(START, key, strlen(key)), ptx, strlen(ptx));
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    fprintf(file, "redviz ptx 1 %016" PRIx64 " %zu %zu\n", checksum, strlen(key), strlen(ptx));
    fputs(key, file);
    fputs(ptx, file);
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

typedef struct Entry {
    char name[17];
    struct timespec made;
} Entry;

static int by_age(const void *a, const void *b) {
    const struct timespec *x = &((const Entry *)a)->made, *y = &((const Entry *)b)->made;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

/* Removes the oldest files above the limit. */
static void drop_oldest(const char *folder) {
    char path[PATH_MAX + 64];
    Entry *entries = NULL;
    int count = 0, capacity = 0;
    DIR *files = opendir(folder);
    for (struct dirent *file; files && (file = readdir(files));) {
        struct stat about;
        snprintf(path, sizeof path, "%s%.40s", folder, file->d_name);
        if (strlen(file->d_name) != 16 || stat(path, &about)) continue;
        Entry entry = {.made = about.st_mtim};
        memcpy(entry.name, file->d_name, 16);
        array_push(entries, count, capacity, entry);
    }
    if (files) closedir(files);
    if (count > KEPT) qsort(entries, (size_t)count, sizeof *entries, by_age);
    for (int i = 0; i + KEPT < count; i++) {
        snprintf(path, sizeof path, "%s%s", folder, entries[i].name);
        unlink(path);
    }
    free(entries);
}

void cache_keep(const char *key, const char *ptx) {
    char path[PATH_MAX], folder[PATH_MAX], making[PATH_MAX + 32];
    if (!find_file(key, path) || !cache_folder("ptx", folder, sizeof folder)) return;
    snprintf(making, sizeof making, "%s.%ld", path, (long)getpid());
    interrupt_hold();
    if (!write_file(making, key, ptx) || rename(making, path)) unlink(making);
    interrupt_release();
    drop_oldest(folder);
    snprintf(making, sizeof making, "%.*scompiled.db", (int)(strlen(folder) - strlen("ptx/")), folder);
    unlink(making); /* left by redviz 0.1 */
}
