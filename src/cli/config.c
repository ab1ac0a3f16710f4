#define _POSIX_C_SOURCE 200809L

#include "cli/config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool config_path(char *path, size_t bytes) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    int length = config && *config == '/' ? snprintf(path, bytes, "%s/redviz/config", config)
                 : home && *home == '/'   ? snprintf(path, bytes, "%s/.config/redviz/config", home)
                                          : -1;
    return length > 0 && (size_t)length < bytes && access(path, F_OK) == 0;
}

/* The row of an option that is a setting; NULL: none. */
static const OptionRow *setting(const char *name, size_t length) {
    static const char *const settings[] = {"theme", "machine", "language", "no-motion"};
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
        return error_set(error, "--%.*s is not a setting: --theme, --machine, --language, --no-motion are",
                         (int)length, name);
    char *value = name[length] ? name + length + 1 + strspn(name + length + 1, " ") : NULL;
    if (row->argument && !value) return error_set(error, "--%s needs a value: %s", row->name, row->argument);
    if (!row->argument && value) return error_set(error, "--%s takes no value", row->name);
    return row->take(options, row, value, error);
}

bool config_read(Options *options, Error *error) {
    enum { LIMIT_BYTES = 1 << 16 };
    static char *text; /* the options point into it */
    static char path[PATH_MAX];
    size_t length;
    free(text);
    text = NULL;
    if (!config_path(path, sizeof path)) return true;
    if (!text_read_file(path, LIMIT_BYTES, &text, &length, error)) return false;
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
