/* A race shown beside itself, in an order of warps and blocks that loses an update: the order is found by
 * trying, and shown and stepped like a comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "session/session.h"
#include "tui/app.h"
#include "tui/session_loader.h"
#include <string.h>

static RunSpec options_of(const char *kernel) {
    RunSpec options = {.kernel = kernel, .threads = 1, .search_races = true};
    options.catalog.n = 1024;
    return options;
}

/* False: `message` contains the message. */
static bool frame(const RunSpec *options, const char *keys, Text *out, Error *message) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    AppStart start = {.keys = keys, .still = true};
    bool good = app_frame(session, 200, 60, &start, out, message);
    session_free(session);
    return good;
}

static void both_sides_are_shown(void **state) {
    (void)state;
    static const char *const shown[] = {"EMULATED   -12518, exact -14024", "EMULATED, ANOTHER ORDER   ",
                                        "line 31: warp 0 lane 0 loads sums[16] (",
                                        "line 35: warp 0 lane 16 stores sums[16] (",
                                        "differences  bug_missing_sync : bug_missing_sync"};
    RunSpec options = options_of("bug_missing_sync");
    Text out = {0};
    Error message = {0};
    if (!frame(&options, "f!", &out, &message)) fail_msg("%s", message.message);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strstr(text_string(&out), shown[i])) fail_msg("no '%s' in\n%s", shown[i], text_string(&out));
    text_clear(&out);
    if (!frame(&options, "!S", &out, &message)) fail_msg("%s", message.message); /* and back */
    assert_null(strstr(text_string(&out), "ANOTHER ORDER"));
    text_done(&out);
}

static void what_has_no_such_order_says_so(void **state) {
    (void)state;
    RunSpec options = options_of("interleaved");
    Text out = {0};
    Error message = {0};
    assert_false(frame(&options, "!", &out, &message));
    assert_string_equal(message.message, "there is no race: no order of warps and blocks loses anything");
    options = options_of("bug_unguarded_load"); /* its fault ends the run, and nothing of it races */
    options.catalog.n = 1000;
    assert_false(frame(&options, "!", &out, &message));
    assert_string_equal(message.message, "there is no race: no order of warps and blocks loses anything");
    options = (RunSpec){.file = "tests/tui/race_then_fault.ptx", .threads = 1};
    options.args = "out=int[64]";
    options.block[0] = 64, options.block[1] = options.block[2] = 1;
    options.grid[0] = options.grid[1] = options.grid[2] = 1;
    assert_false(frame(&options, "!", &out, &message));
    assert_string_equal(message.message,
                        "A fault ends the run: no order of the threads has a result to compare.");
    options = (RunSpec){.saved = "tests/data/sessions/bug_missing_sync.redviz"};
    text_clear(&out);
    assert_true(frame(&options, "!", &out, &message));
    if (!strstr(text_string(&out), "an order that loses: a saved session does not run again"))
        fail_msg("%s", text_string(&out));
    text_done(&out);
}

static void wake(void) {}

static void it_is_found_in_a_thread(void **state) {
    (void)state;
    RunSpec options = options_of("bug_missing_sync");
    Error error = {0};
    SessionLoader *loader = loader_start_in_bad_order(&options, wake);
    assert_non_null(loader);
    Session *session = loader_finish(loader, &error);
    if (!session) fail_msg("%s", error.message);
    assert_int_equal(session_spec(session)->hold_count, 1);
    session_free(session);
    loader = loader_start_in_bad_order(&(RunSpec){.kernel = "no_such_kernel"}, wake);
    assert_null(loader_finish(loader, &error));
    assert_non_null(strstr(error.message, "no_such_kernel"));
}

/* The trees of the result, of this block size and of another. */
static void another_block_size_is_shown_beside(void **state) {
    (void)state;
    static const char *const shown[] = {"<<<4, 256>>>", "<<<4, 128>>>", "shared +128",
                                        "differences  row_sum"};
    RunSpec options = {.kernel = "row_sum", .threads = 1, .catalog = {.n = 4096}};
    Text out = {0};
    Error message = {0};
    if (!frame(&options, "|", &out, &message)) fail_msg("%s", message.message);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strstr(text_string(&out), shown[i])) fail_msg("no '%s' in\n%s", shown[i], text_string(&out));
    const char *first = strstr(text_string(&out), "the result, level by level");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "the result, level by level"));
    text_clear(&out);
    assert_true(frame(&options, "64|", &out, &message));
    assert_non_null(strstr(text_string(&out), "<<<4, 64>>>"));
    text_clear(&out);
    options = (RunSpec){.saved = "tests/data/sessions/bug_missing_sync.redviz"};
    assert_true(frame(&options, "|", &out, &message));
    assert_non_null(strstr(text_string(&out), "a saved session does not run again"));
    text_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_are_shown),
        cmocka_unit_test(what_has_no_such_order_says_so),
        cmocka_unit_test(another_block_size_is_shown_beside),
        cmocka_unit_test(it_is_found_in_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
