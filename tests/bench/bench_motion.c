/* Playing with motion, on a pseudo-terminal of 200x60: CPU time of the program as a share of a core, bytes
 * and bursts of output per second; and the latency of a key on a slow terminal: one that declares its speed,
 * one that reports what it has shown, and one that does neither. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "tests/bench/terminal.h"

#include "base/clock.h"
#include "tests/tui/far_terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 200, ROWS = 60, SECONDS = 10, SETTLE_SECONDS = 2 };

/* Accepts all output; returns the bytes, and how often some arrived. */
static size_t receive(const Terminal *terminal, double seconds, int *bursts) {
    static char bytes[65536];
    size_t sum = 0;
    double end = clock_seconds() + seconds, last = 0;
    struct pollfd file = {.fd = terminal->master, .events = POLLIN};
    while (clock_seconds() < end) {
        if (poll(&file, 1, 10) <= 0) continue;
        ssize_t count = read(terminal->master, bytes, sizeof bytes);
        if (count <= 0) break;
        if (clock_seconds() - last > 0.01) ++*bursts;
        last = clock_seconds();
        sum += (size_t)count;
    }
    return sum;
}

/* In seconds; -1 if the system does not report it. */
static double cpu_seconds(pid_t program) {
    clockid_t clock;
    struct timespec used;
    if (clock_getcpuclockid(program, &clock) || clock_gettime(clock, &used)) return -1;
    return (double)used.tv_sec + (double)used.tv_nsec * 1e-9;
}

static void bench_play(const char *kernel, const char *keys, bool moves) {
    int bursts = 0;
    Terminal terminal = terminal_start(kernel, keys, moves, COLUMNS, ROWS);
    receive(&terminal, SETTLE_SECONDS, &bursts);
    bursts = 0;
    if (write(terminal.master, " ", 1) != 1) exit(1); /* play */
    receive(&terminal, 0.5, &bursts);
    bursts = 0;
    double before = cpu_seconds(terminal.program), start = clock_seconds();
    size_t bytes = receive(&terminal, SECONDS, &bursts);
    double seconds = clock_seconds() - start, used = cpu_seconds(terminal.program) - before;
    printf("  %-14s %-14s %-8s %5.2f %% of a core   %4.1f frames/s   %6.0f bytes/s\n", kernel,
           moves ? "motion" : "no motion", keys, used / seconds * 100, bursts / seconds,
           (double)bytes / seconds);
    kill(terminal.program, SIGKILL);
    close(terminal.master);
    waitpid(terminal.program, NULL, 0);
}

/* ---- slow terminals ------------------------------------------------------------------------------------ */

enum { SLOW_BYTES = 960, SLOW_ANSWERS = 5 };

/* From a key until its answer begins to be shown, while a run plays in 80x24. `name`: what is known about the
 * speed. */
static void bench_slow(const char *name, FarTerminal terminal, unsigned bits, const char *keys) {
    const char *set = getenv("REDVIZ_BIN"), *program = set ? set : "build/redviz";
    const char *const arguments[] = {program, "--kernel", "interleaved", "--keys", keys, NULL};
    if (!far_terminal_start(&terminal, "xterm-256color", bits, arguments)) exit(1);
    far_terminal_show(&terminal, 20, 0, "1002h"); /* the end of the first frame */
    far_terminal_type(&terminal, " ");
    far_terminal_show(&terminal, 15, 0, NULL);
    printf("  %6.0f bytes/s, %-28s a key is answered after", terminal.rate, name);
    for (int i = 0; i < SLOW_ANSWERS; i++) {
        far_terminal_type(&terminal, "?");
        printf(" %.2f", far_terminal_show(&terminal, 60, terminal.taken, "source line"));
        far_terminal_type(&terminal, "q"); /* closes the help */
        far_terminal_show(&terminal, 6, 0, NULL);
    }
    printf(" s\n");
    kill(terminal.program, SIGKILL);
    far_terminal_end(&terminal, NULL);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("playing at 200x60, for %d s each\n", SECONDS);
    static const char *const kernels[] = {"interleaved", "strided", "shuffle"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        bench_play(kernels[i], "LL", true); /* around the whole run, at 4 wavefronts a second */
        bench_play(kernels[i], "LL", false);
        bench_play(kernels[i], "LL--", true); /* at 1 a second, with 10 frames each */
    }
    printf("playing at 80x24 on terminals that are slow\n");
    bench_slow("declared", (FarTerminal){.rate = SLOW_BYTES}, B9600, "LL");
    bench_slow("never answers", (FarTerminal){.rate = SLOW_BYTES}, 0, "LL");
    bench_slow("answers", (FarTerminal){.rate = SLOW_BYTES, .answers = true}, 0, "LL");
    bench_slow("behind a buffer, answers",
               (FarTerminal){.rate = SLOW_BYTES, .takes_at_once = true, .answers = true}, 0, "LL");
    bench_slow("behind a buffer, answers",
               (FarTerminal){.rate = 20 * SLOW_BYTES, .takes_at_once = true, .answers = true}, 0, "LL++++");
    return 0;
}
