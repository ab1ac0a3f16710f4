/* The key table for tui/README.md. */
#ifndef TUI_VIEW_KEY_TABLE_H
#define TUI_VIEW_KEY_TABLE_H

#include "base/text.h"

/* As lines of Markdown: `| key | what it does |`, and the names of special keys in key scripts. */
void key_table_print(Text *out);

#endif
