/* --lecture without a terminal: its options, lectures that are refused, claims that fail, and all shipped
 * lectures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/cli/program.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TINY "tests/data/lectures/tiny.en.md"
#define HEAD "# T\n```lecture\nlanguage: en\nminutes: 5\nneeds: no GPU\n```\n" /* lines 1 to 6 */

/* Status 2, nothing on stdout, one message on stderr, followed at most by the line it is about, with a
 * caret. */
static void assert_refused(const Outcome *outcome, const char *says) {
    if (outcome->status != 2 || *outcome->out || strncmp(outcome->err, "redviz: ", 8) != 0)
        fail_msg("%s: status %d\n%s%s", says, outcome->status, outcome->out, outcome->err);
    int lines = program_line_count(outcome->err);
    assert_true(lines == 1 || (lines == 3 && strchr(outcome->err, '^')));
    program_assert_contains(outcome->err, says);
}

static void wrong_combinations_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *arguments, *says;
    } cases[] = {
        {"--kernel interleaved --report --no-predict", "--no-predict goes with --lecture"},
        {"--lecture --language fr", "'fr' is not one of en, zh"},
        {"--lecture=" TINY " --kernel interleaved", "--lecture brings its own kernels"},
        {"--lecture=" TINY " tests/cli/scale.ptx", "--lecture brings its own kernels"},
        {"--lecture=" TINY " --n 64 --check", "--n is for one run; a lecture brings its own settings"},
        {"--lecture=" TINY " --compare sequential", "--lecture brings its own kernels"},
        {"--lecture=" TINY " --report", "not with --report"},
        {"--lecture=" TINY " --events", "not with --events"},
        {"--lecture=" TINY " --sass", "not with --sass"},
        {"--lecture=" TINY " --dump out", "not with --dump"},
        {"--lecture=" TINY " --list", "not with --list"},
        {"--lecture=" TINY " --bench", "not with --bench"},
        {"--lecture=" TINY " --ladder", "not with --ladder"},
        {"--lecture=" TINY " --latency", "not with --latency"},
        {"--lecture=" TINY " --save x.redviz", "--save keeps one run; a lecture has several"},
        {"--lecture=" TINY " --frame --keys '<Wrong>'", "<Wrong>"},
        {"--lecture --check", "--check needs a lecture"},
        {"--lecture --frame", "--frame needs a lecture"},
        {"--lecture limits --stop 11", "--stop 11: the lecture has 10 stops"},
        {"--lecture nosuchlecture", "there is no lecture 'nosuchlecture'"},
        {"--lecture nowhere/a.md", "nowhere/a.md"},
        {"--lecture tests/data/lectures", "there is no lecture 'tests/data/lectures'"},
        {"--lecture a.md b.md", "one"},
        {"--predict", "nothing to show: give --kernel NAME"},
        {"--predict --lecture=" TINY, "--predict asks about one run; a lecture has its own questions"},
        {"--predict --kernel interleaved --report", "not with --report"},
        {"--predict --kernel interleaved --check", "not with --check"},
        {"--predict --list", "not with --list"},
        {"--predict --kernel interleaved --compare sequential",
         "--predict asks about one run: without --compare"},
        {"--predict tests/cli/scale.ptx --watch", "--predict asks about one run: without --watch"},
        {"--predict --kernel interleaved --no-predict", "--no-predict goes with --lecture"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = program_shell("@ %s", cases[i].arguments);
        assert_refused(&outcome, cases[i].says);
        program_outcome_done(&outcome);
    }
}

