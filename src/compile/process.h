/* Process: another program, run to its end, with all that it prints. */
#ifndef COMPILE_PROCESS_H
#define COMPILE_PROCESS_H

#include "base/text.h"

/* Runs arguments[0] (looked for in PATH) without input; what it prints to either output is added to
 * `output`, up to 16 MB, and never reaches the terminal. Its own temporary files are made in `temporary` (NULL: where it
 * likes). `*status` is its exit status; a signal n is 128 + n. false: it could not be started, took longer than `seconds`,
 * `cancel` became true, or interrupt_waits(); it and what it started are then killed. */
bool process_run(const char *const *arguments, const char *temporary, double seconds,
                 const volatile bool *cancel, Text *output, int *status, Error *error);

/* nvcc hands names to a shell, in double quotes: does it take this one as it stands? */
bool process_is_safe_in_quotes(const char *path);
/* $TMPDIR, where there is such a folder that can be written to and is safe in quotes; else /tmp. */
const char *process_temporary_folder(void);

/* Where the program is: in bin/ of the first of `homes` (NULL ones are passed over), else in PATH, else in
 * /usr/local/cuda/bin. */
bool process_find(const char *name, const char *const *homes, int home_count, char *path, size_t bytes);
/* What distinguishes this program from other versions of it: its path, size and date. */
bool process_identify(const char *path, char *identity, size_t bytes);

#endif
