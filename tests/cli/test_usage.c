/* The options that the program accepts and refuses, its help, and where its output goes. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- usage --------------------------------------------------------------------------------------------- */

typedef struct Refused {
    const char *arguments, *says;
} Refused;

/* Bad usage and bad input: status 2, nothing on stdout, one line on stderr that names the error and what is
 * accepted. */
static void expect_refused(const char *program, const Refused *cases, size_t count) {
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        Outcome outcome = program_shell("%s %s", program, cases[i].arguments);
        bool has_place = strstr(outcome.err, "^\n") != NULL; /* the text, and a caret below it */
        if (outcome.status != 2 || *outcome.out || program_line_count(outcome.err) != (has_place ? 3 : 1) ||
            strncmp(outcome.err, "redviz: ", 8) != 0 || !strstr(outcome.err, cases[i].says)) {
            print_error("%s %s: status %d, stdout '%.80s', stderr '%s'\n", program, cases[i].arguments,
                        outcome.status, outcome.out, outcome.err);
            wrong++;
        }
        program_outcome_done(&outcome);
    }
    assert_int_equal(wrong, 0);
}

static void test_bad_usage(void **state) {
    (void)state;
    static const Refused cases[] = {
        {"", "the interface needs a terminal"},
        {"--kernal interleaved", "did you mean --kernel?"},
        {"--kernel", "--kernel needs a value"},
        {"--kernel interleavd --report", "did you mean 'interleaved'?"},
        {"--kernel shufle_atomic --report", "did you mean 'shuffle_atomic'?"},
        {"--kernel k9 --report", "--list"},
        {"-x", "-x: unknown option"},
        {"--kernel interleaved --report=xml", "'xml' is not one of text, json"},
        {"--kernel interleaved --report json", "--report=json"},
        {"--kernel interleaved --report --events", "--report and --events"},
        {"--kernel interleaved --events=yes", "--events takes no value"},
        {"--kernel interleaved --frame=80", "COLUMNSxROWS"},
        {"--kernel interleaved --frame=0x40", "COLUMNSxROWS"},
        {"--kernel interleaved --report --n 0", "--n: '0'"},
        {"--kernel interleaved --report --n -1", "--n: '-1'"},
        {"--kernel interleaved --report --n ' 1'", "--n: ' 1'"},
        {"--kernel interleaved --report --n 2^64", "--n: '2^64'"},
        {"--kernel interleaved --report --n 2^41", "from 1 to"},
        {"--kernel interleaved --report --n 2^31", "--n 2147483648"},
        {"--kernel interleaved --report --n 12q", "--n: '12q'"},
        {"--kernel interleaved --report --block 2048", "--block: '2048'"},
        {"--kernel interleaved --report --block 0", "--block: '0'"},
        {"--kernel interleaved --report --block 100", "a power of two"},
        {"--kernel shuffle --report --block 48", "a multiple of 32"},
        {"--kernel interleaved --report --block 32,32", "one number"},
        {"--kernel interleaved --report --dtype integer", "types are char"},
        {"--kernel interleaved --report --dtype uchar", "takes one of: int float double"},
        {"--kernel redux --report --dtype float", "takes one of: int"},
        {"--kernel interleaved --report --grid 3", "follows from n and the block size"},
        {"--kernel interleaved --report --cluster 2", "--cluster: interleaved is not launched in clusters"},
        {"--kernel cluster --report --cluster 5,4", "--cluster: 5,4 is 20 blocks; a cluster has at most 16"},
        {"--kernel cluster --report --cluster 17", "--cluster: '17'"},
        {"tests/cli/scale.ptx --report --grid 6 --cluster 4",
         "not a multiple of the cluster of 4x1x1 blocks"},
        {"--kernel interleaved --report --grid 0", "--grid: '0'"},
        {"--kernel moments --report --op max", "--op"},
        {"--kernel interleaved --report --op mean", "sum, min, max"},
        {"--kernel interleaved --report --param stride", "NAME=VALUE"},
        {"--kernel interleaved --report --param stride=3", "stride"},
        {"--kernel lab_bank_stride --report --param stride=34", "33"},
        {"--kernel interleaved --report --fill file:/nowhere", "/nowhere"},
        {"--kernel interleaved --report --fill value", "'value' is not one of zero"},
        {"--kernel interleaved --report --fill file:", "'file:' is not one of zero"},
        {"--kernel interleaved --report --fill noise", "zero, ones, iota, random, digits"},
        {"--kernel interleaved --report --backend gpu", "--backend gpu: there is no CUDA driver here"},
        {"--kernel interleaved --report --trace-blocks 3-1", "FIRST-LAST"},
        {"--kernel interleaved --report --n 4096 --trace-blocks 16", "16 blocks, 0 to 15"},
        {"--kernel interleaved --report --seed one", "--seed: 'one'"},
        {"--kernel interleaved --report --schedule -2", "--schedule: '-2'"},
        {"--kernel interleaved --report --max-instructions 0", "--max-instructions: '0'"},
        {"--kernel interleaved --report --entry interleaved", "--entry is for FILE.cu and FILE.ptx"},
        {"--kernel interleaved --report --args n", "--args is for FILE.cu and FILE.ptx"},
        {"--kernel interleaved --report --cooperative", "--cooperative is for FILE.cu and FILE.ptx"},
        {"--kernel interleaved --report --threads 0", "--threads: '0'"},
        {"--kernel interleaved --report --step 0", "--step: '0'"},
        {"--kernel interleaved --report --shared 64", "--shared is for FILE.cu and FILE.ptx"},
        {"--kernel interleaved --dump nobody", "there are: in, out"},
        {"--kernel interleaved --dump out:-1", "'-1' is not a count"},
        {"--kernel interleaved --dump out:", "'' is not a count"},
        {"--kernel interleaved tests/cli/scale.ptx", "one kernel at a time"},
        {"--kernel interleaved --json", "--json goes with"},
        {"--kernel interleaved --check=xml", "'xml' is not one of text, json, sarif, junit"},
        {"--kernel interleaved --check=sarif --json", "--check=sarif and --json are two forms"},
        {"--kernel interleaved --tool racecheck", "--tool goes with --check"},
        {"--kernel interleaved --check --tool leaks", "not one of memcheck, racecheck, initcheck, synccheck"},
        {"--kernel interleaved --check --launch-skip 1", "--launch-skip chooses launches of a program"},
        {"--check --kernel-name 'kre=(' -- true", "--kernel-name: '(': "},
        {"--check --kernel-name kernel_regex= -- true", "'kernel_regex=' names no kernel"},
        {"--check --error-exitcode 256 -- true", "--error-exitcode: '256'"},
        {"--check --leak-check full -- true", "--leak-check is compute-sanitizer's: "},
        {"--check --log-file=x -- true", "--log-file is compute-sanitizer's: "},
        {"--check --save x -- true", "; --check=sarif > FILE writes a log"},
        {"--lecture first --check=sarif", "--check=sarif is for one run"},
        {"--list json", "write --list=json"},
        {"--report json", "write --report=json"},
        {"--list=xml", "'xml' is not one of text, json"},
        {"--list strided", "--list names all kernels of the catalogue, or those of FILE.cu"},
        {"tests/cli/scale.ptx --n 8 --dump nobody --args '0, 0, n'", "the kernel has none"},
        {"tests/cli/scale.ptx --report --args 'in=float[2000000000000], out=float[n], n'",
         "the buffers need"},
        {"--kernel interleaved --frame --keys '<Sideways>'", "Sideways"},
        {"tests/cli/scale.ptx --report --op sum", "--op is for kernels of the catalogue"},
        {"tests/cli/scale.ptx --report --entry missing", "missing"},
        {"tests/cli/scale.ptx --report --shared 300000", "--shared: '300000'"},
        {"assets/ptx/interleaved.ptx --report", "interleaved<int,Sum>"},
        {"tests/cli/scale.ptx --report --args 'in=float[n]:random'", "takes 3 arguments"},
        {"tests/cli/scale.ptx --report --args ''", "takes 3 arguments"},
        {"tests/cli/scale.ptx --report --args 'in=float[n:ones, out=float[n], n'",
         "']' is missing in 'float[n:ones'"},
        {"tests/cli/scale.ptx --report --args 'in=flot[n], out=float[n], n'", "'flot' is not a type"},
        {"tests/cli/scale.ptx --report --args 'in=float[n]:noise, out=float[n], n'",
         "the fill 'noise' of in"},
        {"tests/cli/scale.ptx --report --args 'in=float[q], out=float[n], n'", "'q' is not known"},
        {"tests/cli/scale.ptx --report --args 'in=float[n/0], out=float[n], n'", "'n/0': division by zero"},
        {"tests/cli/scale.ptx --report --args 'in=float[n+], out=float[n], n'", "'n+'"},
        {"tests/cli/scale.ptx --report --args 'in=float[n], in=float[n], n'", "in is defined twice"},
        {"tests/cli/scale.ptx --report --args 'in=float[n]:file:/nowhere, out=float[n], n'", "/nowhere"},
        {"tests/cli/scale.ptx --report --block 33,32", "1056 threads"},
        {"tests/cli/scale.ptx --report --grid 4,", "X[,Y[,Z]]"},
        {"/nowhere.ptx --report", "/nowhere.ptx"},
        {"/tmp --report", "/tmp"},
        {"/dev/null --report", "/dev/null"},
        {"/nowhere.redviz", "/nowhere.redviz: cannot open: No such file"},
        {"/nowhere.redviz --n 5", "--n is for a run; /nowhere.redviz is a saved run"},
        {"/nowhere.redviz --kernel strided", "one kernel at a time"},
        {"--kernel interleaved --frame --compare /nowhere.redviz", "nowhere.redviz: cannot open"},
        {"--kernel interleaved --frame --compare a.redviz,n=5", "has its own settings, not n=5"},
        {"--index tid lane warp", "the lab compares two expressions, 'warp' is a third"},
        {"--index 'tid * q' --report", "--index: 'tid * q', column 7: 'q' is not known"},
        {"--index 'tid - 1' --report", "--index: 'tid - 1': the index of lane 0 is negative: -1"},
        {"--index --list", "--index opens the index lab"},
        {"--index --kernel strided --report", "with --report it takes no kernel"},
        {"--kernel interleaved --frame --compare stridde",
         "--compare: no kernel 'stridde'; did you mean 'strided'"},
        {"--kernel interleaved --frame --compare ''", "NAME[,OPTION=VALUE...]"},
        {"--kernel interleaved --frame --compare strided,block=x", "--block: 'x'"},
        {"--kernel interleaved --frame --compare strided,fill=noise",
         "--fill: 'noise' is not one of zero, ones"},
        {"--kernel interleaved --frame --compare strided,op=mean",
         "--op: 'mean' is not one of sum, min, max"},
        {"--kernel interleaved --frame --compare strided,block=100", "--compare: --block 100: strided takes"},
        {"--kernel interleaved --frame --compare strided,stride=2", "strided has no parameters"},
        {"--kernel interleaved --check --compare strided", "not with --check"},
        {"--kernel interleaved --frame --compare /nowhere.ptx", "nowhere.ptx"},
        {"--kernel interleaved --save x", "'x' does not end in .redviz"},
        {"--kernel interleaved --save", "--save FILE.redviz"},
        {"--list --save x.redviz", "--save keeps a run, and --list makes none"},
        {"--kernel interleaved --report --save /nowhere/x.redviz", "/nowhere/x.redviz: cannot save here"},
        {"--kernel interleaved --record-cast /nowhere/x.cast",
         "/nowhere/x.cast cannot be written: No such file"},
        {"--kernel interleaved --frame --record-cast /tmp", "/tmp cannot be written"},
        {"--kernel interleaved --record-cast x --report", "--report shows no frames"},
        {"--kernel interleaved --svg", "--svg goes with --frame"},
        {"--kernel interleaved --frame --svg --keys 'l{1s}' --record-cast /tmp/x.cast",
         "--record-cast and a moving --svg both play the keys"},
        {"--kernel interleaved --html x.cu", "'x.cu' does not end in .html"},
        {"--kernel interleaved --html x.html --report",
         "--html goes with a run or a lecture, not with --report"},
        {"--kernel interleaved --html /nowhere/x.html", "/nowhere/x.html: cannot be written: No such file"},
        {"--kernel interleaved --html x.html --record-cast x.cast",
         "--record-cast and --html write different"},
        {"--kernel interleaved --html x.html --svg", "--svg goes with --frame"},
        {"--lecture --html x.html", "--html needs a lecture: --lecture NAME"},
        {"--lecture ladder --html x.html --handout x.md", "--html and --handout write different files"},
        {"--kernel interleaved --handout x.md", "--handout goes with --lecture"},
        {"--lecture ladder --handout x.txt", "'x.txt' ends neither in .md nor in .html"},
        {"--kernel interleaved --watch", "--watch is for FILE.cu and FILE.ptx"},
        {"x.cu --watch --report", "--watch goes with the interface, not with --report"},
        {"tests/cli/scale.ptx --bench", "--bench times kernels of the catalogue"},
        {"--list --bench", "different things"},
        {"--bench=xml", "'xml' is not one of text, json"},
        {"--bench=grid", "--bench=grid is redviz-record's: build/redviz-record --bench=grid"},
        {"--kernel interleaved --dump-ir", "--dump-ir is redviz-record's: build/redviz-record --dump-ir"},
        {"tests/cli/scale.ptx --launch 'scale<<<1, 32>>>(in, out, n, 1)' --block 32", "leave out --block"},
        {"--kernel shuffle --launch 'k<<<1, 32>>>()'", "--launch is for FILE.cu and FILE.ptx"},
        {"tests/cli/scale.ptx --launch 'scale<<<1, 32>>>(in, out, {n}, 1'", "--launch: ')' is missing"},
        {"--bench --save x.redviz", "give --kernel NAME"},
    };
    expect_refused("@", cases, sizeof cases / sizeof *cases);
}

