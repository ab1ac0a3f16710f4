/* Prints --list: the catalogue in groups for people, or as JSON for programs. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/text.h"
#include <stdbool.h>

void list_kernels(bool json, Text *out);

#endif
