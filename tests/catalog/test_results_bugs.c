/* The bug kernels are wrong in exactly the way that their lesson says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
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
        const ExpectResult *result = session_result(session);
        assert_int_equal(session_trace(session)->trap_count, 0);
        assert_true(result->expected == (double)n);
        assert_true(result->result == expected_result);
        assert_false(result->correct);
        assert_true(ask_failed(session));
        session_free(session);
    }
}

static void assert_right(const char *kernel, uint64_t n, uint32_t block, PtxType type) {
    CatalogOptions options = {.n = n, .block = block, .dtype = type, .seed = 7};
    Session *session = run_kernel(kernel, &options);
    assert_int_equal(session_trace(session)->trap_count, 0);
    assert_true(session_result(session)->correct);
    assert_false(ask_failed(session));
    session_free(session);
}

static int line_of(Session *session, const Trap *trap) {
    return session_trace(session)->launches[trap->launch]->program->code[trap->pc].line.line;
}

static void assert_trap(Session *session, TrapKind kind, const char *source_text, uint32_t block, int warp,
                        uint32_t lanes) {
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
    assert_wrong("bug_missing_sync", 16384, 1024, 16 * 7 * 16);
}

/* After the five shuffles every lane of a warp of ones holds 32: without a source lane, its own value
 * doubles. */
static void all_lanes_add_counts_32_times(void **state) {
    (void)state;
    assert_wrong("bug_all_lanes_add", 1024, 256, 32 * 1024);
    assert_wrong("bug_all_lanes_add", 2, 32, 3); /* lane 0: 2, lane 1: 1 */
    assert_right("bug_all_lanes_add", 1, 32, PTX_S32);
}

/* All elements but those of the first block count twice. */
static void double_count_counts_twice(void **state) {
    (void)state;
    assert_wrong("bug_double_count", 1024, 256, 1024 + 768);
    assert_wrong("bug_double_count", 1000, 128, 1000 + 872);
    assert_right("bug_double_count", 256, 256, PTX_S32);
}

/* 1000 elements, 256 threads a block: threads 232 to 255 of block 3 have no element. */
static void unguarded_load_traps(void **state) {
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones("bug_unguarded_load", 0, 0, TYPES[i]);
        assert_trap(session, TRAP_OUT_OF_BOUNDS, "sums[tid] = in[i];", 3, 7, 0xffffff00);
        assert_true(ask_failed(session));
        session_free(session);
        assert_right("bug_unguarded_load", 1024, 256, TYPES[i]); /* so the bug goes unnoticed */
    }
}

static void half_shared_traps(void **state) {
    (void)state;
    for (int i = 0; i < TYPE_COUNT; i++) {
        Session *session = run_ones("bug_half_shared", 0, 0, TYPES[i]);
        assert_trap(session, TRAP_OUT_OF_BOUNDS, "sums[tid] = i < n", 0, 4, 0xffffffff);
        assert_non_null(strstr(session_trace(session)->traps[0].detail, "past the end of `sums`"));
        assert_true(ask_failed(session));
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
                         1); /* the place is reported once, and the run continues */
        if (TYPES[i] == PTX_S32) assert_true(ask_failed(session)); /* as a float, poison may be small */
        session_free(session);
        assert_right("bug_uninitialized_shared", 1024, 256, TYPES[i]);
    }
}

/* ---- every n with every block: the result of each bug for ones ---- */

enum { MOST_THREADS = 1024 };

typedef struct Prediction {
    int trap;   /* -1: no trap */
    double sum; /* if nothing is fatal and nothing unwritten is read */
} Prediction;

/* The ones of the block that begins at element `begin`; threads beyond n hold 0. */
static void load_block(double *values, uint64_t begin, uint64_t n, uint32_t block) {
    for (uint32_t tid = 0; tid < block; tid++) values[tid] = begin + tid < n ? 1 : 0;
}

/* Lane 0 adds the seven sums that it has loaded itself. */
static double sum_without_sync(uint64_t n, uint32_t block) {
    double sums[MOST_THREADS] = {0}, total = 0;
    for (uint64_t begin = 0; begin < n; begin += block) {
        load_block(sums, begin, n, block);
        for (uint32_t s = block / 2; s > 32; s /= 2)
            for (uint32_t tid = 0; tid < s; tid++) sums[tid] += sums[tid + s];
        total += sums[0] + sums[32] + sums[16] + sums[8] + sums[4] + sums[2] + sums[1];
    }
    return total;
}

