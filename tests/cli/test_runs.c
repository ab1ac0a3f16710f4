/* The output of runs: reports, traces, frames, buffers, accesses. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the reader itself --------------------------------------------------------------------------------- */

static void test_json_reader(void **state) {
    (void)state;
    static const char *const good[] = {"{}", "[1, -0.5e+3, null]",
                                       "{\"a\":[{\"b\\n\":\"\\u00e9\"}], \"c\":true} \n"};
    static const char *const bad[] = {"",    "{",     "{\"a\":}", "[1,]",      "01",
                                      "nan", "{} {}", "\"\t\"",   "{\"a\" 1}", "1."};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) assert_true(json_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (json_valid(bad[i])) fail_msg("accepted: %s", bad[i]);
    assert_int_equal(strncmp(json_at(good[2], "c"), "true", 4), 0);
    assert_null(json_at(good[2], "a.1"));
    assert_int_equal(json_array_count(good[1]), 3);
}

/* ---- reports ------------------------------------------------------------------------------------------- */

/* No hardware counter was read; machine code may be recorded. */
static bool counts_nothing(const char *json) {
    const char *counters = json_at(json, "measured.counters");
    return counters ? !json_array_count(counters) : !strncmp(json_at(json, "measured"), "null", 4);
}

static double field(const char *json, const char *path) {
    const char *value = json_at(json, path);
    if (!value) fail_msg("the report has no %s", path);
    return value ? strtod(value, NULL) : 0;
}

static void test_report_fields(void **state) {
    (void)state;
    static const char *const paths[] = {"kernel",
                                        "backend",
                                        "device",
                                        "counted_by",
                                        "dropped_events",
                                        "n",
                                        "block",
                                        "grid",
                                        "dtype",
                                        "op",
                                        "result",
                                        "expected",
                                        "absolute_error",
                                        "relative_error",
                                        "correct",
                                        "totals.warp_instructions",
                                        "totals.shared_loads",
                                        "totals.shared_stores",
                                        "totals.shared_load_wavefronts",
                                        "totals.shared_load_wavefronts_ideal",
                                        "totals.shared_store_wavefronts",
                                        "totals.shared_store_wavefronts_ideal",
                                        "totals.global_load_requests",
                                        "totals.global_load_sectors",
                                        "totals.global_store_requests",
                                        "totals.global_store_sectors",
                                        "totals.shuffles",
                                        "totals.barriers",
                                        "totals.branches",
                                        "totals.divergent_branches",
                                        "totals.atomics",
                                        "totals.average_active_lanes",
                                        "launches.1.entry",
                                        "launches.1.grid.2",
                                        "launches.1.block.0",
                                        "launches.1.shared_bytes",
                                        "launches.1.registers",
                                        "launches.1.occupancy",
                                        "launches.1.totals.barriers",
                                        "lines.0.file",
                                        "lines.0.line",
                                        "lines.0.text",
                                        "lines.0.shared_loads",
                                        "measured",
                                        "traps",
                                        "hazards"};
    char *json = program_output(0, "@ --kernel two_stage --n 10000 --report=json");
    assert_true(json_valid(json));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (!json_at(json, paths[i])) fail_msg("the report has no %s", paths[i]);
    assert_int_equal(strncmp(json_at(json, "correct"), "true", 4), 0);
    assert_int_equal(json_array_count(json_at(json, "hazards")), 0);
    assert_true(counts_nothing(json));
    assert_int_equal(json_array_count(json_at(json, "launches")), 2);
    assert_true(field(json, "totals.barriers") ==
                field(json, "launches.0.totals.barriers") + field(json, "launches.1.totals.barriers"));
    free(json);
}

