/* The trace buffer: too small, damaged, for some blocks only, for loops that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "twin.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct Run {
    Twin twin;
    Plan plans[2];
} Run;

static Run *run_kernel(const char *id, CatalogOptions kernel, TwinOptions options) {
    Error error = {0};
    Run *run = memory_new(sizeof *run);
    const CatalogRow *row = catalog_find(id, &error);
    assert_non_null(row);
    options.what = id;
    run->twin = twin_run_kernel(row, kernel, run->plans, &options);
    twin_expect_same_results(&run->plans[0], &run->plans[1], id);
    return run;
}

static void run_free(Run *run) {
    twin_done(&run->twin);
    plan_free(&run->plans[0]);
    plan_free(&run->plans[1]);
    free(run);
}

/* ---- too small -------------------------------------------------------------------------------------- */

/* What is left is a beginning of what there was, in every thread. */
static void expect_prefix(const TraceLaunch *whole, const TraceLaunch *part, uint32_t block, int threads) {
    enum { MOST = 4096 };
    static int all[MOST], some[MOST];
    for (int t = 0; t < threads; t++) {
        int count = twin_thread_events(whole, block, t, all, MOST);
        int left = twin_thread_events(part, block, t, some, MOST);
        assert_true(count <= MOST && left <= count);
        assert_memory_equal(all, some, (size_t)left * sizeof *all);
    }
}

static void test_dropped_records_are_counted(void **state) {
    (void)state;
    static const char *const kernels[] = {"strided", "shuffle", "vectorized_shared", "atomic"};
    int cut = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        CatalogOptions kernel = {.n = 512, .block = 128};
        Run *whole = run_kernel(kernels[k], kernel, (TwinOptions){.first = 0, .last = 1});
        uint64_t least = instrument_region_minimum(&whole->twin.sites, 128);
        assert_int_equal(whole->twin.tally.dropped, 0);
        for (uint64_t bytes = least; bytes < least + 14 * 1024; bytes += 1024) {
            Run *part = run_kernel(kernels[k], kernel,
                                   (TwinOptions){.first = 0, .last = 1, .region_bytes = bytes / 256 * 256});
            const TraceLaunch *launch = part->twin.decoded->launches[0];
            const InstrumentTally *tally = &part->twin.tally;
            assert_int_equal(tally->records + tally->dropped, whole->twin.tally.records);
            if (part->twin.decoded->launch_count == 1) assert_int_equal(launch->dropped, tally->dropped);
            cut += tally->dropped > 0;
            for (uint32_t b = 0; b < 2; b++) expect_prefix(whole->twin.decoded->launches[0], launch, b, 128);
            run_free(part);
        }
        run_free(whole);
    }
    assert_true(cut > 20);
}

/* ---- which blocks ----------------------------------------------------------------------------------- */

static void test_only_the_blocks_asked_for(void **state) {
    (void)state;
    Run *run = run_kernel("sequential", (CatalogOptions){.n = 2048, .block = 64},
                          (TwinOptions){.first = 3, .last = 5});
    assert_int_equal(run->twin.decoded->launches[0]->block_count, 3);
    assert_true(twin_expect_same_events(&run->twin, "blocks 3 to 5") > 0);
    run_free(run);
    run = run_kernel("sequential", (CatalogOptions){.n = 2048, .block = 64},
                     (TwinOptions){.first = 9999, .last = 9999});
    assert_int_equal(run->twin.tally.records, 0);
    run_free(run);
}

/* ---- loops that wait -------------------------------------------------------------------------------- */

static void test_spin_loops_are_limited(void **state) {
    (void)state;
    CatalogOptions kernel = {.n = 4096, .block = 64, .grid = 20};
    TwinOptions all = {.first = 0, .last = 19, .spin_limit = 1 << 30};
    Run *whole = run_kernel("cooperative", kernel, all);
    assert_int_equal(whole->twin.tally.left_out, 0);
    assert_true(whole->twin.sites.spin_count == 2); /* the acquire load and its branch */
    for (uint32_t limit = 1; limit < 4; limit++) {
        all.spin_limit = limit;
        Run *run = run_kernel("cooperative", kernel, all);
        assert_int_equal(run->twin.tally.dropped, 0);
        if (limit < 3) assert_true(run->twin.tally.left_out > 0);
        assert_true(twin_expect_same_events(&run->twin, "limited") > 0);
        run_free(run);
    }
    run_free(whole);
}

/* ---- damage ----------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static bool decode_again(const Twin *twin, const uint8_t *region, Error *error) {
    Trace *trace = trace_new("gpu");
    TraceLaunch *launch = trace_add_launch(trace, twin->programs[0]);
    launch->grid[0] = launch->grid[1] = launch->grid[2] = launch->block[1] = launch->block[2] = 1;
    launch->block[0] = twin->settings.block_threads;
    InstrumentTally tally = {0};
    bool good = instrument_decode(&twin->sites, &twin->settings, &twin->memory[1], 0, region, &trace->arena,
                                  launch, &tally, error);
    assert_int_equal(launch->block_count, good);
    trace_free(trace);
    return good;
}

static void test_damage_is_an_error(void **state) {
    (void)state;
    static const char *const kernels[] = {"unroll_last_warp", "cooperative", "shuffle"};
    int refused = 0, taken = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Run *run = run_kernel(kernels[k], (CatalogOptions){.n = 300, .block = 64},
                              (TwinOptions){.first = 0, .last = 0, .region_bytes = 64 * 1024});
        Twin *twin = &run->twin;
        uint64_t bytes = twin->settings.region_bytes, used;
        Error error = {0};
        assert_true(decode_again(twin, twin->regions, &error));
        memcpy(&used, twin->regions, sizeof used);
        uint8_t *copy = memory_new(bytes);
        for (int i = 0; i < 3000; i++) {
            memcpy(copy, twin->regions, bytes);
            for (uint64_t count = 1 + random_number() % 4; count; count--) {
                uint64_t at = random_number() %
                              (random_number() % 3 ? bytes - used - 1 < used ? bytes : used + 4096 : 64);
                copy[at % bytes] = (uint8_t)random_number();
            }
            bool good = decode_again(twin, copy, &error);
            refused += !good;
            taken += good;
            if (!good) assert_non_null(strstr(error.message, "trace buffer"));
        }
        memcpy(copy, twin->regions, bytes);
        memset(copy + 64, 0xff, bytes - 64); /* the counts are as they were */
        assert_false(decode_again(twin, copy, &error));
        memset(copy, 0, bytes);
        assert_true(decode_again(twin, copy, &error)); /* nothing was recorded */
        free(copy);
        run_free(run);
    }
    assert_true(refused > 1000 && taken > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dropped_records_are_counted),
        cmocka_unit_test(test_only_the_blocks_asked_for),
        cmocka_unit_test(test_spin_loops_are_limited),
        cmocka_unit_test(test_damage_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
