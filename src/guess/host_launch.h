/* Host launch: the state that the readers of host code share: launches (host_launch.c), pointers
 * (host_pointer.c), kernels (host_kernel.c). Private to src/compile. */
#ifndef GUESS_HOST_LAUNCH_H
#define GUESS_HOST_LAUNCH_H

#include "guess/host_value.h"

struct HostCode {
    HostText text;
    HostValues values;
    HostLaunch *launches;
    int count, capacity;
    size_t *fixed; /* definitions that arguments of templates are made of */
    int fixed_count, fixed_capacity;
    Arena arena;
};

/* Finds the launches of the text. */
void host_find_launches(HostCode *code);
/* Where an expression of the launch stands. */
bool host_place_of(const HostLaunch *launch, const char *expression, HostSpan *span);

/* Adds what the template parameter `item` may be where no call says it: its default, a float, a block of 256. */
void host_guess_argument(const HostText *text, HostSpan item, Text *out);
/* The kernels, or the arguments of their templates, are compiled with this value: `name`, defined at `at`. */
bool host_is_compiled_in(HostCode *code, HostSpan name, size_t at);

#endif