/* Every kernel's report is valid JSON, also for Python if it is installed; missing parts are null. */
static void test_every_report(void **state) {
    (void)state;
    char *list = program_output(0, "@ --list --json");
    int rows = json_array_count(list);
    assert_true(rows > 40);
    for (int i = 0; i < rows; i++) {
        char path[32], kernel[64];
        snprintf(path, sizeof path, "%d.id", i);
        sscanf(json_at(list, path), "\"%63[a-z_0-9]", kernel);
        Outcome report = program_shell("@ --kernel %s --n 1000 --report=json | tee %s/report_%s.json", kernel,
                                       program_folder(), kernel);
        if (report.status != 0 || !json_valid(report.out))
            fail_msg("%s: %s%s", kernel, report.err, report.out);
        assert_int_equal(strncmp(json_at(report.out, "device"), "null", 4), 0);
        assert_true(counts_nothing(report.out));
        program_outcome_done(&report);
    }
    free(list);
    free(program_output(0,
                        "! command -v python3 >/dev/null || python3 -c 'import json, sys\n"
                        "for name in sys.argv[1:]: json.load(open(name))' %s/report_*.json",
                        program_folder()));
}

/* Every column of tests/data/ladder_counters.csv (measured on an H200) that hardware counts exactly. All
 * blocks are alike, so a sixteenth of the elements, in a quick run, gives a sixteenth of the
 * count. */
static void test_ladder_counters(void **state) {
    (void)state;
    unsigned part = getenv("REDVIZ_TEST_QUICK") ? 16 : 1;
    FILE *file = fopen("tests/data/ladder_counters.csv", "r");
    assert_non_null(file);
    int kernels = 0;
    for (char line[512]; fgets(line, sizeof line, file);) {
        char kernel[32];
        unsigned grid, loads, measured, load_wavefronts, store_wavefronts, store_conflicts, requests, sectors;
        if (sscanf(line, "%31[a-z_],%u,%u,%u,%u,%u,%u,%u,%u", kernel, &grid, &loads, &measured,
                   &load_wavefronts, &store_wavefronts, &store_conflicts, &requests, &sectors) != 9)
            continue;
        char *json = program_output(0, "@ --kernel %s --n %u --block 256 --dtype int --report=json", kernel,
                                    (1u << 20) / part);
        const struct {
            const char *path;
            double expected;
        } columns[] = {{"grid", grid},
                       {"totals.shared_loads", loads},
                       {"totals.shared_load_wavefronts", load_wavefronts},
                       {"totals.shared_store_wavefronts", store_wavefronts},
                       {"totals.shared_store_wavefronts_ideal", store_wavefronts - store_conflicts},
                       {"totals.global_load_requests", requests},
                       {"totals.global_load_sectors", sectors}};
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            if (field(json, columns[i].path) * part != columns[i].expected)
                fail_msg("%s: %s is %.0f, 1/%u of the hardware's %.0f is expected", kernel, columns[i].path,
                         field(json, columns[i].path), part, columns[i].expected);
        assert_int_equal(strncmp(json_at(json, "correct"), "true", 4), 0);
        free(json);
        kernels++;
    }
    fclose(file);
    assert_int_equal(kernels, 4);
}

/* For slides: the lines of the source, the totals, sentences. */
static void test_report_text(void **state) {
    (void)state;
    char *text = program_output(0, "@ --kernel strided --n 4096 --report");
    program_assert_contains(text, "strided");
    program_assert_contains(text, "wavefronts");
    program_assert_contains(text, "bank conflict");
    free(text);
}

/* Both reports, then the metrics that differ. */
static void test_compared_report(void **state) {
    (void)state;
    char *text = program_output(0, "@ --kernel interleaved --n 4096 --compare strided --report");
    const char *first = strstr(text, "interleaved:"), *second = strstr(text, "\nstrided:"),
               *differences = strstr(text, "\ndifferences ");
    if (!first || !second || !differences) fail_msg("a part is missing: %s", text);
    assert_true(first < second && second < differences);
    program_assert_contains(differences, "conditional branches, divergent");
    free(text);
    text = program_output(0, "@ --kernel interleaved --n 4096 --compare interleaved --report=json");
    assert_int_equal(strncmp(text, "{\"first\":{\"kernel\":\"interleaved\"", 32), 0);
    program_assert_contains(text, "\"differences\":{}}");
    free(text);
}

