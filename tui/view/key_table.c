#include "tui/view/key_table.h"

#include "tui/view/key_actions.h"
#include "tui/view/keys.h"

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
