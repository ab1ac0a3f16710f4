#include "runtime/join_ptx.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>

enum { FILES_OF_PART = 1000 };

static bool begins(const char *text, const char *word) {
    return !strncmp(text, word, strlen(word));
}

/* The number behind `*at`, plus those of the earlier parts. */
static void shift_number(Text *to, const char **at, int parts) {
    char *end;
    unsigned long number = strtoul(*at, &end, 10);
    text_print(to, " %lu", number + (unsigned long)parts * FILES_OF_PART);
    *at = end;
}

/* Copies a line; labels of .debug_str get the number of the part. */
static void copy_line(Text *to, const char *line, size_t length, int parts) {
    static const char label[] = "$L__info_string", inlined[] = "inlined_at";
    const char *end = line + length, *first = line + strspn(line, " \t");
    size_t word = strcspn(first, " \t\n");
    if ((word == strlen(".file") && begins(first, ".file")) ||
        (word == strlen(".loc") && begins(first, ".loc"))) {
        const char *at = first + word;
        text_add_bytes(to, line, (size_t)(at - line));
        shift_number(to, &at, parts);
        line = at;
    }
    while (line < end) {
        if (begins(line, label)) {
            text_print(to, "$L__info_part%d_", parts);
            line += sizeof label - 1;
        } else if (begins(line, inlined)) {
            text_add(to, inlined);
            line += sizeof inlined - 1;
            shift_number(to, &line, parts);
        } else {
            text_add_bytes(to, line++, 1);
        }
    }
}

static bool is_header(const char *line) {
    return begins(line, ".version") || begins(line, ".target") || begins(line, ".address_size");
}

/* A name that another part defines; dynamic shared memory is defined by nobody. */
static bool is_declared_elsewhere(const char *line) {
    if (!begins(line, ".extern")) return false;
    line += strlen(".extern");
    return !begins(line + strspn(line, " \t"), ".shared");
}

/* A declaration, also over several lines, of a function that the device itself has and no part defines. */
static bool is_of_device(const char *declaration, size_t length) {
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = strstr(declaration, names[i]);
        char behind = found ? found[strlen(names[i])] : 0;
        if (found && found < declaration + length && isspace((unsigned char)found[-1]) &&
            (isspace((unsigned char)behind) || behind == '('))
            return true;
    }
    return false;
}

static bool is_present(const Text *module, const char *line, size_t length) {
    char *copy = memory_new(length + 1);
    memcpy(copy, line, length);
    bool found = strstr(text_string(module), copy);
    free(copy);
    return found;
}

/* The text of a weak or shared definition that another part has too: its name. */
static bool is_repeated(const Text *module, const char *line, size_t length) {
    return begins(line, ".extern .shared") && is_present(module, line, length);
}

void join_ptx(Text *module, int parts, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *line = text + strspn(text, " \t");
        if (is_declared_elsewhere(line)) {
            size_t whole = strcspn(text, ";"); /* also over several lines */
            whole += text[whole] == ';';
            bool is_device = is_of_device(text, whole), is_function = begins(line, ".extern .func");
            if (is_device && (!parts || !is_present(module, text, whole)))
                text_add_bytes(module, text, whole);
            const char *rest = line + strlen(".extern");
            size_t rest_length = whole - (size_t)(rest - text);
            /* A later part defines it: ptxas wants to see it before its calls. */
            if (!is_device && is_function && !is_present(module, rest, rest_length)) {
                text_add(module, ".visible");
                text_add_bytes(module, rest, rest_length);
            }
            text += whole;
            continue;
        }
        bool is_left_out =
            (parts && is_header(line)) || is_repeated(module, line, length - (size_t)(line - text));
        if (!is_left_out) copy_line(module, text, length, parts);
        text_add(module, "\n");
        text += length + (text[length] == '\n');
    }
}
