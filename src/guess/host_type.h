/* Bytes of C++ types, as host code names them; 0: not known. Private to src/compile. */
#ifndef GUESS_HOST_TYPE_H
#define GUESS_HOST_TYPE_H

#include "guess/host_text.h"

uint64_t host_type_bytes(const char *name, size_t length);
/* "unsigned long long", "const float *": every word is of a type. */
uint64_t host_type_of(const HostText *text, HostSpan span);
/* The type in front of a declared name: of `T *p` that of an element. */
uint64_t host_declared_bytes(HostText *text, HostSpan name, size_t place);
/* A name of a type parameter, or of an alias. */
uint64_t host_named_type(HostText *text, HostSpan name, size_t place);

#endif
