#include "tui/key_script.h"

#include <string.h>

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
