/* I: remedies of the finding, tried in place of the run; Escape shows the run as it was. What was tried does
 * not stay in a later run by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "tui/app.h"
#include <string.h>

static void draw(const RunSpec *options, const char *keys, int columns, int rows, Text *out) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    AppStart start = {.keys = keys, .still = true};
    text_clear(out);
    if (!app_frame(session, columns, rows, &start, out, &error)) fail_msg("%s: %s", keys, error.message);
    session_free(session);
}

typedef struct Script {
    const char *kernel, *keys;
    const char *shown[4], *never[2];
} Script;

static void check(const Script *script, Text *out) {
    for (int i = 0; i < 4 && script->shown[i]; i++)
        if (!strstr(text_string(out), script->shown[i]))
            fail_msg("%s %s: no '%s' in\n%s", script->kernel, script->keys, script->shown[i],
                     text_string(out));
    for (int i = 0; i < 2 && script->never[i]; i++)
        if (strstr(text_string(out), script->never[i]))
            fail_msg("%s %s: '%s' in\n%s", script->kernel, script->keys, script->never[i], text_string(out));
}

#define CHANGED "EMULATED, CHANGED COPY"

static void remedies_come_one_after_another(void **state) {
    (void)state;
    static const Script scripts[] = {
        {"strided",
         "I",
         {CHANGED, "a word after every 32 in sdata: wavefronts 600 -> 180",
          "─ a word after every 32 in sdata ──", "k keep it (shows the diff)  I next  Esc"},
         {"Watch:"}},
        {"strided",
         "II",
         {CHANGED, "XOR with the number of the row of 32 words in sdata: wavefronts 600 -> 180"},
         {0}},
        /* The third one is a kernel of the catalogue, beside the unchanged run. */
        {"strided", "III", {"differences  strided : sequential"}, {CHANGED}},
        {"strided", "2I", {CHANGED, "XOR with the number of the row of 32 words in sdata: wavefronts"}, {0}},
        {"strided", "9I", {"remedies: 1 pad  2 swizzle  3 sequential"}, {CHANGED}},
        {"strided", "2fI", {"differences  strided : unroll_last_warp"}, {CHANGED}},
        {"lab_bank_padding",
         "I",
         {CHANGED, "a word after every 32 in tile: wavefronts 1,056 -> 64", "no conflict"},
         {0}},
        {"interleaved", "I", {"differences  interleaved : strided"}, {CHANGED}},
        {"sequential", "I", {"differences  sequential : first_add"}, {0}},
        {"lab_divergent_branch", "I", {"redviz cannot rewrite line 15; f says what to do"}, {CHANGED}},
        {"lab_coalescing", "p<Esc>I", {"nothing to try"}, {CHANGED}},
    };
    Text out = {0};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        RunSpec options = {.kernel = scripts[i].kernel, .threads = 1};
        if (strncmp(scripts[i].kernel, "lab_", 4) != 0) options.catalog.n = 1024;
        draw(&options, scripts[i].keys, 120, 40, &out);
        check(&scripts[i], &out);
    }
    text_done(&out);
}

static void escape_shows_the_run_as_it_was(void **state) {
    (void)state;
    RunSpec options = {.kernel = "strided", .threads = 1, .catalog.n = 1024};
    Text before = {0}, after = {0};
    draw(&options, "]z<Esc>", 120, 40, &before);
    draw(&options, "]II<Esc>z<Esc>", 120, 40, &after);
    if (strcmp(text_string(&before), text_string(&after)) != 0)
        fail_msg("before\n%s\nafter\n%s", text_string(&before), text_string(&after));
    text_done(&before);
    text_done(&after);
}

static void other_runs_have_no_remedy(void **state) {
    (void)state;
    static const Script scripts[] = {
        {"strided", "Ip<Up>", {"int sum"}, {0}},
        {"strided", "IKsequential<Enter>", {"far half onto near half"}, {CHANGED}},
        {"strided", "I3}", {CHANGED, "block 3"}, {0}}, /* another block of the same copy */
        {"strided", "I3}<Esc>", {"contiguous threads, strided index"}, {CHANGED}},
    };
    Text out = {0};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        RunSpec options = {.kernel = scripts[i].kernel, .threads = 1, .catalog.n = 1024};
        draw(&options, scripts[i].keys, 120, 40, &out);
        check(&scripts[i], &out);
    }
    text_done(&out);
}

static void a_saved_run_does_not_run_again(void **state) {
    (void)state;
    RunSpec options = {.saved = "tests/data/sessions/bug_missing_sync.redviz"};
    Text out = {0};
    draw(&options, "I", 120, 40, &out);
    check(&(Script){"saved", "I", {"a saved session does not run again"}, {CHANGED}}, &out);
    text_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remedies_come_one_after_another),
        cmocka_unit_test(escape_shows_the_run_as_it_was),
        cmocka_unit_test(other_runs_have_no_remedy),
        cmocka_unit_test(a_saved_run_does_not_run_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
