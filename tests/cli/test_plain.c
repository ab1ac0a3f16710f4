/* --plain: the interface in lines, from commands on standard input; also where TERM=dumb. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "tests/cli/program.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The output for these lines of input. */
static char *answer(const char *input, const char *arguments) {
    Outcome outcome = program_shell("printf '%s' | @ %s --plain", input, arguments);
    if (outcome.status != 0 || *outcome.err) fail_msg("status %d: %s", outcome.status, outcome.err);
    free(outcome.err);
    return outcome.out;
}

static void assert_says(const char *input, const char *arguments, const char *const *says) {
    char *out = answer(input, arguments);
    const char *at = out;
    for (; *says; says++)
        if (!(at = strstr(at, *says))) fail_msg("%s: '%s' does not follow in: %s", input, *says, out);
    free(out);
}
#define SAYS(input, arguments, ...) assert_says(input, arguments, (const char *const[]){__VA_ARGS__, NULL})

static void a_run_is_walked(void **state) {
    (void)state;
    SAYS("first\\nnext\\nnext\\nback\\nquit\\n", "--kernel interleaved --n 1024", "Commands are words",
         "> Step 1 of ", "Line ", "> Step 2 of ", "> Step 3 of ", "> Step 2 of ");
    SAYS("step 5\\nwhere\\n", "--kernel interleaved --n 1024", "Step 5 of ", "Step 5 of ");
    SAYS("split\\n", "--kernel interleaved --n 1024", "w0 splits: 8 lanes enter the if, 24 skip it");
    SAYS("conflict\\n", "--kernel strided --n 1024", "wavefront");
    SAYS("keys ]]\\n", "--kernel interleaved --n 1024", "> Step ");
    SAYS("step 3\\nvalues\\n", "--kernel interleaved --n 1024 --fill iota",
         "warp 0 lane 0: ", "warp 0 lane 31: ");
    SAYS("step 14\\nvalues\\n", "--kernel interleaved --n 1024 --fill iota", "Warp 0 loads shared[tid + 2].",
         "> warp 0 lane 0: 5, element 2 of shared\n");
    SAYS("report\\n", "--kernel interleaved --n 1024", "shared loads");
    SAYS("check\\n", "--kernel bug_missing_sync", "insert __syncwarp()");
    SAYS("dance\\nhelp\\n", "--kernel interleaved --n 1024", "'dance' is no command", "next: the next beat",
         "\nskip: ", "\nquit: ");
    SAYS("9\\nstep\\nstep x\\n", "--kernel interleaved --n 1024",
         "> no question waits for 9; step 9 goes to that step", "> step needs a number: step 12");
    SAYS("j\\nskip\\n", "--kernel interleaved --n 1024", "> 'j' is no command; keys j presses this key",
         "> no question waits");
    SAYS("", "--kernel interleaved --n 1024", "This is a run of interleaved; redviz --lecture and");
    SAYS("keys <Wrong>\\nnext\\n", "--kernel interleaved --n 1024", "<Wrong>", "Step ");
    SAYS("", "--kernel interleaved --n 1024", "Step ");
}

static void questions_are_answered(void **state) {
    (void)state;
    SAYS("\\n16\\n\\n", "--lecture warps", "Stop 1 of ", "> Stop 2 of ", "Question: Lines 17 and 21",
         "> Right: 16", "> Stop 3 of ");
    SAYS("1\\n", "--lecture ladder --stop 19", "> No, it is 4 % less (your answer: 46 % less, as multi_add)");
    SAYS("\\n7\\n", "--lecture warps", "> No, it is 16 (your answer: 7)");
    SAYS("\\n\\nskip\\n", "--lecture warps", "> Answer with a number", "> Answer with a number",
         "> The answer: 16");
}

