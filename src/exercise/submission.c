#include "exercise/submission.h"
#include "base/language.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct PlainSource { /* the text without comments and spliced lines */
    char *text;
    size_t length;
    int *lines; /* [length] of the file */
} PlainSource;

static size_t splice_at(const char *text, size_t length, size_t at) {
    if (text[at] != '\\') return 0;
    size_t end = at + 1;
    while (end < length && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r')) end++;
    return end < length && text[end] == '\n' ? end + 1 - at : 0;
}

static PlainSource without_splices(const char *text, size_t length) {
    PlainSource plain = {memory_new(length + 1), 0, memory_new((length + 1) * sizeof(int))};
    int line = 1;
    for (size_t i = 0; i < length; i++) {
        size_t splice = splice_at(text, length, i);
        if (splice) {
            i += splice - 1, line++;
            continue;
        }
        plain.lines[plain.length] = line;
        plain.text[plain.length++] = text[i];
        line += text[i] == '\n';
    }
    return plain;
}

/* The end of the literal or comment that begins at `at`; `at` itself: neither. */
static size_t end_of_quoted(const PlainSource *plain, size_t at) {
    const char *text = plain->text;
    char quote = text[at];
    if (quote != '"' && quote != '\'') return at;
    if (at && isalnum((unsigned char)text[at - 1]) && quote == '\'') return at; /* 1'000 */
    for (size_t i = at + 1; i < plain->length && text[i] != '\n'; i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == quote)
            return i + 1;
    }
    return at; /* not closed in its line: a raw string, or an error of the compiler */
}

/* Blanks out comments; lines stay lines. */
static void blank_comments(PlainSource *plain) {
    char *text = plain->text;
    for (size_t i = 0; i < plain->length;) {
        size_t end = end_of_quoted(plain, i);
        bool is_block = text[i] == '/' && text[i + 1] == '*', is_line = text[i] == '/' && text[i + 1] == '/';
        if (end > i) {
            i = end;
            continue;
        }
        if (!is_block && !is_line) {
            i++;
            continue;
        }
        for (bool ends = false; i < plain->length && !ends; i++) {
            if (is_line && text[i] == '\n') break;
            ends = is_block && text[i] == '*' && text[i + 1] == '/';
            if (ends) text[i + 1] = ' ';
            if (text[i] != '\n') text[i] = ' ';
        }
    }
}

static const char *blanks(const char *at) {
    return at + strspn(at, " \t\v\f\r");
}

static bool is_word(const char *at, const char *word) {
    size_t length = strlen(word);
    return !strncmp(at, word, length) && !isalnum((unsigned char)at[length]) && at[length] != '_';
}

/* "<cooperative_groups/reduce.h>": NULL if it is allowed, else why it is not. */
static const char *refuse_header(const char *at) {
    if (*at != '<') return "only headers of the toolkit can be included, #include <NAME>";
    size_t length = strcspn(at + 1, ">\n");
    if (at[1] == '/' || at[1] == '~' || at[1 + length] != '>')
        return "a header is included by its name, not by a path";
    for (size_t i = 1; i <= length; i++)
        if (at[i] == '.' && at[i + 1] == '.') return "a header is included by its name, not by a path";
    return NULL;
}

/* A directive behind its '#': NULL if it is allowed. */
static const char *refuse_directive(const char *at) {
    at = blanks(at);
    if (is_word(at, "include")) return refuse_header(blanks(at + strlen("include")));
    if (is_word(at, "include_next") || is_word(at, "import")) return "only #include <NAME> is allowed";
    if (is_word(at, "embed")) return "#embed is not allowed";
    return NULL;
}

/* Words that make a compiler read a file, or look whether it exists, wherever they stand. */
static const char *refuse_word(const PlainSource *plain, size_t at) {
    static const char *const words[] = {"__has_include", "__has_include_next", "__has_embed", "_Pragma"};
    bool begins = !at || (!isalnum((unsigned char)plain->text[at - 1]) && plain->text[at - 1] != '_');
    for (size_t i = 0; begins && i < sizeof words / sizeof *words; i++)
        if (is_word(plain->text + at, words[i]))
            return "__has_include, __has_embed and _Pragma are not allowed";
    return !strncmp(plain->text + at, ".incbin", 7) ? ".incbin is not allowed" : NULL;
}

/* "__syncthreads;" names the function and calls nothing. */
static const char *refuse_uncalled(const PlainSource *plain, size_t at) {
    static const char *const barriers[] = {"__syncthreads", "__syncwarp"};
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++)
        if (is_word(plain->text + at, barriers[i]) && *blanks(plain->text + at + strlen(barriers[i])) == ';')
            return i ? tr("this calls nothing: write __syncwarp();")
                     : tr("this calls nothing: write __syncthreads();");
    return NULL;
}

bool submission_check(const char *text, size_t length, const char *path, Error *error) {
    if (memchr(text, 0, length)) return error_set_at(error, path, 0, 0, "it is not text");
    if (text_ends_with(path, ".ptx")) return true; /* no compiler reads it */
    PlainSource plain = without_splices(text, length);
    const char *why = NULL;
    size_t at = 0;
    blank_comments(&plain);
    bool is_first = true; /* in its line */
    for (; at < plain.length && !why; at++) {
        char c = plain.text[at];
        if (is_first && c == '#')
            why = refuse_directive(plain.text + at + 1);
        else if (is_first && c == '%' && plain.text[at + 1] == ':')
            why = refuse_directive(plain.text + at + 2);
        else if (c == '?' && !strncmp(plain.text + at, "\?\?=", 3))
            why = "trigraphs are not allowed";
        else if (!(why = refuse_word(&plain, at)))
            why = refuse_uncalled(&plain, at);
        if (c == '\n')
            is_first = true;
        else if (!isspace((unsigned char)c))
            is_first = false;
    }
    if (why) error_set_at(error, path, plain.lines[at - 1], 0, "%s", why);
    free(plain.text), free(plain.lines);
    return !why;
}

/* The next character that is no blank; 0: the end. */
static char next_of(const PlainSource *plain, size_t *at) {
    while (*at < plain->length && isspace((unsigned char)plain->text[*at])) ++*at;
    return *at < plain->length ? plain->text[(*at)++] : '\0';
}

bool submission_begins_with(const char *text, const char *start) {
    PlainSource one = without_splices(text, strlen(text)), two = without_splices(start, strlen(start));
    size_t at = 0, there = 0;
    char c;
    blank_comments(&one), blank_comments(&two);
    do c = next_of(&two, &there);
    while (c && c == next_of(&one, &at));
    free(one.text), free(one.lines), free(two.text), free(two.lines);
    return !c;
}
