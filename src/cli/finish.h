/* How the program ends: its exit status, and output that could not be written. */
#ifndef CLI_FINISH_H
#define CLI_FINISH_H

#include "base/error.h"
#include "base/text.h"

/* done; the run failed (the kernel is wrong, trapped or hung); bad usage, bad input, or output that could not be written; the
 * kernel needs what is not emulated */
typedef enum ExitStatus { DONE = 0, RUN_FAILED = 1, BAD_INPUT = 2, NOT_EMULATED = 3 } ExitStatus;

/* Prints the error, behind what was printed before. BAD_INPUT. */
int finish_refuse(const Error *error);

/* Prints the text and frees it. */
void finish_print(Text *text);

/* `status`, or BAD_INPUT where the output could not be written. When its reader has gone, the program ends the way the shell
 * expects; other failures are reported. */
int finish_output(int status);

/* A whole file, or none. */
bool finish_write_file(const char *path, const Text *text, Error *error);

#endif
