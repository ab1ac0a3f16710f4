/* --exercise and --grade: their options, the list, files and folders, the learner's file. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "tests/cli/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY "tests/data/exercises/tiny.en.md"
#define AT   "bin=$(realpath @) root=$PWD; cd %s && $bin --exercise $root/" TINY
#define WRONG                                                                                                \
    "__global__ void total(const int *in, int *out, int n) { if (threadIdx.x == 0) out[blockIdx.x] = 5; }\n"

static void wrong_combinations_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"--exercise nosuchexercise", "there is no exercise 'nosuchexercise'"},
        {"--exercise nowhere/a.md --check", "nowhere/a.md"},
        {"divergence", "'divergence' is an exercise: redviz --exercise divergence"},
        {"--exercise blok-sum --check", "did you mean block-sum?"},
        {"--exercise a.md b.md", "b.md: --exercise takes one NAME or FILE.md"},
        {"--grade a.cu", "--grade needs --exercise NAME"},
        {"--exercise=" TINY " --grade", "--grade needs the file to grade"},
        {"--exercise=" TINY " --grade nowhere.cu", "nowhere.cu: No such file or directory"},
        {"--exercise=" TINY " --grade=xml a.cu", "'xml' is not one of text, json, gradescope, junit"},
        {"--exercise=" TINY " --grade a.cu --report", "--grade and --report"},
        {"--exercise=" TINY " --kernel shuffle", "--exercise brings its own kernel"},
        {"--exercise=" TINY " --lecture warps", "--exercise"},
        {"--exercise=" TINY " --report", "not with --report"},
        {"--exercise=" TINY " --n 64 --check", "--n is for one run; an exercise brings its own settings"},
        {"--exercise=" TINY " --seed 3 --check", "--seed is for one run"},
        {"--exercise=" TINY " --check --save x.redviz", "--exercise goes without --save"},
        {"--exercise=" TINY " --check=sarif", "--exercise goes without --check=sarif"},
        {"--exercise --check", "--check needs an exercise"},
        {"--exercise tests/data/lectures/tiny.en.md --check", "lecture"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = program_shell("@ %s", cases[i].arguments);
        if (outcome.status != 2 || *outcome.out || !strstr(outcome.err, cases[i].says))
            fail_msg("%s: status %d\n%s%s", cases[i].arguments, outcome.status, outcome.out, outcome.err);
        program_outcome_done(&outcome);
    }
}

static void the_list_marks_what_was_solved(void **state) {
    (void)state;
    Outcome outcome = program_shell("XDG_DATA_HOME=%s @ --exercise", program_folder());
    program_assert_contains(outcome.out, "  [ ] block-sum ");
    program_assert_contains(outcome.out, "[x] solved; redviz --exercise NAME opens one\n");
    program_outcome_done(&outcome);
    outcome = program_shell("mkdir %s/redviz; printf 'block\\nblock-sum\\n' >%s/redviz/solved; "
                            "XDG_DATA_HOME=%s @ --exercise; rm -r %s/redviz",
                            program_folder(), program_folder(), program_folder(), program_folder());
    program_assert_contains(outcome.out, "  [x] block-sum ");
    program_outcome_done(&outcome);
}

/* What cannot be compiled, for its text or for want of a compiler. */
static void the_twin_in_ptx_is_offered(void **state) {
    (void)state;
    Outcome outcome =
        program_shell("bin=$(realpath @); share=$PWD; cd %s; printf 'no kernel\\n' >block-sum.cu; "
                      "REDVIZ_SHARE=$share $bin --exercise block-sum --frame=80x24; rm block-sum.cu",
                      program_folder());
    program_assert_contains(outcome.err, "mend block-sum.cu");
    program_assert_contains(outcome.err,
                            "or solve it in PTX, which needs no compiler: redviz --exercise ptx-barrier");
    program_outcome_done(&outcome);
}

/* The program with these words before and after the path of WRONG. Skips where there is no compiler. */
static Outcome grade_wrong(const char *locale, const char *before, const char *after) {
    program_write_file("wrong.cu", WRONG);
    Outcome outcome = program_shell("LC_ALL=%s @ %s %s/wrong.cu %s", locale, before, program_folder(), after);
    if (strstr(outcome.out, "compiler")) {
        program_outcome_done(&outcome);
        skip_because("no CUDA compiler was found");
    }
    assert_int_equal(outcome.status, 1);
    return outcome;
}

