/* Arguments of templates that a call leaves to be deduced: from what its arguments are declared as. Private to src/compile. */
#ifndef GUESS_HOST_DEDUCE_H
#define GUESS_HOST_DEDUCE_H

#include "guess/host_text.h"

/* Adds the type that parameter `index` of the function's template has in a call with these arguments, which stands at
 * `place`: "float" of `template <typename T> f(T *p)`, f(d_in), `float *d_in`; "Sum<int>" of f(p, Sum<int>()). False: it is
 * no type, or the text does not say. */
bool host_deduce_argument(HostText *text, const HostFunction *function, int index, HostSpan arguments,
                          size_t place, Text *out);
/* A parameter of that type is called in the function's body, op(a, b): no number will do. */
bool host_calls_parameter(HostText *text, const HostFunction *function, int index);

#endif
