/* Mistakes on the command line: each gets one line that says what is wrong and what to do. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/cli/program.h"
#include "tests/skip.h"
#include <string.h>

typedef struct Mistake {
    const char *arguments, *says;
} Mistake;

/* One line, or with the text in question and a caret below it, three. */
static bool is_explained(const Outcome *outcome, const char *says) {
    int lines = strstr(outcome->err, "^\n") ? 3 : 1;
    return outcome->status == 2 && !*outcome->out && program_line_count(outcome->err) == lines &&
           !strncmp(outcome->err, "redviz: ", 8) && strstr(outcome->err, says);
}

/* `needs_compiler`: rows that no compiler was found for are skipped. */
static void expect_explained(const Mistake *rows, size_t count, bool needs_compiler) {
    int wrong = 0;
    const char *missing = NULL;
    for (size_t i = 0; i < count && !missing; i++) {
        Outcome outcome = program_shell("@ %s", rows[i].arguments);
        if (needs_compiler) missing = program_missing_compiler(&outcome);
        if (!missing && !is_explained(&outcome, rows[i].says)) {
            print_error("redviz %s: status %d, stdout '%.80s', stderr '%s'; wanted '%s'\n", rows[i].arguments,
                        outcome.status, outcome.out, outcome.err, rows[i].says);
            wrong++;
        }
        program_outcome_done(&outcome);
    }
    assert_int_equal(wrong, 0);
    if (missing) skip_because("%s", missing);
}

#define EXPECT_EXPLAINED(needs_compiler, ...)                                                                \
    do {                                                                                                     \
        static const Mistake rows[] = {__VA_ARGS__};                                                         \
        expect_explained(rows, sizeof rows / sizeof *rows, needs_compiler);                                  \
    } while (0)

static void in_names(void **state) {
    (void)state;
    EXPECT_EXPLAINED(false, {"--reprot --kernel strided", "--reprot: unknown option; did you mean --report?"},
                     {"--kernel stridde --report", "no kernel 'stridde'; did you mean 'strided'?"},
                     {"stridde --report", "no kernel 'stridde'; did you mean 'strided'?"},
                     {"--kernel SHUFFLE --report", "did you mean 'shuffle'?"},
                     {"nothing_near --report", "--list shows all"},
                     {"--kernel", "--kernel needs a value: --kernel NAME"},
                     {"--report=jsn --kernel strided", "text, json"},
                     {"--kernel strided --report json", "write --report=json"},
                     {"--kernel strided --op avg --report", "'avg' is not one of sum, min, max"},
                     {"--kernel strided --dtype real --report", "types are char"},
                     {"--kernel strided --fill rand --report", "'rand' is not one of zero, ones"},
                     {"--kernel strided --machine a100 --report", "'a100' is not one of h200, h100"},
                     {"--kernel strided --backend cpu --report", "'cpu' is not one of"},
                     {"--kernel strided --dump output", "there are: in, out"},
                     {"--kernel strided --compare strid --report", "no kernel 'strid'"},
                     {"--kernel strided --theme pink", "'pink' is not one of"},
                     {"--lecture nowhere", "nowhere"}, {"missing.cu --report", "missing.cu"},
                     {"missing.ptx --report", "missing.ptx: cannot open: No such file"},
                     {"tests/cli/scale.ptx --entry scael --report", "scael"});
}

static void in_numbers(void **state) {
    (void)state;
    EXPECT_EXPLAINED(
        false, {"--kernel strided --report --n 1,000", "one number is written without commas, 1000"},
        {"--kernel strided --report --n 1,000,000", "without commas, 1000000"},
        {"--kernel strided --report --n 1,31,33", "several sizes go with --call; give one number"},
        {"--kernel strided --report --n -5", "--n: '-5' is not a whole number from 1 to"},
        {"--kernel strided --report --n 0", "--n: '0' is not a whole number from 1 to"},
        {"--kernel strided --report --n 1e6", "--n: '1e6' is not a whole number"},
        {"--kernel strided --report --n 4k", "--n: '4k' is not a whole number"},
        {"--kernel strided --report --n ''", "--n: '' is not a whole number"},
        {"--kernel strided --report --block 2048", "--block: '2048'"},
        {"--kernel strided --report --block 100", "a power of two"},
        {"--kernel strided --report --block 32x4", "--block: '32x4'"},
        {"--kernel strided --report --seed x", "--seed: 'x'"},
        {"--kernel strided --frame=80", "is not COLUMNSxROWS, like 120x40"},
        {"--kernel strided --step 0", "--step: '0' is not a whole number from 1"},
        {"--kernel strided --report --trace-blocks 3-1", "FIRST-LAST"},
        {"tests/cli/scale.ptx --report --shared 999999", "--shared: '999999' is not a whole number from 0"},
        {"tests/cli/scale.ptx --report --block 64,32", "2048 threads"});
}

