/* Theme: the look of every role, for terminals with 256, 16, 8 or no colours. */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include "canvas.h"

typedef struct Look {
    short colour; /* of the foreground, in the terminal's own numbering; -1: the terminal's default */
    bool bold, underline, reverse;
} Look;

/* `colours`: how many the terminal has; 0 where it has none or NO_COLOR is set. */
Look theme_look(Role role, int colours);

#endif
