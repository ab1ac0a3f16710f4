/* The ladder's table, --ladder and --latency: its rows and columns, their neighbours, and the sentences of
 * articles, checked against the shipped recording. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "ladder/latency.h"
#include "ladder/published.h"
#include "tests/cli/program.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static Timing timing_of(const char *kernel, uint64_t n, double time, bool to_scalar, bool graph) {
    return (Timing){.kernel = kernel,
                    .machine = strcmp(kernel, "cpu") != 0 ? "GPU" : "CPU",
                    .measured = "2026-11-22T00:00:00Z",
                    .n = n,
                    .dtype = "int",
                    .op = "sum",
                    .to_scalar = to_scalar,
                    .graph = graph,
                    .cold = true,
                    .samples = 3,
                    .median = time,
                    .gigabytes_per_second = (double)n * 4e-3 / time,
                    .share_of_read = 0.5,
                    .note = to_scalar ? "3 launches" : NULL};
}

static void add(Measurements *list, const char *kernel, uint64_t n, double alone, double scalar, bool graph) {
    Timing timing = timing_of(kernel, n, scalar, true, graph);
    measured_add_timing(list, &timing);
    timing = timing_of(kernel, n, alone, false, graph);
    if (alone > 0) measured_add_timing(list, &timing);
}

static void add_value(Measurements *list, const char *kernel, uint64_t n, const char *name, double value) {
    MeasuredValue added = {kernel, "GPU", "", n, "int", "sum", name, "", value, NULL};
    measured_add_value(list, &added);
}

static Measurements sample(void) {
    Measurements list = {0};
    add(&list, "strided", 1 << 20, 5, 8, true);
    add(&list, "interleaved", 1 << 20, 10, 16, true);
    add(&list, "interleaved", 12345, 1, 4, true);
    add(&list, "cooperative", 1 << 20, 4, 4, false);
    add(&list, "cub", 1 << 20, 0, 2, true);
    add(&list, "row_sum", 1 << 20, 3, 3, true); /* of rows: no ladder's */
    add_value(&list, "strided", 1 << 20, "SASS instructions", 4194304);
    add_value(&list, "strided", 1 << 20, "issue slots", 57.87);
    add_value(&list, "strided", 1 << 20, "shared pipe", 61.5);
    return list;
}

static void rows_and_columns(void **state) {
    (void)state;
    Measurements list = sample(), here = {0};
    Ladder ladder;
    add(&here, "cpu", 1 << 20, 0, 100, false);
    add(&here, "strided", 1 << 20, 1, 1, true); /* kernels of another list are not mixed in */
    ladder_gather(&ladder, &list, &here, &(LadderOf){.dtype = "int", .op = "sum"});
    assert_string_equal(ladder.rows[0].id, "atomic"); /* not timed, but listed */
    assert_int_equal(ladder.row_count, ladder.rung_count + 2);
    assert_string_equal(ladder.rows[ladder.rung_count].id, "cub");
    assert_string_equal(ladder.rows[ladder.rung_count + 1].id, "cpu");
    assert_int_equal(ladder_find_row(&ladder, "row_sum"), -1);
    assert_int_equal(ladder.size_count, 9);
    for (int i = 1; i < ladder.size_count; i++) assert_true(ladder.sizes[i - 1] < ladder.sizes[i]);
    assert_int_equal(ladder.sizes[1], 12345);
    int size = ladder_find_size(&ladder, 1000000), strided = ladder_find_row(&ladder, "strided");
    assert_int_equal(ladder.sizes[size], 1 << 20);
    assert_true(ladder.best[size] == 2 && isnan(ladder.best[0]));
    assert_true(ladder.rows[strided].times[size]->median == 8);
    assert_int_equal(ladder_speed(&ladder, strided, size), 2);
    assert_int_equal(ladder_speed(&ladder, ladder.rung_count, size), 4);
    assert_int_equal(ladder_speed(&ladder, ladder.rung_count + 1, size),
                     0); /* the CPU: slower than a tenth */
    assert_int_equal(ladder_speed(&ladder, 0, size), -1);
    const char *types[LADDER_TYPES];
    assert_int_equal(ladder_types(&list, types), 1);
    assert_string_equal(types[0], "int");
    const Timing *otherwise = ladder.rows[ladder_find_row(&ladder, "cooperative")].times[size];
    assert_true(ladder_is_otherwise(&ladder, otherwise) &&
                !ladder_is_otherwise(&ladder, ladder.rows[strided].times[size]));
    measured_done(&list);
    measured_done(&here);
}

