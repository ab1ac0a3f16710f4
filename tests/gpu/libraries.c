#define _POSIX_C_SOURCE 200809L

#include "libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void use_library(const char *variable, const char *name) {
    char path[4096];
    const char *program = getenv("REDVIZ_BIN"), *slash = program ? strrchr(program, '/') : NULL;
    if (slash)
        snprintf(path, sizeof path, "%.*s/tests/gpu/%s", (int)(slash - program), program, name);
    else
        snprintf(path, sizeof path, "build/tests/gpu/%s", name);
    setenv(variable, path, 1);
}
