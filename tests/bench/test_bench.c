/* The timings of --bench on a stub of the CUDA driver: which exist, and what they are labelled with. Events
 * of the stub (tests/gpu/stub) are 0.25 ms apart, whatever is between them. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/bench.h"
#include "bench/recorded_file.h"
#include "tests/gpu/libraries.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MICROSECONDS = 250, IN_A_GRAPH = 32 };

typedef struct Taken {
    Measurements all;
    struct {
        char name[32];
        double value;
        uint64_t n;
    } values[64];
    char value_note[256]; /* of the first */
    int value_count;
    BenchMachine machine;
    int machines, cells, intervals, grids;
    uint64_t grid_sizes; /* their sum */
    atomic_bool cancel;
    int cancel_after; /* timings; 0: never */
} Taken;

static void take_machine(void *context, const BenchMachine *machine) {
    Taken *taken = context;
    taken->machine = *machine;
    taken->machines++;
}

static void take_cell(void *context, const char *kernel, uint64_t n) {
    (void)kernel, (void)n;
    ((Taken *)context)->cells++;
}

static void take_timing(void *context, const Timing *timing) {
    Taken *taken = context;
    measured_add_timing(&taken->all, timing);
    if (taken->all.timing_count == taken->cancel_after) taken->cancel = true;
}

static void take_value(void *context, const BenchValue *value) {
    Taken *taken = context;
    assert_true(taken->value_count < 64);
    if (!taken->value_count && value->note)
        snprintf(taken->value_note, sizeof taken->value_note, "%s", value->note);
    int at = taken->value_count++;
    snprintf(taken->values[at].name, sizeof taken->values[at].name, "%s", value->name);
    taken->values[at].value = value->value;
    taken->values[at].n = value->n;
}

static void take_interval(void *context, const BenchValue *of, const IntervalTime *time) {
    Taken *taken = context;
    assert_int_equal(of->n, 3000);
    assert_int_equal(time->interval, taken->intervals++);
    assert_true(time->launch == 0 && time->block == 0 && time->cycles > 0 && time->overhead == 0);
    assert_string_equal(time->machine, "Stub 1");
}

static double value_of(const Taken *taken, const char *name) {
    for (int i = 0; i < taken->value_count; i++)
        if (!strcmp(taken->values[i].name, name)) return taken->values[i].value;
    fail_msg("nothing is told of %s", name);
    return 0;
}

static void take_grid(void *context, const BenchValue *of, GridTimeline *timeline, const char *why) {
    Taken *taken = context;
    assert_null(timeline); /* the stub's kernels do nothing */
    assert_string_equal(why, "launch 1: block 0 has no record");
    assert_string_equal(of->dtype, "int");
    taken->grid_sizes += of->n;
    taken->grids++;
}

static BenchSink sink_of(Taken *taken) {
    return (BenchSink){.context = taken,
                       .machine = take_machine,
                       .cell = take_cell,
                       .timing = take_timing,
                       .value = take_value,
                       .interval = take_interval,
                       .grid = take_grid};
}

static bool bench(BenchOptions options, Taken *taken, Error *error) {
    BenchSink sink = sink_of(taken);
    options.cancel = &taken->cancel;
    options.cell_seconds = 0.001;
    return bench_run(&options, &sink, error);
}

