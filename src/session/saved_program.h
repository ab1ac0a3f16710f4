/* Saved program: a program's launches and what it printed in a session file (trace/schema.def, tables program
 * to program_page). Private to the session. */
#ifndef SESSION_SAVED_PROGRAM_H
#define SESSION_SAVED_PROGRAM_H

#include "runtime/user_program.h"
#include "session/short_names.h"
#include "trace/store.h"

/* The rows of those tables; `shown` is the launch that the session shows. `names` has the files of all
 * modules. */
void saved_program_write(const Program *program, int shown, const ShortNames *names, Store *store);
/* A program that has ended; NULL: there is none in the file, or the store has failed. Its launches can be
 * opened (captured_plan()) like those of one that has just run. */
Program *saved_program_read(int *shown, Store *store);
/* About how many bytes will be written. */
uint64_t saved_program_bytes(const Program *program);

#endif
