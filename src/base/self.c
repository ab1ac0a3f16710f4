#define _XOPEN_SOURCE 700
#include "base/self.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

/* As it was started; NULL: the system does not say it. */
static const char *started_as(void) {
#ifdef __linux__
    return (const char *)(uintptr_t)getauxval(AT_EXECFN);
#else
    return NULL;
#endif
}

bool self_path(char *out, size_t bytes) {
    char real[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", out, bytes - 1);
    if (length > 0) {
        out[length] = 0;
        return true;
    }
    const char *started = started_as();
    return started && realpath(started, real) && (size_t)snprintf(out, bytes, "%s", real) < bytes;
}