static int setup(void **state) {
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    unsetenv("STUB_FAIL");
    unsetenv("STUB_MILLISECONDS");
    setenv("STUB_KERNELS", "1", 1);
    use_library("REDVIZ_NVML", "libnvml_stub.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    setenv("REDVIZ_PEERS", "/nowhere/libredviz_peers.so", 1);
    *state = calloc(1, sizeof(Taken));
    return !*state;
}

static int teardown(void **state) {
    measured_done(&((Taken *)*state)->all);
    free(*state);
    return 0;
}

static void test_parts_and_ways(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "K2", .catalog = {.n = 1 << 14, .dtype = PTX_F64, .op = "max"}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->machines, 1);
    assert_int_equal(taken->cells, 1);
    assert_string_equal(taken->machine.name, "Stub 1");
    assert_string_equal(taken->machine.driver, "580.00.01, CUDA 13.0");
    assert_true(taken->machine.memory_clock == 3201);
    assert_int_equal(taken->all.timing_count, 8);
    unsigned seen = 0;
    for (int i = 0; i < 8; i++) {
        const Timing *timing = &taken->all.timings[i];
        seen |= 1u << (timing->to_scalar * 4 + timing->graph * 2 + timing->cold);
        assert_string_equal(timing->kernel, "sequential");
        assert_string_equal(timing->machine, "Stub 1");
        assert_string_equal(timing->dtype, "double");
        assert_string_equal(timing->op, "max");
        assert_int_equal(timing->n, 1 << 14);
        assert_int_equal(timing->threads, 256);
        double expected = timing->graph ? (double)MICROSECONDS / IN_A_GRAPH : MICROSECONDS;
        assert_true(timing->median == expected && timing->low == expected && timing->high == expected);
        assert_true(fabs(timing->gigabytes_per_second - (8 << 14) / expected * 1e-3) < 1e-9);
        assert_true(fabs(timing->share_of_read * taken->machine.read - timing->gigabytes_per_second) < 1e-9);
        assert_true(timing->clock == 1980 && timing->temperature == 41);
        if (timing->to_scalar) /* 16384 elements leave 64 */
            assert_string_equal(timing->note, "2 launches");
        else
            assert_null(timing->note);
    }
    assert_int_equal(seen, 0xff);
}

/* One launch gives the result: both parts are reported, and are equal. */
static void test_one_launch(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "atomic", .catalog = {.n = 1 << 14, .dtype = PTX_S32}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->all.timing_count, 8);
    for (int i = 0; i < 4; i++) {
        assert_true(!taken->all.timings[i].to_scalar && taken->all.timings[i + 4].to_scalar);
        assert_int_equal(taken->all.timings[i].samples, taken->all.timings[i + 4].samples);
        assert_null(taken->all.timings[i + 4].note);
    }
}

/* Cooperative launches have no graph; rows of a matrix do not reduce to one number. */
static void test_what_is_left_out(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "cooperative", .catalog = {.n = 1 << 14, .dtype = PTX_S32}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->all.timing_count, 4);
    for (int i = 0; i < 4; i++) assert_false(taken->all.timings[i].graph);
    options = (BenchOptions){.kernel = "row_sum", .catalog = {.n = 1 << 14, .dtype = PTX_S32}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->all.timing_count, 8);
    for (int i = 4; i < 8; i++) assert_false(taken->all.timings[i].to_scalar);
}

