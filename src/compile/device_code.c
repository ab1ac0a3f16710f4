#include "compile/device_code.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces of C++ text -------------------------------------------------------------------------------- */

typedef struct Words { /* macros that expand to markers of device code */
    char **items;
    int count, capacity;
} Words;

static bool is_word(int c) {
    return isalnum(c) || c == '_';
}

static size_t word_length(const char *at) {
    size_t length = 0;
    while (is_word((unsigned char)at[length])) length++;
    return length;
}

static bool is_this(const char *at, size_t length, const char *word) {
    return strlen(word) == length && memcmp(at, word, length) == 0;
}

/* "...", '...', with escapes; the end of the line also ends it. */
static const char *skip_quoted(const char *at) {
    char quote = *at++;
    while (*at && *at != quote && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

/* R"name( ... )name" */
static const char *skip_raw_string(const char *at) {
    const char *name = at + 2;
    size_t length = strcspn(name, "(\n");
    if (name[length] != '(' || length > 16) return skip_quoted(at + 1);
    for (at = name + length + 1; *at; at++)
        if (*at == ')' && strncmp(at + 1, name, length) == 0 && at[1 + length] == '"') return at + length + 2;
    return at;
}

/* A directive with its continuation lines. */
static const char *skip_directive(const char *at) {
    while (*at && *at != '\n') at += (*at == '\\' && at[1] == '\n') ? 2 : 1;
    return at;
}

static const char *skip_comment(const char *at) {
    if (at[1] == '/') return skip_directive(at);
    const char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static bool begins_line(const char *text, const char *at) {
    while (at > text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    return at == text || at[-1] == '\n';
}

/* The end of a comment, a directive or a string that begins here; NULL: none does. */
static const char *skip_opaque(const char *text, const char *at) {
    if (*at == '/' && (at[1] == '/' || at[1] == '*')) return skip_comment(at);
    if (*at == '#' && begins_line(text, at)) return skip_directive(at);
    if (*at == 'R' && at[1] == '"' && (at == text || !is_word((unsigned char)at[-1])))
        return skip_raw_string(at);
    if (*at == '"') return skip_quoted(at);
    /* 1'000'000 is a number */
    if (*at == '\'' && (at == text || !is_word((unsigned char)at[-1]))) return skip_quoted(at);
    return NULL;
}

/* The text after the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *text, const char *at) {
    int depth = 0;
    while (*at) {
        const char *after = skip_opaque(text, at);
        if (after) {
            at = after;
            continue;
        }
        depth += (*at == '{' || *at == '(' || *at == '[') - (*at == '}' || *at == ')' || *at == ']');
        at++;
        if (depth <= 0) return at;
    }
    return at;
}

/* <...> after `template`; > within parentheses does not count. */
static const char *skip_angles(const char *text, const char *at) {
    int depth = 0;
    while (*at) {
        if (*at == '(' || *at == '{') {
            at = skip_brackets(text, at);
            continue;
        }
        depth += (*at == '<') - (*at == '>');
        at++;
        if (depth <= 0) return at;
    }
    return at;
}

/* ---- what a definition is ------------------------------------------------------------------------------ */

typedef struct Definition {
    bool is_device;   /* marked as device code, or needed on both sides */
    bool is_type;     /* struct, class, union, enum, typedef, using, static_assert */
    bool is_scope;    /* namespace, extern "C" */
    bool is_std;      /* names std:: */
    bool has_value;   /* = before any bracket */
    bool is_function; /* parentheses */
} Definition;

static bool is_among(const char *at, size_t length, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (is_this(at, length, words[i])) return true;
    return false;
}

static bool marks_device(const Words *macros, const char *at, size_t length) {
    static const char *const marks[] = {"__global__",  "__device__", "__constant__", "__shared__",
                                        "__managed__", "constexpr",  "consteval",    "__host__"};
    if (is_among(at, length, marks, sizeof marks / sizeof *marks)) return !is_this(at, length, "__host__");
    return is_among(at, length, (const char *const *)macros->items, (size_t)macros->count);
}

static void note_word(Definition *definition, const Words *macros, const char *at, size_t length) {
    static const char *const types[] = {"struct",  "class", "union",         "enum",
                                        "typedef", "using", "static_assert", "concept"};
    if (marks_device(macros, at, length)) definition->is_device = true;
    if (is_this(at, length, "namespace") && !definition->is_type) definition->is_scope = true;
    if (!definition->is_function && is_among(at, length, types, sizeof types / sizeof *types))
        definition->is_type = true;
    if (is_this(at, length, "std") && at[length] == ':') definition->is_std = true;
}

/* Reads from `begin` to the ; that ends it or the { that opens it. */
static const char *read_definition(const char *text, const char *begin, const Words *macros,
                                   Definition *definition) {
    const char *at = begin;
    *definition = (Definition){0};
    while (*at && *at != ';' && *at != '{' && *at != '}') {
        const char *after = skip_opaque(text, at);
        size_t length = word_length(at);
        if (after) {
            if (*at == '"' && at - begin >= 7) definition->is_scope |= strncmp(begin, "extern", 6) == 0;
            at = after;
        } else if (length) {
            note_word(definition, macros, at, length);
            at += length;
            if (is_this(at - length, length, "template")) {
                at += strspn(at, " \t\r\n");
                if (*at == '<') at = skip_angles(text, at);
            }
        } else if (*at == '(') {
            definition->is_function |= !definition->has_value;
            at = skip_brackets(text, at);
        } else {
            definition->has_value |= *at == '=' && !definition->is_function;
            at++;
        }
    }
    return at;
}

static bool is_host_only(const Definition *definition) {
    if (definition->is_device || definition->is_type) return false;
    return definition->is_function ? !definition->has_value || definition->is_std : definition->is_std;
}

/* ---- macros -------------------------------------------------------------------------------------------- */

/* Finds macros that expand to markers of device code: "#define HD __host__ __device__". */
static void find_macros(const char *text, Words *macros) {
    for (const char *at = text; (at = strstr(at, "#")); at++) {
        const char *name = at + 1 + strspn(at + 1, " \t"), *end = skip_directive(at);
        if (!begins_line(text, at) || strncmp(name, "define", 6) != 0) continue;
        name += 6 + strspn(name + 6, " \t");
        size_t length = word_length(name);
        for (const char *word = name + length; word < end; word += word_length(word) + !word_length(word)) {
            if (!marks_device(macros, word, word_length(word))) continue;
            char *copy = memory_copy_text(name);
            copy[length] = 0;
            array_push(macros->items, macros->count, macros->capacity, copy);
            break;
        }
    }
}

static void drop_words(Words *words) {
    for (int i = 0; i < words->count; i++) free(words->items[i]);
    free(words->items);
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* Replaces text by blanks, except line breaks and directives. A # in a string or a comment is no
 * directive. */
static void blank(const char *text, char *from, const char *to) {
    bool begins = begins_line(text, from);
    while (from < to) {
        const char *after = from + 1;
        if (*from == '#' && begins) {
            from += skip_directive(from) - from;
            continue;
        }
        if (*from == '"') after = skip_quoted(from);
        if (*from == '/' && (from[1] == '/' || from[1] == '*')) after = skip_comment(from);
        for (bool is_first = true; from < after && from < to; from++, is_first = false) {
            begins = *from == '\n' ? is_first : begins && isspace((unsigned char)*from);
            if (*from != '\n') *from = ' ';
        }
    }
}

static const char *skip_blanks(const char *text, const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#' && !(*at == '/' && (at[1] == '/' || at[1] == '*'))) return at;
        if (*at == '#' && !begins_line(text, at)) return at;
        at = *at == '#' ? skip_directive(at) : skip_comment(at);
    }
}

void device_code_keep(char *text) {
    Words macros = {0};
    find_macros(text, &macros);
    const char *at = text;
    while (*(at = skip_blanks(text, at))) {
        Definition definition;
        const char *begin = at;
        at = read_definition(text, begin, &macros, &definition);
        if (*at == '}' || (*at == '{' && definition.is_scope && !definition.is_function)) {
            at++; /* into a scope, or out of it */
            continue;
        }
        if (*at == '{') {
            at = skip_brackets(text, at);
            if (definition.is_type || definition.has_value || !definition.is_function)
                while (*at && *at != ';' && *at != '\n') at++; /* "} name;" */
        }
        at += *at == ';';
        if (is_host_only(&definition)) blank(text, text + (begin - text), at);
    }
    drop_words(&macros);
}

void device_code_includes(const char *text, bool in_quotes,
                          void (*visit)(void *context, const char *name, size_t length), void *context) {
    const char *at = text;
    while (*at) {
        const char *after = *at == '#' ? NULL : skip_opaque(text, at);
        if (*at == '#' && begins_line(text, at)) {
            const char *name = at + 1 + strspn(at + 1, " \t");
            after = skip_directive(at);
            if (strncmp(name, "include", 7) == 0) {
                name += 7 + strspn(name + 7, " \t");
                const char *end = in_quotes ? "\"\n" : ">\n";
                size_t length = *name == (in_quotes ? '"' : '<') ? strcspn(name + 1, end) : 0;
                if (length && name[1 + length] != '\n') visit(context, name + 1, length);
            }
        }
        at = after ? after : at + 1;
    }
}

void device_code_templates(const char *text, Text *out) {
    Words macros = {0};
    const char *at = text;
    while (*(at = skip_blanks(text, at))) {
        Definition definition;
        const char *begin = at, *end = read_definition(text, begin, &macros, &definition);
        at = *end == '{' && !definition.is_scope ? skip_brackets(text, end) : end + (*end != 0);
        const char *kernel = strstr(begin, "__global__"), *head = begin + strcspn(begin, "<");
        if (strncmp(begin, "template", 8) != 0 || !kernel || kernel > end || head > kernel) continue;
        const char *head_end = skip_angles(text, head), *open = kernel;
        for (; open < end && *open != '('; open++) /* __launch_bounds__(256) is not its name */
            if (strncmp(open, "__launch_bounds__", 17) == 0)
                open = skip_brackets(text, open + strcspn(open, "("));
        const char *name_end = open;
        while (name_end > kernel && isspace((unsigned char)name_end[-1])) name_end--;
        const char *name = name_end;
        while (name > kernel && is_word((unsigned char)name[-1])) name--;
        text_print(out, "%s%.*s%.*s", out->length ? ", " : "", (int)(name_end - name), name,
                   (int)(head_end - head), head);
    }
}
