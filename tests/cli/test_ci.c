/* --check in a project's CI: a made project whose tests `make` runs.
 *
 * Its first run, a baseline, suppressions, a new fault and a fixed one. */
#define _XOPEN_SOURCE 700
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/json_reader.h"
#include "tests/skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char racy[] = "__global__ void racy(int *out) {\n"
                           "    __shared__ int words[64];\n"
                           "    words[threadIdx.x] = threadIdx.x;\n"
                           "    %s;\n"
                           "    out[threadIdx.x] = words[63 - threadIdx.x];\n"
                           "}\n"
                           "int main() {\n"
                           "    int *out;\n"
                           "    cudaMalloc(&out, 256);\n"
                           "    racy<<<1, 64>>>(out);\n"
                           "    return cudaDeviceSynchronize();\n"
                           "}\n";

/* Stores to out[threadIdx.x + ADDED], of 32 elements, after what BEFORE does. */
static const char stores[] = "__global__ void store(int *out) {\n"
                             "    %s;\n"
                             "    out[threadIdx.x + %d] = 1;\n"
                             "}\n"
                             "int main() {\n"
                             "    int *out;\n"
                             "    cudaMalloc(&out, 128);\n"
                             "    store<<<1, 32>>>(out);\n"
                             "    return cudaDeviceSynchronize() != cudaSuccess;\n"
                             "}\n";

static void write_program(const char *name, const char *before, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void write_program(const char *name, const char *before, const char *format, ...) {
    char text[2048], whole[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(whole, sizeof whole, "%s%s", before, text);
    program_write_file(name, whole);
}

static void build(void) {
    Outcome made = program_shell("make -s -C %s all", program_folder());
    if (made.status) fail_msg("%s", made.err);
    program_outcome_done(&made);
}

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    if (!has_command("nvcc") || !has_command("make")) return 0;
    program_write_file("Makefile",
                       "TESTS = racy leaking crashing right\n"
                       "all: $(TESTS) failing\n"
                       "%: %.cu\n\tnvcc -cudart shared -g -lineinfo -gencode arch=compute_80,code=compute_80 "
                       "-o $@ $<\n"
                       "check: $(TESTS:%=run_%)\n"
                       "run_%: all\n\t@./$*\n");
    write_program("racy.cu", "", racy, "");
    write_program("leaking.cu", "", stores, "volatile int *kept = (int *)malloc(4); *kept = 1", 0);
    write_program("crashing.cu", "", stores, "", 1 << 20);
    write_program("right.cu", "", stores, "", 0);
    program_write_file("failing.cu", "int main() {\n"
                                     "    int value;\n"
                                     "    cudaMemcpy(nullptr, &value, 4, cudaMemcpyHostToDevice);\n"
                                     "}\n");
    build();
    Outcome first = program_shell("@ --check=sarif -- make -s -k -C %s check >%s/first.sarif",
                                  program_folder(), program_folder());
    bool is_good = first.status == 1;
    if (!is_good) print_message("%d %s\n", first.status, first.err);
    program_outcome_done(&first);
    return is_good ? 0 : -1;
}

#define NEEDS_PROJECT()                                                                                      \
    do {                                                                                                     \
        skip_without_nvcc("the project");                                                                    \
        if (!has_command("make")) skip_because("make was not found");                                        \
    } while (0)

/* Checks the project, with options in which % stands for its folder. */
static Outcome check(const char *options) {
    Text command = {0};
    text_add(&command, "@ ");
    for (const char *at = options; *at; at++)
        if (*at == '%')
            text_add(&command, program_folder());
        else
            text_add_bytes(&command, at, 1);
    text_print(&command, " -- make -s -k -C %s check", program_folder());
    Outcome outcome = program_shell("%s", text_string(&command));
    text_done(&command);
    return outcome;
}

static void expect(const char *options, int status, const char *const *said) {
    Outcome outcome = check(options);
    for (int i = 0; said[i]; i++) program_assert_contains(outcome.out, said[i]);
    if (outcome.status != status) fail_msg("%s: %d\n%s", options, outcome.status, outcome.out);
    program_outcome_done(&outcome);
}
#define EXPECT_SAID(options, status, ...) expect(options, status, (const char *const[]){__VA_ARGS__, NULL})

/* The whole project is in one log, and what its programs print is not. */
static void one_log_has_every_program(void **state) {
    (void)state;
    NEEDS_PROJECT();
    static const struct {
        const char *kind, *program;
    } expected[] = {{"shared_race", "./racy"},
                    {"heap_leak", "./leaking"},
                    {"out_of_bounds", "./crashing"},
                    {"program_end", NULL}};
    char *log, path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/first.sarif", program_folder());
    assert_true(text_read_file(path, 1 << 20, &log, &length, NULL));
    assert_true(json_valid(log));
    int count = json_array_count(json_at(log, "runs.0.results"));
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        char kind[64], program[64] = "";
        int found = 0;
        snprintf(kind, sizeof kind, "\"%s\"", expected[e].kind);
        if (expected[e].program) snprintf(program, sizeof program, "\"%s\"", expected[e].program);
        for (int i = 0; i < count; i++) {
            char at[64];
            snprintf(at, sizeof at, "runs.0.results.%d.ruleId", i);
            bool is_kind = !strncmp(json_at(log, at), kind, strlen(kind));
            snprintf(at, sizeof at, "runs.0.results.%d.properties.program", i);
            const char *of = json_at(log, at);
            found += is_kind && (of ? !strncmp(of, program, strlen(program)) && *program : !*program);
        }
        if (found != 1) fail_msg("%s: %d times in %s", expected[e].kind, found, log);
    }
    free(log);
}