/* The name and the file in any order; the status is that of the grade. */
static void a_file_is_graded(void **state) {
    (void)state;
    Outcome outcome = grade_wrong("C.UTF-8", "--grade", "--exercise " TINY);
    program_assert_contains(
        outcome.out, "  [ ] right for n = 1, 33, 200\n      n = 1, input random: the result is 5, expected ");
    program_assert_contains(outcome.out, "2 of 5 goals");
    program_outcome_done(&outcome);
    outcome = grade_wrong("C.UTF-8", "--exercise " TINY " --grade=json", "");
    program_assert_contains(outcome.out, "\"passed\":");
    program_outcome_done(&outcome);
    outcome = grade_wrong("C.UTF-8", "--exercise=" TINY " --grade=gradescope", "");
    program_assert_contains(outcome.out, "\"tests\":");
    program_outcome_done(&outcome);
    outcome = grade_wrong("C.UTF-8", "--exercise " TINY " --grade", "--seed 77");
    program_assert_contains(outcome.out, "\nseed 77 (--seed 77 repeats it)\n");
    program_outcome_done(&outcome);
    outcome = grade_wrong("C.UTF-8", "--exercise " TINY " --grade=json", "--seed 77");
    program_assert_contains(outcome.out, "\"seed\":77");
    program_outcome_done(&outcome);
}

/* What a student reads is in the language, in files of graders in every locale; what a program reads is
 * not. */