static void the_recorder_refuses(void **state) {
    (void)state;
    static const Refused cases[] = {
        {"", "nothing to record"},
        {"--report", "--report is redviz's: build/redviz --report"},
        {"--kernel K2", "nothing to record"},
        {"--bench=xml", "'xml' is not one of text, json, tsv, grid, sass"},
        {"--bench=grid --kernel K2", "libcuda.so.1"},
        {"--bench=sass tests/cli/scale.ptx", "--bench times kernels of the catalogue"},
        {"--access /nowhere.csv", "/nowhere.csv"},
        {"--kernel interleaved --profile", "--profile goes with --bench"},
        {"--kernel interleaved --dump-ir --profile", "--profile goes with --bench"},
        {"--kernel fastest --dump-ir --gpus 2", "--gpus goes with --bench"},
        {"--bench --kernel shuffle --gpus 2", "--gpus sums an array with the kernel fastest, not shuffle"},
        {"--bench --gpus 0", "--gpus"},
        {"--bench --gpus 2", "--gpus 2: there is no CUDA driver here"},
    };
    expect_refused("@-record", cases, sizeof cases / sizeof *cases);
}

/* Without a GPU, options that need one say so. */
static void test_no_gpu(void **state) {
    (void)state;
    static const char why[] = "there is no CUDA driver here (/nowhere/libcuda.so.1)\n";
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    Outcome outcome = program_shell("@ --kernel interleaved --n 256 --verify");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    assert_string_equal(outcome.err + strlen("redviz: "), why);
    program_outcome_done(&outcome);
    outcome = program_shell("@ --bench --n 5000"); /* the CPU is measured */
    assert_int_equal(outcome.status, 0);
    assert_string_equal(outcome.err, "");
    program_assert_contains(outcome.out, "\ncpu, all threads     double         5000");
    program_assert_contains(outcome.out, why);
    assert_null(strstr(outcome.out, "recorded")); /* nothing is recorded for this many elements */
    program_outcome_done(&outcome);
    outcome = program_shell("@ --bench --kernel K2 --n 2^20 --dtype float");
    assert_int_equal(outcome.status, 0);
    program_assert_contains(
        outcome.out, "there is no CUDA driver here (/nowhere/libcuda.so.1); recorded on NVIDIA H200, 2026-");
    program_assert_contains(outcome.out, "\nsequential           float       1048576   256 ");
    program_outcome_done(&outcome);
    char *json = program_output(0, "@ --bench --json --n 5000");
    assert_true(json_valid(json));
    assert_int_equal(json_array_count(json_at(json, "machines")), 0);
    assert_int_equal(json_array_count(json_at(json, "timings")), 3 * 2);
    assert_int_equal(strncmp(json_at(json, "timings.5.kernel"), "\"cpu, all threads\"", 18), 0);
    free(json);
    unsetenv("REDVIZ_CUDA");
}

