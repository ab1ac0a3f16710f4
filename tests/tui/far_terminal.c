#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "tests/tui/far_terminal.h"

#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 24, EACH_MILLISECONDS = 10, PATIENCE_SECONDS = 10 };
static const char question[] = "\033[5n", answer[] = "\033[0n";

static void run_program(int slave, const char *type, const char *const arguments[]) {
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++) dup2(slave, fd);
    setenv("TERM", type, 1);
    execv(arguments[0], (char *const *)(size_t)arguments);
    _exit(127);
}

bool far_terminal_start(FarTerminal *terminal, const char *type, unsigned bits,
                        const char *const arguments[]) {
    struct winsize size = {.ws_col = 80, .ws_row = 24};
    struct termios modes;
    terminal->master = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master)) return false;
    const char *name = ptsname(terminal->master);
    terminal->slave = name ? open(name, O_RDWR | O_NOCTTY) : -1;
    if (terminal->slave < 0) return false;
    ioctl(terminal->slave, TIOCSWINSZ, &size);
    if (bits && !tcgetattr(terminal->slave, &modes) && !cfsetospeed(&modes, bits))
        tcsetattr(terminal->slave, TCSANOW, &modes);
    terminal->seen = calloc(1, MOST_BYTES);
    terminal->now = clock_seconds();
    terminal->program = fork();
    if (terminal->program == 0) run_program(terminal->slave, type, arguments);
    return true;
}

/* Bytes from the program, up to `most`. */
static void take(FarTerminal *terminal, size_t most) {
    struct pollfd file = {.fd = terminal->master, .events = POLLIN};
    while (most && terminal->taken + 1 < MOST_BYTES && poll(&file, 1, 0) > 0) {
        size_t room = MOST_BYTES - 1 - terminal->taken;
        ssize_t count = read(terminal->master, terminal->seen + terminal->taken, most < room ? most : room);
        if (count <= 0) return;
        terminal->taken += (size_t)count;
        most -= (size_t)count;
    }
}

static void show_until(FarTerminal *terminal, double now) {
    size_t due = (size_t)((now - terminal->now) * terminal->rate);
    if (!terminal->takes_at_once) take(terminal, due);
    size_t held = terminal->taken - terminal->shown, from = terminal->shown;
    if (held > terminal->most_held) terminal->most_held = held;
    terminal->now = held <= due ? now : terminal->now + (double)due / terminal->rate;
    terminal->shown += held <= due ? held : due;
    for (size_t at = from; at < terminal->shown; at++)
        if (at + 1 >= strlen(question) &&
            !memcmp(terminal->seen + at + 1 - strlen(question), question, strlen(question)) &&
            terminal->questions++ * strlen(answer) == terminal->answered)
            terminal->answer_due = now + terminal->delay;
}

static void send_answers(FarTerminal *terminal, double now) {
    while (terminal->answers && terminal->answered < terminal->questions * strlen(answer) &&
           now >= terminal->answer_due) {
        size_t at = terminal->answered % strlen(answer), count = terminal->pause > 0 ? 1 : strlen(answer);
        if (write(terminal->master, answer + at, count) < 0) return;
        terminal->answered += count;
        terminal->answer_due = now + (at + count < strlen(answer) ? terminal->pause : terminal->delay);
    }
}

double far_terminal_show(FarTerminal *terminal, double seconds, size_t from, const char *text) {
    double start = clock_seconds(), now = start;
    for (; now - start < seconds; now = clock_seconds()) {
        if (terminal->takes_at_once) take(terminal, MOST_BYTES);
        show_until(terminal, now);
        send_answers(terminal, now);
        const char *found = text ? strstr(terminal->seen + from, text) : NULL;
        if (found && found + strlen(text) <= terminal->seen + terminal->shown) break;
        nanosleep(&(struct timespec){.tv_nsec = EACH_MILLISECONDS * 1000000L}, NULL);
    }
    return now - start;
}

void far_terminal_type(const FarTerminal *terminal, const char *keys) {
    /* It has exited; far_terminal_end() reports how. */
    if (write(terminal->master, keys, strlen(keys)) < 0) return;
}

/* Any bytes, not only whole lines, as a shell would read them. */
static int unread_bytes(int slave) {
    struct termios modes;
    int count = -1;
    if (tcgetattr(slave, &modes)) return -1;
    modes.c_lflag &= ~(tcflag_t)ICANON;
    if (tcsetattr(slave, TCSANOW, &modes) || ioctl(slave, FIONREAD, &count)) return -1;
    return count;
}

int far_terminal_end(FarTerminal *terminal, int *unread) {
    int status = 0;
    double end = clock_seconds() + PATIENCE_SECONDS;
    while (waitpid(terminal->program, &status, WNOHANG) == 0) {
        far_terminal_show(terminal, 0.05, 0, NULL);
        if (clock_seconds() > end) kill(terminal->program, SIGKILL);
    }
    if (unread) *unread = unread_bytes(terminal->slave);
    close(terminal->slave);
    close(terminal->master);
    free(terminal->seen);
    return status;
}
