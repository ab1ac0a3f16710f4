/* Host reader: the grammar of expressions and the meaning of names, which call each other. Private to host_value.c
 * and host_names.c. */
#ifndef COMPILE_HOST_READER_H
#define COMPILE_HOST_READER_H

#include "compile/host_number.h"
#include "compile/host_type.h"
#include "compile/host_value.h"

typedef struct HostScope HostScope;

struct HostScope { /* the parameters of a macro, or of a function that returns an expression */
    HostSpan names, values;
    size_t at;
    const HostScope *outer; /* of the values */
};

typedef struct HostReader {
    HostValues *values;
    const char *text;
    size_t at, end, place;
    const HostScope *scope;
} HostReader;

char host_reader_peek(HostReader *reader); /* the next character that is not blank; 0: the end */
HostNumber host_evaluate(HostValues *values, HostSpan span, size_t place, const HostScope *scope);

/* The reader stands behind the name. */
HostNumber host_read_named(HostReader *reader, HostSpan name);
HostNumber host_read_call(HostReader *reader, HostSpan name);
/* .size() of std::vector<T> v(COUNT), .x of a dim3, a property of the device. */
HostNumber host_read_member(HostReader *reader, HostSpan object);

#endif