static void test_no_terminal(void **state) {
    (void)state;
    Outcome outcome = program_shell("@ --kernel interleaved --n 256");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    assert_int_equal(program_line_count(outcome.err), 1);
    program_assert_contains(outcome.err, "--report");
    program_assert_contains(outcome.err, "--frame");
    program_outcome_done(&outcome);
}

/* A broken file: place, reason, the line and a caret under the place. */
static void test_broken_ptx(void **state) {
    (void)state;
    Outcome outcome = program_shell("@ tests/cli/broken.ptx --report");
    assert_int_equal(outcome.status, 2);
    assert_string_equal(outcome.out, "");
    program_assert_contains(outcome.err, "redviz: tests/cli/broken.ptx:7:");
    program_assert_contains(outcome.err, "\n      mov.u32 %r, ;\n");
    program_assert_contains(outcome.err, "^");
    program_outcome_done(&outcome);
}

static void test_help(void **state) {
    (void)state;
    static const char *const shown[] = {"--kernel NAME", "--report[=text|json]", "--dump BUFFER",
                                        "--compare NAME", "Exit status"};
    char *help = program_output(0, "@ --help"), *brief = program_output(0, "@ -h"),
         *keys = program_output(0, "@ --help-keys");
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) program_assert_contains(help, shown[i]);
    assert_string_equal(help, brief);
    assert_null(strstr(help, "--access"));
    char *of_recorder = program_output(0, "@-record --help");
    program_assert_contains(of_recorder, "--access FILE.csv");
    program_assert_contains(of_recorder, "--bench[=text|json|tsv|grid|sass]");
    assert_null(strstr(of_recorder, "--report"));
    free(of_recorder);
    assert_true(program_line_count(keys) > 5);
    free(help), free(brief), free(keys);
    char *version = program_output(0, "@ --version");
    assert_int_equal(strncmp(version, "redviz ", 7), 0);
    program_assert_contains(version, "\ncommit ");
    program_assert_contains(version, "\nncurses ");
    program_assert_contains(version, "\nSQLite 3.");
    program_assert_contains(version, "\nCUDA driver: none found\n"); /* as set in the tests' environment */
    program_assert_contains(version, "\nCUPTI");
    assert_int_equal(program_line_count(version), 6);
    free(version);
}