/* Prints of each test case its names and its elements, "failure" with the type. */
static const char read_junit[] =
    "import sys, xml.etree.ElementTree as E\n"
    "suite, = E.parse(sys.argv[1]).getroot()\n"
    "print(*(suite.get(k) for k in ('tests', 'failures', 'skipped')))\n"
    "for case in suite.iter('testcase'):\n"
    "    print(case.get('classname'), case.get('name'),\n"
    "          *(c.get('type') or c.get('message') or c.tag for c in case), sep=', ')\n";

static void assert_junit(const char *expected) {
    if (!has_command("python3")) skip_because("python3 was not found, which reads JUnit files");
    program_write_file("junit.py", read_junit);
    Outcome read = program_shell("python3 %s/junit.py %s/junit.xml", program_folder(), program_folder());
    if (read.status || strcmp(read.out, expected) != 0) fail_msg("%s%s", read.out, read.err);
    program_outcome_done(&read);
    if (!has_command("xmllint")) return;
    read = program_shell("xmllint --noout %s/junit.xml", program_folder());
    if (read.status) fail_msg("%s", read.err);
    program_outcome_done(&read);
}

static void junit_has_a_case_for_each_kernel_of_each_program(void **state) {
    (void)state;
    NEEDS_PROJECT();
    Outcome made = program_shell("cd %s && $(cd - >/dev/null && realpath @) --check=junit -- "
                                 "sh -c './racy; ./leaking \"$1\"; ./crashing; ./failing' '<&\"]]>' "
                                 "\"$(printf '<&\"\\033\\377')\" >junit.xml",
                                 program_folder());
    assert_int_equal(made.status, 1);
    program_outcome_done(&made);
    assert_junit("4 3 0\n"
                 "./racy, racy, shared_race\n"
                 "./leaking <&\"\\x1b\\xff, store, system-out\n"
                 "./crashing, store, out_of_bounds\n"
                 "sh -c ./racy; ./leaking \"$1\"; ./crashing; ./failing <&\"]]> <&\"\\x1b\\xff, "
                 "host code and exit, failed_call\n");
}

/* Of one program all cases have the command; a kernel without a program has its own. */
static void junit_shows_what_is_accepted_as_skipped(void **state) {
    (void)state;
    NEEDS_PROJECT();
    program_write_file("accepted", "shared_race * *  the <order> does not matter\n");
    Outcome made =
        program_shell("cd %s && $(cd - >/dev/null && realpath @) --check=junit --suppress accepted "
                      "-- ./racy >junit.xml",
                      program_folder());
    assert_int_equal(made.status, 0);
    program_outcome_done(&made);
    assert_junit(
        "2 0 1\n./racy, racy, the <order> does not matter, system-out\n./racy, host code and exit\n");
    made = program_shell("@ --check=junit --kernel interleaved >%s/junit.xml", program_folder());
    assert_int_equal(made.status, 0);
    program_outcome_done(&made);
    assert_junit("1 0 0\ninterleaved, interleaved<int,Sum>, system-out\n");
}

