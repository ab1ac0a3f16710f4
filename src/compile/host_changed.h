/* Host changed: is a variable still what it was defined as? Private to src/compile. */
#ifndef COMPILE_HOST_CHANGED_H
#define COMPILE_HOST_CHANGED_H

#include "compile/host_text.h"

/* What `name` is defined as, `value`, is not what it is at `place`: it is multiplied on the way, or is no size at all, 0 or -1,
 * until a function gives it one. */
bool host_is_changed(HostText *text, HostSpan name, const HostDefinition *definition, HostNumber value,
                     size_t place);

#endif