/* ---- the catalogue ------------------------------------------------------------------------------------- */

static void test_list(void **state) {
    (void)state;
    static const char *const ladder[] = {"interleaved",       "strided",  "sequential",  "first_add",
                                         "shuffle_last_warp", "unrolled", "grid_stride", "cooperative"};
    char *text = program_output(0, "@ --list"), *json = program_output(0, "@ --list=json");
    assert_true(json_valid(json));
    int rows = json_array_count(json), aliases = 0;
    for (int i = 0; i < rows; i++) {
        char path[64], line[128];
        snprintf(path, sizeof path, "%d.id", i);
        const char *id = json_at(json, path) + 1;
        snprintf(line, sizeof line, "\n  %.*s ", (int)strcspn(id, "\""), id);
        program_assert_contains(text, line);
        for (int k = 0; k < 8; k++) {
            char alias[8];
            snprintf(path, sizeof path, "%d.aliases.0", i);
            snprintf(alias, sizeof alias, "\"K%d\"", k);
            const char *found = json_at(json, path);
            if (!found || strncmp(found, alias, 4) != 0) continue;
            assert_int_equal(strcspn(id, "\""), strlen(ladder[k]));
            assert_int_equal(strncmp(id, ladder[k], strlen(ladder[k])), 0);
            aliases++;
        }
    }
    assert_int_equal(aliases, 8);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        if (strcspn(line, "\n") > 80) fail_msg("more than 80 columns: %.*s", (int)strcspn(line, "\n"), line);
    free(text), free(json);
    char *by_alias = program_output(0, "@ --kernel K3 --n 4096 --report=json");
    program_assert_contains(by_alias, "\"kernel\":\"first_add\"");
    free(by_alias);
}

