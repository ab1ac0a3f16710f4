#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include "tests/bench/terminal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

Terminal terminal_start(const char *kernel, const char *keys, bool moves, int columns, int rows) {
    const char *set = getenv("REDVIZ_BIN"), *program = set ? set : "build/redviz";
    Terminal terminal = {.master = posix_openpt(O_RDWR | O_NOCTTY)};
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
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
