/* Keys: their names, and what people press who come from less, vim or htop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample.h"
#include "tui/frame.h"
#include "tui/input.h"
#include "tui/view/key_table.h"
#include "tui/view/keys.h"
#include <string.h>

static ViewAnswer press(View *view, const Sample *sample, const char *script) {
    Key key;
    Error error = {0};
    ViewAnswer answer = VIEW_IGNORED;
    while (*script) {
        if (!keys_read(&script, &key, &error)) fail_msg("%s", error.message);
        answer = input_press(view, &sample->scene, key);
    }
    return answer;
}

static bool shows(const Sample *sample, const View *view, int columns, int rows, const char *wanted) {
    Canvas *canvas = canvas_new(columns, rows, false);
    Text text = {0};
    frame_draw(&sample->scene, view, canvas);
    canvas_to_text(canvas, &text);
    bool found = strstr(text_string(&text), wanted);
    text_done(&text);
    canvas_free(canvas);
    return found;
}

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

/* ---- what other programs have taught ------------------------------------------------------------------- */

static void pages_are_ten_beats(void **state) {
    (void)state;
    static const char *const pages[][2] = {{"<PgDn>", "<PgUp>"}, {"<Ctrl-D>", "<Ctrl-U>"}};
    Sample *sample = sample_new(256);
    for (int i = 0; i < 2; i++) {
        View view, other;
        view_init(&view);
        view_init(&other);
        press(&view, sample, "5l");
        press(&other, sample, "15l");
        int begin = view.place.step;
        press(&view, sample, pages[i][0]);
        assert_int_equal(view.place.step, other.place.step);
        assert_true(view.place.step >= begin + 10);
        press(&view, sample, pages[i][1]);
        assert_int_equal(view.place.step, begin);
    }
    sample_free(sample);
}

static void enter_goes_to_the_next_line(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view, other;
    view_init(&view);
    view_init(&other);
    press(&view, sample, "<Enter><Enter>");
    press(&other, sample, "jj");
    assert_true(view.place.step > 0);
    assert_int_equal(view.place.step, other.place.step);
    sample_free(sample);
}

static void a_colon_takes_a_step_or_quits(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    assert_int_equal(press(&view, sample, ":2"), VIEW_CHANGED);
    assert_true(shows(sample, &view, 80, 24, ":2_"));
    press(&view, sample, "7<Backspace>4<Enter>");
    assert_int_equal(view.place.step, 23);
    press(&view, sample, ":$<Enter>");
    assert_int_equal(view.place.step, sample->blocks[0].steps->step_count - 1);
    press(&view, sample, ":1<Enter>''");
    assert_int_equal(view.place.step, sample->blocks[0].steps->step_count - 1);
    press(&view, sample, ":99999999999999999999<Enter>:0<Enter>");
    assert_int_equal(view.place.step, 0);
    press(&view, sample, ":nonsense<Enter>");
    assert_true(shows(sample, &view, 80, 24, "no command :nonsense; :74 goes to step 74"));
    press(&view, sample, ":12<Escape>l");
    assert_int_equal(view.transient.input, INPUT_COMMANDS);
    press(&view, sample, ":h<Enter>");
    assert_int_equal(view.transient.overlay, OVERLAY_HELP);
    press(&view, sample, "<Escape>");
    assert_int_equal(press(&view, sample, ":q<Enter>"), VIEW_QUIT);
    assert_int_equal(press(&view, sample, ":q!<Enter>"), VIEW_QUIT);
    sample_free(sample);
}

static void f10_quits_from_everywhere(void **state) {
    (void)state;
    static const char *const places[] = {"", "?", "K", "p", "/", ":", "m"};
    Sample *sample = sample_new(256);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        View view;
        view_init(&view);
        press(&view, sample, places[i]);
        assert_int_equal(press(&view, sample, "<F10>"), VIEW_QUIT);
    }
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_the_name_of_the_table_and_the_name_on_the_keyboard),
        cmocka_unit_test(an_unknown_name_leads_to_the_names),
        cmocka_unit_test(pages_are_ten_beats),
        cmocka_unit_test(enter_goes_to_the_next_line),
        cmocka_unit_test(a_colon_takes_a_step_or_quits),
        cmocka_unit_test(f10_quits_from_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
