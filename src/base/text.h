/* Text: a growing, always terminated string, and whole-file reading. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/error.h"
#include <stddef.h>

typedef struct Text {
    char *data; /* NULL when empty and never written; else terminated */
    size_t length, capacity;
} Text;

void text_add(Text *text, const char *string);
void text_add_bytes(Text *text, const char *bytes, size_t length);
void text_print(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *text_string(const Text *text); /* never NULL */
void text_clear(Text *text);               /* keeps the memory */
void text_cut(Text *text, size_t length);  /* keeps its first `length` bytes */
void text_done(Text *text);

/* What time it is: UTC, "2026-11-21T15:00:00Z"; returns `out`. $SOURCE_DATE_EPOCH, where it is set: seconds since 1970. */
const char *text_now(char *out, size_t bytes);

/* Opens a file for reading, or NULL and errno. Never waits for the other end of a FIFO, nor takes a terminal over. */
FILE *text_open_file(const char *path);

/* Reads a whole regular file; the caller frees *data with free(). *data is terminated by a NUL that is not
 * counted. Refuses directories, devices and files above `limit_bytes`. */
bool text_read_file(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error);

bool text_ends_with(const char *text, const char *end);
/* Can it be read only once, from the begin to its end: "-" and /dev/stdin, a pipe, a terminal? */
bool text_is_stream(const char *path);
/* Reads it to its end, which may have to be waited for; else as text_read_file(). */
bool text_read_stream(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error);

/* The candidate nearest to `name` by edit distance, or NULL where none is near: for "did you mean". */
const char *text_nearest(const char *name, const char *const *candidates, size_t count);

#endif
