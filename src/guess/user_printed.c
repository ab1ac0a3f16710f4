/* Results that are only printed, "lane 0: 496": the numbers that stand at the same place of lines which are
 * otherwise the same are a buffer of their own. */
#include "guess/user_variables.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 1 << 16, MOST_NUMBERS = 8 };

typedef struct Printed { /* one line: what stands around its numbers, and those */
    uint64_t skeleton;   /* as a hash */
    double numbers[MOST_NUMBERS];
    int count;
    bool has_float;
} Printed;

/* A number begins here: not within a word, T4. */
static bool begins_number(const char *line, const char *at) {
    bool has_sign = *at == '-' || *at == '+';
    if (at > line && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) return false;
    return isdigit((unsigned char)at[has_sign]) ||
           (at[has_sign] == '.' && isdigit((unsigned char)at[has_sign + 1]));
}

static Printed read_line(const char *line, size_t length) {
    Printed printed = {.skeleton = 14695981039346656037u};
    char text[512];
    if (length >= sizeof text) return printed;
    memcpy(text, line, length);
    text[length] = 0;
    for (const char *at = text; *at;) {
        char *end;
        if (printed.count == MOST_NUMBERS || !begins_number(text, at)) {
            printed.skeleton = (printed.skeleton ^ (unsigned char)*at++) * 1099511628211u;
            continue;
        }
        printed.numbers[printed.count++] = strtod(at, &end);
        for (; at < end; at++) printed.has_float |= *at == '.';
        printed.skeleton = (printed.skeleton ^ 256) * 1099511628211u;
    }
    return printed;
}

static Printed *read_lines(const Text *text, int *count) {
    Printed *lines = NULL;
    int capacity = 0;
    *count = 0;
    for (const char *at = text_string(text); *at && *count < MOST_LINES;) {
        size_t length = strcspn(at, "\n");
        Printed printed = read_line(at, length);
        if (printed.count) array_push(lines, *count, capacity, printed);
        at += length + (at[length] == '\n');
    }
    return lines;
}

/* Number `place` of the lines that are like line `first`. */
static void add_series(UserVariables *variables, const Printed *lines, int count, int first, int place) {
    bool has_float = false;
    uint64_t found = 0;
    for (int i = first; i < count; i++)
        if (lines[i].skeleton == lines[first].skeleton) has_float |= lines[i].has_float, found++;
    PlanBuffer buffer = {
        .name = "printed", .type = has_float ? PTX_F32 : PTX_S64, .count = found, .fill = FILL_ZERO};
    size_t bytes = (size_t)found * (size_t)ptx_type_bytes(buffer.type);
    buffer.bytes = arena_new(&variables->arena, bytes);
    variables->filled.buffers[variables->filled.buffer_count++] = buffer;
    buffer.bytes = arena_new(&variables->arena, bytes);
    found = 0;
    for (int i = first; i < count; i++) {
        if (lines[i].skeleton != lines[first].skeleton) continue;
        if (has_float)
            plan_element_set(PTX_F32, buffer.bytes, found++, lines[i].numbers[place]);
        else
            ((int64_t *)buffer.bytes)[found++] = (int64_t)lines[i].numbers[place];
    }
    variables->done.buffers[variables->done.buffer_count++] = buffer;
}

int user_add_printed(const Guess *guess, UserVariables *variables) {
    int count, added = 0;
    Printed *lines = read_lines(&guess->run.trace->printed, &count);
    for (int first = 0; first < count; first++) {
        bool is_new = true;
        for (int i = 0; is_new && i < first && i < USER_PRINTED; i++)
            is_new = lines[i].skeleton != lines[first].skeleton;
        for (int place = lines[first].count - 1; is_new && place >= 0 && added < USER_PRINTED;
             place--, added++)
            add_series(variables, lines, count, first, place); /* the result stands last */
        if (first >= USER_PRINTED) break;
    }
    free(lines);
    return added;
}
