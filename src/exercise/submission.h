/* Submission: what is refused in a source file before it is compiled for somebody else: all headers but those
 * of the toolkit, by their plain names; and a barrier that is not called. */
#ifndef EXERCISE_SUBMISSION_H
#define EXERCISE_SUBMISSION_H

#include "base/error.h"
#include <stddef.h>

enum { SUBMISSION_BYTES = 1 << 20 }; /* that a file may have */

/* False with the place: an include of a file by its path, of a header in quotes, by a macro, or another
 * directive that reads a file; or a barrier that is named without being called ("__syncthreads;"), which nvcc
 * takes and leaves out. Comments and spliced lines are seen as the compiler sees them. PTX can ask for
 * nothing. */
bool submission_check(const char *text, size_t length, const char *path, Error *error);

/* But for comments and blanks, the text begins with all of `start`: no code behind it can change what that
 * does. */
bool submission_begins_with(const char *text, const char *start);

#endif
