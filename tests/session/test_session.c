/* Session: a first look shows the same as the whole run; and runs made from the options of other runs. */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "metrics/totals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Session *open_session(const RunSpec *options) {
    Error error = {0};
    Session *session = session_open(options, &error);
    if (!session) fail_msg("%s: %s", options->kernel, error.message);
    return session;
}

static RunSpec kernel(const char *name, uint64_t n, bool first_look) {
    return (RunSpec){.kernel = name, .catalog = {.n = n}, .threads = 2, .first_look = first_look};
}

/* ---- a first look -------------------------------------------------------------------------------------- */

/* The events of a view as text. */
static void print_view(Session *session, const SessionBlock *view, Text *out) {
    const TraceLaunch *launch = session_trace(session)->launches[view->launch];
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(view->block); i++) {
        trace_block_read(view->block, i, &event);
        trace_event_print(session_trace(session), launch, view->block, &event, out);
        text_add(out, "\n");
    }
}

static void check_same_events(Session *look, Session *whole) {
    assert_true(session_block_count(look) > 0);
    for (int i = 0; i < session_block_count(look); i++) {
        Text seen = {0}, made = {0};
        print_view(look, session_block(look, i), &seen);
        print_view(whole, session_block(whole, i), &made);
        assert_true(seen.length > 1000);
        assert_string_equal(text_string(&seen), text_string(&made));
        text_done(&seen);
        text_done(&made);
    }
}

static void check_first_look(const char *name, bool has_trace_blocks, uint32_t first, uint32_t last) {
    RunSpec options = kernel(name, 1 << 20, true);
    options.has_trace_blocks = has_trace_blocks;
    options.trace_first = first;
    options.trace_last = last;
    Session *look = open_session(&options);
    options.first_look = false;
    Session *whole = open_session(&options);
    assert_true(session_is_partial(look));
    assert_null(session_result(look));
    assert_false(session_is_partial(whole));
    assert_true(session_result(whole)->correct);
    check_same_events(look, whole);
    Totals seen, all;
    metrics_of_run(session_trace(look), &seen);
    metrics_of_run(session_trace(whole), &all);
    assert_true(seen.warp_instructions * 2 < all.warp_instructions); /* it did not run the whole grid */
    session_free(look);
    session_free(whole);
}

static void a_first_look_has_the_events_of_the_whole_run(void **state) {
    (void)state;
    check_first_look("interleaved", false, 0, 0);
    check_first_look("strided", true, 17, 18);
    check_first_look("shuffle", false, 0, 0);
    check_first_look("vectorized", true, 3, 3);
}

/* Only the first launch ran: the second one's input does not exist yet. */
static void launches_after_a_first_look_wait(void **state) {
    (void)state;
    RunSpec options = kernel("two_stage", 1 << 22, true);
    Session *look = open_session(&options);
    options.first_look = false;
    Session *whole = open_session(&options);
    assert_true(session_is_partial(look));
    assert_int_equal(session_trace(look)->launch_count, 1);
    assert_int_equal(session_trace(whole)->launch_count, 2);
    check_same_events(look, whole);
    session_free(look);
    session_free(whole);
}

/* If blocks may see each other, all must run; small runs are not worth two passes; the last block is the
 * whole run. */
static void other_runs_are_whole_at_once(void **state) {
    (void)state;
    static const char *const meeting[] = {"atomic", "shuffle_atomic", "cooperative", "last_block"};
    for (size_t i = 0; i < sizeof meeting / sizeof *meeting; i++) {
        RunSpec options = kernel(meeting[i], 1 << 20, true);
        Session *session = open_session(&options);
        assert_false(session_is_partial(session));
        assert_true(session_result(session)->correct);
        session_free(session);
    }
    RunSpec options = kernel("interleaved", 1 << 16, true);
    Session *session = open_session(&options);
    assert_false(session_is_partial(session));
    session_free(session);
    options = kernel("interleaved", 1 << 20, true);
    options.has_trace_blocks = true;
    options.trace_first = options.trace_last = 4095;
    session = open_session(&options);
    assert_false(session_is_partial(session));
    assert_true(session_result(session)->correct);
    session_free(session);
}

