/* Machine code by source line: the author's line, even for code inlined from elsewhere. */
#ifndef SASS_SASS_LINES_H
#define SASS_SASS_LINES_H

#include "sass/sass.h"

typedef struct SassLine {
    const char *file; /* the kernel's file; NULL: instructions without a place */
    int line;         /* 0: a compiler-generated subroutine that several lines call */
    int instruction_count;
    SassSums sums;
} SassLine;

/* By file and line, with those without a place last; the caller frees them. */
SassLine *sass_by_line(const SassKernel *kernel, int *count);
/* True if the instruction belongs to the line. */
bool sass_is_on_line(const SassKernel *kernel, const SassInstruction *instruction, const SassLine *line);

#endif