static void a_grade_is_in_the_language(void **state) {
    (void)state;
    Outcome outcome = grade_wrong("C.UTF-8", "--language zh --grade", "--exercise " TINY);
    program_assert_contains(outcome.out, "  [ ] 结果正确：n = 1, 33, 200\n      n = 1，输入 random：");
    program_assert_contains(outcome.out, "2 个目标已达到，共 5 个\n");
    program_outcome_done(&outcome);
    static const struct {
        const char *locale, *form, *part;
    } cases[] = {{"C", "", "right for n = 1, 33, 200"},
                 {"C.UTF-8", "=json", "\"words\":\"right for n = 1, 33, 200\""},
                 {"C", "=gradescope", "\"name\":\"结果正确：n = 1, 33, 200\""},
                 {"C", "=junit", "\"结果正确：n = 1, 33, 200\""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char before[100];
        snprintf(before, sizeof before, "--language zh --exercise " TINY " --grade%s", cases[i].form);
        outcome = grade_wrong(cases[i].locale, before, "");
        program_assert_contains(outcome.out, cases[i].part);
        program_outcome_done(&outcome);
    }
}

/* Whoever reads the mark gets one. */
static void a_missing_file_is_a_mark_of_0(void **state) {
    (void)state;
    static const char *const parts[] = {"json \"why\":\"cannot open: No such file", "junit failures=\"1\"",
                                        "gradescope \"output\":\"cannot open: No such file"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        Outcome outcome = program_shell("@ --exercise=" TINY " --grade=%.*s nowhere.cu",
                                        (int)strcspn(parts[i], " "), parts[i]);
        program_assert_contains(outcome.out, strchr(parts[i], ' ') + 1);
        assert_int_equal(outcome.status, 1);
        program_outcome_done(&outcome);
    }
}

static void a_folder_is_a_table(void **state) {
    (void)state;
    program_write_file("empty.cu", "");
    program_write_file("wrong.cu", WRONG);
    program_write_file("notes.txt", "");
    Outcome outcome = program_shell(AT " --grade .", program_folder());
    program_assert_contains(outcome.out, "   0 of 5  ./empty.cu ");
    program_assert_contains(outcome.out, "   2 of 5  ./wrong.cu ");
    assert_null(strstr(outcome.out, "notes"));
    assert_int_equal(outcome.status, 1);
    program_outcome_done(&outcome);
    outcome = program_shell("@ --exercise " TINY " --grade=gradescope %s", program_folder());
    program_assert_contains(outcome.err, "results.json is of one file");
    assert_int_equal(outcome.status, 2);
    program_outcome_done(&outcome);
    outcome = program_shell("mkdir %s/none; @ --exercise " TINY " --grade %s/none; rmdir %s/none",
                            program_folder(), program_folder(), program_folder());
    program_assert_contains(outcome.err, "the folder has no FILE.cu or FILE.ptx");
    program_outcome_done(&outcome);
}

/* Doubled 40 times, a macro keeps every compiler busy. */
static void write_bomb(void) {
    Text text = {0};
    text_add(&text, "#define A0 1 +\n");
    for (int i = 1; i <= 40; i++) text_print(&text, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    text_add(&text, "__global__ void total(const int *in, int *out, int n) { out[0] = A40 0; }\n");
    program_write_file("class/bomb.cu", text_string(&text));
    text_done(&text);
}

static void make_class(void) {
    Outcome outcome = program_shell("mkdir %s/class", program_folder());
    program_outcome_done(&outcome);
    program_write_file("class/empty.cu", "");
    write_bomb();
}

static void remove_class(void) {
    Outcome outcome = program_shell("rm -r %s/class", program_folder());
    program_outcome_done(&outcome);
}

/* The others have their verdicts, and the one that does not end has its own. */
static void an_endless_compilation_ends(void **state) {
    (void)state;
    make_class();
    program_write_file("class/wrong.cu", WRONG);
    Outcome outcome =
        program_shell("@ --exercise " TINY " --grade --time-limit 1 %s/class", program_folder());
    remove_class();
    if (strstr(outcome.out, "no CUDA compiler")) {
        program_outcome_done(&outcome);
        skip_because("no CUDA compiler was found");
    }
    assert_int_equal(outcome.status, 1);
    program_assert_contains(outcome.out, "of processor time");
    program_assert_contains(outcome.out, "   2 of 5 ");
    program_outcome_done(&outcome);
}

/* The output of a run that is stopped: later, on a machine where nothing is known that soon. */
static Outcome stopped_run(const char *form, const char *known) {
    for (int seconds = 4;; seconds *= 3) {
        Outcome outcome = program_shell("timeout %d @ --exercise " TINY " --threads 2 --grade=%s %s/class",
                                        seconds, form, program_folder());
        if (strstr(outcome.out, known) || strstr(outcome.out, "no CUDA compiler") || seconds > 30)
            return outcome;
        program_outcome_done(&outcome);
    }
}

/* Stopped while one file does not end: a whole document of the others. */
static void what_is_known_is_written(void **state) {
    (void)state;
    static const struct {
        const char *form, *known, *end;
    } cases[] = {{"junit", "empty.cu\" tests=\"5\" failures=\"1\"", "</testsuite>\n</testsuites>\n"},
                 {"json", "empty.cu\",\"passed\":false", "}]}\n"}};
    make_class();
    bool has_compiler = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases && has_compiler; i++) {
        Outcome outcome = stopped_run(cases[i].form, cases[i].known);
        has_compiler = !strstr(outcome.out, "no CUDA compiler");
        size_t length = strlen(outcome.out), end = strlen(cases[i].end);
        if (has_compiler) {
            program_assert_contains(outcome.out, cases[i].known);
            assert_true(length > end && !strcmp(outcome.out + length - end, cases[i].end));
            assert_null(strstr(outcome.out, "bomb.cu"));
        }
        program_outcome_done(&outcome);
    }
    remove_class();
    if (!has_compiler) skip_because("no CUDA compiler was found");
}

/* It is written once, with the task; a frame shows the goals. */
static void the_learners_file_is_written_and_graded(void **state) {
    (void)state;
    const char *folder = program_folder();
    Outcome outcome = program_shell(AT " --frame=100x40 --keys '<PgDn>'; cat tiny.cu", folder);
    if (strstr(outcome.err, "compiler")) {
        program_outcome_done(&outcome);
        skip_because("no CUDA compiler was found");
    }
    program_assert_contains(outcome.out, "2 of 5 goals");
    program_assert_contains(outcome.out,
                            "[ ] right for n = 1, 33, 200: n = 1, input random: the result is 0");
    program_assert_contains(
        outcome.out, "// One sum for each block\n//\n// Each block stores the sum of its 64 elements.\n\n"
                     "__global__ void total(");
    program_outcome_done(&outcome);
    outcome = program_shell("echo '" WRONG "' >%s/tiny.cu; " AT " --frame --keys '<PgDn>'; "
                            "cat tiny.cu; rm tiny.cu",
                            folder, folder);
    program_assert_contains(outcome.out, "the result is 5");
    program_assert_contains(outcome.out, "= 5; }");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_combinations_are_refused),
        cmocka_unit_test(the_list_marks_what_was_solved),
        cmocka_unit_test(the_twin_in_ptx_is_offered),
        cmocka_unit_test(a_file_is_graded),
        cmocka_unit_test(a_grade_is_in_the_language),
        cmocka_unit_test(a_missing_file_is_a_mark_of_0),
        cmocka_unit_test(a_folder_is_a_table),
        cmocka_unit_test(an_endless_compilation_ends),
        cmocka_unit_test(what_is_known_is_written),
        cmocka_unit_test(the_learners_file_is_written_and_graded),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
