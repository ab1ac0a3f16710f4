/* Pty: the real program on a pseudo-terminal, read through libvterm.
 *
 * A small shell in the test leads the session, so that job control works as in a real one: it starts the
 * program in the foreground, notices when it stops or ends, and resumes it on demand. */
#ifndef TESTS_TUI_PTY_H
#define TESTS_TUI_PTY_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

typedef struct Pty {
    int master, slave;
    int reports, orders; /* pipes from and to the shell */
    pid_t shell, program;
    VTerm *vterm;
    VTermScreen *screen;
    bool alternate;                       /* the alternate screen is shown */
    bool cursor, mouse;                   /* the cursor is shown, mouse events are reported */
    size_t cursor_matched, mouse_matched; /* characters matched of the sequences that switch them */
    size_t received;                      /* bytes that the program sent */
    struct termios modes;                 /* before the program started */
} Pty;

/* `environment`: "NAME=VALUE" strings that replace the test's own, NULL at the end. */
Pty *pty_start(const char *const arguments[], const char *const environment[], int columns, int rows);
/* Runs `strided` with 4096 elements on the emulator, with timings measured on a stub of the driver
 * (gpu/stub). `variable`: for that driver, "STUB_BUSY=1"; NULL: none. */
Pty *pty_start_measuring(const char *variable, int columns, int rows);
void pty_free(Pty *pty);

void pty_type(Pty *pty, const char *keys);
void pty_resize(Pty *pty, int columns, int rows);

/* Each reads until its condition holds, and fails the test if it does not within a minute: a row contains
 * `text`, this row does, no row does. */
void pty_wait_for(Pty *pty, const char *text);
void pty_wait_for_row(Pty *pty, int row, const char *text);
void pty_wait_without(Pty *pty, const char *text);
/* Moves from where the run opens to its first step, which the timeline's title announces as `text`, "step 1
 * of 59". */
void pty_go_to_first_step(Pty *pty, const char *text);
/* Reads until nothing arrives for a short time. */
void pty_settle(Pty *pty);
/* Reads what has arrived. */
void pty_pump(Pty *pty);
/* Clears the screen, as if another program had written over it. */
void pty_forget_screen(Pty *pty);
/* Closes the terminal, as when its window is closed. */
void pty_hang_up(Pty *pty);
/* CPU time that the program has used, in clock ticks; -1 if the system does not report it. */
long pty_cpu_ticks(const Pty *pty);
bool pty_shows(Pty *pty, const char *text);
/* A row as UTF-8, without trailing spaces; valid until the next call. */
const char *pty_row(Pty *pty, int row);
/* Cells that are drawn in a colour. */
int pty_coloured_cells(Pty *pty);
/* Cells whose foreground is given as red, green, blue, and not by a number. */
int pty_cells_of_rgb(Pty *pty, int red, int green, int blue);

/* Waits until the program stops ('S') or ends ('E'); *status is as from waitpid(). */
char pty_wait_for_report(Pty *pty, int *status);
void pty_resume(Pty *pty);
/* Types q: the program exits successfully and leaves the terminal as it was. Frees `pty`. */
void pty_quit(Pty *pty);
/* The terminal's modes are those from before the program. */
bool pty_modes_are_back(const Pty *pty);
/* The cursor, the mouse and the screen are as before, too. */
void pty_assert_terminal_is_back(const Pty *pty);

#endif
