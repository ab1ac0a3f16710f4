#include "tui/view/keys.h"

#include "base/utf8.h"
#include "tui/view/key_actions.h"
#include <string.h>
#include <strings.h>

const KeyRow key_rows[ACTION_COUNT] = {
    {"", "", "", "", ""},
#define KEY(action, group, place, forwards, backwards, name, help) {#action, forwards, backwards, name, help},
#include "tui/view/keys.def"
};

const KeyRow lecture_key_rows[LECTURE_KEY_COUNT] = {
    [LECTURE_KEY_STOP] = {"", "<PgDn>", "<PgUp>", "stop", "more of the text, then the next stop; back"},
    [LECTURE_KEY_RETURN] = {"", "<Enter>", "", "", "the answer; back to the stop; next stop"},
    [LECTURE_KEY_FIRST] = {"", "<Home>", "", "", "the first stop"},
    [LECTURE_KEY_MARK] = {"", "<Space>", "", "", "asked for lanes: mark this one; else play"},
};

const KeyRow warps_key_rows[WARPS_KEY_COUNT] = {
    [WARPS_KEY_WAIT] = {"", "<Right>", "<Left>", "wait", "the warp's next, previous wait; its step"},
    [WARPS_KEY_LINE] = {"", "<Down>", "<Up>", "warp", "the next, previous warp of the timeline"},
    [WARPS_KEY_ZOOM] = {"", "+ =", "- _", "zoom", "fewer, more cycles"},
    [WARPS_KEY_PAN] = {"", ".", ",", "later", "later, earlier cycles"},
    [WARPS_KEY_RESIDENCY] = {"", "y", "Y", "at once", "another number of blocks at once"},
    [WARPS_KEY_BLOCK] = {"", "<PgDn>", "<PgUp>", "", "this warp of the next, previous block"},
    [WARPS_KEY_STEP] = {"", "<Enter>", "", "", "the step of the selected wait"},
};

const char *keys_group_title(KeyGroup group) {
    static const char *const titles[] = {
#define GROUP(group, title) title,
#include "tui/view/keys.def"
    };
    return titles[group];
}

KeyAction keys_in_group(KeyGroup group, int index) {
    static const struct {
        KeyGroup group;
        int place;
    } places[ACTION_COUNT] = {
        {KEY_GROUP_COUNT, 0},
#define KEY(action, group, place, ...) {KEY_GROUP_##group, place},
#include "tui/view/keys.def"
    };
    for (int place = 0; place < ACTION_COUNT; place++)
        for (int action = 1; action < ACTION_COUNT; action++)
            if (places[action].group == group && places[action].place == place && index-- == 0)
                return (KeyAction)action;
    return ACT_NONE;
}

static const struct {
    Key key;
    const char *name, *shown;
} specials[] = {
#define SPECIAL(id, name, shown) {SPECIAL_##id, name, shown},
#include "tui/draw/special_keys.def"
#undef SPECIAL
    {' ', "Space", "Space"},
    {'<', "Less", "<"},
};
enum { SPECIAL_COUNT = sizeof specials / sizeof *specials };

const char *keys_name(int index) {
    if (index < 0 || index >= SPECIAL_COUNT) return NULL;
    bool is_plain = (unsigned char)specials[index].shown[0] < 127 && specials[index].shown[1];
    return is_plain ? specials[index].shown : specials[index].name;
}

/* <name>, in upper or lower case, as in a table or on the screen. */
static bool is_called(const char *name, const char *typed, size_t length) {
    return strlen(name) == length && !strncasecmp(name, typed, length);
}

bool keys_read(const char **script, Key *key, Error *error) {
    const char *at = *script, *end;
    *key = KEY_NONE_PRESSED;
    if (!*at) return true;
    if (*at == '<' && (end = strchr(at, '>'))) {
        for (int i = 0; i < SPECIAL_COUNT; i++) {
            size_t length = (size_t)(end - at - 1);
            if (!is_called(specials[i].name, at + 1, length) && !is_called(specials[i].shown, at + 1, length))
                continue;
            *key = specials[i].key;
            *script = end + 1;
            return true;
        }
        return error_set(error,
                         "--keys: no key is called %.*s; <Less> is the key '<'; see: redviz --help-keys",
                         (int)(end - at + 1 < 40 ? end - at + 1 : 40), at);
    }
    *key = utf8_next(script);
    return true;
}

