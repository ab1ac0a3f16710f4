#define _XOPEN_SOURCE 700

#include "tui/draw/terminal_text.h"

#include "base/utf8.h"
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

bool terminal_shows_utf8(void) {
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

bool terminal_knows(uint32_t character, int columns) {
    return wcwidth((wchar_t)character) == columns;
}

bool terminal_shows_text(const char *utf8) {
    const char *name = getenv("TERM");
    bool is_console = name && !strncmp(name, "linux", 5), shows_utf8 = terminal_shows_utf8();
    while (*utf8) {
        uint32_t character = utf8_next(&utf8);
        int columns = utf8_columns(character);
        if (character <= '~') continue;
        if (!shows_utf8 || !terminal_knows(character, columns) || (is_console && columns == 2)) return false;
    }
    return true;
}
