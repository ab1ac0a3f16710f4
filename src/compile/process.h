/* Process: runs another program to its end and captures its output. */
#ifndef COMPILE_PROCESS_H
#define COMPILE_PROCESS_H

#include "base/text.h"
#include <stdatomic.h>

/* Runs arguments[0] (searched in PATH) without input.
 * Its standard output and errors go to `output`, up to 16 MB, and never to the terminal. Its temporary files
 * go to `temporary` (NULL: its default). `*status` is its exit status; signal n is 128 + n. False: it could
 * not be started, took longer than `seconds`, `cancel` became true, or interrupt_waits(); it and its children
 * are then killed. Where RLIMIT_CPU is set for this process, they get what is left of it, and `seconds` are
 * 10 times as many. */
bool process_run(const char *const *arguments, const char *temporary, double seconds,
                 const atomic_bool *cancel, Text *output, int *status, Error *error);

/* nvcc passes names to a shell, in double quotes: true if the shell leaves this one unchanged. */
bool process_is_safe_in_quotes(const char *path);
/* $TMPDIR, if it is a writable folder that is safe in quotes; else /tmp. */
const char *process_temporary_folder(void);

/* Finds the program in bin/ of the first of `homes` (skipping NULL), else in PATH, else in
 * /usr/local/cuda/bin. */
bool process_find(const char *name, const char *const *homes, int home_count, char *path, size_t bytes);
/* Identifies this version of the program: its path, size and date. */
bool process_identify(const char *path, char *identity, size_t bytes);

#endif
