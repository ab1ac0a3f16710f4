/* The output of --dump-ir, --dump-flow and --dump-ops of redviz-record.
 *
 * Each file of tests/cli/listings contains a program and, as comments after it, its listings.
 * REDVIZ_REWRITE=1 rewrites them, for review with git diff. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/cli/program.h"
#include "tests/tui/golden.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_listing(Text *file, const char *path, const char *option) {
    char *listing = program_output(0, "@-record %s --n 32 --block 32 %s", path, option);
    text_print(file, "\n// %s\n", option);
    for (const char *line = listing; *line; line += strcspn(line, "\n") + 1)
        text_print(file, "//%s%.*s\n", *line == '\n' ? "" : "   ", (int)strcspn(line, "\n"), line);
    free(listing);
}

static void test_listings(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("tests/cli/listings/*.ptx", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        const char *path = files.gl_pathv[i];
        char *whole = program_output(0, "cat %s", path), *end = strstr(whole, "\n}\n\n//");
        Text file = {0};
        text_add_bytes(&file, whole, end ? (size_t)(end - whole) + 3 : strlen(whole));
        add_listing(&file, path, "--dump-flow");
        add_listing(&file, path, "--dump-ops");
        golden_check_file(path, &file);
        text_done(&file);
        free(whole);
    }
    assert_true(files.gl_pathc >= 3);
    globfree(&files);
}

/* The output of --dump-ir is PTX that gives the same listing, and runs. */
static void test_printed_modules_are_modules(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "two_stage", "cooperative", "triton_sum"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        free(program_output(
            0,
            "in=%s; @-record --kernel %s --dump-ir >$in/once.ptx && entry=$(sed -n 's/^.*\\.entry "
            "\\([A-Za-z0-9_]*\\).*/\\1/p' $in/once.ptx | head -n 1) && "
            "@-record $in/once.ptx --entry $entry --dump-ir >$in/twice.ptx && "
            "cmp $in/once.ptx $in/twice.ptx",
            program_folder(), kernels[i]));
    char *first =
        program_output(0,
                       "@-record tests/cli/scale.ptx --n 64 --dump-ir >%s/scale.ptx && @ %s/scale.ptx --n 64 "
                       "--args 'in=int[n]:iota, out=int[n]:zero, n' --dump out:3",
                       program_folder(), program_folder());
    assert_string_equal(first, "0\n3\n6\n");
    free(first);
}

/* Nothing runs: an endless loop has a listing, and a launch that does not fit is an error. */
static void test_nothing_is_run(void **state) {
    (void)state;
    char *flow = program_output(0, "@-record tests/cli/spin.ptx --n 32 --dump-flow"),
         *two = program_output(0, "@-record --kernel two_stage --dump-flow | grep -c '^_Z'");
    program_assert_contains(flow, "block 1");
    assert_string_equal(two, "1\n"); /* both of its launches use one kernel */
    free(flow), free(two);
    Outcome outcome = program_shell("@-record tests/cli/scale.ptx --n 32 --args '0' --dump-ops");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "takes 3 arguments");
    program_outcome_done(&outcome);
    outcome = program_shell("@-record tests/cli/broken.ptx --dump-ir");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "tests/cli/broken.ptx:7:");
    program_outcome_done(&outcome);
}

/* All of them, one per line; nothing runs. */
static void test_entries_are_listed(void **state) {
    (void)state;
    program_write_file(
        "entries.ptx",
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry _Z3redIiL2Op0EEvPKT_PS1_i(.param .u64 a, .param .u64 b, .param .u32 c)\n"
        ".reqntid 128\n{ ret; }\n"
        ".visible .entry plain(.param .u64 a, .param .f32 b, .param .align 4 .b8 c[12])\n"
        ".maxntid 16, 16, 1\n{ ret; }\n"
        ".func helper() { ret; }\n"
        ".visible .entry alone() .reqnctapercluster 4 { ret; }\n");
    char *text = program_output(0, "@ --list %s/entries.ptx", program_folder()),
         *json = program_output(0, "@ --list=json %s/entries.ptx", program_folder()),
         *piped = program_output(0, "@ --list - <%s/entries.ptx", program_folder());
    assert_string_equal(text, "red<int,(Op)0>(const int*, int*, int)  block 128\n"
                              "plain(.u64, .f32, 12 bytes)  block at most 16,16\n"
                              "alone()  cluster 4\n");
    assert_string_equal(piped, text);
    program_assert_contains(
        json, "[{\"name\":\"red<int,(Op)0>\",\"mangled\":\"_Z3redIiL2Op0EEvPKT_PS1_i\",\"parameters\":["
              "\"const int*\",\"int*\",\"int\"],\"required_block\":[128,1,1],\"maximum_block\":null,"
              "\"required_cluster\":null,\"launch\":null,\"line\":null},");
    free(text), free(json), free(piped);
    Outcome outcome = program_shell("@ %s/entries.ptx --entry Red --report", program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "there is no entry 'Red'; --entry is one of: red<int,(Op)0>, ");
    program_outcome_done(&outcome);
    char many[] = "for i in $(seq 1 40); do echo \".visible .entry sum_$i() { ret; }\"; done";
    outcome = program_shell(
        "(echo .version 8.0; echo .target sm_90; %s) >%s/many.ptx; @ %s/many.ptx --entry sun_12", many,
        program_folder(), program_folder());
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, ", ... (40 in all: redviz --list FILE)");
    program_outcome_done(&outcome);
    text = program_output(0, "@ --list %s/many.ptx", program_folder());
    assert_int_equal(program_line_count(text), 40);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listings),
        cmocka_unit_test(test_printed_modules_are_modules),
        cmocka_unit_test(test_nothing_is_run),
        cmocka_unit_test(test_entries_are_listed),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