/* Without a type, those of int, float and double that exist; what does not fit is skipped with a note. */
static void test_types_and_sizes(void **state) {
    Taken *taken = *state;
    Error error = {0};
    if (!bench((BenchOptions){.kernel = "sequential"}, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->cells, 3 * 8);
    int skipped = 0;
    for (int i = 0; i < taken->all.timing_count; i++) {
        const Timing *timing = &taken->all.timings[i];
        if (timing->samples) continue;
        skipped++;
        assert_true(isnan(timing->median));
        assert_non_null(strstr(timing->note, "half of the GPU's free memory")); /* 100 MB are */
    }
    assert_int_equal(skipped, 3 * 3);
    assert_string_equal(taken->all.timings[0].dtype, "int");
    assert_string_equal(taken->all.timings[taken->all.timing_count - 1].dtype, "double");
}

static void test_refusals(void **state) {
    Taken *taken = *state;
    Error error = {0};
    assert_false(bench((BenchOptions){.kernel = "no_such_kernel"}, taken, &error));
    assert_non_null(strstr(error.message, "no_such_kernel"));
    BenchOptions options = {.kernel = "redux", .catalog = {.n = 5, .dtype = PTX_F64}};
    assert_true(bench(options, taken, &error));
    assert_int_equal(taken->all.timing_count, 1);
    assert_int_equal(taken->all.timings[0].samples, 0);
    assert_non_null(strstr(taken->all.timings[0].note, "redux"));
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    assert_false(bench(options, taken, &error));
    assert_non_null(strstr(error.message, "there is no CUDA driver here"));
}

/* A time of 60 ms is measured once, and not in a graph; if a call would take more than half a second, judging
 * by the size before, it is not measured. */
static void test_what_takes_long(void **state) {
    Taken *taken = *state;
    Error error = {0};
    setenv("STUB_MILLISECONDS", "60", 1);
    if (!bench((BenchOptions){.kernel = "atomic", .catalog = {.dtype = PTX_S32}}, taken, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 4; i++) {
        const Timing *timing = &taken->all.timings[i];
        assert_true(timing->n == 1 << 10 && timing->samples == 1 && !timing->graph);
        assert_true(timing->to_scalar == (i >= 2) && timing->cold == (i % 2 == 0));
    }
    const Timing *next = &taken->all.timings[4];
    assert_true(next->n == 1 << 14 && next->samples == 0);
    assert_string_equal(next->note, "one call would take about 1.0 s");
    assert_string_equal(next->op, "sum");
    assert_int_equal(next->threads, 256);
    assert_int_equal(taken->all.timing_count, 4 + 7);
}

/* The kernel's own measurement, one step: the stub runs nothing, so it is the buffer's initial value,
 * 2^32. */
static void test_latencies(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "lab_latency",
                            .catalog = {.parameters = {"steps=32"}, .parameter_count = 1}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->cells, 1);
    assert_int_equal(taken->value_count, 25);
    assert_true(value_of(taken, "shared memory") == 0x1p27 && value_of(taken, "barrier, 32 warps") == 0x1p27);
    assert_string_equal(taken->value_note, "");
}

static void test_cancel(void **state) {
    Taken *taken = *state;
    Error error = {0};
    taken->cancel_after = 8;
    assert_false(bench((BenchOptions){0}, taken, &error));
    assert_string_equal(error.message, "cancelled");
    assert_int_equal(taken->all.timing_count, 8);
}

/* ---- the profile --------------------------------------------------------------------------------------- */

static void test_profile(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "K2", .catalog = {.n = 1 << 14, .dtype = PTX_F32}, .profile = true};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->value_count, 24 + 2 + 4 + 2);
    assert_string_equal(taken->value_note, "");
    assert_true(value_of(taken, "SM active") == 1 &&
                value_of(taken, "occupancy") == 5); /* the indices in the stub */
    assert_true(value_of(taken, "theoretical") == 100 && value_of(taken, "threads") == 1 << 14);
    assert_true(value_of(taken, "to GPU") == MICROSECONDS && value_of(taken, "pinned from") == MICROSECONDS);
    assert_true(value_of(taken, "allocate") > 0 && value_of(taken, "free") > 0);
    assert_int_equal(taken->intervals, 0); /* no clock runs there */
}

/* On a driver that emulates: the block has as many intervals as its trace
 * (tests/instrument/test_clocks.c). */
static void test_intervals(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "strided", .catalog = {.n = 3000, .dtype = PTX_S32}, .intervals = true};
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->intervals, 1 + 1 + 8);
    assert_int_equal(taken->value_count, 0);
}

static void test_profile_without_counters(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "K2", .catalog = {.n = 1 << 14, .dtype = PTX_F32}, .profile = true};
    setenv("STUB_FAIL", "cuptiRangeProfilerEnable=1", 1); /* for example, not permitted */
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_true(isnan(value_of(taken, "DRAM")) && value_of(taken, "theoretical") == 100);
    assert_non_null(strstr(taken->value_note, "cuptiRangeProfilerEnable"));
    taken->value_count = 0;
    options.profile = false;
    assert_true(bench(options, taken, &error));
    assert_int_equal(taken->value_count, 0);
}

/* ---- CUB and thrust ------------------------------------------------------------------------------------ */

static int setup_peers(void **state) {
    int bad = setup(state);
    use_library("REDVIZ_PEERS", "libpeers_stub.so");
    return bad;
}

static int teardown_peers(void **state) {
    unsetenv("STUB_PEERS_VERSION");
    unsetenv("STUB_PEERS_FAIL");
    return teardown(state);
}

