/* Interrupt: holds back signals while there are temporary files or child processes.
 *
 * Ctrl-C, kill and a closing terminal end the program afterwards.
 *
 *     interrupt_hold();
 *     ... create, work, check interrupt_waits() now and then, remove ...
 *     interrupt_release();      a signal that came meanwhile ends the program
 *
 * Ignored signals, and those that have a handler (the interface's), are left alone. */
#ifndef BASE_INTERRUPT_H
#define BASE_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* Holds may be nested, also across threads. */
void interrupt_hold(void);
/* A signal came: stop the present work at once. */
bool interrupt_waits(void);
void interrupt_release(void);

/* From now on the first Ctrl-C sets *flag instead of ending the program; the second ends it. Only one flag at
 * a time. Also while signals are held; does nothing if Ctrl-C is ignored or has a handler. */
void interrupt_catch(atomic_bool *flag);
void interrupt_leave(void);
/* Ends the program as Ctrl-C does. */
void interrupt_die(void);

#endif