/* Lanes without a source add their own value, and all 32 end up in the total. */
static double sum_of_all_lanes(uint64_t n) {
    double total = 0;
    for (uint64_t begin = 0; begin < n; begin += 32) {
        double value[32], old[32];
        load_block(value, begin, n, 32);
        for (int delta = 16; delta > 0; delta /= 2) {
            memcpy(old, value, sizeof old);
            for (int lane = 0; lane < 32; lane++) value[lane] += old[lane + delta < 32 ? lane + delta : lane];
        }
        for (int lane = 0; lane < 32; lane++) total += value[lane];
    }
    return total;
}

static Prediction predict(const char *kernel, uint64_t n, uint32_t block) {
    bool has_tail = n % block != 0;
    Prediction prediction = {-1, (double)n};
    if (!strcmp(kernel, "bug_missing_sync")) prediction.sum = sum_without_sync(n, block);
    if (!strcmp(kernel, "bug_all_lanes_add")) prediction.sum = sum_of_all_lanes(n);
    if (!strcmp(kernel, "bug_double_count") && n > block) prediction.sum += (double)(n - block);
    if (!strcmp(kernel, "bug_unguarded_load") && has_tail) prediction.trap = TRAP_OUT_OF_BOUNDS;
    if (!strcmp(kernel, "bug_half_shared") && block > 128) prediction.trap = TRAP_OUT_OF_BOUNDS;
    if (!strcmp(kernel, "bug_uninitialized_shared") && has_tail) prediction.trap = TRAP_UNINITIALIZED;
    return prediction;
}

static void assert_predicted(const char *kernel, uint64_t n, uint32_t block, PtxType type) {
    Prediction prediction = predict(kernel, n, block);
    Session *session = run_ones(kernel, n, block, type);
    const Trace *trace = session_trace(session);
    const ExpectResult *result = session_result(session);
    int trap = trace->trap_count ? (int)trace->traps[0].kind : -1;
    if (trap != prediction.trap || (trap < 0 && result->result != prediction.sum))
        fail_msg("%s n=%llu block=%u %s: trap %d and %s, expected %d and %g", kernel, (unsigned long long)n,
                 block, plan_type_name(type), trap, result->result_text, prediction.trap, prediction.sum);
    if (trap < 0) assert_int_equal(ask_failed(session), prediction.sum != (double)n);
    session_free(session);
}

/* bug_overlapping_halves and bug_volatile_tail are always right: lockstep hides the race. */
static void every_bug_does_what_is_predicted(void **state) {
    (void)state;
    unsigned long long runs = 0, excluded = 0, above_limit = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group != CATALOG_BUG) continue;
        for (int b = 0; b < RUN_BLOCK_COUNT; b++) {
            bool accepts = run_accepts_block(row, RUN_BLOCKS[b]);
            for (int s = 0; s < RUN_SIZE_COUNT; s++) {
                *(!accepts ? &excluded : RUN_SIZES[s] > run_limit() ? &above_limit : &runs) += TYPE_COUNT;
                for (int type = 0; accepts && RUN_SIZES[s] <= run_limit() && type < TYPE_COUNT; type++)
                    assert_predicted(row->id, RUN_SIZES[s], RUN_BLOCKS[b], TYPES[type]);
            }
        }
    }
    printf("# summary: %llu runs; %llu excluded by the rows' own rules, %llu by REDVIZ_TEST_LARGEST_N\n",
           runs, excluded, above_limit);
}

/* Their lesson: "right under the default schedule, wrong under --schedule 1", for random numbers and for
 * digits. */
static void schedules_hide_races_and_show_them(void **state) {
    (void)state;
    static const char *const kernels[] = {"bug_overlapping_halves", "bug_volatile_tail"};
    for (int i = 0; i < 8; i++) {
        Error error = {0};
        RunSpec options = {
            .kernel = kernels[i / 4], .catalog = {.prefers_digits = i & 2}, .schedule = i & 1, .threads = 1};
        Session *session = session_open(&options, &error);
        if (!session) fail_msg("%s: %s", kernels[i / 4], error.message);
        assert_int_equal(session_result(session)->correct, !(i & 1));
        session_free(session);
    }
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
        cmocka_unit_test(every_bug_does_what_is_predicted),
        cmocka_unit_test(schedules_hide_races_and_show_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
