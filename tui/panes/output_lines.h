/* Output lines: what a program printed, without what could control the terminal. */
#ifndef TUI_PANES_OUTPUT_LINES_H
#define TUI_PANES_OUTPUT_LINES_H

#include "runtime/user_program.h"

typedef struct OutputLines {
    const char *at, *end;
    Text line; /* text_done() frees it */
} OutputLines;

OutputLines output_lines(const Program *program);
/* The next line, in lines.line: escape sequences are left out, and of what a carriage return overwrites the last is kept.
 * Other controls stay, for canvas_text() to show as '?'. False: there is none. */
bool output_next_line(OutputLines *lines);
/* The last line that is not blank; nothing if there is none. */
void output_last_line(const Program *program, Text *out);
/* Bytes of the text that fit into so many columns, at least one character. */
int output_fit(const char *text, int columns);

#endif
