#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include "pty.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 60, QUIET_MILLISECONDS = 150 };

typedef struct Report {
    char what; /* 'P': pid in `value`; 'S' stopped, 'E' ended: status in `value` */
    int value;
} Report;

/* ---- the shell ----------------------------------------------------------------------------------------- */

static void shell_run_program(const char *const arguments[], const char *const environment[]) {
    setpgid(0, 0);
    signal(SIGTTOU, SIG_IGN);
    tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    for (int i = 0; environment[i]; i++) putenv((char *)(uintptr_t)environment[i]);
    execv(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

static void shell_take_terminal(int terminal) {
    setsid();
    ioctl(terminal, TIOCSCTTY, 0);
    for (int fd = 0; fd < 3; fd++) dup2(terminal, fd);
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static void shell(int terminal, int reports, int orders, const char *const arguments[],
                  const char *const environment[]) {
    shell_take_terminal(terminal);
    pid_t program = fork();
    if (program == 0) shell_run_program(arguments, environment);
    setpgid(program, program);
    Report report = {'P', program};
    if (write(reports, &report, sizeof report) < 0) _exit(1);
    int status;
    while (waitpid(program, &status, WUNTRACED) > 0) {
        char order;
        report = (Report){WIFSTOPPED(status) ? 'S' : 'E', status};
        tcsetpgrp(STDIN_FILENO, getpid());
        if (write(reports, &report, sizeof report) < 0 || report.what == 'E') break;
        if (read(orders, &order, 1) != 1) break;
        tcsetpgrp(STDIN_FILENO, program);
        kill(-program, SIGCONT);
    }
    kill(program, SIGKILL);
    _exit(0);
}

/* ---- starting and ending ------------------------------------------------------------------------------- */

static int on_property(VTermProp property, VTermValue *value, void *context) {
    Pty *pty = context;
    if (property == VTERM_PROP_ALTSCREEN) pty->alternate = value->boolean;
    return 1;
}

static const VTermScreenCallbacks callbacks = {.settermprop = on_property};

static void open_terminal(Pty *pty, int columns, int rows) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    pty->master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(pty->master >= 0 && !grantpt(pty->master) && !unlockpt(pty->master));
    pty->slave = open(ptsname(pty->master), O_RDWR | O_NOCTTY);
    assert_true(pty->slave >= 0);
    ioctl(pty->slave, TIOCSWINSZ, &size);
    tcgetattr(pty->slave, &pty->modes);
}

Pty *pty_start(const char *const arguments[], const char *const environment[], int columns, int rows) {
    Pty *pty = calloc(1, sizeof *pty);
    pty->cursor = true;
    int reports[2] = {-1, -1}, orders[2] = {-1, -1}, status;
    open_terminal(pty, columns, rows);
    assert_true(!pipe(reports) && !pipe(orders));
    pty->shell = fork();
    if (pty->shell == 0) {
        close(pty->master);
        close(reports[0]);
        close(orders[1]);
        shell(pty->slave, reports[1], orders[0], arguments, environment);
    }
    close(reports[1]);
    close(orders[0]);
    pty->reports = reports[0];
    pty->orders = orders[1];
    pty->vterm = vterm_new(rows, columns);
    vterm_set_utf8(pty->vterm, 1);
    pty->screen = vterm_obtain_screen(pty->vterm);
    vterm_screen_set_callbacks(pty->screen, &callbacks, pty);
    vterm_screen_enable_altscreen(pty->screen, 1);
    vterm_screen_reset(pty->screen, 1);
    assert_int_equal(pty_wait_for_report(pty, &status), 'P');
    pty->program = status;
    return pty;
}

void pty_free(Pty *pty) {
    int status;
    kill(pty->shell, SIGKILL);
    kill(pty->program, SIGKILL);
    waitpid(pty->shell, &status, 0);
    vterm_free(pty->vterm);
    if (pty->master >= 0) close(pty->master);
    if (pty->slave >= 0) close(pty->slave);
    close(pty->reports);
    close(pty->orders);
    free(pty);
}

/* ---- reading and typing -------------------------------------------------------------------------------- */

/* "CSI ? mode h" and "CSI ? mode l", even if it is the last of several modes. */
static void watch(const char *mode, size_t *matched, bool *on, char byte) {
    if (*matched == strlen(mode)) {
        if (byte == 'h') *on = true;
        if (byte == 'l') *on = false;
        *matched = 0;
    }
    *matched = byte == mode[*matched] ? *matched + 1 : byte == mode[0];
}

/* Tracked by hand: libvterm 0.1 reads only the first mode of "CSI ? 1006 ; 1000 h", and resets the cursor's
 * visibility with its position. */
static void watch_modes(Pty *pty, const char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        watch("1000", &pty->mouse_matched, &pty->mouse, bytes[i]);
        watch("?25", &pty->cursor_matched, &pty->cursor, bytes[i]);
    }
}

/* Passes what arrives within `milliseconds` to the terminal; false: nothing arrived. */
static bool pump(Pty *pty, int milliseconds) {
    struct pollfd file = {.fd = pty->master, .events = POLLIN};
    char bytes[4096];
    if (pty->master < 0) return false;
    if (poll(&file, 1, milliseconds) <= 0) return false;
    ssize_t count = read(pty->master, bytes, sizeof bytes);
    if (count <= 0) return false;
    pty->received += (size_t)count;
    watch_modes(pty, bytes, (size_t)count);
    vterm_input_write(pty->vterm, bytes, (size_t)count);
    return true;
}

void pty_settle(Pty *pty) {
    while (pump(pty, QUIET_MILLISECONDS)) {
    }
}

void pty_pump(Pty *pty) {
    pump(pty, 0);
}

void pty_forget_screen(Pty *pty) {
    vterm_screen_reset(pty->screen, 1);
}

void pty_hang_up(Pty *pty) {
    close(pty->slave);
    close(pty->master);
    pty->slave = pty->master = -1;
}

long pty_cpu_ticks(const Pty *pty) {
    char path[64];
    long user = -1, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pty->program);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld", &user, &system) != 2)
        user = -1;
    fclose(file);
    return user < 0 ? -1 : user + system;
}

