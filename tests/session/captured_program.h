/* Captured program for tests: launches on the emulated device, as a program would make them, without one. */
#ifndef TESTS_SESSION_CAPTURED_PROGRAM_H
#define TESTS_SESSION_CAPTURED_PROGRAM_H

#include "runtime/user_program.h"

/* Five launches: `add` three times (values[i] += by), of which the third repeats the second; `total`, which
 * uses a variable of the module and reads memory that was never written; one that is refused. And two faults
 * of the host. The caller's. */
Program *captured_program_new(void);

#endif
