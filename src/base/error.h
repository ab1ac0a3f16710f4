/* Errors: a message about a wrong input, with file, line and column.
 *
 * A function that can fail on bad input returns false (or NULL) and fills its last parameter, an Error. The
 * message is one line, in plain words, and says what to do next unless that is obvious. A fault of the kernel
 * under study is not an Error but a trap in the trace; a bug of redviz is an assert. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Error {
    char file[256];   /* empty: no place in a file */
    int line, column; /* from 1; 0: not known */
    char message[512];
    char excerpt[256]; /* the source line that `column` points into; empty: none. Tabs are kept. */
    int caret;         /* the column in `excerpt` if it is only a part of a long line; 0: equal to `column` */
    bool not_emulated; /* the input is right, but asks for what redviz does not have */
} Error;

/* Fills `error` (ignored when NULL) and returns false, so that callers can `return error_set(...)`. */
bool error_set(Error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_set_at(Error *error, const char *file, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Keeps a line of the input as the excerpt; for a long line, the part around the column. */
void error_show_line(Error *error, const char *line, size_t length);

/* Prints "redviz: file:line:column: message" and the excerpt, if any, with a caret below it. Prints bytes
 * that could control a terminal as '?'. */
void error_print(const Error *error, FILE *to);

#endif
