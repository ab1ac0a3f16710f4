/* Keys: the key table (keys.def), as the dispatcher, the help, the footer and README read it, and key
 * scripts. What a key does is bound in tui/actions.c. */
#ifndef TUI_VIEW_KEYS_H
#define TUI_VIEW_KEYS_H

#include "base/error.h"
#include "tui/draw/key_codes.h"
#include <stdbool.h>
#include <stddef.h>

typedef enum KeyAction {
    ACT_NONE,
#define KEY(action, forwards, backwards, name, help) ACT_##action,
#include "tui/view/keys.def"
#undef KEY
    ACTION_COUNT
} KeyAction;

typedef struct KeyRow {
    const char *forwards, *backwards, *name, *help;
} KeyRow;

extern const KeyRow key_rows[ACTION_COUNT]; /* [ACT_NONE] is empty */

/* The action of a key; *direction: 1 forwards, -1 backwards. */
KeyAction keys_find(Key key, int *direction);

/* The next key of a script, and *script moved past it; false at an unknown <Name>. KEY_NONE_PRESSED at the
 * end. */
bool keys_read(const char **script, Key *key, Error *error);

/* Key `index` of a list of keys.def as people read it ("→", "Space", "Shift-Tab"); false: no such key. */
bool keys_show(const char *list, int index, bool ascii, char *out, size_t bytes);

#endif