static void figures_of_a_rung(void **state) {
    (void)state;
    Measurements list = sample();
    Ladder ladder;
    LadderFigures figures;
    ladder_gather(&ladder, &list, NULL, &(LadderOf){.dtype = "int", .op = "max"}); /* not timed: the sum's */
    assert_string_equal(ladder.of.op, "sum");
    int size = ladder_find_size(&ladder, 1 << 20);
    ladder_figures(&ladder, NULL, ladder_find_row(&ladder, "strided"), size, &figures);
    assert_true(figures.over_first == 2 && figures.over_before == 2 && figures.launches == 3);
    assert_true(figures.sass == 4194304 && isnan(figures.wavefronts));
    assert_int_equal(limit_of(&figures.limit), LIMIT_SHARED);
    assert_float_equal(figures.limit.outside, 1 - 5.0 / 8, 1e-12);
    ladder_figures(&ladder, NULL, ladder_find_row(&ladder, "interleaved"), size, &figures);
    assert_true(figures.over_first == 1 && isnan(figures.over_before) && isnan(figures.sass));
    assert_int_equal(limit_of(&figures.limit), LIMIT_UNKNOWN);
    ladder_figures(&ladder, NULL, ladder_find_row(&ladder, "cub"), size, &figures);
    assert_true(figures.over_first == 8 && isnan(figures.over_before) && figures.launches == 0);
    ladder_figures(&ladder, NULL, ladder_find_row(&ladder, "interleaved"), ladder_find_size(&ladder, 12345),
                   &figures);
    assert_int_equal(limit_of(&figures.limit), LIMIT_LAUNCHES); /* 3 of 4 us */
    ladder_figures(&ladder, NULL, 0, size, &figures);
    assert_true(isnan(figures.microseconds) && figures.launches == 0);
    measured_done(&list);
}

static void counts_are_the_emulators(void **state) {
    (void)state;
    LadderCounts counts = {0};
    RunSpec options = ladder_counts_options("interleaved", 1 << 14, "int", "sum");
    Session *session = session_open(&options, NULL);
    assert_null(ladder_counts_find(&counts, "interleaved", 1 << 14, "int", "sum"));
    ladder_counts_add(&counts, &options, session);
    const LadderCount *count = ladder_counts_find(&counts, "interleaved", 1 << 14, "int", "sum");
    assert_non_null(count); /* of 64 blocks; those of 2^20 elements: data/ladder_counters.csv */
    assert_true(count->wavefronts == (389120 + 225280) / 64.0 && count->accesses == count->wavefronts &&
                count->excess == 0 && count->barriers == 294912 / 64.0);
    session_free(session);
    options = ladder_counts_options("interleaved", 1 << 14, "half", "sum");
    ladder_counts_add(&counts, &options, NULL);
    assert_true(ladder_counts_find(&counts, "interleaved", 1 << 14, "half", "sum")->failed);
    ladder_counts_done(&counts);
}

static void numbers_in_few_columns(void **state) {
    (void)state;
    static const struct {
        double time;
        const char *text;
    } times[] = {{1.29, "1.3"},    {99.94, "99.9"},   {99.96, "100"},
                 {26609, "26609"}, {471560, "472ms"}, {2e7, "20s"}};
    char text[32];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        ladder_print_time(times[i].time, text, sizeof text);
        assert_string_equal(text, times[i].text);
    }
    ladder_print_time(NAN, text, sizeof text);
    assert_string_equal(text, "-");
    ladder_print_count(614400, text, sizeof text);
    assert_string_equal(text, "614,400");
    ladder_print_count(130023424, text, sizeof text);
    assert_string_equal(text, "130 M");
    ladder_print_size(1 << 20, text, sizeof text);
    assert_string_equal(text, "2^20");
    ladder_print_size(100000000, text, sizeof text);
    assert_string_equal(text, "100 M");
}

