/* Golden: screens as exact text in tests/tui/golden. REDVIZ_REWRITE=1 rewrites them, for review with git
 * diff. */
#ifndef TESTS_TUI_GOLDEN_H
#define TESTS_TUI_GOLDEN_H

#include "base/text.h"
#include "tui/draw/canvas.h"

/* Fails the test if `text` is not exactly tests/tui/golden/<name>.txt, and prints the first line that
 * differs. */
void golden_check(const char *name, const Text *text);
/* The same for the text of a canvas, which this frees. */
void golden_check_canvas(const char *name, Canvas *canvas);
/* The same for any file. */
void golden_check_file(const char *path, const Text *text);
/* Adds runs of cells whose role is not TEXT, as "row:first-last ROLE". */
void golden_add_roles(const Canvas *canvas, Text *out);

#endif
