/* Solved: the exercises that this user has solved.
 * The file has a name in each line: $XDG_DATA_HOME/redviz/solved, else ~/.local/share/redviz/solved. */
#ifndef EXERCISE_SOLVED_H
#define EXERCISE_SOLVED_H

#include <stdbool.h>

/* The caller frees it; NULL: none. */
char *solved_read(void);
bool solved_has(const char *solved, const char *name); /* `solved` may be NULL */
/* Adds a name; a failure is ignored. */
void solved_add(const char *name);

#endif
