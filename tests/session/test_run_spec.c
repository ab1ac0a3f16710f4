/* Specifications of runs: copies are equal and independent, each change of a field is seen, watching is not;
 * and the same change of a run is run once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include <string.h>

static void copies_are_equal(void **state) {
    (void)state;
    Arena arena = {0};
    char entry[] = "k", parameter[] = "stride=4";
    Hold hold = {.lanes = 3};
    RunSpec spec = {
        .entry = entry, .holds = &hold, .hold_count = 1, .catalog = {.n = 8, .parameters = {parameter}}};
    spec.catalog.parameter_count = 1;
    RunSpec copy = run_spec_copy(&spec, &arena);
    assert_true(run_spec_equal(&spec, &copy));
    assert_ptr_not_equal(copy.holds, spec.holds);
    copy.threads = 7;
    assert_true(run_spec_equal(&spec, &copy));
    copy.catalog.n = 9;
    assert_false(run_spec_equal(&spec, &copy));
    copy.catalog.n = 8;
    parameter[7] = '5';
    assert_string_equal(copy.catalog.parameters[0], "stride=4");
    assert_false(run_spec_equal(&spec, &copy));
    parameter[7] = '4';
    hold.lanes = 1;
    assert_false(run_spec_equal(&spec, &copy));
    arena_done(&arena);
}

static void another_entry_drops_its_launch(void **state) {
    (void)state;
    RunSpec spec = {
        .file = "k.cu", .entry = "a", .args = "n", .ptx = "changed", .grid = {2, 1, 1}, .schedule = 3};
    run_spec_choose_entry(&spec, "b");
    RunSpec expected = {.file = "k.cu", .entry = "b", .schedule = 3};
    assert_true(run_spec_equal(&spec, &expected));
    run_spec_choose_kernel(&spec, "interleaved");
    assert_null(spec.file);
    assert_null(spec.entry);
    assert_int_equal(spec.schedule, 3);
}

static void the_same_change_runs_once(void **state) {
    (void)state;
    Error error = {0};
    uint64_t one = 1, two = 2;
    Session *session =
        session_open(&(RunSpec){.kernel = "interleaved", .threads = 1, .catalog = {.n = 64}}, &error);
    if (!session) fail_msg("%s", error.message);
    Session *first = session_vary(session, &(RunChange){.schedule = &one}, NULL),
            *again = session_vary(session, &(RunChange){.schedule = &one}, NULL),
            *other = session_vary(session, &(RunChange){.schedule = &two}, NULL);
    assert_non_null(first);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(first, other);
    assert_int_equal(session_spec(other)->schedule, 2);
    session_free(first);
    assert_string_equal(session_name(again), "interleaved");
    session_free(again);
    session_free(other);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_equal),
        cmocka_unit_test(another_entry_drops_its_launch),
        cmocka_unit_test(the_same_change_runs_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
