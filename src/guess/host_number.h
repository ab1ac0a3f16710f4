/* Host numbers: arithmetic on what host code computes. Whatever is not known stays so. Private to src/compile. */
#ifndef GUESS_HOST_NUMBER_H
#define GUESS_HOST_NUMBER_H

#include "guess/host_code.h"

extern const HostNumber host_unknown;

HostNumber host_number(int64_t integer);
HostNumber host_float(double number);
HostNumber host_to_integer(HostNumber value);
/* `operator` is the character of C; of those with two: << l, >> r, <= {, >= }, == =, != !, && a, || o. */
HostNumber host_apply(int operator, HostNumber a, HostNumber b);
/* min, ceil, sqrt and their like, and types called as functions. *is_known: `name` is one of them. */
HostNumber host_apply_function(const char *name, size_t length, const HostNumber *given, int count,
                               bool *is_known);

#endif
