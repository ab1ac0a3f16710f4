#define _XOPEN_SOURCE 700

#include "cli/home_offer.h"

#include "base/memory.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { RECENT_BYTES = 1024, WORDS = 64, FILE_BYTES = 1 << 16 };

/* ---- a command line as one line of text ---------------------------------------------------------------- */

/* As a shell would read it back. */
static void add_word(Text *line, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+^%@";
    if (line->length) text_add(line, " ");
    if (*word && strspn(word, plain) == strlen(word)) {
        text_add(line, word);
        return;
    }
    text_add(line, "'");
    for (; *word; word++) text_add_bytes(line, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_add(line, "'");
}

/* The words of such a line, in the arena; 0: too many, or a quote is open. */
static int split_line(const char *line, char *words[WORDS], Arena *arena) {
    int count = 0;
    while (*line) {
        char word[RECENT_BYTES];
        size_t length = 0;
        bool quoted = false;
        for (; *line && (quoted || *line != ' ') && length + 1 < sizeof word; line++) {
            if (*line == '\'')
                quoted = !quoted;
            else if (*line == '\\' && !quoted && line[1])
                word[length++] = *++line;
            else
                word[length++] = *line;
        }
        word[length] = 0;
        if (quoted || count == WORDS) return 0;
        words[count++] = (char *)arena_copy_string(arena, word);
        line += strspn(line, " ");
    }
    return count;
}

/* ---- the file ------------------------------------------------------------------------------------------ */

/* False: there is no home folder. */
static bool recent_path(char *path, size_t bytes, bool makes_folders) {
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char folder[PATH_MAX];
    int length;
    if (state && *state == '/')
        length = snprintf(folder, sizeof folder, "%s/redviz", state);
    else if (home && *home == '/')
        length = snprintf(folder, sizeof folder, "%s/.local/state/redviz", home);
    else
        return false;
    if (length < 0 || (size_t)length >= sizeof folder) return false;
    for (char *at = folder + 1; makes_folders && *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(folder, 0700);
        *at = '/';
    }
    if (makes_folders) mkdir(folder, 0700);
    return (size_t)snprintf(path, bytes, "%s/recent", folder) < bytes;
}

static int read_recent(const char *lines[HOME_RECENT], Arena *arena) {
    char path[PATH_MAX], *text = NULL;
    size_t length;
    Error error = {0};
    int count = 0;
    if (!recent_path(path, sizeof path, false) || !text_read_file(path, FILE_BYTES, &text, &length, &error))
        return 0;
    char *rest = text;
    for (char *line; count < HOME_RECENT && (line = strtok_r(rest, "\n", &rest));)
        if (strlen(line) < RECENT_BYTES) lines[count++] = arena_copy_string(arena, line);
    free(text);
    return count;
}

void home_remember(int argc, char **argv) {
    char path[PATH_MAX], whole[PATH_MAX];
    const char *lines[HOME_RECENT];
    Text line = {0};
    Arena arena = {0};
    for (int i = 1; i < argc; i++) { /* NULL: where "--" was, before the words of a program */
        const char *word = argv[i] ? argv[i] : "--";
        add_word(&line, realpath(word, whole) ? whole : word);
    }
    int count = read_recent(lines, &arena);
    FILE *file = line.length && line.length < RECENT_BYTES && !strchr(text_string(&line), '\n') &&
                         recent_path(path, sizeof path, true)
                     ? fopen(path, "w")
                     : NULL;
    if (file) fprintf(file, "%s\n", text_string(&line));
    for (int i = 0, kept = 1; file && i < count && kept < HOME_RECENT; i++)
        if (strcmp(lines[i], text_string(&line)) != 0) kept += fprintf(file, "%s\n", lines[i]) > 0;
    if (file) fclose(file);
    text_done(&line);
    arena_done(&arena);
}

/* ---- the offer ----------------------------------------------------------------------------------------- */

static bool is_opened(const char *name) {
    return *name != '.' &&
           (text_ends_with(name, ".cu") || text_ends_with(name, ".ptx") || text_ends_with(name, ".redviz"));
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_files(const char *files[HOME_FILES], Arena *arena) {
    int count = 0;
    DIR *folder = opendir(".");
    for (struct dirent *entry; folder && count < HOME_FILES && (entry = readdir(folder));)
        if (is_opened(entry->d_name)) files[count++] = arena_copy_string(arena, entry->d_name);
    if (folder) closedir(folder);
    qsort(files, (size_t)count, sizeof *files, by_name);
    return count;
}

static bool open_recent(void *context, int index, RunSpec *out, Error *error) {
    OfferedHome *offered = context;
    char *words[WORDS + 1] = {(char *)"redviz"};
    int count = split_line(offered->recent[index], words + 1, &offered->arena);
    if (!count) return error_set(error, "this line of the file of last runs is not a command line");
    options_begin(&offered->options);
    if (!options_parse(count + 1, words, &offered->options, error)) return false;
    *out = offered->options.session;
    return true;
}

void home_offer_open(OfferedHome *out) {
    *out = (OfferedHome){0};
    int files = list_files(out->files, &out->arena), recent = read_recent(out->recent, &out->arena);
    out->offer = (HomeOffer){{files, recent, out->files, out->recent}, open_recent, out};
}

void home_offer_close(OfferedHome *offered) {
    arena_done(&offered->arena);
    *offered = (OfferedHome){0};
}
