/* The trace buffer: too small, damaged, for some blocks only, for loops that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "instrument/region.h"
#include "trace/block.h"
#include "twin.h"

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

/* ---- too small ----------------------------------------------------------------------------------------- */

/* What remains is a prefix of the events of every thread. */
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

/* ---- traced blocks ------------------------------------------------------------------------------------- */

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

/* ---- waiting loops ------------------------------------------------------------------------------------- */

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

/* ---- separate lanes ------------------------------------------------------------------------------------ */

/* Appends the part of the record at `from` that belongs to `lanes`. */
static uint8_t *append_part(const InstrumentSite *site, const uint8_t *from, uint32_t lanes, uint8_t *to) {
    uint32_t mask = (uint32_t)region_read(from + 4, 4);
    uint32_t part = mask & lanes, active = (uint32_t)__builtin_popcount(mask), at = RECORD_HEADER;
    if (!part) return to;
    memcpy(to, from, RECORD_HEADER);
    memcpy(to + 4, &part, 4);
    for (int column = 0; column < site->wide_count + site->narrow_count; column++) {
        uint32_t bytes = column < site->wide_count ? 8 : 4;
        const uint8_t *values = from + RECORD_HEADER + bytes * active * (uint32_t)column;
        if (bytes == 4) values += 4 * active * (uint32_t)site->wide_count;
        for (uint32_t rest = mask; rest; rest &= rest - 1, values += bytes) {
            if (!(part & rest & (0 - rest))) continue;
            memcpy(to + at, values, bytes);
            at += bytes;
        }
    }
    return to + region_record_bytes(site, part);
}

static bool is_executed_together(const InstrumentSite *site) {
    return site->kind == TRACE_SHUFFLE || site->kind == TRACE_REDUX || site->kind == TRACE_BARRIER;
}

/* The same region, as written by a machine that runs the even and the odd lanes separately wherever
 * possible. */
static uint8_t *split_records(const Twin *twin) {
    uint64_t bytes = twin->settings.region_bytes, used = region_read(twin->regions, 8);
    uint64_t begin = region_records_at(&twin->sites, twin->settings.block_threads);
    uint8_t *region = memory_new(bytes), *to = region + begin;
    memcpy(region, twin->regions, begin);
    for (const uint8_t *from = twin->regions + begin; from < twin->regions + begin + used;) {
        const InstrumentSite *site = &twin->sites.sites[region_read(from, 4)];
        uint32_t mask = (uint32_t)region_read(from + 4, 4);
        assert_true((uint64_t)(to - region) + 1024 < bytes);
        to = append_part(site, from, is_executed_together(site) ? 0x55555555 : ~UINT32_C(0), to);
        if (is_executed_together(site)) to = append_part(site, from, 0xaaaaaaaa, to);
        from += region_record_bytes(site, mask);
    }
    used = (uint64_t)(to - region) - begin;
    memcpy(region, &used, sizeof used);
    return region;
}

static void test_records_of_one_execution_are_put_together(void **state) {
    (void)state;
    static const char *const kernels[] = {"shuffle", "redux", "strided", "lab_shuffle_range"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        Run *run = run_kernel(kernels[k], (CatalogOptions){.n = 900}, (TwinOptions){.first = 0, .last = 0});
        Twin *twin = &run->twin;
        TraceLaunch *launch = twin->decoded->launches[twin->decoded->launch_count - 1];
        int index = twin->decoded->launch_count - 1;
        uint64_t records = twin->tally.records, pairs = twin_expect_same_events(twin, kernels[k]);
        TraceBlock *before = launch->blocks[0];
        uint8_t *region = split_records(twin);
        Error error = {0};
        launch->block_count = 0;
        twin->tally = (InstrumentTally){0};
        if (!instrument_decode(&twin->sites, &twin->settings, &twin->memory[1], 0, region,
                               &twin->decoded->arena, launch, &twin->tally, &error))
            fail_msg("%s", error.message);
        assert_true(index > 0 || twin->tally.records > records);
        assert_int_equal(twin_expect_same_events(twin, kernels[k]), pairs);
        trace_block_free(before);
        free(region);
        run_free(run);
    }
}

/* ---- damage -------------------------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static uint64_t random_number(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static bool decode_again(const Twin *twin, const uint8_t *region, Error *error) {
    Trace *trace = trace_new("gpu");
    TraceLaunch *launch = trace_add_launch(trace, &(Launch){.program = twin->programs[0]});
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
        memset(copy + 64, 0xff, bytes - 64); /* the counts are unchanged */
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
        cmocka_unit_test(test_records_of_one_execution_are_put_together),
        cmocka_unit_test(test_damage_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
