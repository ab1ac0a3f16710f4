/* A race shown beside itself, in an order of warps and blocks that loses an update: the order is found by
 * trying, and shown and stepped like a comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "base/text.h"
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
                                        "race on sums[16]   line 31 loads, line 35 stores"};
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

/* Two rows of time each: the access that waits, the one that comes too early, the two results, and above them
 * what is missing. */
static void a_race_is_two_rows_of_time(void **state) {
    (void)state;
    static const char *const rows[] = {
        "race on sums[16]",
        "missing: __syncwarp() before the store of line 35",
        " this run                              │ an order that loses\n",
        " lane 0   L31 □ ld sums[16] 631        │ lane 0   ····held····· L31 □ ld -909\n",
        " lane 16  ············· L35 ■ st -909  │ lane 16  L35 ■ st sums[16] -909\n",
        " result -12518                         │ result -5112  +7406\n"};
    static const int sizes[][2] = {{80, 24}, {120, 40}, {200, 60}};
    RunSpec options = options_of("bug_missing_sync");
    for (int size = 0; size < 3; size++) {
        Text out = {0};
        Error error = {0};
        Session *session = session_open(&options, &error);
        AppStart start = {.keys = "f!", .still = true};
        assert_true(app_frame(session, sizes[size][0], sizes[size][1], &start, &out, &error));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (size == 0 && !strstr(text_string(&out), rows[i]))
                fail_msg("no '%s' in\n%s", rows[i], text_string(&out));
        if (size > 0 && (!strstr(text_string(&out), "missing between: __syncwarp() before") ||
                         !strstr(text_string(&out), "L35 ■ st sums[16] -909 too early")))
            fail_msg("%s", text_string(&out));
        assert_null(strstr(text_string(&out), "every metric is the same"));
        session_free(session);
        text_done(&out);
    }
}

/* What the interface shows of each error is what --check says of it; in an order that is found, the thread
 * that is held comes last. */
static int agrees_with_check(const RunSpec *options) {
    Error error = {0};
    Text check = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s", error.message);
    ask_check(session, (CheckTool){0}, CHECK_TEXT, &check);
    const Findings *findings = ask_hazards(session);
    int count = 0;
    for (int i = 0; findings && i < findings->cause_count; i++) {
        const FindingCause *cause = &findings->causes[i];
        if (!cause->order) continue;
        const Finding *lead = &findings->items[cause->lead];
        Session *losing = ask_open_in_bad_order(options, ask_race_pair(lead), &error);
        if (!losing) fail_msg("%s", error.message);
        const AskRace *race = ask_shown_race(losing);
        char results[256];
        snprintf(results, sizeof results, "%s is %s instead of %s.",
                 *race->where ? race->where : "the result", race->result[RACE_ORDER], race->result[RACE_RUN]);
        if (!strstr(cause->order->sentence, results)) fail_msg("%s\n%s", cause->order->sentence, results);
        if (!*race->where) assert_string_equal(session_result(losing)->result_text, race->result[RACE_ORDER]);
        if (!*race->memory || !race->has_second || !*race->access[RACE_ORDER][1].word)
            fail_msg("no pair: %s", cause->order->sentence);
        session_free(losing);
        count++;
    }
    session_free(session);
    text_done(&check);
    return count;
}

static void it_agrees_with_check(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; i < catalog_count(); i++) {
        if (catalog_row(i)->group != CATALOG_BUG) continue;
        RunSpec options = options_of(catalog_row(i)->id);
        count += agrees_with_check(&options);
    }
    assert_true(count >= 3);
    static const struct {
        const char *file, *entry, *args;
        int n, grid, block, rows;
    } own[] = {
        {"tables", "transpose_early", "in=float[1024]:random, out=float[1024], n", 32, 1, 32, 8},
        {"tables", "stencil_in_place", "data=double[n]:random, n", 1000, 4, 256, 1},
        {"tables", "histogram_early", "in=int[n]:random, out=int[16]:zero, n", 1000, 4, 256, 1},
        {"rows", "dot_lost", "a=float[n]:random, b=float[n]:random, out=float[1]:zero, n", 1000, 4, 256, 1},
        {"order", "named_barrier_forgotten", "in=int[n]:random, out=int[n]:zero", 256, 1, 128, 1},
        {"order", "half_warps_mixed", "in=int[n]:random, out=int[n]:zero", 32, 1, 32, 1},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char path[64];
        snprintf(path, sizeof path, "tests/kernels/%s.ptx", own[i].file);
        RunSpec options = {.file = path,
                           .entry = own[i].entry,
                           .args = own[i].args,
                           .threads = 1,
                           .search_races = true,
                           .catalog = {.n = (uint64_t)own[i].n},
                           .grid = {(uint32_t)own[i].grid, 1, 1},
                           .block = {(uint32_t)own[i].block, (uint32_t)own[i].rows, 1}};
        if (!agrees_with_check(&options)) fail_msg("%s: no order loses", own[i].entry);
    }
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
    SessionLoader *loader = loader_start_in_bad_order(&options, (AskRacePair){.pc = PTX_NO_PC}, wake);
    assert_non_null(loader);
    Session *session = loader_finish(loader, &error);
    if (!session) fail_msg("%s", error.message);
    assert_int_equal(session_spec(session)->hold_count, 1);
    session_free(session);
    loader = loader_start_in_bad_order(&(RunSpec){.kernel = "no_such_kernel"}, (AskRacePair){0}, wake);
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
        cmocka_unit_test(a_race_is_two_rows_of_time),
        cmocka_unit_test(it_agrees_with_check),
        cmocka_unit_test(what_has_no_such_order_says_so),
        cmocka_unit_test(another_block_size_is_shown_beside),
        cmocka_unit_test(it_is_found_in_a_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
