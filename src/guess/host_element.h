/* Host element: elements of the host's arrays and vectors, as assigned or as first initialized. Private to
 * src/compile. */
#ifndef GUESS_HOST_ELEMENT_H
#define GUESS_HOST_ELEMENT_H

#include "guess/host_text.h"

/* What is assigned last, before `place`, to any element: name[i] = VALUE, which stands at `at`. */
bool host_find_assignment(HostText *text, HostSpan name, size_t place, HostSpan *value, size_t *at);
/* The items between the braces of its definition. */
bool host_find_items(HostText *text, HostSpan name, size_t place, HostSpan *items);
/* The items that a `for (x : range)` goes over. */
bool host_find_range(HostText *text, const HostDefinition *range, HostSpan *items);

#endif
