/* Ten thousand random keys over all screens, at many sizes, in both languages: a frame is drawn after each,
 * and nothing crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/language.h"
#include "tui/app.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPTS = 50, KEYS = 200 };

static const char *const kernels[] = {"interleaved", "strided",     "lab_divergent_branch", "shuffle",
                                      "two_stage",   "softmax_row", "bug_missing_sync",     "async_copy"};
static const char *const special[] = {"<Right>", "<Left>", "<Up>",        "<Down>",   "<PgUp>",  "<PgDn>",
                                      "<Home>",  "<End>",  "<Enter>",     "<Esc>",    "<Tab>",   "<BackTab>",
                                      "<Space>", "<Less>", "<Backspace>", "<Ctrl-D>", "<Ctrl-U>"};

/* A small generator, so that a failure can be repeated by its number. */
static unsigned next(unsigned *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* No q, which quits, and no !, which ends a script where there is no race; Escape now and then, so that no
 * screen keeps all keys. */
static void write_script(unsigned *state, Text *out) {
    text_clear(out);
    for (int i = 0; i < KEYS; i++) {
        unsigned which = next(state);
        if (which % 12 == 0) {
            text_add(out, "<Esc>");
        } else if (which % 3 == 0) {
            text_add(out, special[next(state) % (sizeof special / sizeof *special)]);
        } else {
            char key = (char)('!' + next(state) % ('~' - '!' + 1));
            if (!strchr("q<{!", key)) text_add_bytes(out, &key, 1);
        }
    }
}

static void storm(const char *in_language) {
    int scripts = getenv("REDVIZ_TEST_QUICK") ? 10 : SCRIPTS;
    assert_true(language_set(in_language));
    Text script = {0}, frame = {0};
    int whole = 0;
    for (int i = 0; i < scripts; i++) {
        unsigned state = (unsigned)i * 7919u + 1;
        Error error = {0};
        RunSpec options = {.kernel = kernels[i % 8], .threads = 1, .catalog.n = 256};
        Session *session = session_open(&options, &error);
        if (!session) fail_msg("%s", error.message);
        write_script(&state, &script);
        AppStart start = {.keys = text_string(&script), .still = true, .cast = "/dev/null"};
        text_clear(&frame);
        int columns = 20 + (int)(next(&state) % 200), rows = 5 + (int)(next(&state) % 60);
        bool good = app_frame(session, columns, rows, &start, &frame, &error);
        whole += good;
        if (good && !frame.length) fail_msg("script %d, %s: no frame", i, in_language);
        if (!good && !*error.message) fail_msg("script %d, %s: refused without a reason", i, in_language);
        session_free(session);
    }
    text_done(&script);
    text_done(&frame);
    language_set("en");
    print_message("# summary: %d keys in %s, %d of %d scripts to their end\n", scripts * KEYS, in_language,
                  whole, scripts);
}

static void a_storm_of_keys_in_english(void **state) {
    (void)state;
    storm("en");
}

static void a_storm_of_keys_in_chinese(void **state) {
    (void)state;
    storm("zh");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_storm_of_keys_in_english),
                                       cmocka_unit_test(a_storm_of_keys_in_chinese)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
