/* The end of the program: its exit status, and failures to write its output. */
#ifndef CLI_FINISH_H
#define CLI_FINISH_H

#include "base/error.h"
#include "base/text.h"

/* success; the run failed (the kernel is wrong, trapped or hung); bad usage, bad input, or unwritable output;
 * the kernel needs something that is not emulated */
typedef enum ExitStatus { DONE = 0, RUN_FAILED = 1, BAD_INPUT = 2, NOT_EMULATED = 3 } ExitStatus;

/* Prints the error after earlier output, and returns BAD_INPUT. */
int finish_refuse(const Error *error);

/* Prints the text and frees it. */
void finish_print(Text *text);

/* Returns `status`, or BAD_INPUT if the output could not be written. If its reader is gone, ends the program
 * as the shell expects; reports other failures. */
int finish_output(int status);

/* Writes the whole file or nothing. */
bool finish_write_file(const char *path, const Text *text, Error *error);

#endif
