/* Hardware counters beside a trace: the predictions, when the two agree, and how reports say it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/counted.h"
#include "report/report.h"
#include "tests/cli/json_reader.h"
#include "tests/metrics/sample.h"
#include <math.h>
#include <string.h>

static const char LOADS[] = "smsp__sass_inst_executed_op_shared_ld.sum";
static const char LOAD_WAVEFRONTS[] = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";
static const char SECTORS[] = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";
static const char ATOMICS[] =
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum + l1tex__t_requests_pipe_lsu_mem_global_op_red.sum";
static const char INSTRUCTIONS[] = "smsp__inst_executed.sum";

static void fill(Sample *sample) {
    sample_open(sample);
    TraceCounter *c = sample->launch->counters;
    c[SAMPLE_LOAD_SHARED] =
        (TraceCounter){.executions = 1100, .requests = 1000, .wavefronts = 4000, .ideal_wavefronts = 1000};
    c[SAMPLE_LOAD_GLOBAL] =
        (TraceCounter){.executions = 4, .requests = 4, .sectors = 16, .ideal_sectors = 16};
    c[SAMPLE_LOAD_GENERIC] = (TraceCounter){.executions = 6,
                                            .requests = 6,
                                            .shared_requests = 2,
                                            .global_requests = 5,
                                            .wavefronts = 7,
                                            .ideal_wavefronts = 2,
                                            .sectors = 160,
                                            .ideal_sectors = 20};
    c[SAMPLE_RED] = (TraceCounter){.executions = 2, .requests = 2, .sectors = 2, .ideal_sectors = 2};
}

static double of(const double values[COUNTED_ROWS], const char *metric) {
    const CountedRow *row = counted_find(metric);
    if (!row) fail_msg("no row counts %s", metric);
    return values[row - counted_rows];
}

static void what_a_trace_predicts(void **state) {
    (void)state;
    Sample sample;
    double predicted[COUNTED_ROWS], waiting[COUNTED_ROWS];
    bool waits[SAMPLE_COUNT] = {false};
    fill(&sample);
    counted_predict(sample.launch, NULL, predicted, waiting);
    assert_true(of(predicted, LOADS) == 1002 && of(predicted, LOAD_WAVEFRONTS) == 4007);
    assert_true(of(predicted, SECTORS) == 176 && of(predicted, ATOMICS) == 2);
    for (int i = 0; i < COUNTED_ROWS; i++) assert_true(waiting[i] == 0);
    waits[SAMPLE_LOAD_GENERIC] = true;
    counted_predict(sample.launch, waits, predicted, waiting);
    assert_true(of(predicted, LOADS) == 1000 && of(waiting, LOADS) == 2);
    assert_true(of(predicted, SECTORS) == 16 && of(waiting, SECTORS) == 160);
    sample_close(&sample);
}

static void when_they_agree(void **state) {
    (void)state;
    static const struct {
        const char *metric;
        double predicted, value;
        const char *note;
        CountedAgreement expected;
    } cases[] = {
        {LOADS, 1000, 1000, NULL, COUNTED_EQUAL},
        {LOADS, 1000, 1001, NULL, COUNTED_DIFFERS},
        {LOADS, 1000, 1001, "waits", COUNTED_NOT_COMPARED},
        {LOADS, 1000, 1000, "waits", COUNTED_EQUAL},
        {LOAD_WAVEFRONTS, 1000, 1100, NULL, COUNTED_WITHIN_NOISE},
        {LOAD_WAVEFRONTS, 1000, 1101, NULL, COUNTED_DIFFERS},
        {LOAD_WAVEFRONTS, 1000, 999, NULL, COUNTED_DIFFERS}, /* noise only adds */
        {LOAD_WAVEFRONTS, 0, 1, NULL, COUNTED_DIFFERS},
        {INSTRUCTIONS, 1000, 1000, NULL, COUNTED_NOT_COMPARED}, /* PTX and SASS are never equal */
        {LOADS, (double)NAN, 1000, NULL, COUNTED_NOT_COMPARED},
        {"somebody__elses.sum", 1000, 1000, NULL, COUNTED_NOT_COMPARED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MeasuredCounter counter = {.metric = cases[i].metric,
                                   .label = "",
                                   .machine = "",
                                   .value = cases[i].value,
                                   .predicted = cases[i].predicted,
                                   .note = cases[i].note};
        if (counted_agreement(&counter) != cases[i].expected) fail_msg("case %zu", i);
    }
}

