/* Playing with motion, on a pseudo-terminal of 200x60: CPU time of the program as a share of a core, bytes and bursts of
 * output a second. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS = 200, ROWS = 60, SECONDS = 10, SETTLE_SECONDS = 2 };

typedef struct Terminal {
    int master;
    pid_t program;
} Terminal;

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* `keys`: pressed before the first frame. */
static Terminal start_program(const char *kernel, const char *keys, bool moves) {
    const char *set = getenv("REDVIZ_BIN"), *program = set ? set : "build/redviz";
    Terminal terminal = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    struct winsize size = {.ws_col = COLUMNS, .ws_row = ROWS};
    if (terminal.master < 0 || grantpt(terminal.master) || unlockpt(terminal.master)) {
        fprintf(stderr, "no pseudo-terminal here\n");
        exit(1);
    }
    const char *name = ptsname(terminal.master);
    int slave = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    ioctl(slave, TIOCSWINSZ, &size);
    terminal.program = fork();
    if (terminal.program == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
        putenv((char[]){"TERM=xterm-256color"});
        execl(program, program, "--kernel", kernel, "--keys", keys, moves ? NULL : "--no-motion",
              (char *)NULL);
        _exit(127);
    }
    close(slave);
    return terminal;
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
    Terminal terminal = start_program(kernel, keys, moves);
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

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("playing at 200x60, for %d s each\n", SECONDS);
    static const char *const kernels[] = {"interleaved", "strided", "shuffle"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        bench_play(kernels[i], "LL", true); /* around the whole run, at 4 wavefronts a second */
        bench_play(kernels[i], "LL", false);
        bench_play(kernels[i], "LL--", true); /* at 1 a second, with 10 frames each */
    }
    return 0;
}