/* ---- options that change the run ----------------------------------------------------------------------- */

static void assert_prints(const char *arguments, const char *expected) {
    char *out = program_output(0, "@ %s", arguments);
    if (strcmp(out, expected) != 0) fail_msg("%s prints: %s", arguments, out);
    free(out);
}

static void test_fills(void **state) {
    (void)state;
    assert_prints("--kernel interleaved --n 4 --fill zero --dump in", "0\n0\n0\n0\n");
    assert_prints("--kernel interleaved --n 0x4 --fill ones --dump in", "1\n1\n1\n1\n");
    assert_prints("--kernel interleaved --n 2^2 --fill iota --dump in", "0\n1\n2\n3\n");
    char file[64], command[160];
    snprintf(file, sizeof file, "%s/raw", program_folder());
    snprintf(command, sizeof command, "--kernel interleaved --n 2 --fill file:%s --dump in", file);
    free(program_output(0, "printf '\\001\\002\\000\\000\\377\\377\\377\\377' >%s", file));
    assert_prints(command, "513\n-1\n");
    char *one = program_output(0, "@ --kernel interleaved --n 40 --dump in --seed 1"),
         *same = program_output(0, "@ --kernel interleaved --n 40 --dump in --fill random --seed 1"),
         *two = program_output(0, "@ --kernel interleaved --n 40 --dump in --seed 2");
    assert_string_equal(one, same);
    assert_string_not_equal(one, two);
    free(one), free(same), free(two);
}

