/* Where sentences stand: fields of the catalogue, comments, Markdown, string literals. Each is cut into blocks
 * (a paragraph, a string, a line of a drawing), and a block into sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sentences.h"

#include "base/memory.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* ---- words --------------------------------------------------------------------------------------------- */

/* Of causes and costs, and "let", which advice begins with. What ends in * is the beginning of words. */
static const char *const COST_WORDS[] = {
    "slow*",     "fast*",       "quick*",    "cheap*",    "expensive", "cost*",    "free",     "pay*",
    "paid",      "price*",      "save*",     "saving*",   "gain*",     "hide*",    "waste*",   "bottleneck*",
    "overhead*", "speed*",      "because*",  "due",       "benefit*",  "cure*",    "repair*",  "problem*",
    "its time",  "the time",    "of time",   "less time", "more time", "times as", "longer",   "delay*",
    "efficien*", "performance", "outweigh*", "better",    "worse",     "worth*",   "dominat*", "let",
};

/* Of kernels, in the catalogue, their files and the documents, also counts. Elsewhere the program fills in what it
 * counted. */
static const char *const COUNT_WORDS[] = {
    "wavefront*",
    "sector*",
    "conflict*",
    "diverge*",
    "idle*",
    "fewer",
    "less",
    "twice as",
    "half the",
    "half as",
    "ahead of",
    "as long as",
    "long an",
    "neither",
    "one barrier",
    "no barrier",
    "never a barrier",
    "SASS",
    "one instruction",
    "machine instructions",
    "no more",
    "waits",
    "wait for",
    "a quarter",
    "traffic",
};

/* Units, which drawings and labels hold, too. */
static const char *const UNIT_WORDS[] = {"cycle*",     "us",   "GB/s", "latenc*", "bandwidth",
                                         "throughput", "peak", "busy", "best"};

static bool is_letter(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word) {
    size_t length = strcspn(word, "*");
    for (const char *at = text; *at; at++)
        if (!strncmp(at, word, length) && (at == text || !is_letter(at[-1])) &&
            (word[length] == '*' || !is_letter(at[length])))
            return true;
    return false;
}

static const char *find_word(const char *text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (has_word(text, words[i])) return words[i];
    return NULL;
}
#define FIND(text, words) find_word(text, words, sizeof(words) / sizeof *(words))

enum { FEWEST_WORDS = 5 }; /* of a string that is a sentence, not a label */

static bool is_label(const char *text) {
    int words = 1;
    for (; *text; text++) words += *text == ' ';
    return words < FEWEST_WORDS;
}

const char *sentence_cost_word(const Sentence *sentence) {
    if (!sentence->is_of_kernel && is_label(sentence->text)) return NULL;
    const char *word = NULL;
    if (!sentence->is_drawn) word = FIND(sentence->text, COST_WORDS);
    if (!word && sentence->is_of_kernel) word = FIND(sentence->text, COUNT_WORDS);
    if (!word && sentence->is_of_kernel && !sentence->is_drawn) word = FIND(sentence->text, UNIT_WORDS);
    return word;
}

/* ---- blocks -------------------------------------------------------------------------------------------- */

static Sentence *add(Sentences *all, const char *where, const char *text, size_t length, bool is_of_kernel) {
    Sentence *added = NULL;
    Text clean = {0};
    for (size_t i = 0; i < length; i++) {
        bool space = isspace((unsigned char)text[i]);
        if (!space)
            text_add_bytes(&clean, &text[i], 1);
        else if (clean.length && clean.data[clean.length - 1] != ' ')
            text_add(&clean, " ");
    }
    while (clean.length && clean.data[clean.length - 1] == ' ') clean.data[--clean.length] = 0;
    if (clean.length) {
        Sentence sentence = {.where = memory_copy_text(where),
                             .text = memory_copy_text(text_string(&clean)),
                             .is_of_kernel = is_of_kernel};
        array_push(all->items, all->count, all->capacity, sentence);
        added = &all->items[all->count - 1];
    }
    text_done(&clean);
    return added;
}

/* A sentence ends at a mark before white space, but not at "...". */
static bool ends_sentence(const char *block, size_t i) {
    if (!strchr(".!?", block[i])) return false;
    if (i && block[i - 1] == '.') return false;
    size_t after = i + 1 + strspn(block + i + 1, ")`\"'");
    return !block[after] || isspace((unsigned char)block[after]);
}

static void add_block(Sentences *all, const char *where, const char *block, bool is_of_kernel) {
    size_t begin = 0;
    for (size_t i = 0; block[i]; i++) {
        if (!ends_sentence(block, i)) continue;
        i += strspn(block + i + 1, ")`\"'");
        add(all, where, block + begin, i + 1 - begin, is_of_kernel);
        begin = i + 1;
    }
    add(all, where, block + begin, strlen(block + begin), is_of_kernel);
}

/* What was collected in `block` is one, and `block` is empty for the next. */
static void end_block(Sentences *all, const char *where, Text *block, bool is_of_kernel) {
    add_block(all, where, text_string(block), is_of_kernel);
    text_clear(block);
}

static char *read_file(const char *path) {
    char *data;
    size_t length;
    Error error = {0};
    if (!text_read_file(path, 1 << 22, &data, &length, &error)) fail_msg("%s", error.message);
    return data;
}

static char *next_line(char **rest) {
    char *line = *rest, *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (end) *end = 0;
    return line;
}

/* ---- the catalogue ------------------------------------------------------------------------------------- */

