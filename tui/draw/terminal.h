/* Terminal: the only file that knows curses. Shows canvases, reads keys, and restores the terminal however
 * the program ends: return, exit(), signals, a crash.
 *
 * There is one terminal at a time, used from one thread; only terminal_wake() may be called from others.
 * Waiting takes no CPU. */
#ifndef TUI_DRAW_TERMINAL_H
#define TUI_DRAW_TERMINAL_H

#include "base/error.h"
#include "tui/draw/canvas.h"
#include "tui/draw/key_codes.h"
#include "tui/draw/theme.h"

typedef enum TerminalEventKind {
    TERMINAL_TIMEOUT, /* or terminal_wake(): check what you wait for */
    TERMINAL_KEY,
    TERMINAL_CLICK,  /* column, row */
    TERMINAL_DRAG,   /* column, row of the mouse, its button still pressed */
    TERMINAL_WHEEL,  /* direction: 1 away from the user, -1 */
    TERMINAL_RESIZE, /* the size changed, or the program was resumed: redraw */
    TERMINAL_END     /* a signal asks the program to end, or the terminal is gone: see terminal_end() */
} TerminalEventKind;

typedef struct TerminalEvent {
    TerminalEventKind kind;
    Key key;
    int column, row, direction;
    int signal;
} TerminalEvent;

/* Does nothing if it is open. Fails, with nothing changed, if standard input or output is not a terminal, or
 * TERM cannot place the cursor. */
bool terminal_open(Error *error);
const char *terminal_library(void); /* "ncurses 6.3.20211021" */
void terminal_close(void);          /* may be called twice */

void terminal_size(int *columns, int *rows);
/* Sends the cells that changed since the last call, without waiting for a slow terminal. */
void terminal_show(const Canvas *canvas);
/* 0: the last frame is shown, draw the next one. Otherwise the last frame is on its way on a slow line, or
 * the terminal has not yet confirmed it (status_report.h), and another frame would be queued behind it: ask
 * again after this many milliseconds at most, and after each terminal_wait(). */
int terminal_busy_milliseconds(void);
void terminal_set_theme(Theme theme);
void terminal_say(const char *text); /* for readers who see no screen; nothing in a terminal */
/* The exercise and its goals, for a page that has an editor (grade_print.h); nothing in a terminal. */
void terminal_tell_exercise(const char *json);
/* The line of the edited file that a page's editor marks, and why; 0: none. */
void terminal_mark(int line, const char *why);
void terminal_forget(void); /* the next terminal_show() sends everything */

/* Waits for the next event, at most `milliseconds` (negative: for ever). */
TerminalEvent terminal_wait(int milliseconds);

/* Answers an event (NULL: the first turn, there is none yet) and shows what it changed. Returns how many
 * milliseconds to wait for the next event at most (-1: for ever), or TERMINAL_DONE. */
typedef int TerminalTurn(void *context, const TerminalEvent *event);
enum { TERMINAL_DONE = -2 };
/* Calls `turn` for each event until it is done. Where a program must not wait, as in a web page, this does
 * not return, and `context` stays as it is. */
void terminal_serve(TerminalTurn *turn, void *context);
void terminal_wake(void);

/* Lends the terminal to another program (execvp() takes `command`) until it ends, and takes it back in
 * whatever state it is. Returns the exit status; 127: the program could not be run; above 128: a signal ended
 * it; TERMINAL_GOES_ON: the program goes on beside this one (an editor of a web page), and a file that it
 * writes changes later. */
enum { TERMINAL_GOES_ON = -1 };
int terminal_run(char *const command[]);
/* Other programs, as compilers, can run. */
bool terminal_has_programs(void);

/* Restores the terminal and ends the program by `signal`. */
void terminal_end(int signal);

#endif
