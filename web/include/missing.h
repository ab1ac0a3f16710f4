/* What wasi-libc does not have, included before each file. */
#ifndef WEB_MISSING_H
#define WEB_MISSING_H

#include <sys/types.h>

char *realpath(const char *path, char *whole);
char *mkdtemp(char *pattern);
int mkstemp(char *pattern);
mode_t umask(mode_t mask);
int fchmod(int file, mode_t mode);

#endif
