/* Keys and the mouse, the help, its legend and its glossary. Users of less, vim or htop find their keys; a
 * click on the footer and dragging on the timeline act like keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample_folds.h"
#include "tui/view/key_actions.h"
#include "tui/comparison.h"
#include "tui/input.h"
#include "tui/view/keys.h"
#include "tui/view/menu.h"
#include <stdlib.h>
#include <string.h>

static ViewAnswer press(View *view, const Sample *sample, const char *script) {
    Key key;
    Error error = {0};
    ViewAnswer answer = VIEW_IGNORED;
    while (*script) {
        if (!keys_read(&script, &key, &error)) fail_msg("%s", error.message);
        answer = input_press(view, &sample->scene, keys_decode(key));
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

/* The error names --help-keys, which lists a name for scripts for every special key. */
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

/* ---- keys of other programs ---------------------------------------------------------------------------- */

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

static void enter_goes_to_the_first_finding(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "G<Enter>"); /* nothing is known */
    assert_true(view.transient.message[0]);
    int conflict = scene_step_index(&sample->scene, 0)->conflict_from[0];
    const Steps *steps = sample->blocks[0].steps;
    Finding slow = {.severity = SEVERITY_SLOW,
                    .access = {.pc = steps->steps[conflict].pc,
                               .event = steps->events[steps->steps[conflict].first],
                               .lane = -1,
                               .buffer = -1},
                    .cause = -1};
    Findings list = {.items = &slow, .count = 1, .is_complete = true};
    sample->scene.borrowed.hazards = &list;
    press(&view, sample, "<Enter>");
    assert_int_equal(view.place.step, conflict);
    assert_int_equal(view.display.picture, SHOW_INSTRUCTION);
    assert_int_equal(view.selection.hazard, 1);
    sample->scene.borrowed.hazards = NULL;
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
    press(&view, sample, ":zqzq<Enter>");
    assert_true(shows(sample, &view, 80, 24, "nothing has this name"));
    press(&view, sample, "<Escape>:theme");
    MenuRow row;
    assert_true(menu_choice(&view, &row));
    assert_int_equal(row.kind, MENU_ACTION);
    assert_int_equal(row.index, ACT_THEME);
    assert_int_equal(press(&view, sample, "<Enter>"), VIEW_ACTION);
    press(&view, sample, "<Escape>:12<Escape>l");
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
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

/* ---- the mouse ----------------------------------------------------------------------------------------- */

/* The column of this text in the footer; fails the test if it is not there. */
static int footer_column(const Sample *sample, const View *view, int columns, bool ascii,
                         const char *wanted) {
    Canvas *canvas = canvas_new(columns, 40, ascii);
    frame_draw(&sample->scene, view, canvas);
    int found = -1, length = canvas_text_columns(wanted);
    for (int column = 0; found < 0 && column + length <= columns; column++) {
        Text cells = {0};
        for (int i = 0; i < length; i++) {
            canvas_add_cell_text(&canvas->cells[39 * columns + column + i], &cells);
        }
        if (!strcmp(text_string(&cells), wanted)) found = column;
        text_done(&cells);
    }
    if (found < 0) fail_msg("the footer has no \"%s\"", wanted);
    canvas_free(canvas);
    return found;
}

static void each_hint_of_the_footer_is_its_key(void **state) {
    (void)state;
    static const struct {
        const char *hint;
        int at; /* the column clicked, relative to the hint's first */
        bool ascii;
        Key key;
    } rows[] = {{"← → beat", 0, false, SPECIAL_LEFT},
                {"← → beat", 2, false, SPECIAL_RIGHT},
                {"← → beat", 7, false, SPECIAL_RIGHT},
                {"[ ] level", 0, false, '['},
                {"[ ] level", 2, false, ']'},
                {"n N conflict", 0, false, 'n'},
                {"n N conflict", 2, false, 'N'},
                {"n N conflict", 8, false, 'n'},
                {"Space play", 3, false, ' '},
                {"? help", 3, false, '?'},
                {"q quit", 0, false, 'q'},
                {"Left Right beat", 3, true, SPECIAL_LEFT},
                {"Left Right beat", 5, true, SPECIAL_RIGHT}};
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int column = footer_column(sample, &view, 200, rows[i].ascii, rows[i].hint) + rows[i].at;
        if (frame_footer_key(NULL, &view, 200, rows[i].ascii, column) != rows[i].key)
            fail_msg("\"%s\", column %d", rows[i].hint, rows[i].at);
    }
    assert_int_equal(frame_footer_key(NULL, &view, 200, false, 0), KEY_NONE_PRESSED);
    press(&view, sample, "12"); /* a number moves the hints */
    int column = footer_column(sample, &view, 200, false, "[ ] level") + 2;
    assert_int_equal(frame_footer_key(NULL, &view, 200, false, column), ']');
    press(&view, sample, "<Escape>/");
    assert_int_equal(frame_footer_key(NULL, &view, 200, false, column), KEY_NONE_PRESSED);
    press(&view, sample, "<Escape>K");
    assert_int_equal(frame_footer_key(NULL, &view, 200, false, column), KEY_NONE_PRESSED);
    sample_free(sample);
}

