/* The reader's settings: $XDG_CONFIG_HOME/redviz/config, by default ~/.config/redviz/config. Each line is an
 * option as on the command line, which overrides it:
 *
 *     --theme=light
 *     --language=zh
 *
 * Lines that begin with # and empty lines are comments. Options that are settings: --theme, --machine,
 * --language, --no-motion, --pace. */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/options.h"

/* True without such a file; an error names its line. Strings live as long as the program. */
bool config_read(Options *options, Error *error);

/* Sets this setting in the file, which is made if there is none; its other lines stay. Says nothing where it
 * cannot be written. */
void config_keep(const char *name, const char *value);

#endif
