/* Signals where there are none: nothing interrupts the program. */
#include "base/interrupt.h"

#include <stdlib.h>

void interrupt_hold(void) {}

bool interrupt_waits(void) {
    return false;
}

void interrupt_release(void) {}

/* NOLINTNEXTLINE(readability-non-const-parameter): its declaration says so */
void interrupt_catch(atomic_bool *flag) {
    (void)flag;
}

void interrupt_leave(void) {}

void interrupt_die(void) {
    abort();
}
