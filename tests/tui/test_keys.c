/* Keys: their names, and what people press who come from less, vim or htop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tui/view/key_table.h"
#include "tui/view/keys.h"
#include <string.h>

/* ---- names --------------------------------------------------------------------------------------------- */

static void a_key_has_the_name_of_the_table_and_the_name_on_the_keyboard(void **state) {
    (void)state;
    static const struct {
        const char *script;
        Key key;
    } rows[] = {{"<Shift-Tab>", SPECIAL_BACK_TAB},
                {"<BackTab>", SPECIAL_BACK_TAB},
                {"<Backtab>", SPECIAL_BACK_TAB},
                {"<shift-tab>", SPECIAL_BACK_TAB},
                {"<PgDn>", SPECIAL_PAGE_DOWN},
                {"<PageDown>", SPECIAL_PAGE_DOWN},
                {"<Esc>", SPECIAL_ESCAPE},
                {"<ctrl-d>", SPECIAL_CONTROL_D},
                {"<Ctrl-U>", SPECIAL_ERASE},
                {"<F10>", SPECIAL_F10},
                {"<Less>", '<'},
                {"<SPACE>", ' '}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *script = rows[i].script;
        Key key;
        Error error = {0};
        if (!keys_read(&script, &key, &error)) fail_msg("%s", error.message);
        assert_int_equal(key, rows[i].key);
        assert_string_equal(script, "");
    }
}

/* The error names --help-keys, and there every special key has a name that a script can use. */
static void an_unknown_name_leads_to_the_names(void **state) {
    (void)state;
    static const char see[] = "see: redviz --help-keys";
    const char *script = "<F11>";
    char name[32];
    Key key;
    Error error = {0};
    Text table = {0};
    assert_false(keys_read(&script, &key, &error));
    assert_non_null(strstr(error.message, "<F11>"));
    assert_string_equal(error.message + strlen(error.message) - strlen(see), see);
    key_table_print(&table);
    bool listed[SPECIAL_KEYS_END - SPECIAL_KEYS] = {0};
    for (int i = 0; keys_name(i); i++) {
        snprintf(name, sizeof name, "`<%s>`", keys_name(i));
        assert_non_null(strstr(text_string(&table), name));
        snprintf(name, sizeof name, "<%s>", keys_name(i));
        script = name;
        assert_true(keys_read(&script, &key, &error));
        if (key > SPECIAL_KEYS) listed[key - SPECIAL_KEYS] = true;
    }
    for (key = SPECIAL_KEYS + 1; key < SPECIAL_KEYS_END; key++) assert_true(listed[key - SPECIAL_KEYS]);
    text_done(&table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_the_name_of_the_table_and_the_name_on_the_keyboard),
        cmocka_unit_test(an_unknown_name_leads_to_the_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