#define SCALE "tests/cli/scale.ptx --report "

static void in_arguments(void **state) {
    (void)state;
    EXPECT_EXPLAINED(
        false, {SCALE "--args 'in=float[n'", "']' is missing in 'in=float[n'\n  in=float[n\n            ^\n"},
        {SCALE "--args 'in=float[n, out=float[n], n'",
         "']' is missing in 'float[n'\n  in=float[n, out=float[n], n\n            ^\n"},
        {SCALE "--args 'in=float[n], out=float[n]'", "the kernel takes 3 arguments, not 2"},
        {SCALE "--args 'in=flaot[n], out=float[n], n'", "'flaot' is not a type; types are char"},
        {SCALE "--args 'in=float[m], out=float[n], n'", "'m' is not known"},
        {SCALE "--args 'in=float[0], out=float[n], n'", "a whole number from 1 to 2^48"},
        {SCALE "--args 'in=float[n]:rand, out=float[n], n'", "the fill 'rand' of in is not one of zero"},
        {SCALE "--args 'in=float[n], in=float[n], n'", "in is defined twice"},
        {SCALE "--args 'float[n], out=float[n], n'", "has no name; write NAME=float[n]"},
        {SCALE "--args 'in=float[n], out=float[n], 1.5'", "'1.5' is not a whole number"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect 'summ(in)'",
         "no function 'summ'; did you mean sum?"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect 'total(in)'",
         "'total' is not one of sum, max, min, mean"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect 'total(in)'",
         "row... and col... (rowsum), file:PATH\n"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect 'sum(input)'",
         "no buffer 'input'; there are: in, out"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect 'sum(in'", "')' is missing"},
        {SCALE "--args 'in=float[n], out=float[n], n' --expect sum", "write sum(BUFFER)"});
}

static void in_what_is_run(void **state) {
    (void)state;
    program_write_file("mine.cu", "__global__ void k() {}\n");
    Outcome outcome = program_shell("program=$(realpath @); cd %s && $program mine", program_folder());
    program_assert_contains(outcome.err, "no file or kernel 'mine'; did you mean mine.cu?\n");
    assert_int_equal(outcome.status, 2);
    program_outcome_done(&outcome);
    EXPECT_EXPLAINED(
        false,
        {"--run examples/sum.cu 4000",
         "4000: no such file; arguments of the program go after --: --run examples/sum.cu -- 4000"},
        {"--run", "--run needs the file to compile: --run FILE.cu"},
        {"--call solve", "--call needs one FILE.cu"},
        {"--kernel strided tests/cli/scale.ptx", "one kernel at a time"},
        {"--kernel strided --report --check", "--report and --check"},
        {"--kernel shuffle --machine h200 --timeline --timeline-sites shared",
         "--machine h200: no timeline of this kernel is recorded there; leave out --machine"},
        {"--kernel strided --args n --report", "--args is for FILE.cu and FILE.ptx"},
        {"tests/cli/scale.ptx --op sum --report", "--op is for kernels of the catalogue"});
}

static void in_sources(void **state) {
    (void)state;
    EXPECT_EXPLAINED(true,
                     {"examples/solve.cu --call slove",
                      "--call slove: the file defines no such function; its host function is solve\n"},
                     {"examples/solve.cu --call 'slove(in=float[n], n)'",
                      "--call slove: the file defines no such function; its host function is solve\n"},
                     {"--run examples/solve.cu --report",
                      "examples/solve.cu has no main(); --call runs a host function of it: solve\n"},
                     {"examples/solve.cu --report --args 'in=int[n]:random, out=float[n], n'",
                      "in is int[], and parameter 1 of the kernel is const float *: write in=float[n]\n"});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_names),       cmocka_unit_test(in_numbers), cmocka_unit_test(in_arguments),
        cmocka_unit_test(in_what_is_run), cmocka_unit_test(in_sources),
    };
    return cmocka_run_group_tests_name("mistakes", tests, program_make_folder, program_remove_folder);
}
