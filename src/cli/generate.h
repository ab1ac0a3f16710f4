/* Generates files: the manual page and shell completions. Uses options.def, keys.def and the catalogue, so
 * they always match the program. */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include "base/text.h"

/* `what`: an argument of --generate: "man", "bash", "zsh" or "fish". */
void generate(const char *what, Text *out);

void generate_man(Text *out);

#endif