static void the_last_stop_names_words(void **state) {
    (void)state;
    SAYS("stop\\n\\nprevious\\n", "--lecture limits --stop 9", "Stop 9 of 10", "> Stop 10 of 10",
         "> This is the last stop: quit ends, previous goes back.", "> Stop 9 of 10");
    SAYS("2\\nstop\\nstop\\nstop\\nstop\\nstop\\nstop\\n", "--lecture limits --stop 4", "> Right: 69 %",
         "> Stop 10 of 10", "Your answers: 1 of 1 right: ");
}

/* The line, the instruction, and which of two operands it loads. */
static void a_step_names_its_code(void **state) {
    (void)state;
    SAYS("step 14\\n", "--kernel interleaved --n 1024 --fill iota", "> Step 14 of ",
         "Line 23: ", "Instruction: ld.shared.u32 ", "Warp 0 loads shared[tid + 2].");
    char *out = answer("step 12\\n", "--kernel interleaved --n 1024"); /* a branch loads nothing */
    const char *step = strstr(out, "> Step 12 of ");
    assert_true(step && strstr(step, "Instruction: @") && !strstr(step, "loads"));
    free(out);
}

/* The form of an answer is said before its question. */
static void a_form_comes_first(void **state) {
    (void)state;
    SAYS("\\n", "--lecture warps", "Answer with a number; skip shows the answer.\nQuestion: Lines 17 and 21");
}

/* Wherever the learner stands; without an exercise they say so. */
static void task_goals_and_hints_are_commands(void **state) {
    (void)state;
    Outcome outcome =
        program_shell("bin=$(realpath @); cd %s && printf 'next\\nhint\\nhint\\ngoals\\ntask\\nhelp\\n' | "
                      "$bin --exercise ptx-barrier --language en --plain; rm -f ptx-barrier.ptx",
                      program_folder());
    static const char *const says[] = {" of the PTX: bar.sync 0;",
                                       "> Hint 1 of 3",
                                       "> Hint 2 of 3",
                                       "> 4 of 5 goals",
                                       "missed: no race",
                                       "> PTX: a barrier is missing\n",
                                       "task: ",
                                       "goals: ",
                                       "hint: "};
    const char *at = outcome.out;
    for (size_t i = 0; i < sizeof says / sizeof *says; i++)
        if (!(at = strstr(at, says[i]))) fail_msg("'%s' does not follow in: %s", says[i], outcome.out);
    program_outcome_done(&outcome);
    SAYS("hint\\n", "--kernel interleaved --n 1024", "> no exercise is open");
}

/* Before the answer nothing is said that the question asks about. */
static void answers_stay_covered(void **state) {
    (void)state;
    char *out = answer("\\n", "--lecture warps");
    const char *question = strstr(out, "Stop 2 of ");
    assert_non_null(question);
    assert_null(strstr(question, "16"));
    free(out);
}