void pty_type(Pty *pty, const char *keys) {
    assert_int_equal(write(pty->master, keys, strlen(keys)), strlen(keys));
}

void pty_resize(Pty *pty, int columns, int rows) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    vterm_set_size(pty->vterm, rows, columns);
    ioctl(pty->master, TIOCSWINSZ, &size);
}

const char *pty_row(Pty *pty, int row) {
    static char text[4096];
    int rows, columns;
    size_t length = 0;
    vterm_get_size(pty->vterm, &rows, &columns);
    for (int column = 0; column < columns && length + 8 < sizeof text; column++) {
        VTermScreenCell cell;
        vterm_screen_get_cell(pty->screen, (VTermPos){row, column}, &cell);
        uint32_t glyph = cell.chars[0] ? cell.chars[0] : ' ';
        if (glyph < 0x80) {
            text[length++] = (char)glyph;
        } else if (glyph < 0x800) {
            text[length++] = (char)(0xC0 | glyph >> 6);
            text[length++] = (char)(0x80 | (glyph & 0x3F));
        } else {
            text[length++] = (char)(0xE0 | glyph >> 12);
            text[length++] = (char)(0x80 | (glyph >> 6 & 0x3F));
            text[length++] = (char)(0x80 | (glyph & 0x3F));
        }
    }
    while (length && text[length - 1] == ' ') length--;
    text[length] = 0;
    return text;
}

bool pty_shows(Pty *pty, const char *text) {
    int rows, columns;
    vterm_get_size(pty->vterm, &rows, &columns);
    for (int row = 0; row < rows; row++)
        if (strstr(pty_row(pty, row), text)) return true;
    return false;
}

/* Row -1: any. */
static bool row_shows(Pty *pty, int row, const char *text) {
    return row < 0 ? pty_shows(pty, text) : strstr(pty_row(pty, row), text) != NULL;
}

static void print_screen(Pty *pty) {
    int rows, columns;
    vterm_get_size(pty->vterm, &rows, &columns);
    for (int i = 0; i < rows; i++) print_error("|%s\n", pty_row(pty, i));
}

static void wait_until(Pty *pty, int row, const char *text, bool shown) {
    time_t end = time(NULL) + PATIENCE_SECONDS;
    while (row_shows(pty, row, text) != shown && time(NULL) < end) pump(pty, 100);
    if (row_shows(pty, row, text) == shown) return;
    print_screen(pty);
    fail_msg("the terminal never showed %s\"%s\"", shown ? "" : "a screen without ", text);
}

