/* Measuring: the thread that times kernels, with functions that measure nothing; and the real program on a
 * stub of the CUDA driver: times arrive, keys work meanwhile, quitting waits for nothing, not even for a
 * hanging GPU. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pty.h"
#include "tui/measuring.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* ---- a machine that measures nothing ------------------------------------------------------------------- */

static atomic_int wakes, gpu_runs, cpu_runs, hold; /* hold: every measurement waits until it is cancelled */
static atomic_int asked_n, asked_cpu_n;

static void wake(void) {
    atomic_fetch_add(&wakes, 1);
}

static void pause_briefly(void) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void give(const BenchSink *sink, const char *kernel, const BenchOptions *options, double time) {
    Timing timing = {.kernel = kernel,
                     .machine = "Thin Air",
                     .measured = "2026-11-21T15:00:00Z",
                     .n = options->catalog.n,
                     .dtype = "int",
                     .op = options->catalog.op,
                     .to_scalar = true,
                     .samples = 3,
                     .median = time};
    sink->cell(sink->context, kernel, options->catalog.n);
    sink->timing(sink->context, &timing);
}

static bool wait_if_held(const BenchOptions *options, Error *error) {
    while (atomic_load(&hold) && !*options->cancel) pause_briefly();
    return !*options->cancel || error_set(error, "cancelled");
}

static bool measure_gpu(const BenchOptions *options, const BenchSink *sink, Error *error) {
    BenchMachine machine = {.name = "Thin Air"};
    int run = atomic_fetch_add(&gpu_runs, 1);
    atomic_store(&asked_n, (int)options->catalog.n);
    sink->machine(sink->context, &machine);
    if (options->kernel && options->intervals)
        for (uint32_t i = 0; i < 2; i++)
            sink->interval(
                sink->context, NULL,
                &(IntervalTime){.interval = i, .machine = "Thin Air", .cycles = options->catalog.n + i});
    if (options->kernel) {
        give(sink, options->kernel, options, 100 + options->catalog.parameter_count);
        return wait_if_held(options, error);
    }
    give(sink, "interleaved", options, 10 + run);
    give(sink, "multi_add", options, 7);
    return wait_if_held(options, error);
}

static bool measure_cpu(const BenchOptions *options, const BenchSink *sink, Error *error) {
    atomic_fetch_add(&cpu_runs, 1);
    atomic_store(&asked_cpu_n, (int)options->catalog.n);
    give(sink, "cpu", options, 310);
    return wait_if_held(options, error);
}

static bool no_gpu(const BenchOptions *options, const BenchSink *sink, Error *error) {
    (void)options, (void)sink;
    atomic_fetch_add(&gpu_runs, 1);
    return error_set(error, "there is no GPU here");
}

static bool break_gpu(const BenchOptions *options, const BenchSink *sink, Error *error) {
    sink->machine(sink->context, &(BenchMachine){.name = "Thin Air"});
    return no_gpu(options, sink, error);
}

/* Accepts any wish. */
static bool ignore_all(const BenchOptions *options, const BenchSink *sink, Error *error) {
    (void)options, (void)sink;
    atomic_fetch_add(&gpu_runs, 1);
    while (atomic_load(&hold)) pause_briefly();
    return error_set(error, "it has ended after all");
}

static int setup(void **state) {
    (void)state;
    atomic_store(&wakes, 0);
    atomic_store(&gpu_runs, 0);
    atomic_store(&cpu_runs, 0);
    atomic_store(&hold, 0);
    return 0;
}

static void wait_for(atomic_int *count, int wanted) {
    for (int i = 0; atomic_load(count) < wanted; i++) {
        if (i > 60000) fail_msg("nothing came within a minute");
        pause_briefly();
    }
}

static MeasuringWish wish_for(const char *kernel, uint64_t n) {
    return (MeasuringWish){.of = {.kernel = kernel, .catalog = {.n = n, .op = "sum", .dtype = PTX_S32}},
                           .cpu_n = n / 2};
}

static const Timing *find(const Measurements *list, const char *kernel) {
    for (int i = 0; i < list->timing_count; i++)
        if (!strcmp(list->timings[i].kernel, kernel)) return &list->timings[i];
    return NULL;
}

/* ---- the thread ---------------------------------------------------------------------------------------- */

