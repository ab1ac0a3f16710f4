/* Bindings: the values of names while a loop of the host's code is executed. They replace what the
 * definitions of the names say. Private to src/compile. */
#ifndef GUESS_HOST_BINDING_H
#define GUESS_HOST_BINDING_H

#include "guess/host_text.h"

typedef struct HostBinding {
    HostSpan name;
    bool is_pointer; /* to what `target` was before the loop; else: */
    HostSpan target;
    HostNumber value;
} HostBinding;

enum { HOST_BINDINGS = 48 };

typedef struct HostBindings {
    HostBinding items[HOST_BINDINGS];
    int count;
    HostSpan within; /* they hold at these places */
    size_t from;     /* where the loop begins */
} HostBindings;

/* NULL: the name is not bound at `place`. */
const HostBinding *host_binding_find(const HostBindings *bindings, const HostText *text, HostSpan name,
                                     size_t place);
/* False: there are too many. */
bool host_binding_set(HostBindings *bindings, const HostText *text, HostBinding binding);

#endif
