/* The program as scripts meet it: what it prints where, and its exit status. Runs $REDVIZ_BIN (build/redviz).
 */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/json_reader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- running the program ------------------------------------------------------------------------------- */

typedef struct Outcome {
    int status; /* -1: ended by a signal */
    char *out, *err;
} Outcome;

static char folder[] = "/tmp/redviz-cli-XXXXXX";

static char *read_back(const char *name) {
    char path[64], *data;
    size_t length;
    Error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!text_read_file(path, (size_t)1 << 30, &data, &length, &error))
        fail_msg("%s: %s", path, error.message);
    return data;
}

/* Runs a shell command in which @ stands for the program, with neither terminal nor input. */
static Outcome shell(const char *format, ...) {
    char words[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    const char *program = getenv("REDVIZ_BIN");
    Text command = {0};
    text_print(&command, "exec </dev/null >%s/out 2>%s/err; export LC_ALL=C.UTF-8\n", folder, folder);
    for (const char *c = words; *c; c++) {
        if (*c == '@')
            text_add(&command, program ? program : "build/redviz");
        else
            text_add_bytes(&command, c, 1);
    }
    int status = system(text_string(&command));
    text_done(&command);
    return (Outcome){WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_back("out"), read_back("err")};
}

static void outcome_done(Outcome *outcome) {
    free(outcome->out);
    free(outcome->err);
}

/* The standard output of a command that must end with `status` and say nothing on stderr. Caller frees. */
static char *output_of(int status, const char *command) {
    Outcome outcome = shell("%s", command);
    if (outcome.status != status || *outcome.err)
        fail_msg("%s: status %d, stderr: %s", command, outcome.status, outcome.err);
    free(outcome.err);
    return outcome.out;
}

static int line_count(const char *text) {
    int count = 0;
    for (; *text; text++) count += *text == '\n';
    return count;
}

static void assert_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("'%s' is not in: %.600s", part, text);
}

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* ---- usage --------------------------------------------------------------------------------------------- */

/* Bad usage and bad input: status 2, nothing on stdout, one line on stderr that names what is wrong and what
 * is accepted. */
static void test_bad_usage(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"", "--kernel NAME"},
        {"--kernal interleaved", "did you mean --kernel?"},
        {"--kernel", "--kernel needs a value"},
        {"--kernel interleavd --report", "interleaved"},
        {"--kernel interleaved --report=xml", "neither text nor json"},
        {"--kernel interleaved --report json", "--report=json"},
        {"--kernel interleaved --report --events", "--report and --events"},
        {"--kernel interleaved --events=yes", "--events takes no value"},
        {"--kernel interleaved --frame=80", "COLUMNSxROWS"},
        {"--kernel interleaved --frame=0x40", "COLUMNSxROWS"},
        {"--kernel interleaved --report --n 0", "--n: '0'"},
        {"--kernel interleaved --report --n -1", "--n: '-1'"},
        {"--kernel interleaved --report --n ' 1'", "--n: ' 1'"},
        {"--kernel interleaved --report --n 2^64", "--n: '2^64'"},
        {"--kernel interleaved --report --n 12q", "--n: '12q'"},
        {"--kernel interleaved --report --block 2048", "--block"},
        {"--kernel interleaved --report --block 32,32", "one number"},
        {"--kernel interleaved --report --dtype integer", "types are char"},
        {"--kernel interleaved --report --dtype uchar", "uchar"},
        {"--kernel interleaved --report --op mean", "sum, min, max"},
        {"--kernel interleaved --report --param stride", "NAME=VALUE"},
        {"--kernel interleaved --report --param stride=3", "stride"},
        {"--kernel lab_bank_stride --report --param stride=34", "33"},
        {"--kernel interleaved --report --fill file:/nowhere", "/nowhere"},
        {"--kernel interleaved --report --fill noise", "zero, ones, iota, random"},
        {"--kernel interleaved --report --backend gpu", "no GPU backend"},
        {"--kernel interleaved --report --trace-blocks 3-1", "FIRST-LAST"},
        {"--kernel interleaved --report --threads 0", "--threads: '0'"},
        {"--kernel interleaved --report --step 0", "--step: '0'"},
        {"--kernel interleaved --report --shared 64", "--shared is for FILE.ptx"},
        {"--kernel interleaved --dump nobody", "nobody"},
        {"--kernel interleaved tests/cli/scale.ptx", "one kernel at a time"},
        {"--kernel interleaved --json", "--json goes with"},
        {"--kernel interleaved --frame --keys '<Sideways>'", "Sideways"},
        {"tests/cli/scale.ptx --report --op sum", "--op is for kernels of the catalogue"},
        {"tests/cli/scale.ptx --report --entry missing", "missing"},
        {"tests/cli/scale.ptx --report --args 'in=float[n]:random'", "takes 3 arguments"},
        {"tests/cli/scale.ptx --report --block 33,32", "1056 threads"},
        {"tests/cli/scale.ptx --report --grid 4,", "X[,Y[,Z]]"},
        {"/nowhere.ptx --report", "/nowhere.ptx"},
        {"/tmp --report", "/tmp"},
        {"kernels/interleaved.cu --report", "not built yet"},
        {"saved.redviz", "not built yet"},
        {"--access /nowhere.csv", "/nowhere.csv"},
        {"--kernel interleaved --verify", "--verify is not built yet"},
        {"--kernel interleaved --check", "--check is not built yet"},
        {"--kernel interleaved --compare strided", "--compare is not built yet"},
        {"--kernel interleaved --save x.redviz", "--save is not built yet"},
        {"--kernel interleaved --record-cast x", "--record-cast is not built yet"},
        {"--kernel interleaved --watch", "--watch is not built yet"},
        {"--bench", "--bench is not built yet"},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = shell("@ %s", cases[i].arguments);
        if (outcome.status != 2 || *outcome.out || line_count(outcome.err) != 1 ||
            strncmp(outcome.err, "redviz: ", 8) != 0 || !strstr(outcome.err, cases[i].says)) {
            print_error("redviz %s: status %d, stdout '%.80s', stderr '%s'\n", cases[i].arguments,
                        outcome.status, outcome.out, outcome.err);
            wrong++;
        }
        outcome_done(&outcome);
    }
    assert_int_equal(wrong, 0);
}