/* ---- articles ------------------------------------------------------------------------------------------ */

static void articles_as_they_were_published(void **state) {
    (void)state;
    uint64_t at;
    char text[64];
    const PublishedStep *k4 = published_find(ARTICLE_A, "shuffle_last_warp");
    assert_true(published_figure(k4, "ms", 1 << 20, &at) == 0.024 && at == 1 << 20);
    assert_true(published_figure(k4, "ms", 1 << 30, &at) == 0.046 && at == 1 << 23); /* the nearest */
    assert_float_equal(published_gain(k4, 1 << 20), 2.0, 1e-9);
    assert_float_equal(published_gain(published_find(ARTICLE_H, "multi_add"), 1 << 20), 62.671 / 2.083, 1e-9);
    assert_null(published_find(ARTICLE_C, "multi_add"));
    published_print_numbers("strided", text, sizeof text);
    assert_string_equal(text, "C1 H2 E1");
    assert_string_equal(published_unit(ARTICLE_E, 1), "% DRAM");
    assert_null(published_unit(ARTICLE_E, 5));
    for (int i = 0; i < published_step_count(); i++) { /* each names a kernel and has its main figure */
        const PublishedStep *step = published_step(i);
        Error error = {0};
        if (!catalog_find(step->kernel, &error)) fail_msg("%s", error.message);
        if (!(published_gain(step, 1 << 20) > 0)) fail_msg("%s has no figure", step->number);
    }
}

/* Against the shipped recording: what it refutes stays refuted until a recording shows otherwise. */
static void what_was_measured_refutes(void **state) {
    (void)state;
    Measurements recorded = {0}, nothing = {0};
    Error error = {0};
    LadderCounts counts = {0};
    if (!bench_recorded("h200", &recorded, &error)) fail_msg("%s", error.message);
    int refuted = 0;
    for (int i = 0; i < published_claim_count(); i++) {
        char says[128], measured[160];
        ClaimVerdict verdict =
            published_claim(i, &recorded, &counts, says, sizeof says, measured, sizeof measured);
        refuted += verdict == CLAIM_REFUTED;
        assert_true((verdict == CLAIM_NOT_KNOWN) == !*measured);
        if (strstr(says, "shuffle takes 1 cycle")) assert_string_equal(measured, "26 cycles");
        assert_int_equal(published_claim(i, &nothing, &counts, says, sizeof says, measured, sizeof measured),
                         CLAIM_NOT_KNOWN);
    }
    assert_true(refuted >= 6);
    measured_done(&recorded);
}

/* ---- latencies ----------------------------------------------------------------------------------------- */

static void every_latency_has_a_place(void **state) {
    (void)state;
    Measurements list = {0};
    Latencies latencies;
    latency_gather(&latencies, &list);
    int places = latencies.count;
    assert_true(places > 20 && latencies.known == 0);
    const CatalogRow *row = catalog_find("lab_latency", NULL);
    for (const char *name = row->latencies; *name;) { /* what the kernel measures, and nothing else */
        char one[64];
        int length = (int)strcspn(name, ";");
        snprintf(one, sizeof one, "%.*s", length, name);
        MeasuredValue value = {row->id, "GPU", "now", 1, "int", "sum", one, "cycles", 7, NULL};
        measured_add_value(&list, &value);
        name += length + (name[length] == ';');
    }
    MeasuredValue other = {row->id, "GPU", "now", 1, "int", "sum", "tea", "cycles", 9, NULL};
    measured_add_value(&list, &other);
    latency_gather(&latencies, &list);
    assert_int_equal(latencies.count, places + 1);
    assert_int_equal(latencies.known, places + 1);
    assert_string_equal(latencies.rows[places].label, "tea");
    assert_string_equal(latencies.rows[places].group, "others");
    assert_true(latencies.most == 9 && isnan(latencies.clock) && isnan(latencies.rows[0].nanoseconds));
    measured_done(&list);
}

