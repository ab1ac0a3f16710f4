/* Wheels: files of NVIDIA's packages from PyPI, where Python finds them. */
#ifndef COMPILE_WHEELS_H
#define COMPILE_WHEELS_H

#include <stdbool.h>
#include <stddef.h>

/* Finds the first file of this pattern (glob) below site-packages/nvidia: where redviz itself is installed as
 * a wheel, of the virtual environment, of python3 in PATH, the user's, or the system's. */
bool wheels_find(const char *pattern, char *path, size_t bytes);
/* redviz itself is installed as a wheel. */
bool wheels_have_program(void);

#endif
