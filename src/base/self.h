/* Self: the program's own file, beside which it finds what it needs. */
#ifndef BASE_SELF_H
#define BASE_SELF_H

#include <stdbool.h>
#include <stddef.h>

/* Its absolute path, without links; also where /proc is not mounted. False: it is not known. */
bool self_path(char *out, size_t bytes);

#endif