static void test_no_terminal(void **state) {
    (void)state;
    Outcome outcome = shell("@ --kernel interleaved --n 256");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    assert_int_equal(line_count(outcome.err), 1);
    assert_contains(outcome.err, "--report");
    assert_contains(outcome.err, "--frame");
    outcome_done(&outcome);
}

/* A broken file is shown: place, reason, the line and a caret under the place. */
static void test_broken_ptx(void **state) {
    (void)state;
    Outcome outcome = shell("@ tests/cli/broken.ptx --report");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    assert_contains(outcome.err, "redviz: tests/cli/broken.ptx:7:");
    assert_contains(outcome.err, "\n      mov.u32 %r, ;\n");
    assert_contains(outcome.err, "^");
    outcome_done(&outcome);
}

static void test_help(void **state) {
    (void)state;
    static const char *const shown[] = {"--kernel NAME", "--report[=text|json]", "--access FILE.csv",
                                        "Exit status"};
    static const char *const later[] = {"--bench", "--verify", "--check", "--compare",
                                        "--save",  "--watch",  ".cu"};
    char *help = output_of(0, "@ --help"), *brief = output_of(0, "@ -h"),
         *keys = output_of(0, "@ --help-keys");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) assert_contains(help, shown[i]);
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) assert_null(strstr(help, later[i]));
    assert_string_equal(help, brief);
    assert_true(line_count(keys) > 5);
    free(help), free(brief), free(keys);
    char *version = output_of(0, "@ --version");
    assert_int_equal(strncmp(version, "redviz ", 7), 0);
    free(version);
}

/* README's table of keys is the program's own. */
static void test_readme_keys(void **state) {
    (void)state;
    char *keys = output_of(0, "@ --help-keys"), *readme = output_of(0, "cat README.md");
    assert_contains(readme, keys);
    free(keys), free(readme);
}

/* ---- the catalogue ------------------------------------------------------------------------------------- */

static void test_list(void **state) {
    (void)state;
    static const char *const ladder[] = {"interleaved",       "strided",  "sequential",  "first_add",
                                         "shuffle_last_warp", "unrolled", "grid_stride", "cooperative"};
    char *text = output_of(0, "@ --list"), *json = output_of(0, "@ --list --json");
    assert_true(json_valid(json));
    int rows = json_array_count(json), aliases = 0;
    for (int i = 0; i < rows; i++) {
        char path[64], line[128];
        snprintf(path, sizeof path, "%d.id", i);
        const char *id = json_at(json, path) + 1;
        snprintf(line, sizeof line, "\n  %.*s ", (int)strcspn(id, "\""), id);
        assert_contains(text, line);
        for (int k = 0; k < 8; k++) {
            char alias[8];
            snprintf(path, sizeof path, "%d.aliases.0", i);
            snprintf(alias, sizeof alias, "\"K%d\"", k);
            const char *found = json_at(json, path);
            if (!found || strncmp(found, alias, 4) != 0) continue;
            assert_int_equal(strncmp(id, ladder[k], strlen(ladder[k])), 0);
            aliases++;
        }
    }
    assert_int_equal(aliases, 8);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80) fail_msg("more than 80 columns: %.*s", (int)strcspn(line, "\n"), line);
    free(text), free(json);
    char *by_alias = output_of(0, "@ --kernel K3 --n 4096 --report=json");
    assert_contains(by_alias, "\"kernel\":\"first_add\"");
    free(by_alias);
}

