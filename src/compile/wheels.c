#define _POSIX_C_SOURCE 200809L
#include "compile/wheels.h"

#include "base/self.h"
#include "compile/process.h"

#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_at(const char *root, const char *folder, const char *pattern, char *path, size_t bytes) {
    char whole[PATH_MAX];
    glob_t found;
    int length = snprintf(whole, sizeof whole, "%s%s/nvidia/%s", root, folder, pattern);
    if (!*root || length < 0 || (size_t)length >= sizeof whole || glob(whole, 0, NULL, &found)) return false;
    bool fits = (size_t)snprintf(path, bytes, "%s", found.gl_pathv[0]) < bytes;
    globfree(&found);
    return fits;
}

static bool find_below(const char *prefix, const char *pattern, char *path, size_t bytes) {
    return prefix && (find_at(prefix, "/lib/python3*/site-packages", pattern, path, bytes) ||
                      find_at(prefix, "/lib/python3*/dist-packages", pattern, path, bytes));
}

/* "/home/me/venv" of "/home/me/venv/bin/python3" */
static bool cut_program(char *path) {
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (!slash) return false;
        *slash = 0;
    }
    return *path;
}

/* Of redviz's own wheel: site-packages/redviz/bin/redviz. */
static bool find_beside_program(const char *pattern, char *path, size_t bytes) {
    char self[PATH_MAX];
    char *slash = self_path(self, sizeof self) && cut_program(self) ? strrchr(self, '/') : NULL;
    if (!slash) return false;
    *slash = 0;
    return find_at(self, "", pattern, path, bytes);
}

bool wheels_have_program(void) {
    char self[PATH_MAX], package[PATH_MAX + 16];
    if (!self_path(self, sizeof self) || !cut_program(self)) return false;
    snprintf(package, sizeof package, "%s/__init__.py", self);
    return access(package, R_OK) == 0;
}

/* Of this Python, which may be behind a script in PATH; "": it says none. It is asked once, as the answer can
 * take a second. */
static void find_purelib(const char *python, char *path, size_t bytes) {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static char asked[PATH_MAX], purelib[PATH_MAX];
    const char *const arguments[] = {python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
                                     NULL};
    pthread_mutex_lock(&mutex);
    if (strcmp(asked, python) != 0) {
        Text said = {0};
        Error error = {0};
        int status = 1;
        bool good = process_run(arguments, NULL, 10, NULL, &said, &status, &error) && !status;
        snprintf(purelib, sizeof purelib, "%.*s", good ? (int)strcspn(text_string(&said), "\n") : 0,
                 text_string(&said));
        snprintf(asked, sizeof asked, "%s", python);
        text_done(&said);
    }
    snprintf(path, bytes, "%s", purelib);
    pthread_mutex_unlock(&mutex);
}

static bool find_as_python_says(const char *python, const char *pattern, char *path, size_t bytes) {
    char purelib[PATH_MAX];
    find_purelib(python, purelib, sizeof purelib);
    return find_at(purelib, "", pattern, path, bytes);
}

bool wheels_find(const char *pattern, char *path, size_t bytes) {
    char python[PATH_MAX], prefix[PATH_MAX], user[PATH_MAX];
    const char *home = getenv("HOME");
    bool has_python = process_find("python3", NULL, 0, python, sizeof python);
    snprintf(prefix, sizeof prefix, "%s", has_python ? python : "");
    snprintf(user, sizeof user, "%s/.local", home ? home : "");
    return find_beside_program(pattern, path, bytes) ||
           find_below(getenv("VIRTUAL_ENV"), pattern, path, bytes) ||
           (has_python && cut_program(prefix) && find_below(prefix, pattern, path, bytes)) ||
           (home && find_below(user, pattern, path, bytes)) ||
           find_below("/usr/local", pattern, path, bytes) ||
           (has_python && find_as_python_says(python, pattern, path, bytes));
}