static void a_baseline_makes_only_new_faults_fail(void **state) {
    (void)state;
    NEEDS_PROJECT();
    EXPECT_SAID("--check --baseline %/first.sarif", 0, ": 3 known, 0 new, 0 fixed\n");
    EXPECT_SAID("--check --baseline %/first.sarif --fail-on note", 0, ": 4 known, 0 new, 0 fixed\n");
    write_program("racy.cu", "// moved\n\n", racy, "");
    write_program("right.cu", "", stores, "", 1);
    build();
    EXPECT_SAID("--check --baseline %/first.sarif", 1, ": 3 known, 1 new, 0 fixed\n",
                "  new: out_of_bounds in store, ", "right.cu line 3\n");
    write_program("racy.cu", "", racy, "__syncthreads()");
    write_program("right.cu", "", stores, "", 0);
    build();
    EXPECT_SAID("--check --baseline %/first.sarif", 0, ": 2 known, 0 new, 1 fixed\n",
                "  fixed: shared_race in racy, ");
    write_program("racy.cu", "", racy, "");
    build();
}

static void suppressions_have_reasons_and_are_used(void **state) {
    (void)state;
    NEEDS_PROJECT();
    program_write_file("accepted", "# known faults\n\n"
                                   "shared_race racy racy.cu:5  the order does not matter\n"
                                   "out_of_* store crashing.cu  crashes on purpose\n"
                                   "program_end * *  make says that crashing fails\n");
    EXPECT_SAID("--check --suppress %/accepted", 0, ": 3 results suppressed\n");
    Outcome log = check("--check=sarif --suppress %/accepted");
    assert_int_equal(log.status, 0);
    program_assert_contains(log.out, "\"suppressions\":[{\"kind\":\"external\",\"status\":\"accepted\","
                                     "\"justification\":\"crashes on purpose\"}]");
    program_outcome_done(&log);
    EXPECT_SAID("--check --suppress %/accepted --fail-on note", 1, ": 3 results suppressed\n");
    program_write_file("accepted", "shared_race racy racy.cu:6  another line\n");
    EXPECT_SAID("--check --suppress %/accepted", 1, ": 0 results suppressed\n",
                "  unused: line 1, shared_race racy racy.cu:6\n");
}

/* Those that check with make, in the folder of the project. */
static void commands_of_the_page_work(void **state) {
    (void)state;
    NEEDS_PROJECT();
    char *page, *rest;
    size_t length;
    int count = 0;
    assert_true(text_read_file("docs/ci.md", 1 << 20, &page, &length, NULL));
    program_write_file("accepted.txt", "* * *  all of it is known\n");
    for (char *line = strtok_r(page, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "    redviz ", 11) != 0 || !strstr(line, "make check")) continue;
        bool is_accepted = strstr(line, "--baseline") || strstr(line, "--suppress");
        Outcome outcome =
            program_shell("PATH=$(cd $(dirname @) && pwd):$PATH; cd %s && %s", program_folder(), line + 4);
        int expected = strstr(line, "--error-exitcode 9") ? 9 : !is_accepted;
        if (outcome.status != expected) fail_msg("%s: %d %s", line, outcome.status, outcome.err);
        program_outcome_done(&outcome);
        count++;
    }
    assert_int_equal(count, 8);
    free(page);
}

