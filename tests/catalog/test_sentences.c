/* Sentences of the catalogue that state a fact: it is counted, run or looked up among the recorded times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "runs.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Does the text hold the word, as the beginning of one? */
static bool has_word(const char *text, const char *word) {
    for (const char *at = text; (at = strstr(at, word)); at++)
        if (at == text || !isalpha((unsigned char)at[-1])) return true;
    return false;
}

/* Nothing is called slow, dear or free by a sentence: times stand beside it, with their machine. */
static void no_sentence_speaks_of_costs(void **state) {
    (void)state;
    static const char *const words[] = {"slow",  "fast", "cheap", "expensive", "free",
                                        "costs", "pay",  "paid",  "price",     "nothing at run time"};
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        const char *const sentences[] = {row->story, row->lesson, row->watch};
        for (size_t s = 0; s < sizeof sentences / sizeof *sentences; s++)
            for (size_t w = 0; w < sizeof words / sizeof *words; w++)
                if (has_word(sentences[s], words[w])) fail_msg("%s: %s", row->id, sentences[s]);
    }
}

static Session *open_run(const char *kernel, CatalogOptions catalog, uint64_t schedule) {
    Error error = {0};
    SessionOptions options = {.kernel = kernel, .catalog = catalog, .schedule = schedule, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    return session;
}

/* interleaved_bitmask: "the lanes diverge exactly as before". */
static void a_bitmask_diverges_as_the_remainder(void **state) {
    (void)state;
    Session *remainder = open_run("interleaved", (CatalogOptions){.n = 1 << 16}, 0),
            *bitmask = open_run("interleaved_bitmask", (CatalogOptions){.n = 1 << 16}, 0);
    Totals before = run_totals(remainder), after = run_totals(bitmask);
    assert_true(before.divergent_branches > 0);
    assert_int_equal(before.divergent_branches, after.divergent_branches);
    assert_int_equal(before.branches, after.branches);
    session_free(remainder);
    session_free(bitmask);
}

/* bug_overlapping_halves, bug_volatile_tail: "right under the default schedule, wrong under --schedule 1", of random
 * numbers and of digits. */
static void schedules_hide_races_and_show_them(void **state) {
    (void)state;
    static const char *const kernels[] = {"bug_overlapping_halves", "bug_volatile_tail"};
    for (int i = 0; i < 8; i++) {
        CatalogOptions catalog = {.prefers_digits = i & 2};
        Session *session = open_run(kernels[i / 4], catalog, i & 1);
        assert_int_equal(session_result(session)->correct, !(i & 1));
        session_free(session);
    }
}

/* scaled_half: "with scale=1 ... sums become infinite, of either sign, and the result nan". */
static void unscaled_halves_overflow(void **state) {
    (void)state;
    Session *session = open_run(
        "scaled_half", (CatalogOptions){.parameters = {"scale=1"}, .parameter_count = 1, .n = 1 << 16}, 0);
    assert_string_equal(session_result(session)->result_text, "nan");
    session_free(session);
}

/* Microseconds of graph replays with a warm cache on the shipped machine, 256 threads a block. */
static double time_of(const Measurements *recorded, const char *kernel, const char *dtype, uint64_t n,
                      bool to_scalar) {
    for (int i = 0; i < recorded->timing_count; i++) {
        const Timing *timing = &recorded->timings[i];
        if (timing->n == n && timing->threads == 256 && timing->graph && !timing->cold &&
            timing->to_scalar == to_scalar && !strcmp(timing->kernel, kernel) &&
            !strcmp(timing->dtype, dtype) && !strcmp(timing->op, "sum"))
            return timing->median;
    }
    fail_msg("no time of %s", kernel);
    return 0;
}

static void times_in_sentences_were_measured(void **state) {
    (void)state;
    Measurements recorded = {0};
    Error error = {0};
    if (!bench_recorded(NULL, &recorded, &error)) fail_msg("%s", error.message);
    enum { SMALL = 1 << 20, LARGE = 1 << 24 };
    /* atomic: "an H200 takes seventy times as long for floats as for ints" */
    double ratio = time_of(&recorded, "atomic", "float", SMALL, false) /
                   time_of(&recorded, "atomic", "int", SMALL, false);
    assert_true(ratio > 65 && ratio < 80);
    /* shuffle_atomic: "ahead of shuffle at n = 2^20, behind it at 2^24" */
    assert_true(time_of(&recorded, "shuffle_atomic", "int", SMALL, true) <
                time_of(&recorded, "shuffle", "int", SMALL, true));
    assert_true(time_of(&recorded, "shuffle_atomic", "int", LARGE, true) >
                time_of(&recorded, "shuffle", "int", LARGE, true));
    /* column_sum_permuted: "an H200 takes 5 us for it and 166 for column_sum" */
    double permuted = time_of(&recorded, "column_sum_permuted", "int", SMALL, false),
           direct = time_of(&recorded, "column_sum", "int", SMALL, false);
    assert_true(permuted > 4.5 && permuted < 5.5);
    assert_true(direct > 165.5 && direct < 166.5);
    measured_done(&recorded);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_sentence_speaks_of_costs),
        cmocka_unit_test(a_bitmask_diverges_as_the_remainder),
        cmocka_unit_test(schedules_hide_races_and_show_them),
        cmocka_unit_test(unscaled_halves_overflow),
        cmocka_unit_test(times_in_sentences_were_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