static void add_field(Sentences *all, const CatalogRow *row, const char *field, const char *text) {
    char where[96];
    snprintf(where, sizeof where, "%s: %s", row->id, field);
    if (text) add_block(all, where, text, true);
}

static void read_catalogue(Sentences *all) {
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        add_field(all, row, "title", row->title);
        add_field(all, row, "story", row->story);
        add_field(all, row, "lesson", row->lesson);
        add_field(all, row, "watch", row->watch);
        for (int p = 0; p < CATALOG_PARAMETERS && row->parameters[p].name; p++)
            add_field(all, row, row->parameters[p].name, row->parameters[p].meaning);
    }
}

/* ---- the comment at the head of a kernel --------------------------------------------------------------- */

/* Prose begins behind one space; lines of a drawing behind more are blocks of their own. */
static void read_kernel(Sentences *all, const char *path) {
    char *data = read_file(path), *rest = data;
    const char *mark = strstr(path, ".py") ? "#" : "//";
    Text prose = {0};
    while (*rest) {
        char *line = next_line(&rest);
        if (strncmp(line, mark, strlen(mark)) != 0) break;
        line += strlen(mark);
        bool is_drawn = line[strspn(line, " ")] == 0 || !strncmp(line, "  ", 2);
        if (is_drawn) {
            end_block(all, path, &prose, true);
            Sentence *drawn = add(all, path, line, strlen(line), true);
            if (drawn) drawn->is_drawn = true;
        } else {
            text_print(&prose, "%s ", line);
        }
    }
    end_block(all, path, &prose, true);
    text_done(&prose);
    free(data);
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

static bool begins_item(const char *line) {
    line += strspn(line, " ");
    return *line == '#' || *line == '|' || !strncmp(line, "- ", 2) || !strncmp(line, "![", 2) ||
           (isdigit((unsigned char)*line) && line[1] == '.');
}

/* Fenced and indented lines are no sentences, nor is a list of keys. */
static void read_markdown(Sentences *all, const char *path) {
    char *data = read_file(path), *rest = data;
    Text block = {0};
    bool in_fence = false, in_keys = false;
    while (*rest) {
        char *line = next_line(&rest);
        bool is_fence = !strncmp(line, "```", 3);
        if (is_fence || !*line || begins_item(line)) end_block(all, path, &block, true);
        in_fence ^= is_fence;
        if (!in_fence && *line == '#') in_keys = !strcmp(line, "## Keys");
        if (!in_fence && !is_fence && !in_keys && strncmp(line, "    ", 4) != 0)
            text_print(&block, "%s ", line);
    }
    end_block(all, path, &block, true);
    text_done(&block);
    free(data);
}

/* ---- string literals of C ------------------------------------------------------------------------------ */

/* From behind the quote to behind the closing one. */
static const char *take_literal(const char *at, Text *out) {
    for (; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1]) {
            at++;
            text_add(out, *at == 'n' ? " " : *at == '"' ? "\"" : "");
        } else {
            text_add_bytes(out, at, 1);
        }
    }
    return *at ? at + 1 : at;
}

static const char *skip_comment(const char *at) {
    const char *end = at[1] == '*' ? strstr(at + 2, "*/") : strchr(at, '\n');
    return end ? end + (at[1] == '*' ? 2 : 0) : at + strlen(at);
}

/* Literals with nothing between them but white space and PRIu64 are one string. */
static void read_literals(Sentences *all, const char *path) {
    char *data = read_file(path);
    Text block = {0};
    for (const char *at = data; *at;) {
        if (*at == '#' && (at == data || at[-1] == '\n') && strchr(at, '\n')) {
            at = strchr(at, '\n');
        } else if (*at == '/' && (at[1] == '*' || at[1] == '/')) {
            at = skip_comment(at);
        } else if (*at == '\'' && at[1]) {
            at += at[1] == '\\' ? 4 : 3;
        } else if (*at == '"') {
            at = take_literal(at + 1, &block);
        } else {
            if (!strncmp(at, "PRIu64", 6))
                at += 5;
            else if (!isspace((unsigned char)*at))
                end_block(all, path, &block, false);
            at++;
        }
    }
    end_block(all, path, &block, false);
    text_done(&block);
    free(data);
}

/* ---- all ----------------------------------------------------------------------------------------------- */

static void read_each(Sentences *all, const char *pattern, void (*read)(Sentences *all, const char *path)) {
    glob_t paths;
    if (glob(pattern, 0, NULL, &paths) != 0) fail_msg("no file is called %s", pattern);
    for (size_t i = 0; i < paths.gl_pathc; i++) read(all, paths.gl_pathv[i]);
    globfree(&paths);
}

void sentences_read(Sentences *all) {
    read_catalogue(all);
    read_each(all, "kernels/*.cu", read_kernel);
    read_each(all, "kernels/*.py", read_kernel);
    read_each(all, "README.md", read_markdown);
    read_each(all, "assets/h[0-9]*/README.md", read_markdown); /* that of lectures is of their language */
    read_each(all, "src/metrics/*.c", read_literals);
    read_each(all, "src/metrics/*.def", read_literals);
    read_each(all, "src/findings/*.c", read_literals);
    read_each(all, "src/findings/*.def", read_literals);
    read_each(all, "src/report/*.c", read_literals);
    read_each(all, "tui/panes/*.c", read_literals);
    read_each(all, "tui/panes/*.def", read_literals);
}

void sentences_done(Sentences *all) {
    for (size_t i = 0; i < all->count; i++) {
        free(all->items[i].where);
        free(all->items[i].text);
    }
    free(all->items);
    *all = (Sentences){0};
}
