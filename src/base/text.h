/* Text: a growing, always terminated string, and whole-file reading. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/error.h"
#include <stddef.h>

typedef struct Text {
    char *data; /* NULL if empty and never written; else terminated */
    size_t length, capacity;
} Text;

void text_add(Text *text, const char *string);
void text_add_bytes(Text *text, const char *bytes, size_t length);
void text_print(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *text_string(const Text *text); /* never NULL */
void text_clear(Text *text);               /* keeps the memory */
void text_done(Text *text);

/* The current UTC time, "2026-11-21T15:00:00Z", or $SOURCE_DATE_EPOCH (seconds since 1970) if set; returns
 * `out`. */
const char *text_now(char *out, size_t bytes);

/* Opens a file for reading; NULL sets errno. Never waits for the other end of a FIFO, nor makes a terminal
 * the controlling one. */
FILE *text_open_file(const char *path);

/* Reads a whole regular file; the caller frees *data with free(). *data has a terminating NUL that *length
 * does not count. Rejects directories, devices and files above `limit_bytes`. */
bool text_read_file(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error);

bool text_ends_with(const char *text, const char *end);
/* A file that is compiled as CUDA C++, by its name: .cu, .cuh, .cpp, .hpp, .h. */
bool text_is_cuda_source(const char *path);
/* True if it can be read only once, from beginning to end: "-" and /dev/stdin, a pipe, a terminal. */
bool text_is_stream(const char *path);
/* Reads it to its end, waiting if necessary; otherwise like text_read_file(). */
bool text_read_stream(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error);

/* The candidate nearest to `name` by edit distance, for "did you mean"; NULL: none is near. */
const char *text_nearest(const char *name, const char *const *candidates, size_t count);

#endif
