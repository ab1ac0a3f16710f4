/* Key table: the keys as README shows them. */
#ifndef TUI_VIEW_KEY_TABLE_H
#define TUI_VIEW_KEY_TABLE_H

#include "base/text.h"

/* As lines of Markdown: `| key | what it does |`. */
void key_table_print(Text *out);

#endif
