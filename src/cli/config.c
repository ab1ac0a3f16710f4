#define _POSIX_C_SOURCE 200809L

#include "cli/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_BYTES = 1 << 16 };

/* False: there is no home folder. */
static bool config_path(char *path, size_t bytes) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = config && *config == '/' ? snprintf(path, bytes, "%s/redviz/config", config)
                 : home && *home == '/'   ? snprintf(path, bytes, "%s/.config/redviz/config", home)
                                          : -1;
    return length > 0 && (size_t)length < bytes;
}

/* The row of an option that is a setting; NULL: none. */
static const OptionRow *setting(const char *name, size_t length) {
    static const char *const settings[] = {"theme", "machine", "language", "no-motion", "pace"};
    const OptionRow *row = options_find(FOR_REDVIZ, name, length);
    for (size_t i = 0; row && i < sizeof settings / sizeof *settings; i++)
        if (!strcmp(row->name, settings[i])) return row;
    return NULL;
}

/* `line` has no blanks at its ends; it is changed. */
static bool take_line(Options *options, char *line, Error *error) {
    if (strncmp(line, "--", 2) != 0)
        return error_set(error, "'%s' is not an option: write --theme=light", line);
    char *name = line + 2;
    size_t length = strcspn(name, "= ");
    const OptionRow *row = setting(name, length);
    if (!row)
        return error_set(error,
                         "--%.*s is not a setting: --theme, --machine, --language, --no-motion,"
                         " --pace are",
                         (int)length, name);
    char *value = name[length] ? name + length + 1 + strspn(name + length + 1, " ") : NULL;
    if (row->argument && !value) return error_set(error, "--%s needs a value: %s", row->name, row->argument);
    if (!row->argument && value) return error_set(error, "--%s takes no value", row->name);
    return row->take(options, row, value, error);
}

bool config_read(Options *options, Error *error) {
    static char *text; /* the options point into it */
    static char path[PATH_MAX];
    size_t length;
    free(text);
    text = NULL;
    if (!config_path(path, sizeof path) || access(path, F_OK) != 0) return true;
    if (!text_read_file(path, CONFIG_BYTES, &text, &length, error)) return false;
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        line += strspn(line, " \t");
        for (size_t end = strlen(line); end && strchr(" \t\r", line[end - 1]); end--) line[end - 1] = 0;
        Error why = {0};
        if (*line && *line != '#' && !take_line(options, line, &why))
            return error_set_at(error, path, number, 0, "%s", why.message);
    }
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static void make_folders_of(char *path) {
    for (char *at = path + 1; *at; at++) {
        if (*at != '/') continue;
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
}

static bool line_sets(const char *line, const char *name) {
    line += strspn(line, " \t");
    size_t length = strlen(name);
    return !strncmp(line, "--", 2) && !strncmp(line + 2, name, length) && strchr("= ", line[2 + length]);
}

/* Adds the lines of the file that do not set it; false: the file exists and cannot be read. */
static bool add_other_lines(const char *path, const char *name, Text *out) {
    char *text = NULL;
    size_t length;
    Error error = {0};
    if (access(path, F_OK) != 0) return true;
    if (!text_read_file(path, CONFIG_BYTES, &text, &length, &error)) return false;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (!line_sets(line, name)) text_print(out, "%s\n", line);
    }
    free(text);
    return true;
}

void config_keep(const char *name, const char *value) {
    char path[PATH_MAX];
    Text text = {0};
    if (config_path(path, sizeof path) && add_other_lines(path, name, &text)) {
        text_print(&text, "--%s=%s\n", name, value);
        make_folders_of(path);
        FILE *file = fopen(path, "w");
        if (file) fputs(text_string(&text), file);
        if (file) fclose(file);
    }
    text_done(&text);
}