/* Only to one number; thrust waits for the GPU, so it is never in a graph. */
static void test_peers(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "atomic", .catalog = {.n = 1 << 14, .dtype = PTX_F64, .op = "min"}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->all.timing_count, 8 + 4 + 2);
    for (int i = 8; i < 14; i++) {
        const Timing *timing = &taken->all.timings[i];
        assert_string_equal(timing->kernel, i < 12 ? "cub" : "thrust");
        assert_string_equal(timing->dtype, "double");
        assert_string_equal(timing->op, "min");
        assert_true(timing->to_scalar && timing->graph == (i < 10) && timing->cold == (i % 2 == 0));
        assert_true(timing->n == 1 << 14 && timing->threads == 0);
        assert_int_equal(strncmp(timing->note, "CCCL 0.0", 8), 0);
    }
}

/* Only floats and doubles, and only sums, have more than one result. */
static void test_the_peer_of_the_same_bits(void **state) {
    Taken *taken = *state;
    Error error = {0};
    static const PtxType types[] = {PTX_F32, PTX_S32, PTX_F16};
    BenchOptions options = {.kernel = "fastest", .catalog = {.n = 1 << 14}};
    int found[3] = {0};
    for (int i = 0; i < 3; i++) {
        options.catalog.dtype = types[i];
        if (!bench(options, taken, &error)) fail_msg("%s", error.message);
        for (int t = 0; t < taken->all.timing_count; t++) {
            const Timing *timing = &taken->all.timings[t];
            if (strcmp(timing->kernel, "cub, same bits") != 0) continue;
            assert_string_equal(timing->dtype, "float");
            assert_true(timing->to_scalar && !strcmp(timing->note, "CCCL 0.0"));
            found[i]++;
        }
    }
    for (int i = 0; i < 3; i++) assert_int_equal(found[i], 4); /* those of the first run */
}

static void test_peers_are_of_reductions(void **state) {
    Taken *taken = *state;
    Error error = {0};
    assert_true(bench((BenchOptions){.kernel = "softmax_row", .catalog = {.n = 1 << 14}}, taken, &error));
    for (int i = 0; i < taken->all.timing_count; i++)
        assert_string_equal(taken->all.timings[i].kernel, "softmax_row");
}

static void test_peers_of_another_version(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "atomic", .catalog = {.n = 1 << 14, .dtype = PTX_S32}};
    setenv("STUB_PEERS_VERSION", "0", 1);
    assert_true(bench(options, taken, &error));
    assert_int_equal(taken->all.timing_count, 8);
    unsetenv("STUB_PEERS_VERSION");
    setenv("STUB_PEERS_FAIL", "1", 1);
    assert_false(bench(options, taken, &error));
    assert_string_equal(error.message, "cub: it failed");
}

/* ---- the CPU's rows ------------------------------------------------------------------------------------ */

static bool bench_on_cpu(BenchOptions options, Taken *taken, Error *error) {
    BenchSink sink = sink_of(taken);
    options.cancel = &taken->cancel;
    options.cell_seconds = 0.001;
    return bench_cpu(&options, &sink, error);
}

static void test_cpu(void **state) {
    static const char *const types[] = {"int", "float", "double"};
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "K0", .catalog = {.n = 70001, .op = "min"}};
    if (!bench_on_cpu(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->machines, 0);
    assert_int_equal(taken->all.timing_count, 6);
    for (int i = 0; i < 6; i++) {
        const Timing *timing = &taken->all.timings[i];
        assert_string_equal(timing->kernel, i % 2 ? "cpu, all threads" : "cpu");
        assert_string_equal(timing->dtype, types[i / 2]);
        assert_string_equal(timing->op, "min");
        assert_int_equal(timing->n, 70001);
        assert_true(timing->to_scalar && !timing->graph && !timing->cold);
        assert_true(timing->samples >= 1 && timing->median > 0 && timing->median <= timing->high);
        assert_true(isnan(timing->share_of_peak) && isnan(timing->clock));
        assert_int_equal(timing->threads >= 1, 1);
        assert_non_null(strstr(timing->note, i % 2 ? "thread" : "1 thread, element after element"));
    }
}

