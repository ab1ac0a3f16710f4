/* The menu for a run of a file: it offers the file's kernels, even while another kernel is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "session/session.h"
#include "tui/app.h"
#include <string.h>

static void expect(const char *keys, const char *shown, const char *hidden) {
    RunSpec options = {.file = "tests/kernels/scans.ptx", .entry = "scan_two_buffers", .first_look = true};
    Error error = {0};
    Text out = {0};
    options.threads = 1;
    options.catalog.n = 256;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    AppStart start = {.keys = keys, .still = true};
    if (!app_frame(session, 120, 40, &start, &out, &error)) fail_msg("%s: %s", keys, error.message);
    if (!strstr(text_string(&out), shown)) fail_msg("%s: no '%s' in\n%s", keys, shown, text_string(&out));
    if (hidden && strstr(text_string(&out), hidden))
        fail_msg("%s: '%s' in\n%s", keys, hidden, text_string(&out));
    text_done(&out);
    session_free(session);
}

static void it_offers_the_kernels_of_the_file(void **state) {
    (void)state;
    int count;
    expect("K", ">scan_two_buffers", NULL);
    expect("Kup_and", ">scan_up_and_down", " scan_in_place");
    expect("Kup_and<Enter>", "redviz  scan_up_and_down", NULL);
    expect("c", ">scan_in_place", NULL); /* the next one */
    expect("cup_and<Enter>", "redviz  scan_up_and_down", NULL);
    expect("Kstrided<Enter>", "redviz  strided", NULL);
    expect("Kstrided<Enter>Kup_and<Enter>", "redviz  scan_up_and_down", NULL); /* and back */
    expect("Kscan_chain<Enter>", "redviz  scan_chain ", NULL);
    Session *session = session_open(&(RunSpec){.kernel = "strided", .threads = 1}, NULL);
    assert_null(session_entries(session, &count));
    assert_int_equal(count, 0);
    session_free(session);
}

/* Options given for one kernel of a file do not apply to another. */
static void another_entry_has_its_own_launch(void **state) {
    (void)state;
    RunSpec options = {
        .file = "a.cu", .entry = "k", .args = "n", .expect = "sum(in)", .launches = "k<<<1, 1>>>()"};
    options.grid[0] = options.block[1] = options.cluster[2] = 7;
    options.shared_bytes = 4;
    options.has_shared = options.cooperative = true;
    options.catalog.n = 100;
    options.catalog.block = options.catalog.grid = options.catalog.cluster = 5;
    run_spec_choose_entry(&options, "other");
    RunSpec expected = {.file = "a.cu", .entry = "other", .catalog.n = 100};
    assert_string_equal(options.entry, "other");
    expected.file = options.file;
    expected.entry = options.entry;
    assert_memory_equal(&options, &expected, sizeof options);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_offers_the_kernels_of_the_file),
                                       cmocka_unit_test(another_entry_has_its_own_launch)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
