/* The catalogue as --list prints it: for people, a kernel a line in groups; for programs, as JSON. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include "base/text.h"
#include <stdbool.h>

void list_kernels(bool json, Text *out);

#endif