Pty *pty_start_measuring(const char *variable, int columns, int rows) {
    char driver[4200];
    const char *program = getenv("REDVIZ_BIN"), *slash = program ? strrchr(program, '/') : NULL;
    snprintf(driver, sizeof driver, "REDVIZ_CUDA=%.*s/tests/gpu/libcuda_stub.so",
             slash ? (int)(slash - program) : 5, slash ? program : "build");
    const char *const environment[] = {"TERM=xterm-256color", "LC_ALL=C.UTF-8", driver, variable, NULL};
    const char *const arguments[] = {program ? program : "build/redviz",
                                     "--kernel",
                                     "strided",
                                     "--backend",
                                     "emulator",
                                     "--n",
                                     "4096",
                                     NULL};
    return pty_start(arguments, environment, columns, rows);
}

void pty_wait_for(Pty *pty, const char *text) {
    wait_until(pty, -1, text, true);
}

void pty_go_to_first_step(Pty *pty, const char *text) {
    const char *count = strstr(text, " of ");
    assert_non_null(count);
    pty_wait_for(pty, count);
    pty_type(pty, "g");
    pty_wait_for(pty, text);
}

void pty_wait_for_row(Pty *pty, int row, const char *text) {
    wait_until(pty, row, text, true);
}

void pty_wait_without(Pty *pty, const char *text) {
    wait_until(pty, -1, text, false);
}

typedef bool Counted(const VTermScreenCell *cell, const void *context);

static int count_cells(Pty *pty, Counted *counted, const void *context) {
    int rows, columns, count = 0;
    vterm_get_size(pty->vterm, &rows, &columns);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            VTermScreenCell cell;
            vterm_screen_get_cell(pty->screen, (VTermPos){row, column}, &cell);
            count += counted(&cell, context);
        }
    return count;
}

static bool is_coloured(const VTermScreenCell *cell, const void *context) {
    (void)context;
    return !VTERM_COLOR_IS_DEFAULT_FG(&cell->fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell->bg);
}

int pty_coloured_cells(Pty *pty) {
    return count_cells(pty, is_coloured, NULL);
}

static bool is_of_rgb(const VTermScreenCell *cell, const void *context) {
    const int *rgb = context;
    return VTERM_COLOR_IS_RGB(&cell->fg) && cell->fg.rgb.red == rgb[0] && cell->fg.rgb.green == rgb[1] &&
           cell->fg.rgb.blue == rgb[2];
}

int pty_cells_of_rgb(Pty *pty, int red, int green, int blue) {
    return count_cells(pty, is_of_rgb, (const int[]){red, green, blue});
}

/* ---- the shell's reports ------------------------------------------------------------------------------- */

char pty_wait_for_report(Pty *pty, int *status) {
    struct pollfd file = {.fd = pty->reports, .events = POLLIN};
    time_t end = time(NULL) + PATIENCE_SECONDS;
    Report report;
    while (poll(&file, 1, 0) == 0) { /* read, so that the program does not block on us */
        pump(pty, 20);
        if (time(NULL) > end) fail_msg("the program neither stopped nor ended");
    }
    assert_int_equal(read(pty->reports, &report, sizeof report), sizeof report);
    pty_settle(pty);
    *status = report.value;
    return report.what;
}

void pty_resume(Pty *pty) {
    assert_int_equal(write(pty->orders, "C", 1), 1);
}

bool pty_modes_are_back(const Pty *pty) {
    struct termios modes;
    tcgetattr(pty->slave, &modes);
    return modes.c_iflag == pty->modes.c_iflag && modes.c_oflag == pty->modes.c_oflag &&
           modes.c_cflag == pty->modes.c_cflag && modes.c_lflag == pty->modes.c_lflag &&
           !memcmp(modes.c_cc, pty->modes.c_cc, sizeof modes.c_cc);
}

void pty_assert_terminal_is_back(const Pty *pty) {
    assert_true(pty_modes_are_back(pty));
    assert_false(pty->alternate);
    assert_true(pty->cursor);
    assert_false(pty->mouse);
}

void pty_quit(Pty *pty) {
    int status;
    pty_type(pty, "q");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    if (!WIFEXITED(status) || WEXITSTATUS(status)) { /* a sanitizer's report is on the screen */
        print_screen(pty);
        fail_msg("the program ended with status %#x", (unsigned)status);
    }
    pty_assert_terminal_is_back(pty);
    pty_free(pty);
}
