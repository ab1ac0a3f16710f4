/* Programs of many kinds, each of which checks its own result, on the emulator. */
#define _POSIX_C_SOURCE 200809L
#include "program_runs.h"
#include "tests/cli/json_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <stdlib.h>
#include <string.h>

#define BUILD   "nvcc -cudart shared -O2 -lineinfo -Xcompiler -g -o "
#define VIRTUAL " -gencode arch=compute_80,code=compute_80"

/* Those that programs.def does not have. */
static void add_others(void) {
    program_runs_add("check_unwritten", "@ --run %/never_written.cu $REDVIZ_TEST_COMPILER --check");
    program_runs_add("check_race", "@ --run %/exits_1.cu $REDVIZ_TEST_COMPILER --check");
    program_runs_add("host_atomics", "@ --run %/host_atomics.cu --report");
    program_runs_add("linker", "@ --run %/linker.cu --compile-flags -lcuda --report");
    program_runs_add("jit_linker", "@ --run %/jit_linker.cu --compile-flags '-lcuda -lnvJitLink' --report");
    program_runs_add("runtime_compiler",
                     "@ --run %/runtime_compiler.cu --compile-flags '-lcuda -lnvrtc' --report");
    program_runs_add("linked_files",
                     "nvcc -rdc=true" VIRTUAL " -c %/more_parts.cu -o $TMPDIR/more.o && "
                     "ar rcs $TMPDIR/libmore.a $TMPDIR/more.o && touch $TMPDIR/libcudadevrt.a && "
                     "@ --run %/linker.cu --compile-flags -lcuda --report -- "
                     "$TMPDIR/libcudadevrt.a $TMPDIR/libmore.a");
    program_runs_add(
        "linked_machine_code",
        "nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -fatbin %/more_parts.cu -o $TMPDIR/more.fatbin "
        "&& @ --run %/linker.cu --compile-flags -lcuda --report -- $TMPDIR/more.fatbin");
    program_runs_add("check_repeats", "@ --run %/ping_pong.cu $REDVIZ_TEST_COMPILER --check");
    program_runs_add("text", "@ --run %/print_and_assert.cu $REDVIZ_TEST_COMPILER --report");
    program_runs_add("at", "@ --run %/streams.cu --at 'scale#3' --report=json");
    program_runs_add("at_nothing", "@ --run %/graph.cu --at 'fill#3' --report=json");
    program_runs_add("prebuilt", "cd $(dirname %/.); " BUILD "$TMPDIR/prebuilt" VIRTUAL
                                 " ping_pong.cu && cd - >/dev/null && @ --report=json -- $TMPDIR/prebuilt");
    program_runs_add("machine_code",
                     BUILD "$TMPDIR/machine_code -gencode arch=compute_90,code=sm_90 %/exits_1.cu && "
                           "@ --report=json -- $TMPDIR/machine_code");
    program_runs_add("arguments", "@ --run %/arguments.cu $REDVIZ_TEST_COMPILER --compile-flags '-DFACTOR=3 "
                                  "-O1' --report=json -- 40 'two words'");
    program_runs_add("does_not_compile", "printf 'int main() {\\n    undeclared();\\n}\\n' >$TMPDIR/wrong.cu "
                                         "&& @ --run $TMPDIR/wrong.cu $REDVIZ_TEST_COMPILER --report");
}

