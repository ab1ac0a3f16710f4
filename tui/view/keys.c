#include "tui/view/keys.h"

#include <string.h>

const KeyRow key_rows[ACTION_COUNT] = {
    {"", "", "", ""},
#define KEY(action, forwards, backwards, name, help) {forwards, backwards, name, help},
#include "tui/view/keys.def"
#undef KEY
};

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

bool keys_read(const char **script, Key *key, Error *error) {
    const char *at = *script, *end;
    *key = KEY_NONE_PRESSED;
    if (!*at) return true;
    if (*at == '<' && (end = strchr(at, '>'))) {
        for (int i = 0; i < SPECIAL_COUNT; i++) {
            size_t length = strlen(specials[i].name);
            if ((size_t)(end - at - 1) != length || strncmp(at + 1, specials[i].name, length) != 0) continue;
            *key = specials[i].key;
            *script = end + 1;
            return true;
        }
        return error_set(error,
                         "--keys: no key is called %.*s; the names are in the help of --keys, <Less> is '<'",
                         (int)(end - at + 1 < 40 ? end - at + 1 : 40), at);
    }
    *key = (unsigned char)*at;
    *script = at + 1;
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

KeyAction keys_find(Key key, int *direction) {
    for (int action = 1; action < ACTION_COUNT; action++) {
        *direction = 1;
        if (list_holds(key_rows[action].forwards, key)) return (KeyAction)action;
        *direction = -1;
        if (list_holds(key_rows[action].backwards, key)) return (KeyAction)action;
    }
    *direction = 0;
    return ACT_NONE;
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
