#include "guess/host_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool host_is_word(int c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- what is no code ----------------------------------------------------------------------------------- */

static void blank(char *from, const char *to) {
    for (; from < to; from++)
        if (*from != '\n') *from = ' ';
}

static char *skip_quoted(char *at) {
    char quote = *at++;
    while (*at && *at != quote && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return *at == quote ? at + 1 : at;
}

static void blank_comments(char *text) {
    for (char *at = text; *at;) {
        char *end = NULL;
        if (at[0] == '/' && at[1] == '/') end = at + strcspn(at, "\n");
        if (at[0] == '/' && at[1] == '*')
            end = strstr(at + 2, "*/") ? strstr(at + 2, "*/") + 2 : at + strlen(at);
        bool is_character = *at == '\'' && (at == text || !host_is_word(at[-1]));
        if (*at == '"' || is_character) {
            end = skip_quoted(at);
            if (end > at + 1) blank(at + 1, end - 1);
        } else if (end) {
            blank(at, end);
        }
        at = end ? end : at + 1;
    }
}

/* `<< <grid, block> >>`, as some editors break it, becomes `<<<  grid, block>>>  `: places stay those of the
 *                                                                file. */
static void join_chevrons(char *text) {
    static const char marks[] = "<>";
    for (char *at = text; *at; at++) {
        const char *mark = strchr(marks, *at);
        char *places[3] = {at, NULL, NULL}, *next = at;
        for (int i = 1; mark && i < 3 && next; i++) {
            next += 1 + strspn(next + 1, " \t");
            places[i] = next = *next == *mark ? next : NULL;
        }
        if (!mark || !places[2] || places[2] == at + 2) continue;
        if (places[1] != at + 1 && places[2] != places[1] + 1)
            continue; /* a > b > c, three templates that end */
        char c = *mark;
        *places[1] = *places[2] = ' ';
        at[1] = at[2] = c;
        at += 2;
    }
}

static bool begins(const char *at, const char *word) {
    return !strncmp(at, word, strlen(word)) && !host_is_word(at[strlen(word)]);
}

/* What stands between #if 0 and its #else or #endif. */
static void blank_disabled(char *text) {
    int depth = 0, hidden = 0;
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char *at = line + strspn(line, " \t");
        if (*at == '#') {
            at += 1 + strspn(at + 1, " \t");
            if (!strncmp(at, "if", 2)) depth++;
            if (begins(at, "if") && !hidden && at[2 + strspn(at + 2, " \t")] == '0') hidden = depth;
            if (depth == hidden && begins(at, "else")) hidden = 0;
            if (begins(at, "endif")) {
                if (depth == hidden) hidden = 0;
                depth -= depth > 0;
            }
        } else if (hidden) {
            blank(line, line + strcspn(line, "\n"));
        }
    }
}

/* ---- pieces -------------------------------------------------------------------------------------------- */

size_t host_skip_blanks(const HostText *text, size_t at, size_t end) {
    while (at < end && isspace((unsigned char)text->text[at])) at++;
    return at;
}

HostSpan host_trim(const HostText *text, HostSpan span) {
    span.begin = host_skip_blanks(text, span.begin, span.end);
    while (span.end > span.begin && isspace((unsigned char)text->text[span.end - 1])) span.end--;
    return span;
}

bool host_span_is(const HostText *text, HostSpan span, const char *word) {
    return strlen(word) == span.end - span.begin && !memcmp(text->text + span.begin, word, strlen(word));
}

HostSpan host_word(const HostText *text, size_t at) {
    HostSpan word = {at, at};
    if (at < text->length && isdigit((unsigned char)text->text[at])) return word;
    while (word.end < text->length && host_is_word(text->text[word.end])) word.end++;
    return word;
}

size_t host_skip_brackets(const HostText *text, size_t at, size_t end) {
    int depth = 0;
    while (at < end) {
        char c = text->text[at++];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (depth <= 0) return at;
    }
    return end;
}

/* After the > that closes the < at `at`; `at`: none does. */
static size_t skip_angles(const HostText *text, size_t at, size_t end) {
    int depth = 0;
    for (size_t i = at; i < end; i++) {
        char c = text->text[i];
        if (c == '(') {
            i = host_skip_brackets(text, i, end) - 1;
            continue;
        }
        if (c == ';' || c == '{' || c == '}') return at;
        depth += (c == '<') - (c == '>');
        if (depth <= 0) return i + 1;
    }
    return at;
}

