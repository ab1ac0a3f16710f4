#define _XOPEN_SOURCE 700

#include "exercise/solved.h"

#include "base/text.h"
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file with a name in each line; false: there is no home folder. */
static bool solved_path(char path[PATH_MAX], bool makes_folders) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = 0;
    if (data && *data == '/')
        length = snprintf(path, PATH_MAX, "%s/redviz/solved", data);
    else if (home && *home == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/share/redviz/solved", home);
    if (length <= 0 || length >= PATH_MAX) return false;
    for (char *at = path + 1; makes_folders && *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    return true;
}

char *solved_read(void) {
    enum { LIMIT = 1 << 16 };
    char path[PATH_MAX], *text = NULL;
    size_t length;
    return solved_path(path, false) && text_read_file(path, LIMIT, &text, &length, NULL) ? text : NULL;
}

bool solved_has(const char *solved, const char *name) {
    size_t length = strlen(name);
    for (const char *at = solved; at && (at = strstr(at, name)); at += length)
        if ((at == solved || at[-1] == '\n') && at[length] == '\n') return true;
    return false;
}

void solved_add(const char *name) {
    char path[PATH_MAX], *solved = solved_read();
    if (!solved_has(solved, name) && solved_path(path, true)) {
        int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        if (file >= 0) dprintf(file, "%s\n", name);
        if (file >= 0) close(file);
    }
    free(solved);
}
