/* Launch choice: which launches of a program are checked, by name and number.
 *
 * Options of compute-sanitizer choose them: --kernel-name, --launch-skip, --launch-count. A kernel is NAME,
 * without its template arguments or with them, or one of
 *
 *     kernel_name=NAME  kernel_substring=TEXT  kernel_regex=EXPRESSION   (kne=, kns=, kre=)
 *
 * An expression is an extended one of POSIX. */
#ifndef RUNTIME_LAUNCH_CHOICE_H
#define RUNTIME_LAUNCH_CHOICE_H

#include "runtime/captured.h"

typedef struct LaunchChoice {
    const char *kernel; /* NULL: any */
    int skip, count;    /* of its launches: how many are left out first, and how many follow; 0: all */
} LaunchChoice;

/* False with `error`: the text names no kernel, or its expression is wrong. */
bool launch_choice_check(const char *kernel, Error *error);
/* Sets is_chosen[launch_count]; where a launch repeats an earlier one, that of the earlier one. Returns how
 * many are chosen. */
int launch_choice_apply(const LaunchChoice *choice, const Captured *capture, bool *is_chosen);

#endif
