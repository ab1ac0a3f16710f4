/* What panes share: the texts of their heads. */
#include "tui/panes/pane.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SETS(name, text, at)                                                                                 \
    void name(PaneHead *out, const char *format, ...) {                                                      \
        va_list list;                                                                                        \
        size_t begin = at;                                                                                   \
        va_start(list, format);                                                                              \
        vsnprintf(out->text + begin, sizeof out->text - begin, format, list);                                \
        va_end(list);                                                                                        \
    }
SETS(pane_title, title, 0)
SETS(pane_note, note, 0)
SETS(pane_foot, foot, 0)
SETS(pane_add_title, title, strlen(out->title))
SETS(pane_add_note, note, strlen(out->note))
#undef SETS