static void a_cancelled_run_is_an_error(void **state) {
    (void)state;
    atomic_bool cancel = true;
    Error error = {0};
    RunSpec options = kernel("interleaved", 1 << 20, false);
    options.cancel = &cancel;
    assert_null(session_open(&options, &error));
    assert_string_equal(error.message, "cancelled");
}

/* The maximum of the first of two warps, 16 of whose 48 elements are therefore dropped. */
static const char first_warp_only[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry most(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %a<4>;\n"
    "ld.param.u64 %a0, [in]; ld.param.u64 %a1, [out]; mov.u32 %r0, %tid.x;\n"
    "mul.wide.u32 %a2, %r0, 4; add.u64 %a0, %a0, %a2; ld.global.u32 %r1, [%a0];\n"
    "setp.ge.u32 %p, %r0, 32; @%p bra DONE; redux.sync.max.s32 %r2, %r1, 0xffffffff;\n"
    "setp.ne.u32 %p, %r0, 0; @%p bra DONE; st.global.u32 [%a1], %r2;\nDONE: ret;\n}\n";

/* The runs that a session makes later are not cancelled by what could have cancelled the first. */
static void a_session_does_not_keep_what_cancels_it(void **state) {
    (void)state;
    atomic_bool cancel = false;
    RunSpec options = {.file = "most.ptx", .text = first_warp_only, .threads = 1, .cancel = &cancel};
    options.args = "in=int[48]:random, out=int[1]";
    options.block[0] = 48;
    options.grid[0] = 1;
    Session *session = open_session(&options);
    cancel = true;
    Text out = {0};
    ask_check(session, TOOL_NONE, CHECK_TEXT, &out);
    assert_non_null(strstr(text_string(&out), "with the maximum at in["));
    text_done(&out);
    session_free(session);
}

/* Registers are followed only under the race detector, which a run meets when its hazards are asked for. */
static void an_unwritten_register_is_kept_from_the_search(void **state) {
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry k(.param .u64 out) { .reg .b32 %r; .reg .b64 %a;\n"
                               "ld.param.u64 %a, [out]; st.global.u32 [%a], %r; ret; }\n";
    for (int searches = 0; searches < 2; searches++) {
        RunSpec options = {.file = "k.ptx", .text = text, .threads = 1, .args = "out=int[1]"};
        options.block[0] = options.grid[0] = 1;
        options.search_races = searches;
        Session *session = open_session(&options);
        const Findings *hazards = ask_hazards(session);
        assert_int_equal(hazards->error_count, 1);
        assert_string_equal(hazards->items[0].kind_text, "unwritten_register");
        assert_int_equal(ask_sure_errors(session), 1);
        session_free(session);
    }
}

/* ---- metrics ------------------------------------------------------------------------------------------- */

/* If every block of a launch was traced, its events give the counts. Returns whether they were. */
static bool check_events_give_the_counts(const char *name, const TraceLaunch *launch) {
    if ((uint64_t)launch->block_count != (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2])
        return false;
    Totals counted, traced;
    metrics_of_launch(launch, &counted);
    metrics_of_traced_launch(launch, &traced);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        uint64_t all = totals_value(&counted, (Metric)metric), seen = totals_value(&traced, (Metric)metric);
        if (metric_infos[metric].from_events && all != seen)
            fail_msg("%s: %s is %llu, and %llu from events", name, metric_infos[metric].name,
                     (unsigned long long)all, (unsigned long long)seen);
    }
    return true;
}

static void metrics_from_events_are_those_that_were_counted(void **state) {
    (void)state;
    int checked = 0;
    for (int i = 0; i < catalog_count(); i++) {
        RunSpec options = kernel(catalog_row(i)->id, catalog_row(i)->default_block, false);
        Session *session = open_session(&options);
        const Trace *trace = session_trace(session);
        /* An instruction that traps is counted before it becomes an event. */
        bool ended = trace->trap_count && trap_kind_is_fatal(trace->traps[0].kind);
        for (int l = 0; l < trace->launch_count && !ended; l++)
            checked += check_events_give_the_counts(options.kernel, trace->launches[l]);
        session_free(session);
    }
    assert_true(checked > catalog_count() / 2);
}

/* ---- options ------------------------------------------------------------------------------------------- */

static void a_session_owns_its_options(void **state) {
    (void)state;
    char name[] = "lab_bank_stride", stride[] = "stride=5", op[] = "sum";
    RunSpec options = {.kernel = name, .threads = 1};
    options.catalog = (CatalogOptions){.n = 64, .op = op, .parameters = {stride}, .parameter_count = 1};
    Session *session = open_session(&options);
    memset(name, 'x', sizeof name - 1);
    memset(stride, 'x', sizeof stride - 1);
    memset(op, 'x', sizeof op - 1);
    const RunSpec *kept = session_spec(session);
    assert_string_equal(kept->kernel, "lab_bank_stride");
    assert_string_equal(kept->catalog.parameters[0], "stride=5");
    assert_string_equal(kept->catalog.op, "sum");
    Session *again = open_session(kept);
    assert_int_equal(session_run(again)->parameters[0], 5);
    session_free(session);
    session_free(again);
}

/* Settings that the other kernel does not accept return to their defaults; the others stay. */
static void options_are_taken_to_another_kernel(void **state) {
    (void)state;
    RunSpec options = kernel("lab_bank_stride", 4096, false);
    options.catalog.parameters[options.catalog.parameter_count++] = "stride=5";
    options.catalog.block = 96;
    options.catalog.seed = 9;
    run_spec_choose_kernel(&options, "shuffle"); /* whole warps */
    assert_int_equal(options.catalog.parameter_count, 0);
    assert_int_equal(options.catalog.block, 96);
    run_spec_choose_kernel(&options, "interleaved"); /* powers of two */
    assert_int_equal(options.catalog.block, 0);
    assert_int_equal(options.catalog.n, 4096);
    assert_int_equal(options.catalog.seed, 9);
    options.catalog.dtype = PTX_F64;
    options.catalog.op = "max";
    run_spec_choose_kernel(&options, "redux"); /* int */
    assert_int_equal(options.catalog.dtype, PTX_NO_TYPE);
    assert_string_equal(options.catalog.op, "max");
    options.catalog.parameters[options.catalog.parameter_count++] = "blocks_per_sm=2";
    options.catalog.grid = 16;
    run_spec_choose_kernel(&options, "strided"); /* its grid follows from n */
    assert_int_equal(options.catalog.grid, 0);
    Session *session = open_session(&options);
    session_free(session);
}

/* Measured values are kept to the bit; without a measurement, there is no value. */
static void measurements_are_kept(void **state) {
    (void)state;
    char path[] = "/tmp/redviz-measured-XXXXXX.redviz";
    Error error = {0};
    int file = mkstemps(path, 7);
    assert_true(file >= 0);
    close(file);
    RunSpec options = kernel("strided", 4096, false);
    Session *session = open_session(&options);
    Measurements *measured = session_measured(session);
    assert_int_equal(measured->timing_count + measured->counter_count, 0);
    Timing timing = {.kernel = "strided",
                     .machine = "NVIDIA H200",
                     .measured = "2026-11-21T15:00:00Z",
                     .n = 1 << 20,
                     .dtype = "int",
                     .op = "sum",
                     .threads = 256,
                     .graph = true,
                     .cold = true,
                     .samples = 31,
                     .median = 12.375,
                     .low = 12.25,
                     .high = 13.5,
                     .gigabytes_per_second = 338.9,
                     .share_of_read = 0.125,
                     .share_of_copy = (double)NAN,
                     .share_of_peak = 0.07,
                     .clock = 1980,
                     .temperature = (double)NAN};
    MeasuredCounter counter = {.metric = "smsp__inst_executed_op_shared_st.sum",
                               .label = "shared stores",
                               .machine = "NVIDIA H200",
                               .value = 147456,
                               .predicted = 147456,
                               .note = "equal"};
    measured_add_timing(measured, &timing);
    measured_add_counter(measured, &counter);
    measured_add_interval(
        measured,
        &(IntervalTime){
            .block = 3, .interval = 7, .machine = "NVIDIA H200", .cycles = 812, .overhead = (double)NAN});
    if (!ask_save(session, path, &error)) fail_msg("%s", error.message);
    session_free(session);
    session = open_session(&(RunSpec){.saved = path});
    measured = session_measured(session);
    assert_int_equal(measured->timing_count, 1);
    assert_int_equal(measured->counter_count, 1);
    const Timing *read = &measured->timings[0];
    assert_string_equal(read->machine, timing.machine);
    assert_string_equal(read->measured, timing.measured);
    assert_true(read->n == timing.n && read->threads == 256 && read->graph && read->cold && !read->to_scalar);
    assert_true(read->median == timing.median && read->low == timing.low && read->high == timing.high);
    assert_true(isnan(read->share_of_copy) && isnan(read->temperature) && read->clock == 1980);
    assert_true(read->samples == 31 && !read->note);
    assert_string_equal(measured->counters[0].metric, counter.metric);
    assert_true(measured->counters[0].value == 147456 && measured->counters[0].predicted == 147456);
    assert_string_equal(measured->counters[0].note, "equal");
    assert_int_equal(measured->interval_count, 1);
    const IntervalTime *interval = &measured->intervals[0];
    assert_true(interval->launch == 0 && interval->block == 3 && interval->interval == 7);
    assert_true(interval->cycles == 812 && isnan(interval->overhead));
    assert_string_equal(interval->machine, "NVIDIA H200");
    session_free(session);
    remove(path);
}

/* ---- faults -------------------------------------------------------------------------------------------- */

/* The block of the first fault is traced beside the first block, unless the blocks to trace are given. */
static void the_block_of_a_fault_is_traced(void **state) {
    (void)state;
    static const char *const kernels[] = {"bug_unguarded_load", "bug_uninitialized_shared"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        RunSpec options = kernel(kernels[i], 0, false);
        Session *session = open_session(&options);
        assert_int_equal(session_trace(session)->traps[0].block[0], 3);
        assert_int_equal(session_block_count(session), 2);
        assert_int_equal(trace_block_linear(session_block(session, 0)->block), 0);
        assert_int_equal(trace_block_linear(session_block(session, 1)->block), 3);
        assert_true(trace_block_event_count(session_block(session, 1)->block) > 0);
        session_free(session);
        options.has_trace_blocks = true;
        options.trace_first = options.trace_last = 1;
        session = open_session(&options);
        assert_int_equal(session_block_count(session), 1);
        assert_int_equal(trace_block_linear(session_block(session, 0)->block), 1);
        session_free(session);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_look_has_the_events_of_the_whole_run),
        cmocka_unit_test(launches_after_a_first_look_wait),
        cmocka_unit_test(other_runs_are_whole_at_once),
        cmocka_unit_test(a_cancelled_run_is_an_error),
        cmocka_unit_test(a_session_does_not_keep_what_cancels_it),
        cmocka_unit_test(an_unwritten_register_is_kept_from_the_search),
        cmocka_unit_test(metrics_from_events_are_those_that_were_counted),
        cmocka_unit_test(a_session_owns_its_options),
        cmocka_unit_test(options_are_taken_to_another_kernel),
        cmocka_unit_test(measurements_are_kept),
        cmocka_unit_test(the_block_of_a_fault_is_traced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
