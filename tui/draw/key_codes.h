/* Key codes: keys as a terminal reports them and key scripts name them. */
#ifndef TUI_DRAW_KEY_CODES_H
#define TUI_DRAW_KEY_CODES_H

#include <stdint.h>

typedef uint32_t Key; /* a Unicode scalar, or a special key */

enum {
    KEY_NONE_PRESSED = 0,
    SPECIAL_KEYS = 0x110000, /* the first value that is not a character */
#define SPECIAL(id, name, shown) SPECIAL_##id,
#include "tui/draw/special_keys.def"
#undef SPECIAL
    SPECIAL_KEYS_END
};

#endif
