/* Key script: the keys of --keys, with the pauses between them. After a key may stand how long its frame is shown in a
 * recording: l{500ms}, <Space>{4s}. A brace that begins no such pause is a key. */
#ifndef TUI_KEY_SCRIPT_H
#define TUI_KEY_SCRIPT_H

#include "tui/view/keys.h"

#define KEY_SCRIPT_NO_PAUSE (-1.0)

/* A pause at the script's place, and *script moved past it; NO_PAUSE where there is none. */
double key_script_pause(const char **script);

/* Is there a pause anywhere? */
bool key_script_has_pause(const char *script);

/* False at the first key that does not exist. */
bool key_script_check(const char *script, Error *error);

#endif
