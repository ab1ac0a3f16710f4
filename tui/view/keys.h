/* Keys: the key table (keys.def) and key scripts. The dispatcher, the help, the footer and the documents read
 * the table. What a key does is bound in tui/actions*.c. */
#ifndef TUI_VIEW_KEYS_H
#define TUI_VIEW_KEYS_H

#include "base/error.h"
#include "base/text.h"
#include "tui/draw/key_codes.h"
#include <stdbool.h>
#include <stddef.h>

/* ACT_BEAT, ... and KEY_GROUP_MOVE, ... of key_actions.h, which only those include that name one */
typedef int KeyAction, KeyGroup;

typedef struct KeyRow {
    const char *id; /* "DIVERGENCE": finds it in the palette */
    const char *forwards, *backwards, *name, *help;
} KeyRow;

extern const KeyRow key_rows[]; /* of each action; [ACT_NONE] is empty */

/* During a lecture these take precedence. */
typedef enum LectureKey {
    LECTURE_KEY_STOP,
    LECTURE_KEY_RETURN,
    LECTURE_KEY_FIRST,
    LECTURE_KEY_MARK,
    LECTURE_KEY_COUNT /* not a lecture key */
} LectureKey;
extern const KeyRow lecture_key_rows[LECTURE_KEY_COUNT];

/* While the pane of warps in time has the focus, these do (warps_view.h). */
typedef enum WarpsKey {
    WARPS_KEY_WAIT,
    WARPS_KEY_LINE,
    WARPS_KEY_ZOOM,
    WARPS_KEY_PAN,
    WARPS_KEY_RESIDENCY,
    WARPS_KEY_BLOCK,
    WARPS_KEY_STEP,
    WARPS_KEY_COUNT /* not a key of the pane */
} WarpsKey;
extern const KeyRow warps_key_rows[WARPS_KEY_COUNT];

/* The groups in which the help lists the keys: action `index` of a group; ACT_NONE past the last. */
const char *keys_group_title(KeyGroup group);
KeyAction keys_in_group(KeyGroup group, int index);

/* A key press, decoded once by keys_decode(). Each part of the interface that it passes through reads what it
 * needs: the action or, while text is typed or on a screen with its own keys, the key itself. */
typedef struct KeyPress {
    Key key;
    KeyAction action; /* of keys.def; ACT_NONE: no action */
    int direction;    /* 1 forwards, -1 backwards */
} KeyPress;

KeyPress keys_decode(Key key);
/* The same for the keys of a lecture, and of the pane of warps. */
LectureKey keys_of_lecture(Key key, int *direction);
WarpsKey keys_of_warps(Key key, int *direction);

/* Reads the next key of a script and moves *script past it; false at an unknown <Name>. KEY_NONE_PRESSED at
 * the end. Special keys have two names, <BackTab> and <Shift-Tab>, in upper or lower case. */
bool keys_read(const char **script, Key *key, Error *error);

/* The name of special key `index` in scripts ("Right", "Shift-Tab"); NULL past the last. */
const char *keys_name(int index);

/* Key `index` of a list of keys.def as shown to readers ("→", "Space", "Shift-Tab"); false: no such key. */
bool keys_show(const char *list, int index, bool ascii, char *out, size_t bytes);

/* As lines of Markdown: `| key | what it does |`, and the names of special keys in key scripts. */
void key_table_print(Text *out);

/* Key script: the keys of --keys, with the pauses between them. A key may be followed by the time for which a
 * recording shows its frame: l{500ms}, <Space>{4s}. A brace that does not begin such a pause is a key. */

#define KEY_SCRIPT_NO_PAUSE (-1.0)

/* Reads a pause at the script's place and moves *script past it; NO_PAUSE: there is no pause there. */
double key_script_pause(const char **script);

/* Whether the script contains a pause. */
bool key_script_has_pause(const char *script);

/* Returns false at the first unknown key. */
bool key_script_check(const char *script, Error *error);

#endif
