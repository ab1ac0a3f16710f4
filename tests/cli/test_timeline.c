/* The output of --timeline in its forms: recorded on an H100, measured (on the emulator in a GPU's place), or
 * neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"
#include "tests/gpu/libraries.h"
#include "trace/warp_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int without_gpu(void **state) {
    (void)state;
    return setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
}

static int with_gpu(void **state) {
    (void)state;
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    return 0;
}

static double number_at(const char *json, const char *path) {
    const char *at = json_at(json, path);
    if (!at) fail_msg("no %s in %.300s", path, json);
    return at ? strtod(at, NULL) : 0;
}

static bool is_text(const char *json, const char *path, const char *text) {
    const char *at = json_at(json, path);
    size_t length = strlen(text);
    return at && *at == '"' && !strncmp(at + 1, text, length) && at[length + 1] == '"';
}

/* ---- recorded ------------------------------------------------------------------------------------------ */

static void recorded_as_text(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel shuffle --timeline");
    program_assert_contains(
        out, "shuffle, n = 1,048,576, int: warps on multiprocessor 0 of NVIDIA H100 80GB HBM3, "
             "recorded 2026-");
    program_assert_contains(out, "\nper scheduler: of ");
    program_assert_contains(out, " w0  |");
    program_assert_contains(out, "\n  g global   line ");
    assert_null(strstr(out, "nan"));
    assert_null(strstr(out, "nearest"));
    free(out);
    out = program_output(0, "@ --kernel sequential --dtype float --n 5000 --timeline");
    program_assert_contains(out,
                            "sequential, n = 5,000, float, sum is not recorded; the nearest recording:\n\n"
                            "sequential, n = 1,048,576, int: warps on ");
    free(out);
    out = program_output(0, "@ --kernel cooperative --timeline");
    assert_null(strstr(out, "blocks at once")); /* there is one timeline */
    free(out);
    out = program_output(0, "@ --kernel sequential --timeline");
    program_assert_contains(out,
                            "\nblocks at once        us   elements a us   a warp is ready\n           all ");
    free(out);
}

/* What was recorded of the residencies that are asked for. */
static void of_some_residencies(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel sequential --timeline=json --residency 4,2,3");
    assert_true(json_valid(out));
    assert_int_equal(json_array_count(json_at(out, "timelines")), 2);
    assert_true(number_at(out, "timelines.0.blocks_at_once") == 2);
    assert_true(number_at(out, "timelines.1.blocks_at_once") == 4);
    free(out);
    out = program_output(0, "@ --kernel sequential --timeline --residency 3");
    assert_string_equal(
        out, "no timeline of warps: there is no CUDA driver here (/nowhere/libcuda.so.1); on a machine "
             "with a GPU, --timeline measures it\n");
    free(out);
    out = program_output(0, "@ --kernel shuffle --timeline --timeline-sites shared");
    assert_int_equal(strncmp(out, "no timeline of warps: ", 22), 0);
    free(out);
}

static void take(void *context, WarpTimeline *timeline) {
    int *count = context;
    (*count)++;
    warp_timeline_free(timeline);
}

static int read_back(const char *text) {
    Error error = {0};
    int count = 0;
    if (!warp_file_read_text(text, "output", take, &count, &error))
        fail_msg("%d: %s", error.line, error.message);
    return count;
}

static void recorded_as_a_table(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel sequential --timeline=tsv");
    assert_int_equal(read_back(out), 5);
    free(out);
}

static void without_a_recording(void **state) {
    (void)state;
    static const char why[] =
        "no timeline of warps: there is no CUDA driver here (/nowhere/libcuda.so.1); on a machine "
        "with a GPU, --timeline measures it\n";
    char *out =
        program_output(0, "@ tests/cli/scale.ptx --args 'in=float[n]:iota, out=float[n]:zero, n' --n 64 "
                          "--grid 1 --block 64 --timeline");
    assert_string_equal(out, why);
    free(out);
    out = program_output(0, "@ --kernel sequential --residency 3 --timeline=json");
    assert_true(json_valid(out));
    assert_int_equal(json_array_count(json_at(out, "timelines")), 0);
    program_assert_contains(out, "\"why\":\"there is no CUDA driver here");
    free(out);
    static const char *const forms[] = {"perfetto", "tsv"}; /* which cannot say it */
    for (int i = 0; i < 2; i++) {
        Outcome outcome = program_shell("@ --kernel sequential --residency 3 --timeline=%s", forms[i]);
        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        program_assert_contains(outcome.err, why);
        program_outcome_done(&outcome);
    }
}