/* Each kind of error in a stop: its place in the file. The options of a stop are lines 8 and 9. */
static void bad_lectures_name_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"text\n", "a.md:1:1: the lecture's title comes first"},
        {HEAD "## S\n```redviz\n--kernel interleavd\n```\n", "a.md:9:10: "},
        {HEAD "## S\n```redviz\n--kernel interleaved --compare seqential,n=64\n```\n", "a.md:9:32: "},
        {HEAD "## S\n```redviz\n--kernel=interleavd\n```\n", "a.md:9:1: "},
        {HEAD "## S\n```redviz\n--kernel interleaved\n```\n## T\n```redviz\nnosuchfile.ptx\n```\n",
         "a.md:13:1: "},
        {HEAD "## S\n```redviz\n--kernel interleaved\n --kernl x\n```\n", "a.md:10:2: "},
        {HEAD "## S\n```redviz\n--kernel interleaved --n 0\n```\n", "a.md:9:26: --n: '0'"},
        {HEAD "## S\n```redviz\n--kernel interleaved --report\n```\n",
         "a.md:9:1: a stop is a screen of the interface"},
        {HEAD "## S\n```redviz\n--kernel interleaved --save x.redviz\n```\n",
         "a.md:9:1: a stop is a screen of the interface"},
        {HEAD "## S\n```redviz\n--lecture x.md\n```\n", "a.md:9:1: a stop is a screen of the interface"},
        {HEAD "## S\n```redviz\n--kernel interleaved --keys '<Wrong>'\n```\n", "a.md:9:29: "},
        {HEAD "## S\n```redviz\n--kernel interleaved --keys='<Wrong>'\n```\n", "a.md:9:22: "},
        {HEAD "## S\n```redviz\nnosuchfile.ptx\n```\n", "a.md:9:1: "},
        {HEAD "## S\n```redviz\n--kernel interleaved\n```\n```claim\n1 == 1\n 2 = 2\n```\n",
         "a.md:13:4: a comparison is missing"},
        {HEAD "## S\n```redviz\n--kernel interleaved\n```\n```predict\nWhat?\ntopic: t\n"
              "answer: lane(step) = 1\n```\n",
         "a.md:14:9: there is no 'lane' of a step; did you mean lanes?"},
        {HEAD "## S\n```redviz\n--kernel interleaved\n```\n```predict\nWhat?\ntopic: t\n"
              "keys: <Wrong>\nanswer: lanes(step) = 1\n```\n",
         "a.md:14:7: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        program_write_file("a.md", cases[i].text);
        Outcome outcome = program_shell("@ --lecture %s/a.md --check", program_folder());
        assert_refused(&outcome, cases[i].says);
        program_outcome_done(&outcome);
        outcome = program_shell("@ --lecture %s/a.md --frame", program_folder());
        assert_refused(&outcome, cases[i].says);
        program_outcome_done(&outcome);
    }
}

/* A failed claim: its line, both sides, and the values it uses. Everything else is still checked. */
static void a_false_claim_is_shown_with_both_sides(void **state) {
    (void)state;
    program_write_file(
        "a.md",
        HEAD "## S\n```redviz\n--kernel interleaved --n 64 --block 64 --keys '1g'\n```\n"
             "```claim\nhere.n == 64\n  here.barriers * 2 == 3 and lanes(step) > 40\nhere.n == 64\n```\n"
             "```predict\nWhat?\ntopic: t\nanswer: here.n = 63\n```\n"
             "## T\n```claim\nnosuch.n == 1\n```\n");
    char *out = program_output(1, "@ --lecture %s/a.md --check", program_folder());
    program_assert_contains(out,
                            "/a.md:13:3: here.barriers * 2 == 3 and lanes(step) > 40\n    does not hold:\n"
                            "    28 == 3 and 32 > 40\n"
                            "      here.barriers = 14\n      lanes(step) = 32\n");
    program_assert_contains(out, "/a.md:19:9: here.n\n    is 64, not 63\n");
    program_assert_contains(out, "/a.md:23:1: nosuch.n == 1\n    ");
    program_assert_contains(out, "/a.md: 2 stops, 4 claims, 1 answer: 3 do not hold\n");
    free(out);
}

/* The lecture says both numbers; its screen shows one of them, and only once the question is answered, by
 * keys between which a recording rests. */
static void what_a_stop_shows_is_checked(void **state) {
    (void)state;
    program_write_file(
        "a.md",
        HEAD "## S\n```redviz\n--kernel interleaved --n 64 --block 64 --keys '1g'\n```\n"
             "It says 4711 and 32 of 64 add.\n"
             "```claim\nshows: 32 of 64 add\nshows: 4711\n```\n"
             "```predict\nHow many add?\ntopic: t\nkeys: <Esc>g{1s}6l\nanswer: here.n / 2 = 32\n```\n");
    char *out = program_output(1, "@ --lecture %s/a.md --check", program_folder());
    program_assert_contains(out, "/a.md:14:1: shows: 4711\n    does not hold:\n"
                                 "    the screen does not show \"4711\"\n");
    program_assert_contains(out, "2 claims, 1 answer: 1 does not hold\n");
    free(out);
}

