/* The bug kernels are wrong in exactly the way that their lesson says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runs.h"
#include <string.h>

static const PtxType TYPES[] = {PTX_S32, PTX_F32, PTX_F64};
enum { TYPE_COUNT = sizeof TYPES / sizeof TYPES[0] };

/* Runs on ones, so that wrong sums are easy to predict. */
static Session *run_ones(const char *kernel, uint64_t n, uint32_t block, PtxType type) {
    CatalogOptions options = {.n = n, .block = block, .dtype = type, .fill = FILL_ONES, .has_fill = true};
    return run_kernel(kernel, &options);
}

static void assert_wrong(const char *kernel, uint64_t n, uint32_t block, double expected_result) {
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones(kernel, n, block, TYPES[i]);
        const CatalogResult *result = session_result(session);
        assert_int_equal(session_trace(session)->trap_count, 0);
        assert_true(result->expected == (double)n);
        assert_true(result->result == expected_result);
        assert_false(result->correct);
        assert_true(session_failed(session));
        session_free(session);
    }
}

static void assert_right(const char *kernel, uint64_t n, uint32_t block, PtxType type) {
    CatalogOptions options = {.n = n, .block = block, .dtype = type, .seed = 7};
    Session *session = run_kernel(kernel, &options);
    assert_int_equal(session_trace(session)->trap_count, 0);
    assert_true(session_result(session)->correct);
    assert_false(session_failed(session));
    session_free(session);
}

static int line_of(const Session *session, const Trap *trap) {
    return session_trace(session)->launches[trap->launch]->program->code[trap->pc].line.line;
}

static void assert_trap(const Session *session, TrapKind kind, const char *source_text, uint32_t block,
                        int warp, uint32_t lanes) {
    assert_true(session_trace(session)->trap_count > 0);
    const Trap *trap = &session_trace(session)->traps[0];
    assert_int_equal(trap->kind, kind);
    assert_int_equal(line_of(session, trap), run_line_of(session, source_text));
    assert_int_equal(trap->block[0], block);
    assert_int_equal(trap->warp, warp);
    assert_int_equal(trap->lanes, lanes);
    assert_true(trap->detail && trap->detail[0]);
}

static void every_bug_is_marked(void **state) {
    (void)state;
    int count = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        assert_int_equal(row->group == CATALOG_BUG, !strncmp(row->id, "bug_", 4));
        if (row->group != CATALOG_BUG) continue;
        assert_non_null(strstr(row->title, "wrong on purpose"));
        count++;
    }
    assert_int_equal(count, 8);
}

/* Lane 0 of the last warp adds the 7 of 64 sums that it loads itself; each is block / 64 ones. */
static void missing_sync_adds_7_of_64(void **state) {
    (void)state;
    assert_wrong("bug_missing_sync", 1024, 256, 4 * 7 * 4);
    assert_wrong("bug_missing_sync", 1024, 64, 16 * 7);
    assert_wrong("bug_missing_sync", 65536, 1024, 64 * 7 * 16);
}

/* After the five shuffles every lane of a warp of ones holds 32: its own value doubles when the source is
 * missing. */
static void all_lanes_add_counts_32_times(void **state) {
    (void)state;
    assert_wrong("bug_all_lanes_add", 1024, 256, 32 * 1024);
    assert_wrong("bug_all_lanes_add", 2, 32, 3); /* lane 0: 2, lane 1: 1 */
    assert_right("bug_all_lanes_add", 1, 32, PTX_S32);
}

/* All but the first block's elements count twice. */
static void double_count_counts_twice(void **state) {
    (void)state;
    assert_wrong("bug_double_count", 1024, 256, 1024 + 768);
    assert_wrong("bug_double_count", 1000, 128, 1000 + 872);
    assert_right("bug_double_count", 256, 256, PTX_S32);
}

/* 1000 elements, 256 threads a block: threads 232 to 255 of block 3 have none. */
static void unguarded_load_traps(void **state) {
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones("bug_unguarded_load", 0, 0, TYPES[i]);
        assert_trap(session, TRAP_OUT_OF_BOUNDS, "sums[tid] = in[i];", 3, 7, 0xffffff00);
        assert_true(session_failed(session));
        session_free(session);
        assert_right("bug_unguarded_load", 1024, 256, TYPES[i]); /* which is why it stays unnoticed */
    }
}

static void half_shared_traps(void **state) {
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones("bug_half_shared", 0, 0, TYPES[i]);
        assert_trap(session, TRAP_OUT_OF_BOUNDS, "sums[tid] = i < n", 0, 4, 0xffffffff);
        assert_true(session_failed(session));
        session_free(session);
        assert_right("bug_half_shared", 1000, 128, TYPES[i]);
    }
}

/* The first step of block 3 reads sums[232] for thread 104, which is lane 8 of warp 3. */
static void uninitialized_shared_reads_poison(void **state) {
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones("bug_uninitialized_shared", 0, 0, TYPES[i]);
        assert_trap(session, TRAP_UNINITIALIZED, "sums[tid] += sums[tid + s];", 3, 3, 0xffffff00);
        assert_int_equal(session_trace(session)->trap_count,
                         1); /* the place is reported once, and the run goes on */
        if (TYPES[i] == PTX_S32) assert_true(session_failed(session)); /* poison may be small as a float */
        session_free(session);
        assert_right("bug_uninitialized_shared", 1024, 256, TYPES[i]);
    }
}

/* The lesson: neither barrier nor guard is right, and lockstep does not show it. */
static void races_look_right_in_lockstep(void **state) {
    (void)state;
    static const char *const races[] = {"bug_overlapping_halves", "bug_volatile_tail"};
    static const uint64_t sizes[] = {1, 2, 31, 33, 1000, 65537};
    for (int race = 0; race < 2; race++)
        for (int type = 0; type < TYPE_COUNT; type++)
            for (uint32_t block = race ? 64 : 1; block <= 1024; block *= 4)
                for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
                    if (sizes[n] / block <= 1024) assert_right(races[race], sizes[n], block, TYPES[type]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bug_is_marked),
        cmocka_unit_test(missing_sync_adds_7_of_64),
        cmocka_unit_test(all_lanes_add_counts_32_times),
        cmocka_unit_test(double_count_counts_twice),
        cmocka_unit_test(unguarded_load_traps),
        cmocka_unit_test(half_shared_traps),
        cmocka_unit_test(uninitialized_shared_reads_poison),
        cmocka_unit_test(races_look_right_in_lockstep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