static void bad_options(void **state) {
    (void)state;
    static const char *const values[] = {
        "0", "65", "x", "1,,2", "2,", ",2", "", "-1", "1.5", "1,2,3,4,5,6,7,8,9", "99999999999999999999"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        Outcome outcome = program_shell("@ --kernel sequential --timeline --residency '%s'", values[i]);
        assert_int_equal(outcome.status, 2);
        assert_string_equal(outcome.out, "");
        char says[160];
        snprintf(says, sizeof says, "redviz: --residency: '%s' is not up to 8 numbers from 1 to 64\n",
                 values[i]);
        assert_string_equal(outcome.err, says);
        program_outcome_done(&outcome);
    }
    static const char *const others[][2] = {
        {"--timeline=svg", "--timeline: 'svg' is not one of text, json, perfetto, tsv"},
        {"--timeline --timeline-sites local", "--timeline-sites: 'local' is not one of shared, lines"},
        {"--report --residency 2", "--residency goes with --timeline"},
        {"--report --timeline-sites shared", "--timeline-sites goes with --timeline"},
        {"--report --timeline-sites lines", "--timeline-sites goes with --timeline"},
        {"--timeline --save x.redviz", "--timeline --save: a session file keeps no timelines of warps"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        Outcome outcome = program_shell("@ --kernel sequential %s", others[i][0]);
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, others[i][1]);
        program_outcome_done(&outcome);
    }
}

/* ---- measured ------------------------------------------------------------------------------------------ */

static void measured_in_all_forms(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel two_stage --n 5000 --block 64 --timeline");
    program_assert_contains(out, "two_stage, n = 5,000, int: warps on multiprocessor 0 of Stub 1\n");
    assert_null(strstr(out, "recorded"));
    free(out);
    out = program_output(0, "@ --kernel two_stage --n 5000 --block 64 --timeline=tsv");
    assert_int_equal(read_back(out), 1);
    free(out);
    out = program_output(0, "@ --kernel two_stage --n 5000 --block 64 --timeline=json");
    assert_true(json_valid(out));
    assert_true(is_text(out, "timelines.0.kernel", "two_stage"));
    assert_int_equal(strncmp(json_at(out, "timelines.0.recorded"), "false", 5), 0);
    assert_int_equal(json_array_count(json_at(out, "timelines.0.warps")), 4); /* a block of each launch */
    assert_int_equal(strncmp(json_at(out, "why"), "null", 4), 0);
    double cycles = number_at(out, "timelines.0.schedulers.cycles");
    assert_true(cycles == 4 * number_at(out, "timelines.0.cycles") && cycles > 0);
    free(out);
    /* Shared memory, too: then only the order means something. */
    out = program_output(0, "@ --kernel two_stage --n 5000 --block 64 --timeline --timeline-sites shared");
    program_assert_contains(out, "\n  s shared ");
    program_assert_contains(out, "with so many probes only the order of waits means something");
    free(out);
}

/* The order in which the warps pass the lines; no lengths. */
static void lines_are_passed_in_order(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel sequential --n 256 --timeline --timeline-sites lines");
    program_assert_contains(out, "\n  l line     line 27          64 times  ");
    program_assert_contains(out, "\n  b barrier  line 29          64 waits of ");
    program_assert_contains(out, "with so many probes only the order of waits means something");
    assert_null(strstr(out, "s shared"));
    free(out);
    out = program_output(0, "@ --kernel sequential --n 256 --timeline=json --timeline-sites lines");
    assert_true(json_valid(out));
    assert_int_equal(strncmp(json_at(out, "timelines.0.order_only"), "true", 4), 0);
    const char *waits = json_at(out, "timelines.0.warps.0.waits");
    int count = json_array_count(waits), barriers = 0, line = 0;
    double last = -1;
    for (int i = 0; i < count; i++) { /* a line comes before what waits in it */
        char path[64];
        snprintf(path, sizeof path, "%d.0", i);
        int site = (int)number_at(waits, path);
        snprintf(path, sizeof path, "%d.1", i);
        double begin = number_at(waits, path);
        assert_true(begin >= last);
        last = begin;
        snprintf(path, sizeof path, "timelines.0.sites.%d.line", site);
        int here = (int)number_at(out, path);
        snprintf(path, sizeof path, "timelines.0.sites.%d.waits_for", site);
        if (is_text(out, path, "barrier")) {
            assert_int_equal(here, line);
            barriers++;
        }
        if (is_text(out, path, "line")) line = here;
    }
    assert_int_equal(barriers, 9);
    assert_true(count > 40);
    free(out);
    out = program_output(0, "@ --kernel sequential --n 256 --timeline=tsv --timeline-sites lines");
    assert_int_equal(read_back(out), 1);
    free(out);
    out = program_output(0, "@ --kernel last_block --n 4096 --verify --timeline --timeline-sites lines "
                            "--timeline-sites shared");
    program_assert_contains(out, "\n  waits of 8 warps agree\n");
    free(out);
}

/* The Trace Event Format: every event has its phase, name, process and thread; those with a duration have a
 * time, and each begins where the one before it in its thread ends. */
