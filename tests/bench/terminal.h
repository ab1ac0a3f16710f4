/* Terminal: the program on a pseudo-terminal, for the benchmarks. */
#ifndef TESTS_BENCH_TERMINAL_H
#define TESTS_BENCH_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct Terminal {
    int master;
    pid_t program;
} Terminal;

/* `keys`: pressed before the first frame, may be "". Without a pseudo-terminal the benchmark exits. */
Terminal terminal_start(const char *kernel, const char *keys, bool moves, int columns, int rows);

#endif