static void test_cpu_without_rows(void **state) {
    Taken *taken = *state;
    Error error = {0};
    assert_true(bench_on_cpu((BenchOptions){.kernel = "softmax_row"}, taken, &error)); /* not a reduction */
    assert_true(bench_on_cpu((BenchOptions){.catalog = {.dtype = PTX_F16}}, taken, &error));
    assert_int_equal(taken->all.timing_count, 0);
    assert_false(bench_on_cpu((BenchOptions){.kernel = "no_such_kernel"}, taken, &error));
    assert_non_null(strstr(error.message, "no_such_kernel"));
    taken->cancel = true;
    assert_false(bench_on_cpu((BenchOptions){0}, taken, &error));
    assert_string_equal(error.message, "cancelled");
    taken->cancel = false; /* 16 GiB are over its limit */
    BenchOptions large = {.catalog = {.n = UINT64_C(1) << 32, .dtype = PTX_S32}};
    assert_true(bench_on_cpu(large, taken, &error));
    assert_int_equal(taken->all.timing_count, 2);
    assert_int_equal(taken->all.timings[0].samples, 0);
    assert_non_null(strstr(taken->all.timings[0].note, "1 GiB"));
}

/* ---- as a file ----------------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_file(void **state) {
    static const char path[] = "/tmp/redviz_test_bench.tsv";
    Taken *taken = *state;
    Error error = {0};
    Text text = {0};
    Taken *again = calloc(1, sizeof *again);
    BenchSink sink = sink_of(again);
    BenchOptions options = {.kernel = "K2", .catalog = {.n = 1 << 14}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    options = (BenchOptions){.kernel = "redux", .catalog = {.n = 5, .dtype = PTX_F64}};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    bench_add_machine(&text, &taken->machine, taken->all.timings[0].measured);
    for (int i = 0; i < taken->all.timing_count; i++) bench_add_timing(&text, &taken->all.timings[i]);
    bench_add_value(
        &text, &(BenchValue){.kernel = "K2", .n = 7, .name = "DRAM", .unit = "% of peak", .value = 12.5});
    bench_add_value(&text,
                    &(BenchValue){.kernel = "K2", .name = "memory", .unit = "", .value = NAN, .note = "no"});
    write_file(path, text_string(&text));
    text_done(&text);
    if (!bench_read_file(path, &sink, &error)) fail_msg("%s", error.message);
    assert_int_equal(again->all.timing_count, taken->all.timing_count);
    for (int i = 0; i < again->all.timing_count; i++) {
        const Timing *a = &taken->all.timings[i], *b = &again->all.timings[i];
        assert_string_equal(a->kernel, b->kernel);
        assert_string_equal(a->machine, b->machine);
        assert_string_equal(taken->all.timings[0].measured, b->measured); /* one for each machine */
        assert_string_equal(a->op, b->op);
        assert_string_equal(a->note ? a->note : "", b->note ? b->note : "");
        assert_true(a->n == b->n && a->threads == b->threads && a->samples == b->samples);
        assert_true(a->to_scalar == b->to_scalar && a->graph == b->graph && a->cold == b->cold);
        assert_true(a->samples ? a->median == b->median && a->low == b->low : isnan(b->median));
        if (a->samples) {
            assert_string_equal(a->dtype, b->dtype);
            assert_true(a->gigabytes_per_second == b->gigabytes_per_second && a->clock == b->clock);
            assert_true(fabs(a->share_of_read / b->share_of_read - 1) < 1e-5);
        }
    }
    assert_int_equal(again->machines, 1);
    assert_int_equal(again->value_count, 2);
    assert_true(again->values[0].value == 12.5 && again->values[0].n == 7 && isnan(again->values[1].value));
    measured_done(&again->all);
    free(again);
    remove(path);
}