/* The first prints the same as the second. */
static void assert_same_output(bool same, const char *one, const char *two) {
    char *of_one = program_output(0, "@ --kernel interleaved --n 1024 %s", one),
         *of_two = program_output(0, "@ --kernel interleaved --n 1024 %s", two);
    if (!strcmp(of_one, of_two) != same) fail_msg("%s, %s: %s", one, two, of_one);
    free(of_one), free(of_two);
}

/* Runs on a screen sum digits; runs that are printed or saved sum random numbers. */
static void test_default_input(void **state) {
    (void)state;
    char saving[96];
    snprintf(saving, sizeof saving, "--frame --save %s/default.redviz", program_folder());
    assert_prints("--kernel interleaved --n 8 --seed 3 --fill digits --dump in", "8\n4\n4\n8\n6\n7\n5\n7\n");
    assert_same_output(true, "--frame", "--frame --fill digits");
    assert_same_output(false, "--frame", "--frame --fill random");
    assert_same_output(true, "--frame --op max", "--frame --op max --fill random");
    assert_same_output(true, saving, "--frame --fill random");
    assert_same_output(true, "--report", "--report --fill random");
    assert_same_output(true, "--report=json", "--report=json --fill random");
    assert_same_output(true, "--check", "--check --fill random");
    assert_same_output(true, "--events", "--events --fill random");
    assert_same_output(false, "--events", "--events --fill digits");
    assert_same_output(true, "--frame --compare block=128", "--frame --fill digits --compare block=128");
}