bool host_list_item(const HostText *text, HostSpan list, int index, HostSpan *item) {
    size_t at = list.begin, begin = at;
    list = host_trim(text, list);
    if (list.begin == list.end) return false;
    for (int i = 0; at <= list.end; at++) {
        char c = at < list.end ? text->text[at] : ',';
        if (c == '(' || c == '[' || c == '{') {
            at = host_skip_brackets(text, at, list.end) - 1;
            continue;
        }
        if (c == '<' && at > list.begin && host_is_word(text->text[at - 1])) {
            size_t after = skip_angles(text, at, list.end);
            if (after > at) at = after - 1;
            continue;
        }
        if (c != ',') continue;
        if (i++ == index) {
            *item = host_trim(text, (HostSpan){begin, at});
            return true;
        }
        begin = at + 1;
    }
    return false;
}

size_t host_back_over_blanks(const HostText *text, size_t at) {
    while (at > 0 && isspace((unsigned char)text->text[at - 1])) at--;
    return at;
}

size_t host_open_angle(const HostText *text, size_t at) {
    int depth = 0;
    for (size_t i = at; i-- > 0;) {
        char c = text->text[i];
        if (c == ')') depth += 100;
        if (c == '(') depth -= 100;
        if (c == ';' || c == '{' || c == '}') break;
        depth += (c == '>') - (c == '<');
        if (depth <= 0) return i;
    }
    return SIZE_MAX;
}

bool host_is_in_directive(const HostText *text, size_t at) {
    size_t line = at;
    while (line > 0 && (text->text[line - 1] != '\n' || (line > 1 && text->text[line - 2] == '\\'))) line--;
    return text->text[host_skip_blanks(text, line, text->length)] == '#';
}

/* ---- functions ----------------------------------------------------------------------------------------- */

/* The bracket that opens what ends at `at`, searched backwards; SIZE_MAX: none. */
static size_t open_of(const HostText *text, size_t at) {
    int depth = 0;
    for (size_t i = at + 1; i-- > 0;) {
        char c = text->text[i];
        depth += (c == ')') - (c == '(');
        if (depth <= 0) return i;
        if (c == ';' || c == '{' || c == '}') break;
    }
    return SIZE_MAX;
}

/* template <...> before the function that begins at or before `at`. */
static HostSpan find_head(const HostText *text, size_t at) {
    size_t begin = at;
    while (begin > 0 && !strchr(";}{#", text->text[begin - 1])) begin--;
    for (; begin + 8 < at; begin++)
        if (!memcmp(text->text + begin, "template", 8)) {
            size_t open = host_skip_blanks(text, begin + 8, at), end = skip_angles(text, open, at);
            if (end > open + 1) return (HostSpan){open + 1, end - 1};
        }
    return (HostSpan){0, 0};
}

static bool read_function(const HostText *text, size_t brace, HostFunction *function) {
    size_t before = host_back_over_blanks(text, brace);
    if (!before || text->text[before - 1] != ')') return false;
    size_t open = open_of(text, before - 1);
    if (open == SIZE_MAX) return false;
    size_t name_end = host_back_over_blanks(text, open), name = name_end;
    while (name > 0 && host_is_word(text->text[name - 1])) name--;
    if (name == name_end) return false;
    *function = (HostFunction){.name = {name, name_end},
                               .parameters = {open + 1, before - 1},
                               .body = {brace + 1, host_skip_brackets(text, brace, text->length) - 1},
                               .head = find_head(text, name)};
    return !host_span_is(text, function->name, "if") && !host_span_is(text, function->name, "for") &&
           !host_span_is(text, function->name, "while") && !host_span_is(text, function->name, "switch");
}

static void find_functions(HostText *text) {
    for (size_t at = 0; at < text->length; at++) {
        HostFunction function;
        if (text->text[at] != '{' || !read_function(text, at, &function)) continue;
        array_push(text->functions, text->function_count, text->function_capacity, function);
        if (function.body.end > at) at = function.body.end;
    }
}

const HostFunction *host_text_function_at(const HostText *text, size_t at) {
    for (int i = 0; i < text->function_count; i++)
        if (text->functions[i].body.begin <= at && at <= text->functions[i].body.end)
            return &text->functions[i];
    return NULL;
}

/* ---- names --------------------------------------------------------------------------------------------- */

size_t host_text_find(const HostText *text, const char *word, size_t from) {
    size_t length = strlen(word);
    const char *found = text->text + from;
    while (length && (found = strstr(found, word))) {
        size_t at = (size_t)(found - text->text);
        if (!host_is_word(found[length]) && (at == 0 || !host_is_word(found[-1]))) return at;
        found++;
    }
    return SIZE_MAX;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

void host_text_read(HostText *text, const char *file) {
    *text = (HostText){.text = memory_new(strlen(file) + 2), .length = strlen(file)};
    memcpy(text->text, file, text->length);
    blank_comments(text->text);
    blank_disabled(text->text);
    join_chevrons(text->text);
    find_functions(text);
}

void host_text_done(HostText *text) {
    free(text->text);
    free(text->functions);
    *text = (HostText){0};
}