static void both_languages_must_agree(void **state) {
    (void)state;
    program_write_file("two.en.md",
                       HEAD "## S\n```redviz\n--kernel interleaved --n 64\n```\n```claim\n1 == 1\n```\n");
    program_write_file("two.zh.md", HEAD "## S\n```redviz\n--kernel interleaved --n 64\n```\n");
    Outcome outcome = program_shell("@ --lecture %s/two.en.md --check", program_folder());
    assert_refused(&outcome, "two.zh.md:7:1: this stop lacks the claim in line 12 of ");
    program_outcome_done(&outcome);
    outcome = program_shell("@ --lecture %s/two.zh.md --check", program_folder());
    assert_refused(&outcome, "two.en.md:12:1: ");
    program_outcome_done(&outcome);
}

static void stops_are_shown_one_by_one(void **state) {
    (void)state;
    char *first = program_output(0, "@ --lecture " TINY " --frame=100x30");
    program_assert_contains(first, "Thirty-two elements");
    program_assert_contains(first, "stop 1 of 5");
    program_assert_contains(first, "A block of 32 threads sums 32 elements.");
    free(first);
    char *hidden = program_output(0, "@ --lecture " TINY " --frame=100x30 --keys '<PgDn>'");
    program_assert_contains(hidden, "How many lanes does the first addition need?");
    program_assert_contains(hidden, "type your answer");
    program_assert_contains(hidden, "covered until you answer");
    assert_null(strstr(hidden, "32 of 32 threads"));
    free(hidden);
    char *told = program_output(0, "@ --lecture " TINY " --no-predict --frame=100x30 --keys '<PgDn>'");
    program_assert_contains(told, "How many lanes does the first addition need?");
    assert_null(strstr(told, "type your answer"));
    program_assert_contains(told, "32 of 32 threads");
    free(told);
    char *cast = program_output(0,
                                "@ --lecture " TINY " --record-cast %s/a.cast --keys '<PgDn><PgDn>'; "
                                "grep -c '\"o\"' %s/a.cast",
                                program_folder(), program_folder());
    assert_true(atoi(cast) > 2);
    free(cast);
}

/* Questions about a kernel, a file and a saved run; unusual source is text, not marks of the lecture. */
static void any_run_is_asked_about(void **state) {
    (void)state;
    char *out = program_output(0, "@ --kernel strided --predict --frame=100x36");
    program_assert_contains(out, "Questions about strided");
    program_assert_contains(out, "In how many levels");
    free(out);
    out = program_output(0, "@ tests/cli/scale.ptx --n 100 --predict --frame=100x36 --keys '<PgDn><PgDn>'");
    program_assert_contains(out, "stop 2 of ");
    free(out);
    out = program_output(0,
                         "@ --kernel strided --n 4096 --save %s/a.redviz --report >/dev/null && "
                         "@ %s/a.redviz --predict --frame=100x36 --keys '8<Enter>'",
                         program_folder(), program_folder());
    program_assert_contains(out, "Right: 8");
    free(out);
    out = program_output(
        0,
        "sed 's|ld.global.u32 %%r5, .%%rd4.;|ld.global.u32 %%r5, [%%rd4]; // <!-- ```predict `x` **|' "
        "tests/cli/scale.ptx >%s/odd.ptx && @ %s/odd.ptx --n 100 --predict --frame=100x36 --keys "
        "'<PgDn><PgDn>'",
        program_folder(), program_folder());
    program_assert_contains(out, "How many sectors of 32 bytes");
    free(out);
}

/* As if the tests' lecture were installed. */
static void make_share(void) {
    free(program_output(
        0,
        "here=$(pwd); cd %s && mkdir -p share/assets/lectures && ln -sf $here/kernels share && "
        "for folder in $here/assets/*; do case $folder in */lectures) ;; "
        "*) ln -sf $folder share/assets ;; esac; done && "
        "cp $here/assets/lectures/README.md share/assets/lectures && "
        "for language in en zh; do sed \"s|../../cli|$here/tests/cli|\" "
        "$here/tests/data/lectures/tiny.$language.md >share/assets/lectures/tiny.$language.md; done",
        program_folder()));
}

