/* What wasi-libc does not have. */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* There are no links, and the folder of the program is the root: dots are left out. */
char *realpath(const char *path, char *whole) {
    char copy[PATH_MAX];
    size_t length = 0;
    if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, NULL;
    if (access(path, F_OK)) return NULL;
    for (const char *part = path; *part; part += strcspn(part, "/")) {
        part += strspn(part, "/");
        size_t count = strcspn(part, "/");
        if (!count || (count == 1 && part[0] == '.')) continue;
        if (count == 2 && !strncmp(part, "..", 2)) {
            while (length && copy[--length] != '/') continue;
            continue;
        }
        copy[length++] = '/';
        memcpy(copy + length, part, count);
        length += count;
    }
    if (!length) copy[length++] = '/';
    copy[length] = 0;
    return whole ? memcpy(whole, copy, length + 1) : strdup(copy);
}

static int refuse(void) {
    errno = EROFS;
    return -1;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): its declaration says so */
char *mkdtemp(char *pattern) {
    (void)pattern;
    refuse();
    return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): its declaration says so */
int mkstemp(char *pattern) {
    (void)pattern;
    return refuse();
}

mode_t umask(mode_t mask) {
    (void)mask;
    return 0;
}

int fchmod(int file, mode_t mode) {
    (void)file, (void)mode;
    return refuse();
}

int flock(int file, int operation) {
    (void)file, (void)operation;
    return 0;
}

/* Debian builds compiler-rt with a stack protector. */
uintptr_t __stack_chk_guard = 0x9e3779b9;

_Noreturn void __stack_chk_fail(void) {
    abort();
}