static void test_bad_files(void **state) {
    static const char path[] = "/tmp/redviz_test_bench.tsv";
#define MACHINE  "machine\tH\t-\t1\t1\t-\t-\t-\t-\tnow\n"
#define NO_TIMES "-\t-\t-\t-\t-\t-\n"
    static const struct {
        const char *text;
        int line;
        const char *says;
    } bad[] = {
        {"machine\tH\t-\n", 1, "'machine' has 10 columns, not 3"},
        {"machine\tH\t-\t1\t1\t-\tfast\t-\t-\tnow\n", 1, "column 7 is 'fast', not a number"},
        {"timing\tK\t1\tint\tsum\t0\talone\tcall\twarm\t0\t" NO_TIMES, 1, "no machine line"},
        {"# good\nhello\n", 2, "is not a kind of line"},
        {MACHINE "timing\tK\t1\tinteger\tsum\t0\talone\tcall\twarm\t0\t" NO_TIMES, 2, "no type integer"},
        {MACHINE "timing\tK\tmany\tint\tsum\t0\talone\tcall\twarm\t0\t" NO_TIMES, 2, "column 3 is 'many'"},
        {MACHINE "timing\tK\t1\tint\tsum\t0\talone\tcall\twarm\t1\t2us\t-\t-\t-\t-\t-\n", 2,
         "column 11 is '2us', not a number"},
        {MACHINE "timing\tK\t1\tint\tsum\t0\talone\tcall\twarm\t0\t-\t" NO_TIMES, 2,
         "'timing' has 16 columns, not 17"},
        {MACHINE "value\tK\t1\tint\tsum\tDRAM\t%\t1,5\t-\n", 2, "column 8 is '1,5', not a number"},
    };
    (void)state;
    for (int i = 0; i < (int)(sizeof bad / sizeof *bad); i++) {
        BenchSink sink = {0};
        Error error = {0};
        write_file(path, bad[i].text);
        assert_false(bench_read_file(path, &sink, &error));
        if (error.line != bad[i].line || !strstr(error.message, bad[i].says))
            fail_msg("line %d: '%s' does not say '%s'", error.line, error.message, bad[i].says);
    }
    remove(path);
}

/* The shipped recordings: every row has its machine and date, and the ladder is complete at every size. */
static void test_recorded(void **state) {
    (void)state;
    enum { SIZES = 8 };
    Measurements recorded = {0};
    Error error = {0};
    if (!bench_recorded(NULL, &recorded, &error)) fail_msg("%s", error.message);
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        int found = 0;
        for (int t = 0; t < recorded.timing_count; t++) {
            const Timing *timing = &recorded.timings[t];
            assert_true(*timing->machine && *timing->measured);
            found += !strcmp(timing->kernel, row->id) && !strcmp(timing->dtype, "int") &&
                     !strcmp(timing->op, "sum") && timing->samples && timing->to_scalar && !timing->graph &&
                     timing->cold;
        }
        bool takes_ints = strstr(row->types, "int") != NULL;
        if (row->group == CATALOG_LADDER && takes_ints && found != SIZES)
            fail_msg("%s: assets/h200/timings.tsv has %d of its %d times to one number", row->id, found,
                     SIZES);
    }
    measured_done(&recorded);
}

/* Grids instead of times, for two sizes, for int only. */
static void test_grids(void **state) {
    Taken *taken = *state;
    Error error = {0};
    BenchOptions options = {.kernel = "sequential", .grid = true};
    if (!bench(options, taken, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken->cells, 2);
    assert_int_equal(taken->grids, 1);
    assert_int_equal(taken->grid_sizes, 1 << 20);
    assert_int_equal(taken->all.timing_count, 1); /* what does not fit into the stub's memory */
    assert_int_equal(taken->all.timings[0].n, 1 << 24);
    assert_non_null(strstr(taken->all.timings[0].note, "do not fit"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_parts_and_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(test_grids, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_launch, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(test_types_and_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_takes_long, setup, teardown),
        cmocka_unit_test_setup_teardown(test_latencies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_profile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_profile_without_counters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_peers, setup_peers, teardown_peers),
        cmocka_unit_test_setup_teardown(test_the_peer_of_the_same_bits, setup_peers, teardown_peers),
        cmocka_unit_test_setup_teardown(test_peers_are_of_reductions, setup_peers, teardown_peers),
        cmocka_unit_test_setup_teardown(test_peers_of_another_version, setup_peers, teardown_peers),
        cmocka_unit_test_setup_teardown(test_cpu, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cpu_without_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file, setup, teardown),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
