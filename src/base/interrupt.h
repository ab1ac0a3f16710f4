/* Interrupt: holds back signals while there are temporary files or child processes. Such signals, Ctrl-C,
 * kill and a terminal that closes, end the program afterwards.
 *
 *     interrupt_hold();
 *     ... make it, work on it and look at interrupt_waits() now and then, remove it ...
 *     interrupt_release();      the program dies of the signal that came meanwhile
 *
 * Signals that are ignored, or that have a handler (the interface's), are left alone. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdbool.h>

/* Holds may be nested, and held by several threads. */
void interrupt_hold(void);
/* A signal came: what is under way is to be given up at once. */
bool interrupt_waits(void);
void interrupt_release(void);

/* From now on the first Ctrl-C makes *flag true instead of ending the program; the second ends it. One at a time; nothing
 * happens while signals are held, or where Ctrl-C is ignored or has a handler. */
void interrupt_catch(volatile bool *flag);
void interrupt_leave(void);
/* Ends the program as Ctrl-C does. */
void interrupt_die(void);

#endif
