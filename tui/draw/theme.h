/* Theme: the look of every role, for terminals with 256, 16, 8 or no colours. */
#ifndef TUI_DRAW_THEME_H
#define TUI_DRAW_THEME_H

#include "tui/draw/canvas.h"

typedef enum Theme {
#define THEME(id, ...) THEME_##id,
#include "tui/draw/themes.def"
#undef THEME
    THEME_COUNT
} Theme;

typedef struct Look {
    short colour, background; /* in the terminal's own numbering; -1: the terminal's default */
    bool bold, underline, reverse;
} Look;

/* `colours`: the number of colours of the terminal; 0 if it has none or NO_COLOR is set. */
Look theme_look(Theme theme, Role role, int colours);

/* A colour of the standard palette of 256 beyond the first 16, a cube of 6 x 6 x 6 and 24 greys, as 0xRRGGBB;
 * the first 16 and the default are the user's own, so `otherwise` is returned. */
unsigned theme_rgb(short colour, unsigned otherwise);

const char *theme_name(Theme theme);
bool theme_find(const char *name, Theme *out);

#endif