static void every_lecture_can_be_finished(void **state) {
    (void)state;
    glob_t files;
    assert_int_equal(glob("assets/lectures/*.en.md", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        Outcome outcome =
            program_shell("yes 'skip\n' | head -n 200 | @ --lecture %s --plain", files.gl_pathv[i]);
        int stops = 0, stop = 0, of = 0;
        for (const char *at = outcome.out; (at = strstr(at, "Stop ")); at++)
            if (sscanf(at, "Stop %d of %d", &stop, &of) == 2) stops++;
        if (outcome.status || stop != of || stops < of)
            fail_msg("%s ends at stop %d of %d: %s", files.gl_pathv[i], stop, of, outcome.err);
        program_outcome_done(&outcome);
    }
    globfree(&files);
}

static void an_exercise_is_graded(void **state) {
    (void)state;
    Outcome outcome =
        program_shell("bin=$(realpath @) root=$PWD; cd %s && printf 'stop\\nquit\\n' | "
                      "$bin --exercise $root/tests/data/exercises/tiny.en.md --plain; rm -f tiny.cu",
                      program_folder());
    if (strstr(outcome.err, "compiler")) {
        program_outcome_done(&outcome);
        skip_because("no CUDA compiler was found");
    }
    program_assert_contains(outcome.out, "Each block stores the sum of its 64 elements.");
    program_assert_contains(outcome.out, "2 of 5 goals");
    program_assert_contains(outcome.out, "\nmissed: right for n = 1, 33, 200");
    program_outcome_done(&outcome);
}

/* The goals are printed when the file was saved, before the next command. */
static void a_saved_exercise_is_graded_at_once(void **state) {
    (void)state;
    Outcome outcome = program_shell(
        "bin=$(realpath @); cd %s && rm -f said; { for i in $(seq 300); do grep -q '^> ' said && break; "
        "sleep 0.1; done; printf 'e\n'; "
        "sed -i 's/    mov.u32 %%s, 64;/    bar.sync 0;&/' ptx-barrier.ptx; printf '\n\nquit\n'; } "
        "2>/dev/null | "
        "$bin --exercise ptx-barrier --language en --plain >said; cat said; rm -f said ptx-barrier.ptx",
        program_folder());
    const char *said = strstr(outcome.out, "Edit and save ptx-barrier.ptx in another terminal");
    const char *graded = strstr(outcome.out, "5 of 5 goals"), *hint = strstr(outcome.out, "Hint 1 of 3");
    if (!said || !graded || !hint || graded > hint) fail_msg("%s", outcome.out);
    program_outcome_done(&outcome);
}

/* Saved behind the goals, and asked for: once, before anything that follows them. Leaving names the next. */
static void a_saved_exercise_is_graded_at_a_hint(void **state) {
    (void)state;
    Outcome outcome = program_shell(
        "bin=$(realpath @); cd %s && rm -f said; export XDG_DATA_HOME=$PWD; { printf '\n\n'; "
        "for i in $(seq 300); do grep -q '^> Stop 3 of ' said && break; sleep 0.1; done; "
        "sed -i 's/    mov.u32 %%s, 64;/    bar.sync 0;&/' ptx-barrier.ptx; printf 'goals\nquit\n'; } "
        "2>/dev/null | $bin --exercise ptx-barrier --language en --plain >said; cat said; "
        "printf 'quit\n' | $bin --exercise ptx-branch --language en --plain; rm -r said ptx-*.ptx redviz",
        program_folder());
    const char *hint = strstr(outcome.out, "Stop 3 of "), *graded = strstr(outcome.out, "5 of 5 goals");
    if (!hint || !graded || graded < hint || strstr(graded + 1, "5 of 5 goals")) fail_msg("%s", outcome.out);
    program_assert_contains(graded, "\nreached: no race");
    program_assert_contains(graded,
                            "ptx-barrier is solved; the next exercise: redviz --exercise ptx-branch\n");
    program_assert_contains(graded,
                            "ptx-branch.ptx keeps your work; redviz --exercise ptx-branch goes on with it\n");
    program_outcome_done(&outcome);
}

static void other_ways(void **state) {
    (void)state;
    Outcome outcome = program_shell("printf 'quit\\n' | TERM=dumb @ --kernel interleaved --n 1024");
    program_assert_contains(outcome.out, "Commands are words");
    program_outcome_done(&outcome);
    outcome = program_shell("@ --kernel interleaved --report --plain");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, "--plain goes with the interface, not with --report");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_walked),
        cmocka_unit_test(questions_are_answered),
        cmocka_unit_test(a_step_names_its_code),
        cmocka_unit_test(a_form_comes_first),
        cmocka_unit_test(task_goals_and_hints_are_commands),
        cmocka_unit_test(answers_stay_covered),
        cmocka_unit_test(every_lecture_can_be_finished),
        cmocka_unit_test(an_exercise_is_graded),
        cmocka_unit_test(a_saved_exercise_is_graded_at_once),
        cmocka_unit_test(a_saved_exercise_is_graded_at_a_hint),
        cmocka_unit_test(the_last_stop_names_words),
        cmocka_unit_test(other_ways),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
