/* A file with the headers beside it, as one text of host code. */
#define _XOPEN_SOURCE 700
#include "base/memory.h"
#include "compile/device_code.h"
#include "compile/header_search.h"
#include "guess/host_code.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEADERS = 32, LIMIT_BYTES = 16 << 20 };

typedef struct HeaderSearch {
    const char *source, *from; /* the file, and the one that includes */
    char *paths[MOST_HEADERS]; /* found so far */
    int count;
} HeaderSearch;

static void visit(void *context, const char *name, size_t length) {
    HeaderSearch *search = context;
    char path[PATH_MAX * 2], whole[PATH_MAX];
    const char *slash = strrchr(search->from, '/');
    int folder = *name == '/' || !slash ? 0 : (int)(slash + 1 - search->from);
    snprintf(path, sizeof path, "%.*s%.*s", folder, search->from, (int)(length < PATH_MAX ? length : 0),
             name);
    char copy[256];
    snprintf(copy, sizeof copy, "%.*s", (int)length, name);
    bool is_found =
        realpath(path, whole) || (realpath(search->source, path) && header_find(path, copy, whole));
    if (search->count == MOST_HEADERS || !is_found) return;
    for (int i = 0; i < search->count; i++)
        if (!strcmp(search->paths[i], whole)) return;
    search->paths[search->count++] = memory_copy_text(whole);
}

HostCode *host_code_open(const char *path) {
    HeaderSearch search = {.source = path, .from = path};
    Text all = {0};
    char *text;
    size_t length;
    for (int i = -1; i < search.count; i++) {
        search.from = i < 0 ? path : search.paths[i];
        if (!text_read_file(search.from, LIMIT_BYTES, &text, &length, NULL)) continue;
        device_code_includes(text, true, visit, &search);
        device_code_includes(text, false, visit, &search);
        if (i < 0 || all.length + length < LIMIT_BYTES) text_print(&all, "%s\n", text);
        free(text);
    }
    HostCode *code = all.length ? host_code_read(text_string(&all)) : NULL;
    for (int i = 0; i < search.count; i++) free(search.paths[i]);
    text_done(&all);
    return code;
}