/* A narrow screen shows the first key of each hint; these are always among them. */
static void a_narrow_footer_keeps_what_a_lecture_needs(void **state) {
    (void)state;
    static const struct {
        int columns;
        const char *hint;
        Key key;
    } rows[] = {{80, "→ beat", SPECIAL_RIGHT}, {80, "] level", ']'},     {80, "Space play", ' '},
                {80, "K kernel", 'K'},         {80, "c compare", 'c'},   {80, "B ladder", 'B'},
                {80, "f finding", 'f'},        {80, "? help", '?'},      {80, "q quit", 'q'},
                {120, "d split", 'd'},         {120, "n conflict", 'n'}, {120, "e edit", 'e'},
                {120, "p params", 'p'},        {120, ": find", ':'},     {120, "q quit", 'q'}};
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int column = footer_column(sample, &view, rows[i].columns, false, rows[i].hint);
        assert_int_equal(frame_footer_key(NULL, &view, rows[i].columns, false, column), rows[i].key);
    }
    sample_free(sample);
}

/* At 80x24, where these panes are not on the screen or not whole. */
static void a_key_brings_up_what_it_changes(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "t");
    assert_int_equal(view.display.focus, FOCUS_SIDE);
    press(&view, sample, "r");
    assert_int_equal(view.display.focus, FOCUS_PICTURE);
    press(&view, sample, "T<Escape>"); /* the message */
    press(&view, sample, "<Escape>");
    assert_int_equal(view.display.focus, FOCUS_PICTURE);
    press(&view, sample, "<Tab>H"); /* the source is hidden */
    assert_non_null(strstr(view.transient.message, "A shows all panes"));
    assert_true(view.display.hidden >> FOCUS_SOURCE & 1);
    press(&view, sample, "s");
    assert_false(view.display.hidden >> FOCUS_SOURCE & 1);
    assert_non_null(strstr(view.transient.message, "PTX"));
    press(&view, sample, "u");
    assert_non_null(strstr(view.transient.message, "counts"));
    press(&view, sample, "V");
    assert_int_equal(view.display.focus, FOCUS_LANES);
    sample_free(sample);
}

static void a_projector_has_the_strongest_contrast(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    view.display.theme = THEME_LIGHT;
    press(&view, sample, "P");
    assert_int_equal(view.display.theme, THEME_CONTRAST);
    press(&view, sample, "P");
    assert_int_equal(view.display.theme, THEME_LIGHT);
    view.display.theme = THEME_MONO;
    press(&view, sample, "P");
    assert_int_equal(view.display.theme, THEME_MONO);
    sample_free(sample);
}

static void dragging_on_the_timeline_scrubs(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    Comparison comparison;
    comparison_init(&comparison, &sample->scene);
    View *view = comparison_view(&comparison);
    int last = sample->blocks[0].steps->step_count - 1, before = -1;
    Rectangle timeline = {0};
    for (int row = 0; row < 40 && !timeline.rows; row++)
        timeline = comparison_timeline_at(&comparison, 120, 40, 60, row);
    assert_true(timeline.rows >= 2 && timeline.columns > 100);
    assert_int_equal(comparison_timeline_at(&comparison, 120, 40, 60, timeline.row - 1).rows, 0);
    view_jump_to_step(view, &sample->scene, 7);
    view_jump_to_step(view, &sample->scene, 9);
    for (int column = 0; column < 120; column++) {
        comparison_scrub(&comparison, 120, 40, timeline, column);
        assert_true(view->place.step >= before);
        if (column <= timeline.column) assert_int_equal(view->place.step, 0);
        before = view->place.step;
    }
    assert_int_equal(before, last);
    assert_int_equal(view->place.back.number, 8); /* '' does not return into the middle of a drag */
    press(view, sample, "?");
    assert_int_equal(comparison_timeline_at(&comparison, 120, 40, 60, timeline.row).rows, 0);
    sample_free(sample);
}

