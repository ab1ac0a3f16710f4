/* A skipped test says why: run_tests.sh prints its name with the reason, and counts it. */
#ifndef TESTS_SKIP_H
#define TESTS_SKIP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define skip_because(...)                                                                                    \
    do {                                                                                                     \
        print_message("# skip: " __VA_ARGS__);                                                               \
        print_message("\n");                                                                                 \
        skip();                                                                                              \
    } while (0)

/* True if a shell finds the command. */
static inline bool has_command(const char *name) {
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0;
}

/* For what redviz's headers for clang do not have: it needs NVIDIA's. */
#define skip_without_nvcc(what)                                                                              \
    do {                                                                                                     \
        if (!has_command("nvcc")) skip_because("nvcc was not found, which %s needs", what);                  \
    } while (0)

#endif