static void check_events(const char *options, int warps, bool has_waits) {
    char *out = program_output(0, "@ %s --timeline=perfetto", options);
    assert_true(json_valid(out));
    const char *events = json_at(out, "traceEvents");
    int count = json_array_count(events), names = 0, waits = 0;
    double process = 0, thread = 0, end = -1; /* of the event before in this thread; -1: none */
    for (int i = 0; i < count; i++) {
        char index[16];
        snprintf(index, sizeof index, "%d", i);
        const char *event = json_at(events, index);
        assert_non_null(json_at(event, "name"));
        if (is_text(event, "ph", "M")) {
            bool is_thread = is_text(event, "name", "thread_name");
            assert_true(is_thread || is_text(event, "name", "process_name"));
            assert_non_null(json_at(event, "args.name"));
            process = number_at(event, "pid"), thread = number_at(event, "tid"), end = -1;
            names += is_thread;
            continue;
        }
        assert_true(is_text(event, "ph", "X"));
        assert_true(number_at(event, "pid") == process && number_at(event, "tid") == thread && thread > 0);
        double at = number_at(event, "ts"), length = number_at(event, "dur");
        assert_true(length > 0 && (end < 0 || at == end));
        end = at + length;
        if (is_text(event, "name", "does not wait")) continue;
        assert_non_null(json_at(event, "args.pc"));
        waits++;
    }
    assert_int_equal(names, warps);
    assert_int_equal(waits > 0, has_waits);
    free(out);
}

static void perfetto_reads_a_recording(void **state) {
    (void)state;
    check_events("--kernel cooperative", 16, true);
    char *out = program_output(0, "@ --kernel cooperative --timeline=perfetto");
    program_assert_contains(out, "\"name\":\"global\",\"cat\":\"warp\",\"pid\":1,\"tid\":1,\"ts\":");
    program_assert_contains(out, "\"source\":\"");
    free(out);
}

/* Two warps of block 0. What the emulator waits is less than what a probe takes on a GPU. */
static void perfetto_reads_a_run(void **state) {
    (void)state;
    check_events("--kernel sequential --n 300 --block 64", 2, false);
}

/* ---- verified ------------------------------------------------------------------------------------------ */

static void waits_are_verified(void **state) {
    (void)state;
    static const char *const runs[] = {
        "--kernel sequential --n 4096 --verify --timeline",
        "--kernel sequential --n 4096 --timeline --verify",
        "--kernel interleaved --n 4096 --verify --timeline --timeline-sites shared",
        "--kernel last_block --n 4096 --trace-blocks 3 --verify --timeline"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        char *out = program_output(0, "@ %s", runs[i]);
        program_assert_contains(out, ": emulator and Stub 1 agree\n");
        program_assert_contains(out, "\n  waits of 8 warps agree\n");
        free(out);
    }
    char *out = program_output(0, "@ --kernel sequential --n 4096 --verify");
    assert_null(strstr(out, "waits"));
    free(out);
    Outcome outcome = program_shell("@ --kernel sequential --verify --timeline=json");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "--verify and --timeline print different things");
    program_outcome_done(&outcome);
}

/* Its path depends on an address, which is another one on the machine. */
static void other_waits_are_a_difference(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/address.ptx", program_folder());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry address(.param .u64 out) {\n"
          ".reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [out];\n"
          "shr.u64 %rd2, %rd1, 12; setp.ne.u64 %p1, %rd2, 0x700000; bar.sync 0;\n"
          "@%p1 bra $far; bar.sync 1; bra $end;\n$far: bar.sync 2;\n"
          "$end: mov.u32 %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n",
          file);
    fclose(file);
    Outcome outcome = program_shell("@ %s --args 'out=int[n]:zero' --n 64 --block 64 --grid 1 --verify "
                                    "--timeline",
                                    path);
    assert_int_equal(outcome.status, 1);
    program_assert_contains(outcome.out, "\n  waits of 0 warps agree; of 2 they DIFFER\n");
    program_assert_contains(
        outcome.out, "\n  first difference of waits: block 0, warp 0, lane 0, wait 2: the machine waits "
                     "at pc 7 (barrier), the emulator at pc 5 (barrier)\n");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(recorded_as_text, without_gpu),
        cmocka_unit_test_setup(of_some_residencies, without_gpu),
        cmocka_unit_test_setup(recorded_as_a_table, without_gpu),
        cmocka_unit_test_setup(without_a_recording, without_gpu),
        cmocka_unit_test_setup(bad_options, without_gpu),
        cmocka_unit_test_setup(perfetto_reads_a_recording, without_gpu),
        cmocka_unit_test_setup(measured_in_all_forms, with_gpu),
        cmocka_unit_test_setup(lines_are_passed_in_order, with_gpu),
        cmocka_unit_test_setup(perfetto_reads_a_run, with_gpu),
        cmocka_unit_test_setup(waits_are_verified, with_gpu),
        cmocka_unit_test_setup(other_waits_are_a_difference, with_gpu),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