/* The requested language, else the locale's; English if the terminal does not show UTF-8. */
static void the_language_is_chosen(void **state) {
    (void)state;
    static const struct {
        const char *environment, *option;
        bool chinese;
    } cases[] = {{"LC_ALL=C.UTF-8", "", false},
                 {"LC_ALL=C.UTF-8", "--language zh", true},
                 {"LC_ALL=C", "--language zh", false},
                 {"LC_ALL= LC_CTYPE=C.UTF-8 LANG=zh_CN.UTF-8", "", true},
                 {"LC_ALL= LC_CTYPE=C.UTF-8 LANG=zh_CN.UTF-8", "--language en", false},
                 {"LC_ALL= LC_CTYPE=C.UTF-8 LC_MESSAGES=zh_CN.UTF-8 LANG=C", "", true}};
    make_share();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *out = program_output(0, "%s REDVIZ_SHARE=%s/share @ --lecture tiny %s --frame=100x30",
                                   cases[i].environment, program_folder(), cases[i].option);
        bool is_english = strstr(out, "stop 1 of 5") && strstr(out, "A block of 32 threads");
        if (is_english == cases[i].chinese)
            fail_msg("%s %s:\n%s", cases[i].environment, cases[i].option, out);
        free(out);
    }
}

/* ---- the shipped lectures ------------------------------------------------------------------------------ */

static void check_file(const char *path) {
    Outcome outcome = program_shell("@ --lecture %s --check", path);
    if (outcome.status) fail_msg("%s\n%s%s", path, outcome.out, outcome.err);
    program_assert_contains(outcome.out, "all hold\n");
    int stops = 0, claims = 0, answers = 0;
    assert_int_equal(
        sscanf(strchr(outcome.out, ' '), "%d stop%*[s,] %d claim%*[s,] %d answer", &stops, &claims, &answers),
        3);
    printf("# summary: %s: %d stops, %d claims, %d answers\n", path, stops, claims, answers);
    program_outcome_done(&outcome);
}

/* Every file, in every language, and every English one has a Chinese version. With REDVIZ_TEST_QUICK only the
 * claims of the English ones: both_languages_must_agree() checks that the others make the same claims. */
static void all_claims_of_all_lectures_hold(void **state) {
    (void)state;
    static const char *const patterns[] = {"tests/data/lectures/*.*.md", "assets/lectures/*.*.md"};
    for (int i = 0; i < 2; i++) {
        glob_t files;
        if (glob(patterns[i], 0, NULL, &files) != 0) continue;
        for (size_t k = 0; k < files.gl_pathc; k++) {
            char other[256];
            const char *path = files.gl_pathv[k], *dot = strstr(path, ".en.md");
            if (dot) {
                snprintf(other, sizeof other, "%.*s.zh.md", (int)(dot - path), path);
                FILE *file = fopen(other, "r");
                if (!file) fail_msg("%s is missing", other);
                fclose(file);
            }
            if (dot || !getenv("REDVIZ_TEST_QUICK")) check_file(path);
        }
        globfree(&files);
    }
}

static void lectures_are_listed(void **state) {
    (void)state;
    make_share();
    char *out = program_output(0, "REDVIZ_SHARE=%s/share @ --lecture", program_folder());
    assert_string_equal(out, "  tiny       Thirty-two elements\n"
                             "             5 stops, 1 minute; needs: no GPU\n"
                             "\nredviz --lecture NAME plays one\n");
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_combinations_are_refused),
        cmocka_unit_test(bad_lectures_name_the_place),
        cmocka_unit_test(a_false_claim_is_shown_with_both_sides),
        cmocka_unit_test(what_a_stop_shows_is_checked),
        cmocka_unit_test(both_languages_must_agree),
        cmocka_unit_test(stops_are_shown_one_by_one),
        cmocka_unit_test(the_language_is_chosen),
        cmocka_unit_test(any_run_is_asked_about),
        cmocka_unit_test(lectures_are_listed),
        cmocka_unit_test(all_claims_of_all_lectures_hold),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