/* A kernel that is wrong or faults still gives a report, and the status says that it failed. */
static void test_failed_runs(void **state) {
    (void)state;
    char *wrong = program_output(1, "@ --kernel bug_all_lanes_add --n 4096 --report=json");
    assert_true(json_valid(wrong));
    assert_int_equal(strncmp(json_at(wrong, "correct"), "false", 5), 0);
    char *trapped = program_output(1, "@ --kernel bug_unguarded_load --n 1000 --report=json");
    assert_true(json_valid(trapped));
    assert_non_null(json_at(trapped, "traps.0.kind"));
    assert_true(field(trapped, "traps.0.line") > 0);
    char *hung = program_output(1, "@ tests/cli/spin.ptx --n 32 --max-instructions 100000 --report=json");
    assert_true(json_valid(hung));
    assert_int_equal(strncmp(json_at(hung, "traps.0.kind"), "\"instruction_budget\"", 20), 0);
    char *many = program_output(1, "@ tests/cli/scale.ptx --args 'in=int[n], out=int[n], n' --grid 1000000 "
                                   "--max-instructions 1000 --report=json");
    assert_int_equal(strncmp(json_at(many, "traps.0.kind"), "\"instruction_budget\"", 20), 0);
    free(wrong), free(trapped), free(hung), free(many);
}

/* ---- traces, frames, buffers, accesses ----------------------------------------------------------------- */

/* A search was given up, since its processor time was over on a busy machine. */
static bool gives_up(const Outcome *outcome) {
    const char *limits = strstr(outcome->out, "\"limits\":");
    return limits && strncmp(limits, "\"limits\":[]", 11) != 0;
}

/* One seed, one trace: the output does not depend on the number of host threads. */
static void compare_threads(const char *kernel, const char *print) {
    enum { TRIES = 5 };
    int n = getenv("REDVIZ_TEST_QUICK") ? 4000 : 20000;
    bool is_same = false, is_busy = true;
    for (int i = 0; i < TRIES && !is_same && is_busy; i++) {
        Outcome one = program_shell("@ --kernel %s --n %d %s --threads 1", kernel, n, print),
                eight = program_shell("@ --kernel %s --n %d %s --threads 8", kernel, n, print);
        assert_true(strlen(one.out) > 80);
        is_same = one.status == eight.status && !strcmp(one.out, eight.out);
        is_busy = gives_up(&one) || gives_up(&eight);
        program_outcome_done(&one), program_outcome_done(&eight);
    }
    if (!is_same) fail_msg("%s %s: 1 and 8 threads differ", kernel, print);
}

static void test_host_threads(void **state) {
    (void)state;
    char *list = program_output(0, "@ --list --json");
    int rows = json_array_count(list), ladder = 0;
    char *names = program_output(0, "@ --list | sed '/^$/q' | grep -c '^  [a-z]'");
    for (int i = 0; i < rows; i++) {
        char path[32], kernel[64];
        snprintf(path, sizeof path, "%d.id", i);
        sscanf(json_at(list, path), "\"%63[a-z_0-9]", kernel);
        compare_threads(kernel, "--events --trace-blocks 0-5");
        compare_threads(kernel, "--check --json");
        snprintf(path, sizeof path, "%d.group", i);
        if (strncmp(json_at(list, path), "\"ladder\"", 8) != 0) continue;
        compare_threads(kernel, "--report=json");
        ladder++;
    }
    assert_true(ladder > 0);
    assert_int_equal(ladder, atoi(names)); /* the first group of --list */
    free(list), free(names);
}

/* The text of events is stable: tests/cli/events.txt has most kinds, from hand-written PTX. */
static void test_events(void **state) {
    (void)state;
    char *expected = program_output(0, "cat tests/cli/events.txt");
    char *events = program_output(
        0, "@ tests/cli/kinds.ptx --block 6 --args 'in=int[6]:iota, out=int[1]:zero' --events; "
           "@ tests/cli/scale.ptx --n 40 --block 32 --trace-blocks 1 --args 'in=int[n]:iota, out=int[n], n' "
           "--events");
    assert_string_equal(events, expected);
    free(events), free(expected);
}

