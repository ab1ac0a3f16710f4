/* Gives a shared array of one dimension another layout in a copy of its source (rewrite.h):
 *
 *   sdata[index + s] = 0;      becomes, for an unused element after every 32:
 *   sdata[index + s + (index + s) / 32] = 0;
 *
 * It reads C++ as text, so it refuses whatever might reach the array in another way than by an index. */
#include "findings/rewrite.h"

#include "metrics/metrics.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words --------------------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void blank(char *begin, const char *end) {
    for (; begin < end; begin++)
        if (*begin != '\n') *begin = ' ';
}

/* The end of a comment, a text or a character that begins here; `at` itself: none does. */
static char *end_of_quote(char *at) {
    if (!strncmp(at, "//", 2)) return at + strcspn(at, "\n");
    if (!strncmp(at, "/*", 2)) {
        char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"' && *at != '\'') return at;
    char *end = at + 1;
    while (*end && *end != *at && *end != '\n') end += *end == '\\' && end[1] ? 2 : 1;
    return *end == *at ? end + 1 : end;
}

/* The code of a source, in which comments and quoted texts are blanks: places stay. The caller frees it. */
static char *code_of(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *code = memcpy(memory_new(bytes), text, bytes);
    for (char *at = code; *at;) {
        char *end = end_of_quote(at);
        blank(at, end);
        at = end > at ? end : at + 1;
    }
    return code;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* The last character before `at` that is no blank; 0: there is none. */
static char before(const char *code, const char *at) {
    while (at > code && isspace((unsigned char)at[-1])) at--;
    return at > code ? at[-1] : 0;
}

static const char *find_name(const char *code, const char *from, const char *end, const char *name) {
    size_t length = strlen(name);
    for (const char *at = from; (at = strstr(at, name)) && at < end; at += length)
        if ((at == code || (!is_word(at[-1]) && at[-1] != '.')) && !is_word(at[length])) return at;
    return NULL;
}

static const char *line_of(const char *code, int line) {
    for (int i = 1; i < line && *code; i++) code += strcspn(code, "\n") + (strchr(code, '\n') != NULL);
    return code;
}

static int line_at(const char *code, const char *at) {
    int line = 1;
    for (; code < at; code++) line += *code == '\n';
    return line;
}

/* Behind the bracket that closes the one at `open`; NULL: none does. */
static const char *end_of_bracket(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        depth += *at == '[' || *at == '(' || *at == '{';
        depth -= *at == ']' || *at == ')' || *at == '}';
        if (!depth) return at + 1;
    }
    return NULL;
}

/* The function that the line is in. */
static bool find_function(const char *code, int line, const char **begin, const char **end) {
    const char *place = line_of(code, line);
    place += strcspn(place, "\n");
    for (const char *at = code; (at = strchr(at, '{')) && at < place; at++) {
        const char *close = end_of_bracket(at);
        if (!close || before(code, at) != ')') continue;
        *begin = at;
        *end = close;
        if (close > place) return true;
        at = close - 1;
    }
    return false;
}

/* ---- the array ----------------------------------------------------------------------------------------- */

typedef struct SourceArray {
    const char *code;
    char name[64];
    const char *begin, *end;  /* where the name is this array */
    const char *declared;     /* its name there */
    const char *size;         /* the brackets behind it; NULL: a pointer, or [] */
    uint64_t elements, units; /* a unit of `units` elements after every `elements` */
    uint64_t pieces;          /* of a swizzle; 0: padded */
} SourceArray;

static const char *statement_of(const char *code, const char *at) {
    while (at > code && !strchr(";{}", at[-1])) at--;
    return at;
}

/* "T *sdata = shared_array<T>()" */
static bool is_pointer(const char *code, const char *at, const char *name) {
    const char *behind = skip_blanks(at + strlen(name));
    return before(code, at) == '*' && behind[0] == '=' && behind[1] != '=';
}

static bool is_declared_shared(const char *code, const char *at, const char *name) {
    const char *behind = skip_blanks(at + strlen(name));
    return *behind == '[' && find_name(code, statement_of(code, at), at, "__shared__");
}

static bool find_declaration(SourceArray *array, int line, Error *error) {
    const char *code = array->code, *all = code + strlen(code);
    if (!find_function(code, line, &array->begin, &array->end))
        return error_set(error, "line %d: no function is found around it", line);
    array->declared = find_name(code, array->begin, array->end, array->name);
    bool is_local = array->declared && (is_pointer(code, array->declared, array->name) ||
                                        is_declared_shared(code, array->declared, array->name));
    if (!is_local) {
        array->begin = code;
        array->end = all;
        array->declared = find_name(code, code, all, array->name);
        if (strstr(code, "<<<"))
            return error_set(error, "`%s` is not declared in the function of line %d", array->name, line);
    }
    if (!array->declared) return error_set(error, "`%s` is not declared in this file", array->name);
    if (is_pointer(code, array->declared, array->name)) {
        const char *from = strchr(array->declared, '='), *stop = strchr(array->declared, ';');
        if (stop && strcspn(from, "+[&") > (size_t)(stop - from)) return true;
    } else if (is_declared_shared(code, array->declared, array->name)) {
        const char *open = strchr(array->declared, '['), *close = end_of_bracket(open);
        if (close && *skip_blanks(close) == '[')
            return error_set(error, "`%s` has more than one dimension: pad its rows by hand", array->name);
        if (close && skip_blanks(open + 1) != close - 1) array->size = open;
        if (close) return true;
    }
    return error_set(error, "line %d: the declaration of `%s` is not understood",
                     line_at(code, array->declared), array->name);
}

/* ---- indices ------------------------------------------------------------------------------------------- */

static bool has_effect(const char *index, size_t length) {
    for (size_t i = 0; i < length; i++) {
        bool is_pair = i + 1 < length && index[i] == index[i + 1] && strchr("+-", index[i]);
        bool is_call = i && index[i] == '(' && is_word(index[i - 1]);
        if (is_pair || is_call || strchr("=?,[{", index[i])) return true;
    }
    return false;
}

/* Every character is a word's, or one of `others`. */
static bool consists_of(const char *index, size_t length, const char *others) {
    for (size_t i = 0; i < length; i++)
        if (!is_word(index[i]) && !strchr(others, index[i])) return false;
    return true;
}

/* "i + i / 32", "(a << 1) + (a << 1) / 32", "33" */
static void print_index(const SourceArray *array, const char *index, size_t length, Text *out) {
    bool is_simple = consists_of(index, length, ""), is_number = strspn(index, "0123456789") >= length;
    bool is_sum = !array->pieces && consists_of(index, length, " +-*/%()");
    uint64_t number = is_number ? strtoull(index, NULL, 10) : 0;
    const char *left = is_simple ? "" : "(", *right = is_simple ? "" : ")";
    if (is_number) {
        uint64_t row = number / array->elements;
        number = array->pieces ? number ^ row % array->pieces * array->units : number + row * array->units;
        text_print(out, "%llu", (unsigned long long)number);
        return;
    }
    text_print(out, is_sum ? "%.*s" : is_simple ? "%.*s" : "(%.*s)", (int)length, index);
    text_print(out, array->pieces ? " ^ %s%.*s%s / %llu" : " + %s%.*s%s / %llu", left, (int)length, index,
               right, (unsigned long long)array->elements);
    if (array->pieces) text_print(out, " %% %llu", (unsigned long long)array->pieces);
    if (array->units > 1) text_print(out, " * %llu", (unsigned long long)array->units);
}

/* What stands between brackets, without blanks around it. */
static const char *inside_of(const char *open, const char *close, size_t *length) {
    const char *from = skip_blanks(open + 1), *to = close - 1;
    while (to > from && isspace((unsigned char)to[-1])) to--;
    *length = (size_t)(to - from);
    return from;
}

/* Copies the text from *from to behind the brackets at `open`, with the new index. */
static bool put_index(const SourceArray *array, const char *text, const char **from, const char *open,
                      Text *out, Error *error) {
    size_t length;
    const char *close = end_of_bracket(open), *index = close ? inside_of(open, close, &length) : NULL;
    if (!close || has_effect(index, length))
        return error_set(error, "line %d: the index of `%s` is not simple enough to be written twice",
                         line_at(array->code, open), array->name);
    const char *begin = text + (index - array->code);
    text_add_bytes(out, *from, (size_t)(begin - *from));
    print_index(array, begin, length, out);
    *from = begin + length;
    return true;
}

static bool write_indices(const SourceArray *array, const char *text, const char **from, Text *out,
                          Error *error) {
    size_t name = strlen(array->name);
    for (const char *at = array->begin; (at = find_name(array->code, at, array->end, array->name));
         at += name) {
        const char *open = skip_blanks(at + name), *close = *open == '[' ? end_of_bracket(open) : NULL;
        char last = before(array->code, at);
        bool is_address = last == '&' && at - array->code > 1 && at[-2] != '&';
        if (at == array->declared && !array->size) continue;
        if (!close || *skip_blanks(close) == '[' || is_address)
            return error_set(error, "line %d uses `%s` otherwise than by an index", line_at(array->code, at),
                             array->name);
        if (at == array->declared && array->pieces) continue;
        if (!put_index(array, text, from, open, out, error)) return false;
    }
    return true;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

/* Behind the argument of a launch that begins here: a comma, or >>>. */
static const char *end_of_argument(const char *at) {
    while (*at && *at != ',' && strncmp(at, ">>>", 3) != 0) {
        const char *end = strchr("([{", *at) ? end_of_bracket(at) : at + 1;
        if (!end) return NULL;
        at = end;
    }
    return *at ? at : NULL;
}

/* The bytes that launches in this file give the array grow. */
static bool write_launches(const SourceArray *array, const char *text, const char **from, Text *out,
                           Error *error) {
    for (const char *at = array->end; (at = strstr(at, "<<<")); at += 3) {
        const char *bytes = at + 3;
        for (int i = 0; bytes && i < 2; i++) {
            bytes = end_of_argument(bytes);
            if (bytes && *bytes != ',') bytes = NULL;
            if (bytes) bytes++;
        }
        const char *end = bytes ? end_of_argument(bytes) : NULL;
        if (!end) continue;
        bytes = skip_blanks(bytes);
        size_t length = (size_t)(end - bytes);
        if (has_effect(bytes, length) && !strstr(bytes, "sizeof"))
            return error_set(error, "line %d: the bytes of shared memory are not simple enough",
                             line_at(array->code, bytes));
        const char *begin = text + (bytes - array->code);
        text_add_bytes(out, *from, (size_t)(begin - *from));
        text_print(out, "(%.*s) + (%.*s) / %llu * %llu", (int)length, begin, (int)length, begin,
                   (unsigned long long)array->elements, (unsigned long long)array->units);
        *from = begin + length;
    }
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

/* The layout in elements, if all accesses are of one element, and in the array's own lines. */
static bool measure(const Trace *trace, const Finding *finding, const SharedLayout *layout,
                    SourceArray *array, Error *error) {
    const PtxProgram *program = trace->launches[finding->launch]->program;
    uint64_t bytes = 0;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        PtxSourceLine line = metrics_line_of(program, pc);
        if (!rewrite_may_access(trace, finding, in)) continue;
        uint64_t own = in->type_count ? (uint64_t)ptx_type_bytes(in->types[0]) : 0;
        bool is_elsewhere = !line.file || strcmp(line.file, finding->access.file) != 0 ||
                            line.line < line_at(array->code, array->begin) ||
                            line.line > line_at(array->code, array->end);
        if (is_elsewhere)
            return error_set(error, "line %d accesses `%s`, too, in another function", line.line,
                             array->name);
        if (in->vector > 1 || !own || (bytes && own != bytes))
            return error_set(error, "line %d accesses several elements at once", line.line);
        bytes = own;
    }
    const TraceLaunch *launch = trace->launches[finding->launch];
    uint64_t all = launch->symbols[finding->access.buffer].bytes;
    if (layout->swizzles && layout_bytes(layout, all) != all)
        return error_set(error, "`%s` does not fill whole rows of %d bytes", array->name, LINE_BYTES);
    if (!bytes || layout->row % bytes || layout->pad % bytes)
        return error_set(error, "the layout is not one of whole elements of `%s`", array->name);
    array->elements = layout->row / bytes;
    array->units = layout->pad / bytes;
    array->pieces = layout->swizzles ? LINE_BYTES / layout->pad : 0;
    return true;
}

/* A macro may hide an access. */
static bool is_in_directive(const SourceArray *array) {
    for (const char *at = array->code;
         (at = find_name(array->code, at, array->code + strlen(array->code), array->name)); at++) {
        const char *line = at;
        while (line > array->code && (line[-1] != '\n' || (line - array->code > 1 && line[-2] == '\\')))
            line--;
        if (*skip_blanks(line) == '#') return true;
    }
    return false;
}

bool rewrite_source(const Trace *trace, const Finding *finding, const SharedLayout *layout, const char *name,
                    const char *text, Text *out, Error *error) {
    char *code = code_of(text);
    SourceArray array = {.code = code};
    const char *from = text;
    snprintf(array.name, sizeof array.name, "%s", name);
    bool is_plain = !is_in_directive(&array) || error_set(error, "a macro uses `%s`", name);
    bool good = is_plain && find_declaration(&array, finding->access.line, error) &&
                measure(trace, finding, layout, &array, error) &&
                write_indices(&array, text, &from, out, error) &&
                (array.size || array.pieces || write_launches(&array, text, &from, out, error));
    if (good) text_add(out, from);
    free(code);
    return good;
}