/* Takes results until this kernel's time arrives. */
static const Timing *take(Measuring *measuring, Measurements *live, SceneTimings *status,
                          const char *kernel) {
    const Timing *found = NULL;
    for (int i = 0; !found; i++) {
        if (i > 60000) fail_msg("no time of %s within a minute", kernel);
        measuring_take(measuring, live, status);
        if (!(found = find(live, kernel))) pause_briefly();
    }
    return found;
}

/* Intervals are of the kernel shown, and of no other: those of an earlier kernel are dropped. */
static void intervals_are_those_of_the_wish(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish first = wish_for("shuffle", 64), second = wish_for(NULL, 64),
                  third = wish_for("strided", 32);
    measuring_want(measuring, &first);
    take(measuring, &live, &status, "multi_add");
    assert_int_equal(live.interval_count, 2);
    assert_true(live.intervals[0].cycles == 64 && live.intervals[1].cycles == 65);
    measuring_want(measuring, &second);
    measuring_take(measuring, &live, &status);
    assert_int_equal(live.interval_count, 0);
    measuring_want(measuring, &third);
    take(measuring, &live, &status, "strided");
    assert_int_equal(live.interval_count, 2);
    assert_true(live.intervals[0].cycles == 32);
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

static void times_come_one_by_one(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    atomic_store(&hold, 1);
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for("softmax_row", 4096);
    assert_int_equal(atomic_load(&gpu_runs), 0); /* nothing is wanted yet */
    measuring_want(measuring, &wish);
    take(measuring, &live, &status, "softmax_row");
    assert_string_equal(status.measuring, "softmax_row");
    assert_null(find(&live, "interleaved")); /* the kernel shown comes first */
    atomic_store(&hold, 0);
    take(measuring, &live, &status, "interleaved");
    take(measuring, &live, &status, "cpu");
    assert_int_equal(atomic_load(&asked_n), 4096);
    assert_int_equal(atomic_load(&asked_cpu_n), 2048);
    assert_true(atomic_load(&wakes) > 0);
    assert_null(live.timings[0].measured); /* it is measured now */
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

/* After the pause they are measured again, and the new time replaces the old one. */
static void it_goes_on(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for(NULL, 4096);
    measuring_want(measuring, &wish);
    double first = take(measuring, &live, &status, "interleaved")->median;
    wait_for(&cpu_runs, 2);
    measuring_take(measuring, &live, &status);
    assert_true(find(&live, "interleaved")->median > first);
    int count = 0;
    for (int i = 0; i < live.timing_count; i++) count += !strcmp(live.timings[i].kernel, "interleaved");
    assert_int_equal(count, 1);
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

static void another_wish_cancels(void **state) {
    (void)state;
    atomic_store(&hold, 1);
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for(NULL, 4096);
    measuring_want(measuring, &wish);
    wait_for(&gpu_runs, 1);
    measuring_want(measuring, &wish); /* the same wish: nothing is cancelled */
    wish = wish_for(NULL, 8192);
    measuring_want(measuring, &wish);
    wait_for(&gpu_runs, 2);
    assert_int_equal(atomic_load(&asked_n), 8192);
    measuring_want(measuring, NULL); /* nothing is wanted */
    assert_true(measuring_end(measuring));
    assert_int_equal(atomic_load(&cpu_runs), 0);
}

/* A kernel with parameters of its own keeps its time: the ladder measures it with the defaults. */
static void parameters_count(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for("multi_add", 4096);
    wish.of.catalog.parameters[0] = "items=16";
    wish.of.catalog.parameter_count = 1;
    measuring_want(measuring, &wish);
    take(measuring, &live, &status, "cpu");
    assert_true(find(&live, "multi_add")->median > 100.5);
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

static void kernels_that_are_wrong_are_not_run(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for("bug_half_shared", 4096);
    assert_non_null(catalog_find(wish.of.kernel, NULL));
    measuring_want(measuring, &wish);
    take(measuring, &live, &status, "cpu");
    assert_null(find(&live, wish.of.kernel));
    assert_non_null(find(&live, "interleaved"));
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

static void without_a_gpu_there_is_the_cpu(void **state) {
    (void)state;
    Measurements live = {0};
    SceneTimings status = {0};
    Measuring *measuring = measuring_new(no_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for(NULL, 4096);
    measuring_want(measuring, &wish);
    take(measuring, &live, &status, "cpu");
    assert_string_equal(status.failure, "there is no GPU here");
    wait_for(&cpu_runs, 2);
    assert_int_equal(atomic_load(&gpu_runs), 1); /* only once */
    assert_true(measuring_end(measuring));
    measured_done(&live);
}

/* The driver's clean-up may hang: the process must exit without it. */
static void a_gpu_that_failed_is_told(void **state) {
    (void)state;
    static Measuring *measuring; /* never freed */
    measuring = measuring_new(break_gpu, measure_cpu, wake);
    MeasuringWish wish = wish_for(NULL, 4096);
    measuring_want(measuring, &wish);
    wait_for(&cpu_runs, 1);
    assert_false(measuring_end(measuring));
}

static void the_end_does_not_wait_for_ever(void **state) {
    (void)state;
    atomic_store(&hold, 1);
    Measuring *measuring = measuring_new(ignore_all, NULL, wake);
    MeasuringWish wish = wish_for(NULL, 4096);
    measuring_want(measuring, &wish);
    wait_for(&gpu_runs, 1);
    assert_false(measuring_end(measuring));
    atomic_store(&hold, 0);
    assert_true(measuring_end(measuring));
}

/* ---- the real program, on a stub of the driver --------------------------------------------------------- */

static void keys_are_answered_while_it_measures(void **state) {
    (void)state;
    Pty *pty = pty_start_measuring(NULL, 200, 60);
    pty_wait_for(pty, "timings, live on Stub 1");
    pty_type(pty, "g9>");
    pty_wait_for(pty, "step 10 of ");
    pty_type(pty, "y");
    pty_wait_for(pty, "L2 cold, in a graph");
    pty_type(pty, "p8192\r");
    pty_wait_for(pty, "n = 2^13");
    pty_type(pty, "9<");
    pty_wait_for(pty, "step 1 of ");
    pty_quit(pty);
}

/* The row below the run is enough: its time is live while another pane has the place of the timings. */
static void the_row_below_a_run_is_live(void **state) {
    (void)state;
    Pty *pty = pty_start_measuring(NULL, 80, 24);
    pty_wait_for(pty, " us live on this Stub 1");
    pty_type(pty, "p8192\r");
    pty_wait_for(pty, "n 8,192");
    pty_wait_for(pty, " us live on this Stub 1");
    pty_type(pty, "B");
    pty_wait_for(pty, "Stub 1, live");
    pty_type(pty, "q");
    pty_quit(pty);
}

/* For the row alone a run is measured once, and the CPU not at all. */
static void once_is_once(void **state) {
    (void)state;
    MeasuringWish wish = {.of = {.kernel = "strided", .catalog = {.n = 64, .op = "sum"}}, .once = true};
    Measuring *measuring = measuring_new(measure_gpu, measure_cpu, wake);
    measuring_want(measuring, &wish);
    while (atomic_load(&gpu_runs) < 2) pause_briefly(); /* the kernel, then the ladder */
    for (int i = 0; i < 2500; i++) pause_briefly();     /* longer than the pause between two measurements */
    assert_int_equal(atomic_load(&gpu_runs), 2);
    assert_int_equal(atomic_load(&cpu_runs), 0);
    assert_true(measuring_end(measuring));
}

/* Its kernels never end; the driver layer gives up after seconds, but quitting does not wait for that. */
static void a_gpu_that_hangs_holds_nobody_up(void **state) {
    (void)state;
    Pty *pty = pty_start_measuring("STUB_BUSY=1", 200, 60);
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, "9>");
    pty_wait_for(pty, "step 10 of ");
    pty_quit(pty);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(intervals_are_those_of_the_wish, setup),
        cmocka_unit_test_setup(times_come_one_by_one, setup),
        cmocka_unit_test_setup(it_goes_on, setup),
        cmocka_unit_test_setup(another_wish_cancels, setup),
        cmocka_unit_test_setup(parameters_count, setup),
        cmocka_unit_test_setup(kernels_that_are_wrong_are_not_run, setup),
        cmocka_unit_test_setup(without_a_gpu_there_is_the_cpu, setup),
        cmocka_unit_test_setup(a_gpu_that_failed_is_told, setup),
        cmocka_unit_test_setup(the_end_does_not_wait_for_ever, setup),
        cmocka_unit_test(keys_are_answered_while_it_measures),
        cmocka_unit_test(the_row_below_a_run_is_live),
        cmocka_unit_test_setup(once_is_once, setup),
        cmocka_unit_test(a_gpu_that_hangs_holds_nobody_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