static ReportInput report_of(const Sample *sample, const Measurements *measured) {
    return (ReportInput){.kernel = "sample",
                         .backend = "emulator",
                         .n = 1024,
                         .block = 64,
                         .grid = 4,
                         .trace = sample->trace,
                         .measured = measured};
}

static void add(Measurements *measured, const char *metric, double predicted, double value,
                const char *note) {
    measured_add_counter(measured, &(MeasuredCounter){.metric = metric,
                                                      .label = counted_find(metric)->label,
                                                      .machine = "NVIDIA H200",
                                                      .value = value,
                                                      .predicted = predicted,
                                                      .note = note});
}

static void what_reports_say(void **state) {
    (void)state;
    Sample sample;
    Measurements measured = {0};
    Text out = {0};
    fill(&sample);
    add(&measured, LOADS, 1002, 1002, NULL);
    add(&measured, LOAD_WAVEFRONTS, 4007, 4100, NULL);
    add(&measured, SECTORS, 176, 180, "besides those of a loop");
    add(&measured, INSTRUCTIONS, 5000, 4000, NULL);
    ReportInput input = report_of(&sample, &measured);
    report_text(&input, &out);
    static const char table[] =
        "Counted on NVIDIA H200\n"
        "  whole grid                       predicted          measured\n"
        "  shared loads                         1,002             1,002   equal\n"
        "    wavefronts                         4,007             4,100   noise\n"
        "    sectors                              176               180   *\n"
        "  instructions                         5,000             4,000\n"
        "- An access that loses arbitration for the data banks is counted again: noise\n"
        "  that only adds (the lowest of five runs is shown).\n"
        "- Instructions and branches are counted in SASS: ptxas makes fewer or more of\n"
        "  them than the PTX has, and predicates some branches.\n"
        "- *: besides those of a loop.\n";
    if (!strstr(text_string(&out), table)) fail_msg("%s", text_string(&out));
    input.recorded = "2026-11-21T15:00:00Z";
    text_clear(&out);
    report_text(&input, &out);
    assert_non_null(strstr(text_string(&out), "\nRecorded on NVIDIA H200, 2026-11-21\n"));
    text_clear(&out);
    report_json(&input, &out);
    static const char json[] = "\"measured\":{\"device\":\"NVIDIA "
                               "H200\",\"recorded\":\"2026-11-21T15:00:00Z\",\"counters\":[{\"launch\":0,"
                               "\"metric\":\"smsp__sass_inst_executed_op_shared_ld.sum\",\"label\":\"shared "
                               "loads\",\"predicted\":1002,"
                               "\"measured\":1002,\"agreement\":\"equal\",\"note\":null,\"reason\":null},";
    assert_true(json_valid(text_string(&out)));
    if (!strstr(text_string(&out), json)) fail_msg("%s", text_string(&out));
    text_done(&out);
    measured_done(&measured);
    sample_close(&sample);
}

static void what_is_not_measured(void **state) {
    (void)state;
    Sample sample;
    Measurements none = {0};
    Text out = {0};
    fill(&sample);
    ReportInput input = report_of(&sample, &none);
    report_text(&input, &out);
    assert_null(strstr(text_string(&out), "hardware"));
    input.unmeasured = "there is no CUDA driver here";
    report_text(&input, &out);
    assert_non_null(strstr(text_string(&out), "\nNo hardware counters: there is no CUDA driver here\n"));
    text_clear(&out);
    report_json(&input, &out);
    assert_non_null(strstr(text_string(&out), "\"measured\":null,"));
    text_done(&out);
    sample_close(&sample);
}

/* Each reason why the profiler may count differently consists of whole sentences. */
static void reasons_are_sentences(void **state) {
    (void)state;
    int reasons = 0;
    for (int i = 0; i < COUNTED_ROWS; i++) {
        const char *why = counted_rows[i].why;
        if (!why) continue;
        reasons++;
        assert_in_range(why[0], 'A', 'Z');
        assert_int_equal(why[strlen(why) - 1], '.');
    }
    assert_true(reasons > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_trace_predicts), cmocka_unit_test(when_they_agree),
        cmocka_unit_test(what_reports_say),      cmocka_unit_test(what_is_not_measured),
        cmocka_unit_test(reasons_are_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