static bool list_holds(const char *list, Key key) {
    Key other;
    while (*list) {
        if (!keys_read(&list, &other, NULL)) return false;
        if (other == key) return true;
        while (*list == ' ') list++;
    }
    return false;
}

/* The row that contains the key; `count`: none. */
static int find(const KeyRow *rows, int count, Key key, int *direction) {
    for (int i = 0; i < count; i++) {
        *direction = 1;
        if (list_holds(rows[i].forwards, key)) return i;
        *direction = -1;
        if (list_holds(rows[i].backwards, key)) return i;
    }
    *direction = 0;
    return count;
}

KeyPress keys_decode(Key key) {
    KeyPress press = {.key = key};
    int action = find(key_rows, ACTION_COUNT, key, &press.direction);
    press.action = action == ACTION_COUNT ? ACT_NONE : (KeyAction)action;
    return press;
}

LectureKey keys_of_lecture(Key key, int *direction) {
    return (LectureKey)find(lecture_key_rows, LECTURE_KEY_COUNT, key, direction);
}

WarpsKey keys_of_warps(Key key, int *direction) {
    return (WarpsKey)find(warps_key_rows, WARPS_KEY_COUNT, key, direction);
}

bool keys_show(const char *list, int index, bool ascii, char *out, size_t bytes) {
    Key key;
    for (; *list; index--) {
        if (!keys_read(&list, &key, NULL)) return false;
        while (*list == ' ') list++;
        if (index) continue;
        const char *shown = NULL;
        char character[2] = {(char)key, 0};
        for (int i = 0; i < SPECIAL_COUNT; i++)
            if (specials[i].key == key)
                shown =
                    ascii && (unsigned char)specials[i].shown[0] > 126 ? specials[i].name : specials[i].shown;
        snprintf(out, bytes, "%s", shown ? shown : character);
        return true;
    }
    return false;
}

/* ---- the table for tui/README.md ----------------------------------------------------------------------- */

void key_table_print(Text *out) {
    text_add(out, "| key | what it does |\n|---|---|\n");
    for (int action = 1; action < ACTION_COUNT; action++) {
        char name[24];
        text_add(out, "|");
        for (int backwards = 0; backwards < 2; backwards++) {
            const char *list = backwards ? key_rows[action].backwards : key_rows[action].forwards;
            for (int i = 0; keys_show(list, i, false, name, sizeof name); i++)
                text_print(out, "%s `%s`", backwards && i == 0 ? "," : "", name);
        }
        text_print(out, " | %s |\n", key_rows[action].help);
    }
    text_add(out, "\nIn `--keys` a character is its key, and these are special keys:");
    for (int i = 0; keys_name(i); i++) text_print(out, "%s `<%s>`", i ? "," : "", keys_name(i));
    text_add(out, ".\n");
}

/* ---- pauses between the keys of a script --------------------------------------------------------------- */

enum { LONGEST_SECONDS = 3600 };

static bool is_digit(char character) {
    return character >= '0' && character <= '9';
}

double key_script_pause(const char **script) {
    const char *at = *script;
    double value = 0, place = 1;
    if (at[0] != '{' || !is_digit(at[1])) return KEY_SCRIPT_NO_PAUSE;
    for (at++; is_digit(*at); at++) value = value * 10 + (*at - '0');
    if (at[0] == '.' && is_digit(at[1]))
        for (at++; is_digit(*at); at++) value += (place /= 10) * (*at - '0');
    bool is_milliseconds = !strncmp(at, "ms}", 3);
    if (!is_milliseconds && strncmp(at, "s}", 2) != 0) return KEY_SCRIPT_NO_PAUSE;
    *script = at + (is_milliseconds ? 3 : 2);
    if (is_milliseconds) value /= 1000;
    return value < LONGEST_SECONDS ? value : LONGEST_SECONDS;
}

bool key_script_has_pause(const char *script) {
    Key key;
    bool found = false;
    while (*script && !found) {
        found = key_script_pause(&script) >= 0;
        if (!found && !keys_read(&script, &key, NULL)) return false;
    }
    return found;
}

bool key_script_check(const char *script, Error *error) {
    Key key;
    while (*script)
        if (key_script_pause(&script) < 0 && !keys_read(&script, &key, error)) return false;
    return true;
}
