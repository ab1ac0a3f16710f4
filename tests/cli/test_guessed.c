/* Guessed launches: the sizes tried, and the sentences about those that fit. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

/* 256 threads write beyond the shared array; 64 do not, and give the sum. */
static void a_block_fits_its_shared_array(void **state) {
    (void)state;
    char *out = program_output(0, "@ tests/cli/sizes.ptx --entry sum64 --n 2^14 --report");
    program_assert_contains(out, "guessed: --args 'in=float[n]:random(-8,8), out=float[grid], n' --block 64");
    program_assert_contains(out, "looks like sum(in) of 256 partial results");
    free(out);
}

/* A block size that was given stays, and its fault is shown. */
static void a_block_that_was_asked_for_stays(void **state) {
    (void)state;
    char *out = program_output(1, "@ tests/cli/sizes.ptx --entry sum64 --n 2^14 --block 256 --report");
    program_assert_contains(out, "<<<64, 256>>>");
    program_assert_contains(out, "TRAP out of bounds");
    free(out);
}

/* 4096 blocks do not fit in a variable of 64 words: the run has fewer elements, unless their number was
 * given. */
static void n_fits_the_variables_of_the_module(void **state) {
    (void)state;
    char *out = program_output(0, "@ tests/cli/sizes.ptx --entry sum_to_variable --report");
    program_assert_contains(out, "n = 16,384, 64 blocks of 256 threads");
    program_assert_contains(out, "looks like sum(in)");
    free(out);
    out = program_output(1, "@ tests/cli/sizes.ptx --entry sum_to_variable --n 2^16 --grid 256 --report");
    program_assert_contains(out, "the end of `partial`");
    free(out);
}

/* If the block size was guessed, a result other than the sum may be due to the guess: it is not called
 * wrong. */
static void a_guess_is_not_the_kernels_fault(void **state) {
    (void)state;
    char *out = program_output(1, "@ tests/cli/sizes.ptx --entry one_more --n 2^14 --block 64 --report");
    program_assert_contains(out, "WRONG");
    free(out);
    out = program_output(0, "@ tests/cli/sizes.ptx --entry one_more --n 2^14 --report");
    program_assert_contains(out, "result not checked");
    free(out);
}

/* A result of an unknown function: a file of the run reports the same as the run. */
static void a_saved_run_says_it_too(void **state) {
    (void)state;
    Outcome outcome =
        program_shell("@ tests/cli/sizes.ptx --entry one_more --n 2^14 --save %s/a.redviz --dump out:1"
                      " >/dev/null && @ %s/a.redviz --report",
                      program_folder(), program_folder());
    assert_int_equal(outcome.status, 0);
    program_assert_contains(outcome.out, "as in sum(f(in)) of 256 partial");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_fits_its_shared_array),
        cmocka_unit_test(a_block_that_was_asked_for_stays),
        cmocka_unit_test(n_fits_the_variables_of_the_module),
        cmocka_unit_test(a_guess_is_not_the_kernels_fault),
        cmocka_unit_test(a_saved_run_says_it_too),
    };
    return cmocka_run_group_tests_name("guessed", tests, program_make_folder, program_remove_folder);
}
