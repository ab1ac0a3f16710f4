#define _POSIX_C_SOURCE 200809L
#include "base/text.h"

#include "base/memory.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void text_add_bytes(Text *text, const char *bytes, size_t length) {
    array_reserve(text->data, text->length + length + 1, text->capacity);
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void text_add(Text *text, const char *string) {
    text_add_bytes(text, string, strlen(string));
}

void text_print(Text *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    int length = vsnprintf(NULL, 0, format, list);
    va_end(list);
    array_reserve(text->data, text->length + (size_t)length + 1, text->capacity);
    va_start(list, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, list);
    va_end(list);
    text->length += (size_t)length;
}

const char *text_string(const Text *text) {
    return text->data ? text->data : "";
}

void text_clear(Text *text) {
    text->length = 0;
    if (text->data) text->data[0] = 0;
}

void text_done(Text *text) {
    free(text->data);
    *text = (Text){0};
}

/* https://reproducible-builds.org/specs/source-date-epoch/ */
static time_t given_time(void) {
    const char *given = getenv("SOURCE_DATE_EPOCH");
    char *end;
    errno = 0;
    long long seconds = given && *given ? strtoll(given, &end, 10) : -1;
    enum { DIGITS = 11 }; /* a year of four digits */
    bool is_time = seconds >= 0 && !*end && !errno && strlen(given) <= DIGITS;
    return is_time ? (time_t)seconds : time(NULL);
}

const char *text_now(char *out, size_t bytes) {
    time_t now = given_time();
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, bytes, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return out;
}

FILE *text_open_file(const char *path) {
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "rb");
    if (descriptor >= 0 && !file) close(descriptor);
    return file;
}

bool text_read_file(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error) {
    FILE *file = text_open_file(path);
    if (!file) return error_set_at(error, path, 0, 0, "cannot open: %s", strerror(errno));
    struct stat status;
    bool good = fstat(fileno(file), &status) == 0;
    if (good && !S_ISREG(status.st_mode)) {
        fclose(file);
        return error_set_at(error, path, 0, 0, "not a regular file");
    }
    if (good && (unsigned long long)status.st_size > limit_bytes) {
        fclose(file);
        return error_set_at(error, path, 0, 0, "the file has %lld bytes; the limit is %zu",
                            (long long)status.st_size, limit_bytes);
    }
    size_t bytes = good ? (size_t)status.st_size : 0;
    char *buffer = memory_new(bytes + 1);
    size_t got = good ? fread(buffer, 1, bytes, file) : 0;
    good = good && got == bytes && !ferror(file);
    fclose(file);
    if (!good) {
        free(buffer);
        return error_set_at(error, path, 0, 0, "cannot read");
    }
    *data = buffer;
    *length = bytes;
    return true;
}

bool text_is_stream(const char *path) {
    struct stat status;
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdin")) return true;
    return stat(path, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
}

bool text_read_stream(const char *path, size_t limit_bytes, char **data, size_t *length, Error *error) {
    bool is_input = !strcmp(path, "-") || !strcmp(path, "/dev/stdin");
    FILE *file = is_input ? stdin : fopen(path, "rb");
    char bytes[1 << 16];
    Text text = {0};
    if (!file) return error_set_at(error, path, 0, 0, "cannot open: %s", strerror(errno));
    for (size_t got; text.length <= limit_bytes && (got = fread(bytes, 1, sizeof bytes, file));)
        text_add_bytes(&text, bytes, got);
    bool is_whole = !ferror(file), fits = text.length <= limit_bytes;
    if (!is_input) fclose(file);
    text_add_bytes(&text, "", 0); /* terminated, even if empty */
    *data = text.data;
    *length = text.length;
    if (is_whole && fits) return true;
    text_done(&text);
    return !is_whole ? error_set_at(error, path, 0, 0, "cannot read: %s", strerror(errno))
                     : error_set_at(error, path, 0, 0, "it has more than %zu bytes", limit_bytes);
}

static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 63 };
    size_t row[LONGEST + 1], a_length = strlen(a), b_length = strlen(b);
    if (a_length > LONGEST || b_length > LONGEST) return LONGEST;
    for (size_t j = 0; j <= b_length; j++) row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

const char *text_nearest(const char *name, const char *const *candidates, size_t count) {
    const char *nearest = NULL;
    size_t best = strlen(name) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(name, candidates[i]);
        if (d < best) {
            best = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}

bool text_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

bool text_is_cuda_source(const char *path) {
    static const char *const ends[] = {".cu", ".cuh", ".cpp", ".hpp", ".h"};
    bool found = false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) found |= text_ends_with(path, ends[i]);
    return found;
}