/* ---- reports ------------------------------------------------------------------------------------------- */

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
    char *json = output_of(0, "@ --kernel two_stage --n 10000 --report=json");
    assert_true(json_valid(json));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (!json_at(json, paths[i])) fail_msg("the report has no %s", paths[i]);
    assert_int_equal(strncmp(json_at(json, "correct"), "true", 4), 0);
    assert_int_equal(strncmp(json_at(json, "hazards"), "null", 4), 0);
    assert_int_equal(strncmp(json_at(json, "measured"), "null", 4), 0);
    assert_int_equal(json_array_count(json_at(json, "launches")), 2);
    assert_true(field(json, "totals.barriers") ==
                field(json, "launches.0.totals.barriers") + field(json, "launches.1.totals.barriers"));
    free(json);
}

/* Every column of tests/data/ladder_counters.csv (measured on an H200) that hardware counts exactly. All blocks
 * are alike, so that a sixteenth of the elements, where the test run is limited, gives a sixteenth of it. */
static void test_ladder_counters(void **state) {
    (void)state;
    const char *limit = getenv("REDVIZ_TEST_LIMIT");
    unsigned part = limit && strtoul(limit, NULL, 10) < 1 << 20 ? 16 : 1;
    FILE *file = fopen("tests/data/ladder_counters.csv", "r");
    assert_non_null(file);
    int kernels = 0;
    for (char line[512]; fgets(line, sizeof line, file);) {
        char kernel[32], command[128];
        unsigned grid, loads, measured, load_wavefronts, store_wavefronts, store_conflicts, requests, sectors;
        if (sscanf(line, "%31[a-z_],%u,%u,%u,%u,%u,%u,%u,%u", kernel, &grid, &loads, &measured,
                   &load_wavefronts, &store_wavefronts, &store_conflicts, &requests, &sectors) != 9)
            continue;
        snprintf(command, sizeof command, "@ --kernel %s --n %u --block 256 --dtype int --report=json", kernel,
                 (1u << 20) / part);
        char *json = output_of(0, command);
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

/* A slide: the lines of the source, the totals, sentences. */
static void test_report_text(void **state) {
    (void)state;
    char *text = output_of(0, "@ --kernel strided --n 4096 --report");
    assert_contains(text, "strided");
    assert_contains(text, "wavefronts");
    assert_contains(text, "bank conflict");
    free(text);
}

/* A kernel that is wrong or faults still reports, and the status says it failed. */
static void test_failed_runs(void **state) {
    (void)state;
    char *wrong = output_of(1, "@ --kernel bug_all_lanes_add --n 4096 --report=json");
    assert_true(json_valid(wrong));
    assert_int_equal(strncmp(json_at(wrong, "correct"), "false", 5), 0);
    char *trapped = output_of(1, "@ --kernel bug_unguarded_load --n 1000 --report=json");
    assert_true(json_valid(trapped));
    assert_non_null(json_at(trapped, "traps.0.kind"));
    assert_true(field(trapped, "traps.0.line") > 0);
    char *hung = output_of(1, "@ tests/cli/spin.ptx --n 32 --max-instructions 100000 --report=json");
    assert_true(json_valid(hung));
    assert_int_equal(strncmp(json_at(hung, "traps.0.kind"), "\"instruction_budget\"", 20), 0);
    free(wrong), free(trapped), free(hung);
}

/* ---- traces, frames, buffers, accesses ----------------------------------------------------------------- */

/* One seed, one trace: the bytes do not depend on the number of host threads. */
static void test_host_threads(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "atomic",      "shuffle_atomic", "grid_stride",
                                          "last_block",  "cooperative", "two_stage"};
    static const char *const prints[] = {"--events --trace-blocks 1-5", "--report=json", "--report"};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        for (size_t p = 0; p < sizeof prints / sizeof *prints; p++) {
            char one[160], eight[160];
            snprintf(one, sizeof one, "@ --kernel %s --n 20000 %s --threads 1", kernels[k], prints[p]);
            snprintf(eight, sizeof eight, "@ --kernel %s --n 20000 %s --threads 8", kernels[k], prints[p]);
            char *with_one = output_of(0, one), *with_eight = output_of(0, eight);
            assert_true(strlen(with_one) > 100);
            if (strcmp(with_one, with_eight) != 0) fail_msg("%s and %s differ", one, eight);
            free(with_one), free(with_eight);
        }
}

static void test_frame(void **state) {
    (void)state;
    static const struct {
        const char *size;
        int columns, rows;
    } sizes[] = {{"", 120, 40}, {"=80x24", 80, 24}, {"=200x60", 200, 60}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char command[80];
        snprintf(command, sizeof command, "@ --kernel interleaved --n 1024 --frame%s", sizes[i].size);
        char *frame = output_of(0, command);
        assert_int_equal(line_count(frame), sizes[i].rows);
        assert_contains(frame, "interleaved");
        int column = 0;
        for (const char *c = frame; *c; c++) {
            if ((*c & 0xC0) == 0x80) continue; /* inside a character */
            column = *c == '\n' ? 0 : column + 1;
            assert_true(column <= sizes[i].columns);
        }
        free(frame);
    }
    char *first = output_of(0, "@ --kernel interleaved --n 1024 --frame"),
         *moved = output_of(0, "@ --kernel interleaved --n 1024 --frame --keys '<Right>'"),
         *opened = output_of(0, "@ --kernel interleaved --n 1024 --frame --step 2");
    assert_string_not_equal(first, moved);
    assert_string_equal(opened, moved);
    free(first), free(moved), free(opened);
}

static void test_dump(void **state) {
    (void)state;
    char *ints = output_of(
        0, "@ tests/cli/scale.ptx --n 2^8 --args 'in=int[n]:iota, out=int[n]:zero, n' --dump out:5");
    assert_string_equal(ints, "0\n3\n6\n9\n12\n");
    char *all = output_of(0, "@ tests/cli/scale.ptx --n 0x11 --block 6,1,1 --grid 3,2 "
                             "--args 'in=int[n]:ones, out=int[n]:zero, n' --dump out");
    assert_int_equal(line_count(all), 17);
    assert_int_equal(strspn(all, "3\n"), strlen(all));
    free(ints), free(all);
}

/* 919 accesses and what the hardware counted for them; with and without the column `count`. */
static void test_access(void **state) {
    (void)state;
    char *expected = output_of(0, "cat tests/data/warp_access_counts.csv");
    char *counted = output_of(0, "@ --access tests/data/warp_access_counts.csv");
    char command[256];
    snprintf(command, sizeof command,
             "sed 's/,[^,]*$//' tests/data/warp_access_counts.csv >%s/bare.csv && "
             "@ --access %s/bare.csv",
             folder, folder);
    char *counted_bare = output_of(0, command);
    assert_int_equal(line_count(expected), 920);
    assert_string_equal(counted, expected);
    assert_string_equal(counted_bare, expected);
    free(expected), free(counted), free(counted_bare);
    Outcome bad =
        shell("printf 'kind,width_bytes,active_mask,off0\\nshared_load,5,0x1,0\\n' >%s/bad.csv; @ --access "
              "%s/bad.csv",
              folder, folder);
    assert_int_equal(bad.status, 2);
    assert_contains(bad.err, "bad.csv:");
    outcome_done(&bad);
}

/* ---- where the output goes ----------------------------------------------------------------------------- */

static void test_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    static const char *const prints[] = {"--list", "--help", "--kernel interleaved --n 4096 --report",
                                         "--kernel interleaved --n 4096 --events"};
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        Outcome outcome = shell("@ %s >/dev/full", prints[i]);
        assert_int_equal(outcome.status, 2);
        assert_contains(outcome.err, "cannot write the output: ");
        assert_int_equal(line_count(outcome.err), 1);
        outcome_done(&outcome);
    }
}

/* `redviz --events | head -n 1`: no message, and no endless writing; also where SIGPIPE is ignored. */
static void test_broken_pipe(void **state) {
    (void)state;
    static const char *const before[] = {"", "trap '' PIPE; "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        Outcome outcome =
            shell("%s@ --kernel interleaved --n 65536 --trace-blocks 0-63 --events | head -n 1", before[i]);
        assert_int_equal(outcome.status, 0);
        assert_int_equal(line_count(outcome.out), 1);
        assert_string_equal(outcome.err, "");
        outcome_done(&outcome);
    }
}

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_reader),
        cmocka_unit_test(test_bad_usage),
        cmocka_unit_test(test_no_terminal),
        cmocka_unit_test(test_broken_ptx),
        cmocka_unit_test(test_help),
        cmocka_unit_test(test_readme_keys),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_report_fields),
        cmocka_unit_test(test_ladder_counters),
        cmocka_unit_test(test_report_text),
        cmocka_unit_test(test_failed_runs),
        cmocka_unit_test(test_host_threads),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_broken_pipe),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