static void a_tool_shows_its_kinds_only(void **state) {
    (void)state;
    NEEDS_PROJECT();
    static const struct {
        const char *tool, *shown, *hidden;
        int status;
    } cases[] = {{"memcheck", "out of bounds", "race on shared memory", 1},
                 {"racecheck", "race on shared memory", "out of bounds", 1},
                 {"initcheck", "3 distinct launches of 3: no error found", "out of bounds", 0},
                 {"synccheck", "3 distinct launches of 3: no error found", "race on shared memory", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = program_shell("cd %s; $(cd - >/dev/null && realpath @) --check --tool %s -- "
                                        "sh -c './racy; ./crashing; ./right'",
                                        program_folder(), cases[i].tool);
        if (outcome.status != cases[i].status || !strstr(outcome.out, cases[i].shown) ||
            strstr(outcome.out, cases[i].hidden))
            fail_msg("%s: %d\n%s", cases[i].tool, outcome.status, outcome.out);
        program_outcome_done(&outcome);
    }
}

/* Of the launches of racy, crashing and right. */
static void launches_are_chosen(void **state) {
    (void)state;
    NEEDS_PROJECT();
    static const struct {
        const char *options, *said;
        int status;
    } cases[] = {
        {"--kernel-name store", "2 distinct launches of 3: 1 with errors", 9},
        {"--kernel-name kernel_substring=ac", "1 distinct launch of 3: 1 with errors", 9},
        {"--kernel-name kernel_regex='^r.*y|none'", "1 distinct launch of 3: 1 with errors", 9},
        {"--launch-skip 2", "1 distinct launch of 3: no error found", 0},
        {"--launch-skip 1 --launch-count 1", "1 distinct launch of 3: 1 with errors", 9},
        {"--kernel-name store --launch-skip 1", "1 distinct launch of 3: no error found", 0},
        {"--kernel-name tore", "none is chosen (--kernel-name, --launch-skip, --launch-count)", 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = program_shell("cd %s; $(cd - >/dev/null && realpath @) --check --error-exitcode 9 "
                                        "%s -- sh -c './racy; ./crashing; ./right'",
                                        program_folder(), cases[i].options);
        if (outcome.status != cases[i].status || !strstr(outcome.out, cases[i].said))
            fail_msg("%s: %d\n%s", cases[i].options, outcome.status, outcome.out);
        program_outcome_done(&outcome);
    }
}

/* More processes than are likely to run at once, each with its command. */
static void every_process_is_checked(void **state) {
    (void)state;
    NEEDS_PROJECT();
    Outcome outcome =
        program_shell("@ --check -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do "
                      "%s/right $i; done; %s/racy last; %s/failing'",
                      program_folder(), program_folder(), program_folder());
    assert_int_equal(outcome.status, 1);
    program_assert_contains(outcome.out, "launch 18, racy, ");
    program_assert_contains(outcome.out, "error: failing.cu line 3: cudaMemcpy failed: ");
    program_assert_contains(outcome.out, "/racy last: \n");
    program_assert_contains(outcome.out, " distinct launches of 18: 1 with errors; 1 error of the program\n");
    program_outcome_done(&outcome);
}

/* Runs a command in the folder of the project, with redviz in PATH; all programs of the project are found. */
static void assert_finds_all(const char *command) {
    Outcome outcome =
        program_shell("PATH=$(cd $(dirname @) && pwd):$PATH; cd %s && { %s; }", program_folder(), command);
    if (outcome.status != 1 || !strstr(outcome.out, "racy, racy.cu:") ||
        !strstr(outcome.out, "/crashing: ") ||
        !strstr(outcome.out, "3 distinct launches of 3: 2 with errors"))
        fail_msg("%s: %d\n%s%s", command, outcome.status, outcome.out, outcome.err);
    program_outcome_done(&outcome);
}

static void ctest_is_checked(void **state) {
    (void)state;
    NEEDS_PROJECT();
    if (!has_command("ctest") || !has_command("cmake")) skip_because("ctest and cmake were not found");
    program_write_file("CMakeLists.txt", "cmake_minimum_required(VERSION 3.10)\n"
                                         "project(tests NONE)\n"
                                         "enable_testing()\n"
                                         "foreach(test racy crashing right)\n"
                                         "    add_test(NAME ${test} COMMAND ${CMAKE_SOURCE_DIR}/${test})\n"
                                         "endforeach()\n");
    assert_finds_all(
        "cmake -S . -B made >/dev/null && redviz --check --time-limit 600 -- ctest --test-dir made");
}

static bool has_module(const char *name) {
    char command[128];
    snprintf(command, sizeof command, "python3 -c 'import %s' >/dev/null 2>&1", name);
    return system(command) == 0;
}

static void pytest_is_checked(void **state) {
    (void)state;
    NEEDS_PROJECT();
    if (!has_module("pytest")) skip_because("pytest was not found");
    program_write_file("test_gpu.py", "import subprocess, pytest\n"
                                      "@pytest.mark.parametrize('name', ['racy', 'crashing', 'right'])\n"
                                      "def test_program(name):\n"
                                      "    subprocess.run(['./' + name])\n");
    assert_finds_all("redviz --check -- python3 -m pytest test_gpu.py");
}

/* Prints the script of the step named Check, and the entry of the hook. */
static const char read_yaml[] = "import sys, yaml\n"
                                "action, hooks = (yaml.safe_load(open(f)) for f in sys.argv[1:])\n"
                                "assert action['runs']['using'] == 'composite'\n"
                                "assert all('run' in s or 'uses' in s for s in action['runs']['steps'])\n"
                                "check, = (s for s in action['runs']['steps'] if s['name'] == 'Check')\n"
                                "print(check['run'])\n"
                                "print(hooks[0]['entry'], *sys.stdin.read().split())\n";

static void the_action_and_the_hook_run(void **state) {
    (void)state;
    NEEDS_PROJECT();
    if (!has_module("yaml")) skip_because("PyYAML was not found");
    program_write_file("yaml.py.txt", read_yaml);
    Outcome scripts = program_shell("echo right.cu racy.cu | python3 %s/yaml.py.txt action.yml "
                                    ".pre-commit-hooks.yaml",
                                    program_folder());
    if (scripts.status) fail_msg("%s", scripts.err);
    char *hook = strchr(scripts.out, '\n');
    *hook++ = 0;
    const char *const commands[] = {scripts.out, hook};
    for (int i = 0; i < 2; i++) {
        program_write_file("step", commands[i]);
        Outcome outcome =
            program_shell("PATH=$(cd $(dirname @) && pwd):$PATH; cd %s && COMMAND='make -s check' "
                          "OPTIONS='--fail-on note' SARIF=step.sarif bash step",
                          program_folder());
        if (outcome.status != 1) fail_msg("%s: %d\n%s", commands[i], outcome.status, outcome.err);
        if (i) program_assert_contains(outcome.out, "race on shared memory");
        program_outcome_done(&outcome);
    }
    program_outcome_done(&scripts);
    char *log, path[512];
    size_t length;
    snprintf(path, sizeof path, "%s/step.sarif", program_folder());
    assert_true(text_read_file(path, 1 << 20, &log, &length, NULL));
    assert_true(json_valid(log));
    free(log);
}

static void files_that_are_none_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *option, *text, *said;
    } cases[] = {
        {"baseline", "{",
         "this is no SARIF file that redviz has written (redviz --check=sarif ... > FILE): "},
        {"baseline", "{\"runs\":[{\"tool\":{\"driver\":{\"name\":\"other\"}},\"results\":[]}]}",
         "this is no SARIF file that redviz has written (redviz --check=sarif ... > FILE)\n"},
        {"baseline", "{\"runs\":[{\"tool\":{\"driver\":{\"name\":\"redviz\"}},\"results\":[{}]}]}",
         "result 1 has no fingerprint of this version"},
        {"suppress", "# none\nrace k\n", "file:2: a suppression is KIND KERNEL FILE[:LINE] and a reason"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        program_write_file("file", cases[i].text);
        Outcome outcome = program_shell("@ --check --%s %s/file -- false", cases[i].option, program_folder());
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, cases[i].said);
        assert_int_equal(program_line_count(outcome.err), 1);
        program_outcome_done(&outcome);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_log_has_every_program),
        cmocka_unit_test(junit_has_a_case_for_each_kernel_of_each_program),
        cmocka_unit_test(junit_shows_what_is_accepted_as_skipped),
        cmocka_unit_test(a_baseline_makes_only_new_faults_fail),
        cmocka_unit_test(suppressions_have_reasons_and_are_used),
        cmocka_unit_test(commands_of_the_page_work),
        cmocka_unit_test(a_tool_shows_its_kinds_only),
        cmocka_unit_test(launches_are_chosen),
        cmocka_unit_test(every_process_is_checked),
        cmocka_unit_test(ctest_is_checked),
        cmocka_unit_test(pytest_is_checked),
        cmocka_unit_test(the_action_and_the_hook_run),
        cmocka_unit_test(files_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