#define PROGRAM(name, options, status, output, lines)                                                        \
    static void name(void **state) {                                                                         \
        (void)state;                                                                                         \
        program_runs_expect(#name, status, output, lines);                                                   \
    }
#define NVCC_PROGRAM(name, options, status, output, lines)                                                   \
    static void name(void **state) {                                                                         \
        (void)state;                                                                                         \
        skip_without_nvcc(#name);                                                                            \
        program_runs_expect(#name, status, output, lines);                                                   \
    }
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("TMPDIR", program_folder(), 1);
#define PROGRAM(name, options, status, output, lines)                                                        \
    program_runs_add(#name, "@ --run %/" #name ".cu $REDVIZ_TEST_COMPILER " options " --report=json");
#define NVCC_PROGRAM(name, options, status, output, lines)                                                   \
    program_runs_add(#name, "@ --run %/" #name ".cu " options " --report=json");
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM
    add_others();
    program_runs_do();
    return 0;
}

/* The one line that is refused. */
static void expect_refused(const char *name, const char *words) {
    Outcome outcome = program_runs_outcome(name);
    assert_int_equal(outcome.status, 2);
    assert_int_equal(program_line_count(outcome.err), 1);
    program_assert_contains(outcome.err, words);
    program_outcome_done(&outcome);
}

static void expect_words(const char *name, int status, const char *const *words, size_t count) {
    Outcome outcome = program_runs_outcome(name);
    if (outcome.status != status || *outcome.err) fail_msg("status %d: %s", outcome.status, outcome.err);
    for (size_t i = 0; i < count; i++) program_assert_contains(outcome.out, words[i]);
    program_outcome_done(&outcome);
}
#define EXPECT_WORDS(name, status, ...)                                                                      \
    do {                                                                                                     \
        static const char *const words[] = {__VA_ARGS__};                                                    \
        expect_words(name, status, words, sizeof words / sizeof *words);                                     \
    } while (0)

static void memory_that_nobody_has_written(void **state) {
    (void)state;
    EXPECT_WORDS("check_unwritten", 1, "launch 1, histogram, never_written.cu:16:", "1. unwritten read",
                 "of `d_bins` are read\n    but were never written", "1 distinct launch of 1: 1 with errors");
}

static void a_race(void **state) {
    (void)state;
    EXPECT_WORDS("check_race", 1, "launch 1, count, exits_1.cu:13:", "1. race between lanes of a warp",
                 "*sum = *sum + 1;", "program exited 1");
}

static void each_distinct_launch_is_searched(void **state) {
    (void)state;
    EXPECT_WORDS("check_repeats", 0, "3 distinct launches of 3: no error found", "program exited 0");
}

static void threads_of_the_host_and_of_the_device(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    EXPECT_WORDS("host_atomics", 0, "PASSED\nprogram exited 0: 2 launches, 2 distinct");
}

static void the_linker_of_the_driver(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    EXPECT_WORDS("linker", 0,
                 "unlike: 218 'twice' is declared differently in two parts: its types differ\n"
                 "undefined: 209 'twice' is declared differently in two parts: its types differ\n"
                 "'twice' is not defined in any part\n"
                 "launches: 801 '__cudaCDP2GetParameterBufferV2' needs device-side launches (CDP), which are "
                 "not emulated\n"
                 "wrong: 218 line 4: expected an operand, found '}'\n"
                 "lto: 801 cuLinkAddData of LTO-IR is not emulated\n"
                 "last error of the runtime: 0\n"
                 "good: 0 \ncomplete: 0 \n"
                 "local 24, constant 16: 142 7 60 1\n"
                 "grid: 0 \ncomplete: 0 \n"
                 "grid: 3 3; stream: 0 1 1\n"
                 "program exited 0: 2 launches, 2 distinct",
                 "cuLinkAddData of LTO-IR is not emulated");
    EXPECT_WORDS("jit_linker", 0,
                 "no architecture: 2\n6 'answer' is not defined in any part\n\n0 \nanswer 42\n"
                 "program exited 0: 1 launch, 1 distinct");
    EXPECT_WORDS("linked_files", 0, "file: 0 \nfile: 0 \nadd_to: 1\n");
}

static void the_compiler_in_a_program(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    EXPECT_WORDS("runtime_compiler", 0,
                 "0 0 0: 40 to 71\n"
                 "program exited 0: 1 launch, 1 distinct",
                 "1  fill       1     32       0  out 32        8  -\n\nlaunch 1 of 1"); /* no note */
}

static void the_linker_of_machine_code(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    Outcome outcome = program_runs_outcome("linked_machine_code");
    program_assert_contains(outcome.out, "file: 801 it has machine code (sm_80) and no PTX");
    program_assert_contains(outcome.out, "cuLinkAddData of machine code is not emulated");
    program_outcome_done(&outcome);
}

/* The program's words, in their order, then the table, then the launch with the fault. */
static void a_report_as_text(void **state) {
    (void)state;
    EXPECT_WORDS("text", 1,
                 "before\nthread 0 of 32 has value 41.50\nthread 1 of 32 has value 41.50\nthread 2 of 32 has "
                 "value 41.50\nafter\n"
                 "tests/runtime/programs/print_and_assert.cu:11: void check(const int *): block: [0,0,0], "
                 "thread: [7,0,0] Assertion `in[threadIdx.x] != 7` failed.\n"
                 "710: device-side assert triggered\nprogram exited 0: 2 launches, 2 distinct, ",
                 "\nlaunch 2 of 2, print_and_assert.cu:",
                 "assertion `in[threadIdx.x] != 7` failed (thread 7 of the block)");
}

static void a_launch_by_its_number(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    char *json = program_runs_json("at", 0);
    assert_int_equal(atoi(json_at(json, "launch")), 5);
    free(json);
    expect_refused("at_nothing",
                   "--at fill#3: the program has launches 1 to 3; 'NAME#2' is the second of a kernel");
}

static void a_program_that_was_built_before(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    program_runs_expect("prebuilt", 0, "PASSED: 299995 in 3 passes\n",
                        "exited 0: 3 launches, 3 distinct\n1 reduce 391x256 line 29: d_out 391\n2 reduce "
                        "2x256 line 29: d_in 2\n"
                        "3 reduce 1x256 line 29: d_out 1\n");
}

static void machine_code_alone(void **state) {
    (void)state;
    skip_without_nvcc("the program");
    Outcome outcome = program_runs_outcome("machine_code");
    assert_int_equal(outcome.status, 1);
    program_assert_contains(outcome.out,
                            "it has machine code (sm_90) and no PTX; compile it with NVCC_APPEND_FLAGS=");
    program_outcome_done(&outcome);
}

static void arguments_and_flags(void **state) {
    (void)state;
    program_runs_expect("arguments", 0, "120 'two words'\n",
                        "exited 0: 1 launch, 1 distinct\n1 scale 1x1 line 12: d_value 1\n");
}

static void a_file_that_does_not_compile(void **state) {
    (void)state;
    Outcome outcome = program_runs_outcome("does_not_compile");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "wrong.cu:2:");
    program_assert_contains(outcome.err, "undeclared");
    program_outcome_done(&outcome);
}

/* Without a compiler, too. */
static void no_cuda_at_all(void **state) {
    (void)state;
    static const struct {
        const char *command;
        int status;
        const char *words;
    } refused[] = {
        {"@ --report -- /bin/true >&2", 0, "no launch: the program exited 0 and launched no kernel"},
        {"@ --check -- /bin/true >&2", 0, "no launch: the program exited 0 and launched no kernel"},
        {"@ --frame=80x24 -- /bin/true", 0, "redviz: the program exited 0 and launched no kernel"},
        {"@ --report -- /bin/sh -c 'exit 7'", 1, "redviz: the program exited 7 and launched no kernel"},
        {"@ --report -- /bin/sh -c 'kill -9 $$'", 1,
         "redviz: the program was ended by signal 9 (Killed) and launched no kernel"},
        {"@ --report -- /no/such/program", 2, "redviz: /no/such/program: no such program"},
        {"@ --report -- no_such_program_in_the_path", 2,
         "redviz: no_such_program_in_the_path: no such program"},
        {"@ --report -- /etc/passwd", 2, "redviz: /etc/passwd: Permission denied"},
        {"@ --report --time-limit 1 -- /bin/sleep 100", 1,
         "redviz: the program was stopped after 1 s (--time-limit; a smaller argument '100' would help) "
         "and launched no kernel"},
        {"@ --run --report", 2, "redviz: --run needs the file to compile: --run FILE.cu"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Outcome outcome = program_shell("%s", refused[i].command);
        assert_int_equal(outcome.status, refused[i].status);
        assert_int_equal(program_line_count(outcome.err), 1);
        program_assert_contains(outcome.err, refused[i].words);
        program_outcome_done(&outcome);
    }
}

/* Temporary folders of the programs. */
static void nothing_is_left(void **state) {
    (void)state;
    Outcome outcome = program_shell("ls -d %s/redviz-*", program_folder());
    assert_string_equal(outcome.out, "");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define PROGRAM(name, options, status, output, lines) cmocka_unit_test(name),
#define NVCC_PROGRAM                                  PROGRAM
#include "programs.def"
#undef NVCC_PROGRAM
#undef PROGRAM
        cmocka_unit_test(memory_that_nobody_has_written),
        cmocka_unit_test(a_race),
        cmocka_unit_test(each_distinct_launch_is_searched),
        cmocka_unit_test(threads_of_the_host_and_of_the_device),
        cmocka_unit_test(the_linker_of_the_driver),
        cmocka_unit_test(the_compiler_in_a_program),
        cmocka_unit_test(the_linker_of_machine_code),
        cmocka_unit_test(a_report_as_text),
        cmocka_unit_test(a_launch_by_its_number),
        cmocka_unit_test(a_program_that_was_built_before),
        cmocka_unit_test(machine_code_alone),
        cmocka_unit_test(arguments_and_flags),
        cmocka_unit_test(a_file_that_does_not_compile),
        cmocka_unit_test(no_cuda_at_all),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