/* ---- the help ------------------------------------------------------------------------------------------ */

typedef struct Said {
    const char *of, *term, *meaning;
} Said;

static const Said signs[] = {
#define SIGN(pane, role, sign, meaning) {#pane, sign, meaning},
#include "tui/panes/legend.def"
#undef SIGN
};
static const Said words[] = {
#define WORD(word, meaning) {"", word, meaning},
#include "tui/panes/glossary.def"
#undef WORD
};

/* The whole text of the overlay, collected by scrolling. */
static char *scroll_through(const Sample *sample, const View *at, int columns, int rows) {
    Text text = {0};
    View view = *at;
    for (int line = 0; line < 400; line++) {
        Canvas *canvas = canvas_new(columns, rows, false);
        view.transient.scroll = line;
        frame_draw(&sample->scene, &view, canvas);
        canvas_to_text(canvas, &text);
        canvas_free(canvas);
    }
    return text.data;
}

/* The first words of a meaning: as many as one row holds. */
static void assert_said(const char *text, const Said *said) {
    char begin[20], wanted[96];
    snprintf(begin, sizeof begin, "%s", said->meaning);
    char *space = strlen(said->meaning) >= sizeof begin ? strrchr(begin, ' ') : NULL;
    if (space) *space = 0;
    for (const char *at = text; (at = strstr(at, said->term)); at++) {
        const char *after = at + strlen(said->term);
        after += strspn(after, " ");
        if (!strncmp(after, begin, strlen(begin))) return;
    }
    snprintf(wanted, sizeof wanted, "%s  %s", said->term, begin);
    fail_msg("%s: the help does not say \"%s\"", said->of, wanted);
}

static void every_action_is_in_one_group_and_on_one_page(void **state) {
    (void)state;
    int listed[ACTION_COUNT] = {0};
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, sample, "?");
    for (KeyGroup group = 0; group < KEY_GROUP_COUNT; group++) {
        if (!shows(sample, &view, 120, 40, keys_group_title(group))) fail_msg("%s", keys_group_title(group));
        for (int i = 0; keys_in_group(group, i) != ACT_NONE; i++) listed[keys_in_group(group, i)]++;
    }
    for (int action = 1; action < ACTION_COUNT; action++) {
        assert_int_equal(listed[action], 1);
        if (!shows(sample, &view, 120, 40, key_rows[action].help)) fail_msg("%s", key_rows[action].help);
    }
    assert_false(shows(sample, &view, 80, 24, key_rows[ACT_REDRAW].help)); /* the help scrolls */
    press(&view, sample, "<PgDn><Ctrl-D>");
    assert_false(shows(sample, &view, 80, 24, key_rows[ACT_BEAT].help));
    press(&view, sample, "<Home>");
    assert_true(shows(sample, &view, 80, 24, key_rows[ACT_BEAT].help));
    press(&view, sample, "redraw");
    assert_true(shows(sample, &view, 80, 24, key_rows[ACT_REDRAW].help));
    assert_false(shows(sample, &view, 80, 24, key_rows[ACT_BEAT].help));
    press(&view, sample, "<Esc>");
    assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    sample_free(sample);
}

/* The legend begins with the focused pane, with all of its signs; those of the other panes follow. */
static void assert_signs_of(Sample *sample, const char *pane, const char *keys, TraceKind kind) {
    static const char *const everywhere[] = {"signs: lanes", "signs: timeline"};
    View view;
    char title[32];
    int count = 0;
    view_init(&view);
    view_go_to_step(&view, &sample->scene, sample_step(sample, kind, 0));
    press(&view, sample, keys);
    press(&view, sample, "?");
    char *text = scroll_through(sample, &view, 120, 24);
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        if (strcmp(signs[k].of, pane) != 0 && strcmp(signs[k].of, "timeline") != 0) continue;
        assert_said(text, &signs[k]);
        count += !strcmp(signs[k].of, pane);
    }
    if (!count) fail_msg("legend.def has no sign of %s", pane);
    snprintf(title, sizeof title, "signs: %s", pane); /* before those of the other panes on the screen */
    const char *first = strstr(text, "signs: ");
    assert_non_null(first);
    if (strncmp(first, title, strlen(title)) != 0) fail_msg("%s, not %.30s", title, first);
    for (size_t k = 0; k < sizeof everywhere / sizeof *everywhere; k++)
        if (!strstr(text, everywhere[k])) fail_msg("no %s, in %s", everywhere[k], pane);
    free(text);
}