/* What lab_wavefronts measures; else the conflicts of lab_latency, which are powers of two. */
static void cycles_follow_from_wavefronts(void **state) {
    (void)state;
    Measurements list = {0};
    Error error = {0};
    Latencies latencies;
    MeasuredValue value = {"lab_latency",    "GPU",    "now", 1,   "int", "sum",
                           "4-way conflict", "cycles", 30,    NULL};
    assert_true(isnan(latency_of_wavefronts(&list, 4).alone));
    measured_add_value(&list, &value);
    assert_true(latency_of_wavefronts(&list, 4).alone == 30 && isnan(latency_of_wavefronts(&list, 3).alone));
    latency_gather(&latencies, &list);
    int places = latencies.count;
    const CatalogRow *row = catalog_find("lab_wavefronts", &error);
    int named = 0;
    for (const char *name = row->latencies; *name; named++) {
        char one[64];
        int length = (int)strcspn(name, ";");
        snprintf(one, sizeof one, "%.*s", length, name);
        value = (MeasuredValue){row->id, "GPU", "now", 1, "int", "sum", one, "cycles", 100 + named, NULL};
        measured_add_value(&list, &value);
        name += length + (name[length] == ';');
    }
    assert_int_equal(named, 64);
    for (int wavefronts = 1; wavefronts <= 32; wavefronts++) {
        WavefrontCycles cycles = latency_of_wavefronts(&list, wavefronts);
        assert_true(cycles.alone == 99 + wavefronts && cycles.in_flight == 131 + wavefronts);
        assert_string_equal(cycles.machine, "GPU");
    }
    latency_gather(&latencies, &list); /* they have no row on the latency screen */
    assert_int_equal(latencies.count, places);
    measured_done(&list);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static void the_program_prints_it(void **state) {
    (void)state;
    char *text = program_output(0, "@ --ladder --n 2^14 --dtype float");
    program_assert_contains(text, "float sum, microseconds to one number; NVIDIA H200, recorded 20");
    program_assert_contains(text, "at n = 2^14");
    program_assert_contains(text, "limited by");
    program_assert_contains(text, "Harris' classic seven");
    assert_null(strstr(text, " \n"));
    free(text);
    text = program_output(0, "@ --ladder=json --n 2^14");
    program_assert_contains(text, "\"n\":16384");
    program_assert_contains(text, "\"kernel\":\"interleaved\",\"number\":\"K0\",\"rung\":true,\"published\":"
                                  "[{\"article\":\"A\",\"step\":\"K0\"}");
    program_assert_contains(text, "\"shared_wavefronts\":9.6");
    free(text);
    text = program_output(0, "@ --latency");
    program_assert_contains(text, "Cycles until the result can be used; NVIDIA H200");
    program_assert_contains(text, "global memory, found in");
    free(text);
    text = program_output(0, "@ --latency=json --machine h200");
    program_assert_contains(text, "\"name\":\"L2 cache\",\"cycles\":2");
    free(text);
}

static void what_it_refuses(void **state) {
    (void)state;
    char *text = program_output(2, "@ --ladder --machine nothing 2>&1");
    program_assert_contains(text, "--machine");
    program_assert_contains(text, "h200");
    free(text);
    Error error = {0};
    Measurements none = {0};
    assert_false(bench_recorded("nothing", &none, &error));
    assert_non_null(strstr(error.message, "no recordings of 'nothing'; available: h"));
    assert_false(bench_recorded("../assets/h200", &none, &error));
    text = program_output(2, "@ --ladder --dtype bfloat 2>&1");
    program_assert_contains(text, "--ladder: no rung takes bfloat, and no other sum was timed in it");
    free(text);
    text = program_output(2, "@ --ladder --kernel shuffle 2>&1");
    program_assert_contains(text, "--ladder shows all rungs: it takes --n, --dtype and --op, and no kernel");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_columns),
        cmocka_unit_test(figures_of_a_rung),
        cmocka_unit_test(counts_are_the_emulators),
        cmocka_unit_test(numbers_in_few_columns),
        cmocka_unit_test(articles_as_they_were_published),
        cmocka_unit_test(what_was_measured_refutes),
        cmocka_unit_test(every_latency_has_a_place),
        cmocka_unit_test(cycles_follow_from_wavefronts),
        cmocka_unit_test(the_program_prints_it),
        cmocka_unit_test(what_it_refuses),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
