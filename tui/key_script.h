/* Key script: the keys of --keys, with the pauses between them. A key may be followed by the time for which a
 * recording shows its frame: l{500ms}, <Space>{4s}. A brace that does not begin such a pause is a key. */
#ifndef TUI_KEY_SCRIPT_H
#define TUI_KEY_SCRIPT_H

#include "tui/view/keys.h"

#define KEY_SCRIPT_NO_PAUSE (-1.0)

/* Reads a pause at the script's place and moves *script past it; NO_PAUSE: there is no pause there. */
double key_script_pause(const char **script);

/* Whether the script contains a pause. */
bool key_script_has_pause(const char *script);

/* Returns false at the first unknown key. */
bool key_script_check(const char *script, Error *error);

#endif
