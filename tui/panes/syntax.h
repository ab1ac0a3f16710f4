/* Syntax: finds keywords, intrinsics and comments in a line of CUDA C++ or Python. */
#ifndef TUI_PANES_SYNTAX_H
#define TUI_PANES_SYNTAX_H

#include "tui/draw/canvas.h"

/* Carried from line to line; zero-initialised at the start of a file. */
typedef struct Syntax {
    bool is_python;
    bool in_comment; /* inside a comment that began on an earlier line */
} Syntax;

bool syntax_is_python(const char *file);

/* Fills roles[0 .. strlen(line) - 1]: TEXT, KEYWORD, INTRINSIC or COMMENT. `roles` NULL: only `syntax`
 * advances. */
void syntax_line(Syntax *syntax, const char *line, uint8_t *roles);

#endif