static void test_frame(void **state) {
    (void)state;
    static const struct {
        const char *size;
        int columns, rows;
    } sizes[] = {{"", 120, 40}, {"=80x24", 80, 24}, {"=200x60", 200, 60}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *frame = program_output(0, "@ --kernel interleaved --n 1024 --frame%s", sizes[i].size);
        assert_int_equal(program_line_count(frame), sizes[i].rows);
        program_assert_contains(frame, "interleaved");
        int column = 0;
        for (const char *c = frame; *c; c++) {
            if ((*c & 0xC0) == 0x80) continue; /* inside a character */
            column = *c == '\n' ? 0 : column + 1;
            assert_true(column <= sizes[i].columns);
        }
        free(frame);
    }
    char *first = program_output(0, "@ --kernel interleaved --n 1024 --frame"),
         *moved = program_output(0, "@ --kernel interleaved --n 1024 --frame --keys 'g>'"),
         *opened = program_output(0, "@ --kernel interleaved --n 1024 --frame --step 2");
    assert_string_not_equal(first, moved);
    assert_string_equal(opened, moved);
    free(first), free(moved), free(opened);
}

/* Values of a run that did not finish are not a result. */
/* An image and a page are UTF-8 wherever they are made; a frame of text is what the terminal can show. */
static void files_are_the_same_in_every_locale(void **state) {
    (void)state;
    const char *folder = program_folder();
    static const char *const locales[] = {"C", "C.UTF-8"};
    char *images[2], *frames[2];
    for (int i = 0; i < 2; i++) {
        images[i] = program_output(0, "LC_ALL=%s @ --kernel strided --language zh --frame --svg", locales[i]);
        frames[i] = program_output(0, "LC_ALL=%s @ --kernel strided --frame", locales[i]);
        free(program_output(0, "LC_ALL=%s @ --kernel strided --language zh --html %s/%s.html >%s/none",
                            locales[i], folder, locales[i], folder));
    }
    program_assert_contains(images[0], "\u51b2\u7a81"); /* conflict */
    assert_string_equal(images[0], images[1]);
    assert_string_not_equal(frames[0], frames[1]);
    free(program_output(0, "cmp %s/C.html %s/C.UTF-8.html", folder, folder));
    for (int i = 0; i < 2; i++) free(images[i]), free(frames[i]);
}

static void test_dump_says_what_ended_the_run(void **state) {
    (void)state;
    Outcome outcome = program_shell(
        "@ tests/cli/scale.ptx --n 2^8 --args 'in=int[4]:iota, out=int[n]:ones, n' --dump out:3");
    assert_int_equal(outcome.status, 1);
    assert_string_equal(outcome.out, "1\n1\n1\n");
    if (!strstr(outcome.err, "the run ended early: out_of_bounds: ") || !strstr(outcome.err, "`in`"))
        fail_msg("%s", outcome.err);
    program_outcome_done(&outcome);
}

static void test_dump(void **state) {
    (void)state;
    char *ints = program_output(
        0, "@ tests/cli/scale.ptx --n 2^8 --args 'in=int[n]:iota, out=int[n]:zero, n' --dump out:5");
    assert_string_equal(ints, "0\n3\n6\n9\n12\n");
    char *all = program_output(0, "@ tests/cli/scale.ptx --n 0x11 --block 6,1,1 --grid 3,2 "
                                  "--args 'in=int[n]:ones, out=int[n]:zero, n' --dump out");
    assert_int_equal(program_line_count(all), 17);
    assert_int_equal(strspn(all, "3\n"), strlen(all));
    free(ints), free(all);
}

/* The source lane of shfl.sync, as in the pseudocode of the PTX ISA. */
static int shuffle_source(char mode, int lane, int b, int c, bool *valid) {
    int segment = c >> 8 & 31, clamp = c & 31, j = 0;
    int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    b &= 31;
    if (mode == 'u') j = lane - b, *valid = j >= most;
    if (mode == 'd') j = lane + b, *valid = j <= most;
    if (mode == 'b') j = lane ^ b, *valid = j <= most;
    if (mode == 'i') j = least | (b & ~segment), *valid = j <= most;
    return *valid ? j : lane;
}

