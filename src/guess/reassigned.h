/* Reassigned: finds variables that are reassigned before their use. Private to src/guess. */
#ifndef GUESS_REASSIGNED_H
#define GUESS_REASSIGNED_H

#include "guess/host_text.h"

/* What `name` is defined as, `value`, is not what it is at `place`: it is multiplied on the way, or is no size at all, 0 or -1,
 * until a function gives it one. */
bool host_is_changed(HostText *text, HostSpan name, const HostDefinition *definition, HostNumber value,
                     size_t place);

typedef struct HostStep { /* blocks++, blocks += 2, alone or as all that an `if` does */
    size_t at;
    HostSpan condition, amount; /* empty: none; 1 */
    char sign;                  /* '+', '-' */
} HostStep;

/* The next one of `name` between `from` and `place`, in the braces that `from` lies in or those of one `if`. */
bool host_find_step(HostText *text, HostSpan name, size_t from, size_t place, HostStep *step);

#endif
