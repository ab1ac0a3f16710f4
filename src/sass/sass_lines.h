/* Machine code by source line: the line that the kernel's author wrote, be the code inlined from elsewhere or not. */
#ifndef SASS_SASS_LINES_H
#define SASS_SASS_LINES_H

#include "sass/sass.h"

typedef struct SassLine {
    const char *file; /* the kernel's; NULL: instructions without a place */
    int line;         /* 0: a subroutine of the compiler's own that several lines call */
    int instruction_count;
    SassSums sums;
} SassLine;

/* By file and line, those without a place last; the caller frees them. */
SassLine *sass_by_line(const SassKernel *kernel, int *count);
/* Does the instruction belong to the line? */
bool sass_is_on_line(const SassKernel *kernel, const SassInstruction *instruction, const SassLine *line);

#endif
