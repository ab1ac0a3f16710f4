/* Generated files: the manual page, and completions for shells. Made from options.def, keys.def and the catalogue, so
 * that they cannot differ from the program. */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include "base/text.h"

/* `what`: a word of --generate: "man", "bash", "zsh" or "fish". */
void generate(const char *what, Text *out);

void generate_man(Text *out);
void generate_bash(Text *out);
void generate_zsh(Text *out);
void generate_fish(Text *out);

#endif
