/* Kernels and tables that are piped in: -, /dev/stdin and process substitution. */
#define _POSIX_C_SOURCE 200809L
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file with the name that piped ones get, and each way of piping it, give the same output. */
static void expect_same(const char *options) {
    static const char *const ways[] = {
        "cat stdin.ptx | $redviz - %s", "cat stdin.ptx | $redviz /dev/stdin %s", "$redviz - %s <stdin.ptx",
        "rm -f fifo; mkfifo fifo && { cat stdin.ptx >fifo & } && $redviz fifo %s"};
    char command[512];
    char *direct =
        program_output(0, "redviz=$(realpath @) && cd %s && $redviz stdin.ptx %s", program_folder(), options);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        size_t before = (size_t)(strstr(ways[i], "%s") - ways[i]);
        snprintf(command, sizeof command, "%.*s%s%s", (int)before, ways[i], options, ways[i] + before + 2);
        char *piped = program_output(0, "redviz=$(realpath @) && cd %s && %s", program_folder(), command);
        assert_string_equal(piped, direct);
        free(piped);
    }
    free(direct);
}

static void copy_kernel(void) {
    free(program_output(0, "cp tests/cli/scale.ptx %s/stdin.ptx", program_folder()));
}

static void ptx(void **state) {
    (void)state;
    copy_kernel();
    expect_same("--n 64 --report");
    expect_same("--n 64 --events");
    expect_same("--n 4096 --frame=100x36 --keys 'll'");
}

static void process_substitution(void **state) {
    (void)state;
    Outcome bash = program_shell("command -v bash");
    int status = bash.status;
    program_outcome_done(&bash);
    if (status) skip_because("bash was not found");
    copy_kernel();
    char
        *direct = program_output(0, "redviz=$(realpath @) && cd %s && $redviz stdin.ptx --n 64 --report=json",
                                 program_folder()),
        *piped = program_output(
            0,
            "export redviz=$(realpath @) && cd %s && bash -c '$redviz <(cat stdin.ptx) --n 64 --report=json'",
            program_folder());
    assert_string_equal(piped, direct);
    free(direct), free(piped);
}

static void tables(void **state) {
    (void)state;
    char *direct = program_output(0, "@-record --access tests/data/warp_access_counts.csv");
    char *piped = program_output(0, "cat tests/data/warp_access_counts.csv | @-record --access -");
    assert_string_equal(piped, direct);
    free(piped);
    piped = program_output(0, "cat tests/data/warp_access_counts.csv | @-record --access /dev/stdin");
    assert_string_equal(piped, direct);
    free(piped), free(direct);
}

/* Without a compiler, the test is skipped. */
static void cuda(void **state) {
    (void)state;
    static const char *const compilers[] = {"nvcc", "nvrtc", "clang"};
    int count = 0;
    Outcome made = program_shell("cd %s && printf '#include \"part.h\"\\n__global__ void k(int *p) {\\n    "
                                 "*p = SEVEN;\\n}\\n' >k.cu && "
                                 "echo '#define SEVEN 7' >part.h",
                                 program_folder());
    program_outcome_done(&made);
    for (int i = 0; i < 3; i++) {
        Outcome run = program_shell(
            "p=$(realpath @) && cd %s && cat k.cu | XDG_CACHE_HOME=$PWD $p - --compiler %s --n 1 --report",
            program_folder(), compilers[i]);
        if (program_missing_compiler(&run)) {
            program_outcome_done(&run);
            continue;
        }
        assert_string_equal(run.err, "");
        program_assert_contains(run.out, "stdin.cu");
        program_assert_contains(run.out, "    3  *p = SEVEN;");
        program_outcome_done(&run);
        run = program_shell("p=$(realpath @) && cd %s && sed 's/SEVEN/EIGHT/' k.cu | XDG_CACHE_HOME=$PWD $p "
                            "- --compiler %s --report",
                            program_folder(), compilers[i]);
        assert_int_equal(run.status, 2);
        program_assert_contains(run.err, "stdin.cu:3:");
        program_outcome_done(&run);
        count++;
    }
    if (!count) skip_because("no CUDA compiler was found");
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"printf '.version 7.0\\n.bad' | @ - --report", "stdin.ptx:2:1: "},
        {"printf '// a\\n/* b */ .version 7.0\\n.bad' | @ - --report", "stdin.ptx:3:1: "},
        {"printf 'a\\0b' | @ - --report", "-: this is not text"},
        {"cat tests/cli/scale.ptx | @ - --watch", "--watch: - is not a file that can change"},
        {"printf 'a,b\\n' | @-record --access -", "-:1"},
        {"@ /dev --report", "/dev"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome run = program_shell("%s", cases[i][0]);
        assert_int_equal(run.status, 2);
        program_assert_contains(run.err, cases[i][1]);
        program_outcome_done(&run);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx),  cmocka_unit_test(process_substitution),  cmocka_unit_test(tables),
        cmocka_unit_test(cuda), cmocka_unit_test(what_is_wrong_is_said),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
