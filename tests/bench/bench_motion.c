/* Playing with motion, on a pseudo-terminal of 200x60: CPU time of the program as a share of a core, bytes and bursts of
 * output a second. And how soon a key is answered at 9600 baud, whether the terminal declares that speed or not. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "tests/bench/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 200, ROWS = 60, SECONDS = 10, SETTLE_SECONDS = 2 };

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Takes everything that comes; returns the bytes, and how often some came. */
static size_t receive(const Terminal *terminal, double seconds, int *bursts) {
    static char bytes[65536];
    size_t sum = 0;
    double end = seconds_now() + seconds, last = 0;
    struct pollfd file = {.fd = terminal->master, .events = POLLIN};
    while (seconds_now() < end) {
        if (poll(&file, 1, 10) <= 0) continue;
        ssize_t count = read(terminal->master, bytes, sizeof bytes);
        if (count <= 0) break;
        if (seconds_now() - last > 0.01) ++*bursts;
        last = seconds_now();
        sum += (size_t)count;
    }
    return sum;
}

/* In seconds; -1 where the system does not report it. */
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
    double before = cpu_seconds(terminal.program), start = seconds_now();
    size_t bytes = receive(&terminal, SECONDS, &bursts);
    double seconds = seconds_now() - start, used = cpu_seconds(terminal.program) - before;
    printf("  %-14s %-14s %-8s %5.2f %% of a core   %4.1f frames/s   %6.0f bytes/s\n", kernel,
           moves ? "motion" : "no motion", keys, used / seconds * 100, bursts / seconds,
           (double)bytes / seconds);
    kill(terminal.program, SIGKILL);
    close(terminal.master);
    waitpid(terminal.program, NULL, 0);
}

/* ---- 9600 baud ------------------------------------------------------------------------------------------- */

enum { SLOW_BYTES = 960, SLOW_EACH = 48, SLOW_ANSWERS = 5 };

/* Takes 960 bytes a second for so long, or until they hold `text`, whichever is first. Returns the seconds that a line of that
 * speed needs for them, however busy this machine is. */
static double show(const Terminal *terminal, double seconds, const char *text) {
    char shown[1 << 16] = "";
    size_t length = 0;
    int turns = 0;
    for (; turns * SLOW_EACH < seconds * SLOW_BYTES && length + SLOW_EACH < sizeof shown; turns++) {
        struct pollfd file = {.fd = terminal->master, .events = POLLIN};
        nanosleep(&(struct timespec){.tv_nsec = 1000000000L / SLOW_BYTES * SLOW_EACH}, NULL);
        if (poll(&file, 1, 0) <= 0) continue;
        ssize_t count = read(terminal->master, shown + length, SLOW_EACH);
        if (count <= 0) break;
        length += (size_t)count;
        shown[length] = 0;
        if (text && strstr(shown, text)) break;
    }
    return (double)turns * SLOW_EACH / SLOW_BYTES;
}

/* From a key until its answer begins to be shown, while a run plays in 80x24. */
static void bench_slow(bool is_declared) {
    struct termios modes;
    Terminal terminal = terminal_start("interleaved", "LL", true, 80, 24);
    if (is_declared && !tcgetattr(terminal.master, &modes) && !cfsetospeed(&modes, B9600))
        tcsetattr(terminal.master, TCSANOW, &modes);
    show(&terminal, 20, "quit");
    if (write(terminal.master, " ", 1) != 1) exit(1); /* play */
    show(&terminal, 15, NULL);
    printf("  speed %-10s a key is answered after", is_declared ? "declared" : "unknown");
    for (int i = 0; i < SLOW_ANSWERS; i++) {
        if (write(terminal.master, "?", 1) != 1) exit(1);
        printf(" %.1f", show(&terminal, 30, "source line"));
        if (write(terminal.master, "q", 1) != 1) exit(1); /* closes the help */
        show(&terminal, 6, NULL);
    }
    printf(" s\n");
    kill(terminal.program, SIGKILL);
    close(terminal.master);
    waitpid(terminal.program, NULL, 0);
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
    printf("playing at 80x24 on a terminal that shows %d bytes a second\n", SLOW_BYTES);
    bench_slow(true);
    bench_slow(false);
    return 0;
}