/* tests/cli/shuffles.ptx, in a traced block and in one that is not: each executes shfl in its own code. */
static void test_shuffles(void **state) {
    (void)state;
    Text expected = {0};
    for (int block = 0; block < 2; block++)
        for (int lane = 0; lane < 32; lane++) {
            uint32_t sum = 0;
            for (int i = 0; i < 32 * 4 * 4; i++) {
                char mode = "dubi"[i % 4];
                int distance = i / 16, width = i / 4 % 4, segment = (32 - (32 >> width)) << 8;
                bool valid = false;
                int source = shuffle_source(mode, lane, (width & 1) * lane + distance,
                                            segment | (mode == 'u' ? 0 : 31), &valid);
                sum = sum * 31 + (uint32_t)source * 2654435761u + 12345 + valid;
            }
            text_print(&expected, "%d\n", (int)sum);
        }
    char *printed =
        program_output(0, "@ tests/cli/shuffles.ptx --block 32 --grid 2 --args 'out=int[64]' --dump out");
    assert_string_equal(printed, text_string(&expected));
    text_done(&expected);
    free(printed);
}

/* Rows of `counted` (a CSV) whose line is equal in `expected`; fails if one has more lines. */
static int equal_rows(const char *counted, const char *expected) {
    int equal = 0;
    while (*counted && *expected) {
        size_t length = strcspn(counted, "\n"), other = strcspn(expected, "\n");
        equal += length == other && memcmp(counted, expected, length) == 0;
        counted += length + 1;
        expected += other + 1;
    }
    assert_true(!*counted && !*expected);
    return equal;
}

/* 919 accesses and the hardware's counts for them. Counts are computed, not copied: they are the same without
 * the column `count`, and with wrong numbers in it. */
static void test_access(void **state) {
    (void)state;
    const char *folder = program_folder();
    char *measured = program_output(0, "cat tests/data/warp_access_counts.csv");
    char *counted = program_output(0, "@-record --access tests/data/warp_access_counts.csv");
    char *from_bare = program_output(0,
                                     "sed 's/,[^,]*$//' tests/data/warp_access_counts.csv >%s/bare.csv && "
                                     "@-record --access %s/bare.csv",
                                     folder, folder);
    char *wrong = program_output(
        0, "sed '2,$s/,[^,]*$/,77/' tests/data/warp_access_counts.csv | tee %s/wrong.csv", folder);
    char *from_wrong = program_output(0, "@-record --access %s/wrong.csv", folder);
    assert_int_equal(program_line_count(measured), 1 + 919);
    assert_int_equal(equal_rows(counted, measured), 1 + 919);
    assert_int_equal(equal_rows(from_bare, measured), 1 + 919);
    assert_int_equal(equal_rows(from_wrong, measured), 1 + 919);
    assert_int_equal(equal_rows(wrong, measured), 1);
    free(measured), free(counted), free(from_bare), free(wrong), free(from_wrong);
}

static void test_bad_access(void **state) {
    (void)state;
    Outcome bad = program_shell(
        "printf 'kind,width_bytes,active_mask,off0\\nshared_load,5,0x1,0\\n' >%s/bad.csv; @-record --access "
        "%s/bad.csv",
        program_folder(), program_folder());
    assert_int_equal(bad.status, 2);
    program_assert_contains(bad.err, "bad.csv:");
    program_outcome_done(&bad);
}

/* The text report only counts; JSON has a field for hazards, and --check searches for them. */
static void a_text_report_does_not_search(void **state) {
    (void)state;
    char *text = program_output(0, "@ --kernel bug_volatile_tail --report");
    char *json = program_output(0, "@ --kernel bug_volatile_tail --report=json");
    assert_null(strstr(text, "race"));
    assert_non_null(strstr(text, "- Hazards are not searched for here; --check searches for them.\n"));
    assert_true(json_array_count(json_at(json, "hazards")) > 0);
    free(text);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_reader),
        cmocka_unit_test(test_report_fields),
        cmocka_unit_test(test_every_report),
        cmocka_unit_test(test_ladder_counters),
        cmocka_unit_test(test_report_text),
        cmocka_unit_test(test_compared_report),
        cmocka_unit_test(test_failed_runs),
        cmocka_unit_test(test_host_threads),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(files_are_the_same_in_every_locale),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_dump_says_what_ended_the_run),
        cmocka_unit_test(test_shuffles),
        cmocka_unit_test(test_access),
        cmocka_unit_test(a_text_report_does_not_search),
        cmocka_unit_test(test_bad_access),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