static void the_help_has_the_signs_of_the_pane_with_the_focus(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    SampleFolds known;
    const struct {
        const char *pane, *keys;
        TraceKind kind;
    } rows[] = {{"source", "<Tab>", TRACE_SHARED_LOAD},
                {"sass", "<Tab>sss", TRACE_SHARED_LOAD},
                {"lanes", "<Tab><Tab>", TRACE_SHARED_LOAD},
                {"banks", "", TRACE_SHARED_LOAD},
                {"shuffle", "", TRACE_SHUFFLE},
                {"vote", "", TRACE_VOTE},
                {"global", "", TRACE_GLOBAL_LOAD},
                {"branch", "", TRACE_BRANCH},
                {"barrier", "", TRACE_BARRIER},
                {"tree", "rr", TRACE_SHUFFLE},
                {"reduction", "", TRACE_SHARED_LOAD}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* Otherwise its boxes are unknown. */
        if (!strcmp(rows[i].pane, "reduction")) sample_fold(sample, NO_FAULT, &known);
        assert_signs_of(sample, rows[i].pane, rows[i].keys, rows[i].kind);
    }
    sample_folds_done(&known);
    sample_free(sample);
}

/* All panes: those of the side in the order in which t shows them. */
static void the_help_has_the_signs_of_each_side_pane(void **state) {
    (void)state;
    static const struct {
        const char *name;
        const Pane *pane;
    } all[] = {
#define PANE(name) {#name, &pane_##name},
#include "tui/panes/panes.def"
#undef PANE
    };
    Sample *sample = sample_new(256);
    char keys[64] = "<Shift-Tab>T"; /* stalls is the first, and shown first only if sampled */
    int count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].pane->slot != SLOT_SIDE) continue;
        assert_signs_of(sample, all[i].name, keys, TRACE_SHUFFLE);
        size_t length = strlen(keys);
        assert_true(length + 1 < sizeof keys);
        memcpy(keys + length, "t", 2);
        count++;
    }
    assert_int_equal(count, pane_side_count());
    sample_free(sample);
}

/* '?' is a sign itself: no other sign may become '?' on an ASCII canvas. */
static void every_sign_exists_in_ascii(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        Canvas *canvas = canvas_new(60, 1, true);
        Text text = {0};
        canvas_text(canvas, (Rectangle){0, 0, 60, 1}, 0, 0, ROLE_TEXT, signs[i].term);
        canvas_to_text(canvas, &text);
        if (!strchr(signs[i].term, '?') && strchr(text_string(&text), '?'))
            fail_msg("%s: %s is %s", signs[i].of, signs[i].term, text_string(&text));
        text_done(&text);
        canvas_free(canvas);
    }
}

static void two_question_marks_explain_the_words(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    for (int columns = 80; columns <= 200; columns += 40) {
        View view;
        view_init(&view);
        press(&view, sample, "??");
        assert_int_equal(view.transient.overlay, OVERLAY_WORDS);
        char *text = scroll_through(sample, &view, columns, 24);
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) assert_said(text, &words[i]);
        free(text);
        press(&view, sample, "?");
        assert_int_equal(view.transient.overlay, OVERLAY_HELP);
        press(&view, sample, "<Escape>");
        assert_int_equal(view.transient.overlay, OVERLAY_NONE);
    }
    sample_free(sample);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_has_the_name_of_the_table_and_the_name_on_the_keyboard),
        cmocka_unit_test(an_unknown_name_leads_to_the_names),
        cmocka_unit_test(pages_are_ten_beats),
        cmocka_unit_test(enter_goes_to_the_first_finding),
        cmocka_unit_test(a_colon_takes_a_step_or_quits),
        cmocka_unit_test(f10_quits_from_everywhere),
        cmocka_unit_test(each_hint_of_the_footer_is_its_key),
        cmocka_unit_test(a_narrow_footer_keeps_what_a_lecture_needs),
        cmocka_unit_test(a_key_brings_up_what_it_changes),
        cmocka_unit_test(a_projector_has_the_strongest_contrast),
        cmocka_unit_test(dragging_on_the_timeline_scrubs),
        cmocka_unit_test(every_action_is_in_one_group_and_on_one_page),
        cmocka_unit_test(the_help_has_the_signs_of_the_pane_with_the_focus),
        cmocka_unit_test(the_help_has_the_signs_of_each_side_pane),
        cmocka_unit_test(every_sign_exists_in_ascii),
        cmocka_unit_test(two_question_marks_explain_the_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
