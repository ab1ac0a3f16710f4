#define _XOPEN_SOURCE 700
#include "compile/header_search.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool header_find(const char *source, const char *name, char whole[PATH_MAX]) {
    static const char *const folders[] = {
        "",        "include/",        "inc/",        "src/",   "common/",
        "Common/", "common/include/", "common/inc/", "utils/", "Common/include/"};
    enum { LEVELS = 4 };
    char folder[PATH_MAX], path[PATH_MAX * 2];
    while (!strncmp(name, "../", 3)) name += 3;
    snprintf(folder, sizeof folder, "%s", source);
    for (int level = 0; level < LEVELS; level++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return false;
        *slash = 0;
        for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
            snprintf(path, sizeof path, "%s/%s%s", folder, folders[i], name);
            if (access(path, R_OK) == 0 && realpath(path, whole)) return true;
        }
    }
    return false;
}

/* ---- in the whole project ------------------------------------------------------------------------------ */

enum { MOST_LEVELS = 8, MOST_FILES = 20000 };

typedef struct HeaderWalk { /* nftw() passes no context to its function */
    const char *name, *last;
    char *whole, *by_last;
    int files;
    bool found;
} HeaderWalk;
static HeaderWalk walk;

static bool ends_with(const char *path, const char *name) {
    size_t length = strlen(path), part = strlen(name);
    return length > part && path[length - part - 1] == '/' && !strcmp(path + length - part, name);
}

static int visit(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)place;
    if (kind != FTW_F) return 0;
    if (++walk.files > MOST_FILES) return 1;
    if (ends_with(path, walk.name)) walk.found = realpath(path, walk.whole) != NULL;
    if (!*walk.by_last && ends_with(path, walk.last) && !realpath(path, walk.by_last)) *walk.by_last = 0;
    return walk.found;
}

static bool find_project(const char *source, char folder[PATH_MAX]) {
    char mark[PATH_MAX + 8];
    snprintf(folder, PATH_MAX, "%s", source);
    for (int level = 0; level < MOST_LEVELS; level++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return false;
        *slash = 0;
        snprintf(mark, sizeof mark, "%s/.git", folder);
        if (access(mark, F_OK) == 0) return true;
    }
    return false;
}

bool header_find_in_project(const char *source, const char *name, char whole[PATH_MAX]) {
    char folder[PATH_MAX], by_last[PATH_MAX] = "";
    const char *slash = strrchr(name, '/');
    while (!strncmp(name, "../", 3) || !strncmp(name, "./", 2)) name += name[1] == '.' ? 3 : 2;
    if (!*name || !find_project(source, folder)) return false;
    walk = (HeaderWalk){.name = name, .last = slash ? slash + 1 : name, .whole = whole, .by_last = by_last};
    nftw(folder, visit, 16, FTW_PHYS);
    if (!walk.found && *by_last) {
        snprintf(whole, PATH_MAX, "%s", by_last);
        walk.found = true;
    }
    return walk.found;
}