/* Each option, and what the report must contain with it. */
static void test_options_reach_the_run(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"--kernel interleaved --n 1000 --block 64", "\"n\":1000,\"block\":64,\"grid\":16"},
        {"--kernel interleaved --n 1000 --dtype double", "\"dtype\":\"double\",\"op\":\"sum\""},
        {"--kernel interleaved --n 1000 --op max --fill iota",
         "\"op\":\"max\",\"result\":999,\"expected\":999"},
        {"--kernel interleaved --n 1000 --op min --fill ones", "\"op\":\"min\",\"result\":1,\"expected\":1"},
        {"--kernel lab_bank_stride --n 32 --block 32 --param stride=32",
         "\"shared_loads\":1,\"shared_stores\":1,\"shared_load_wavefronts\":32,"},
        {"--kernel interleaved --n 1000 --backend auto", "\"backend\":\"emulator\",\"device\":null"},
        {"--kernel interleaved --n 1000 --backend emulator", "\"correct\":true"},
        {"--kernel interleaved --n 1000 --schedule 7", "\"correct\":true"},
        {"--kernel interleaved --n 1000 --trace-blocks 1-2",
         "\"warp_instructions\":null,\"shared_loads\":190,"},
        {"tests/cli/scale.ptx --n 64 --block 8,2 --grid 2,1,2", "\"grid\":[2,1,2],\"block\":[8,2,1]"},
        {"tests/cli/scale.ptx --n 64 --block 8 --cluster 2",
         "\"grid\":[8,1,1],\"block\":[8,1,1],\"cluster\":[2,1,1]"},
        {"tests/cli/scale.ptx --n 72 --block 8 --cluster 2", "\"grid\":[10,1,1]"}, /* whole clusters */
        {"--kernel cluster --n 1000 --cluster 4", "\"cluster\":[4,1,1]"},
        {"tests/cli/scale.ptx --n 64 --shared 48", "\"shared_bytes\":48"},
        {"tests/cli/scale.ptx --n 64 --entry scale --cooperative", "\"kernel\":\"scale\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *json = program_output(0, "@ %s --report=json", cases[i][0]);
        if (!strstr(json, cases[i][1])) fail_msg("%s: %s is not in %s", cases[i][0], cases[i][1], json);
        free(json);
    }
    char *round_robin = program_output(0, "@ --kernel interleaved --n 256 --events"),
         *other = program_output(0, "@ --kernel interleaved --n 256 --events --schedule 7"),
         *again = program_output(0, "@ --kernel interleaved --n 256 --events --schedule 7");
    assert_string_not_equal(round_robin, other);
    assert_string_equal(other, again);
    free(round_robin), free(other), free(again);
}

/* ---- where the output goes ----------------------------------------------------------------------------- */

static void test_full_disk(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip_because("/dev/full cannot be written to");
    static const char *const prints[] = {"--list", "--help", "--kernel interleaved --n 4096 --report",
                                         "--kernel interleaved --n 4096 --events"};
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++) {
        Outcome outcome = program_shell("@ %s >/dev/full", prints[i]);
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, "cannot write the output: No space left on device");
        assert_int_equal(program_line_count(outcome.err), 1);
        program_outcome_done(&outcome);
    }
}

static void test_closed_output(void **state) {
    (void)state;
    Outcome outcome = program_shell("@ --kernel interleaved --n 256 --report >&-");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "cannot write the output: ");
    assert_int_equal(program_line_count(outcome.err), 1);
    program_outcome_done(&outcome);
}

/* `redviz --events | head -n 1`: no message, and no endless writing; also if SIGPIPE is ignored. */
static void test_broken_pipe(void **state) {
    (void)state;
    static const char *const before[] = {"", "trap '' PIPE; "};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        Outcome outcome = program_shell(
            "%s@ --kernel interleaved --n 65536 --trace-blocks 0-63 --events | head -n 1", before[i]);
        assert_int_equal(outcome.status, 0);
        assert_int_equal(program_line_count(outcome.out), 1);
        assert_string_equal(outcome.err, "");
        program_outcome_done(&outcome);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_usage),     cmocka_unit_test(the_recorder_refuses),
        cmocka_unit_test(test_no_gpu),        cmocka_unit_test(test_no_terminal),
        cmocka_unit_test(test_broken_ptx),    cmocka_unit_test(test_help),
        cmocka_unit_test(test_list),          cmocka_unit_test(test_fills),
        cmocka_unit_test(test_default_input), cmocka_unit_test(test_options_reach_the_run),
        cmocka_unit_test(test_full_disk),     cmocka_unit_test(test_closed_output),
        cmocka_unit_test(test_broken_pipe),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
