/* What a solution reaches: each goal by itself, what learners get wrong, hostile files, and the forms of a
 * grade. */
#define _XOPEN_SOURCE 700
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "exercise/grade_print.h"
#include "tests/cli/program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Exercise *tiny;

/* The whole document of these grades. */
static void print_grades(const Exercise *exercise, const Grade *grades, int count, GradeForm form,
                         Text *out) {
    grade_print_begin(exercise, grades[0].seed, form, out);
    for (int i = 0; i < count; i++) {
        if (i) text_add(out, grade_print_separator(form));
        grade_print_file(exercise, &grades[i], count == 1, form, out);
    }
    grade_print_end(form, out);
}

/* False: there is no compiler. */
static bool grade_of(const Exercise *exercise, const char *code, const GradeLimits *limits, Grade *out) {
    Error error = {0};
    if (!grade_file(exercise, "mine.cu", code, limits, out, &error)) fail_msg("%s", error.message);
    const char *why = out->goals[0].why;
    if (!why || !strstr(why, "compiler")) return true;
    grade_done(out);
    return false;
}

static bool grade(const char *code, const GradeLimits *limits, Grade *out) {
    return grade_of(tiny, code, limits, out);
}

#define KERNEL(body) "__global__ void total(const int *in, int *out, int n) {\n" body "}\n"
#define LOOP(guard)                                                                                          \
    "int sum = 0;\nfor (int i = blockIdx.x * 64; i < blockIdx.x * 64 + 64" guard "; i++) sum += in[i];\n"

/* By goal (compiles, right, safe, barriers, shared loads): x met, o missed, - not tried. */
static void check_of(const Exercise *exercise, const char *code, const char *states, const char *says) {
    static const char marks[] = {[GOAL_NOT_TRIED] = '-', [GOAL_MISSED] = 'o', [GOAL_MET] = 'x'};
    Grade graded;
    char found[GRADE_GOALS + 1] = "";
    bool is_said = !*says;
    if (!grade_of(exercise, code, &(GradeLimits){0}, &graded)) skip_because("no CUDA compiler was found");
    for (int i = 0; i < graded.goal_count; i++) {
        found[i] = marks[graded.goals[i].state];
        is_said = is_said || (graded.goals[i].why && strstr(graded.goals[i].why, says));
    }
    Text text = {0};
    print_grades(exercise, &graded, 1, GRADE_TEXT, &text);
    if (strcmp(found, states) != 0 || !is_said)
        fail_msg("%s, not %s with '%s': %s", found, states, says, text_string(&text));
    text_done(&text);
    grade_done(&graded);
}

static void check(const char *code, const char *states, const char *says) {
    check_of(tiny, code, states, says);
}

static void a_solution_reaches_all(void **state) {
    (void)state;
    check(tiny->solution, "xxxxx", "");
    check("#include <cuda_runtime.h>\n" KERNEL(LOOP(
              " && i < n") "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n") "int main() { return 1; }\n",
          "xxxxx", "");
}

static void each_goal_is_missed_by_itself(void **state) {
    (void)state;
    check(KERNEL("out[blockIdx.x] = missing;\n"), "o----", "line 2: ");
    check("__global__ void other(int *out) { *out = 1; }\n", "o----",
          "the kernel must be called total; the file has other");
    check(KERNEL("if (threadIdx.x == 0) out[blockIdx.x] = 7;\n"), "xox--",
          "n = 1, input random: the result is 7, expected ");
    check(KERNEL(LOOP("") "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n"), "xoo--",
          "just past the end of `in`");
    check(KERNEL(LOOP(" && i < n") "__syncthreads();\nif (threadIdx.x == 0) out[blockIdx.x] = sum;\n"
                                   "__syncthreads();\n"),
          "xxxox", "it is 16 for n = 256 and 4 blocks");
    check(KERNEL("__shared__ int sums[64];\nint i = blockIdx.x * 64 + threadIdx.x;\nsums[threadIdx.x] = i < "
                 "n ? in[i] : 0;\n"
                 "__syncthreads();\nif (threadIdx.x) return;\nint sum = 0;\n"
                 "for (int k = 0; k < 64; k++) sum += sums[k];\nout[blockIdx.x] = sum;\n"),
          "xxxxo", "it is ");
}

static void what_learners_get_wrong(void **state) {
    (void)state;
    check(KERNEL("__syncthreads;\n"), "o----", "line 2: this calls nothing: write __syncthreads();");
    /* The second call adds to what the first one left, and the first to what nothing wrote. */
    check(KERNEL(LOOP(" && i < n") "if (threadIdx.x == 0) out[blockIdx.x] += sum;\n"), "xoo--",
          "are read but were never written");
    check(KERNEL("int i = blockIdx.x * 64 + threadIdx.x;\nif (i < n) atomicAdd(&out[blockIdx.x], in[i]);\n"),
          "xoo--", "");
    /* Two warps store, and the last one wins. */
    check(
        KERNEL(LOOP(" && i < n") "if (threadIdx.x % 32 == 0) out[blockIdx.x] = sum + (threadIdx.x == 0);\n"),
        "xxoxx", "either value may remain");
    check(KERNEL("__shared__ int sums[64];\nint t = threadIdx.x, i = blockIdx.x * 64 + t;\nsums[t] = i < n ? "
                 "in[i] : 0;\n"
                 "for (int s = 32; s > 0; s /= 2) { if (t < s) sums[t] += sums[t + s]; __syncthreads(); }\n"
                 "if (t == 0) out[blockIdx.x] = sums[0];\n"),
          "xxoox", "There is no barrier between them");
}

/* The total is right, and the places are not. */
static void each_block_has_its_own_sum(void **state) {
    (void)state;
    check(KERNEL(LOOP(" && i < n") "if (threadIdx.x == 0) out[gridDim.x - 1 - blockIdx.x] = sum;\n"), "xox--",
          "expected");
    check(KERNEL("int sum = 0;\nfor (int i = blockIdx.x; i < n; i += gridDim.x) sum += in[i];\n"
                 "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n"),
          "xox--", "expected");
    check(KERNEL("int sum = 0;\nfor (int i = 0; blockIdx.x == 0 && i < n; i++) sum += in[i];\n"
                 "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n"),
          "xox--", "expected");
}

/* A limit beyond every published size, and a table of answers: sizes and inputs are drawn. */
static void what_is_published_is_not_enough(void **state) {
    (void)state;
    check(KERNEL(LOOP(" && i < n") "if (threadIdx.x == 0) out[blockIdx.x] = n < 400 ? sum : 0;\n"), "xox--",
          "n = 4");
    const char *table =
        KERNEL(LOOP(" && i < n") "bool is_known = n == 1 || n == 33 || n == 200 || n == 256;\n"
                                 "if (threadIdx.x == 0) out[blockIdx.x] = is_known ? sum : 0;\n");
    check(table, "xox--", "expected");
    Grade first, other;
    if (!grade(table, &(GradeLimits){.seed = 1}, &first)) skip_because("no CUDA compiler was found");
    assert_true(grade(table, &(GradeLimits){.seed = 2}, &other));
    assert_string_not_equal(first.goals[1].why, other.goals[1].why);
    grade_done(&other);
    assert_true(grade(table, &(GradeLimits){.seed = 1}, &other));
    assert_string_equal(first.goals[1].why, other.goals[1].why);
    grade_done(&first), grade_done(&other);
}

/* A right result of one thread for each block misses a goal that asks for shared work. */
static void threads_share_the_work(void **state) {
    (void)state;
    Exercise exercise = *tiny;
    exercise.goals[0] = (ExerciseGoal){.words = "bytes that a thread loads",
                                       .claim = "here.thread_bytes <= 8",
                                       .expression = "here.thread_bytes",
                                       .comparison = "<=",
                                       .limit = 8};
    exercise.goal_count = 1;
    check_of(&exercise, tiny->solution, "xxxo", "it is 256 for n = 256 and 4 blocks");
    check_of(&exercise,
             KERNEL("__shared__ int s;\nint i = blockIdx.x * 64 + threadIdx.x;\n"
                    "if (threadIdx.x == 0) s = 0;\n__syncthreads();\nif (i < n) atomicAdd(&s, in[i]);\n"
                    "__syncthreads();\nif (threadIdx.x == 0) out[blockIdx.x] = s;\n"),
             "xxxx", "");
}

#define FLOATS(body)                                                                                         \
    "__global__ void total(const float *in, float *out, int rows) {\n__shared__ float s;\n"                  \
    "int t = threadIdx.x;\nif (t == 0) s = 0;\n__syncthreads();\n" body                                      \
    "__syncthreads();\nif (t == 0) out[blockIdx.x] = s;\n}\n"

/* Two launches of different length must give a row the same bits, and so must every order. */
static void bits_that_vary_are_found(void **state) {
    (void)state;
    static const struct {
        const char *code, *states, *says;
    } cases[] = {
        {FLOATS("if (t == 0) for (int k = 0; k < 500; k++) s += in[blockIdx.x * 500 + k];\n"), "xxx", ""},
        {FLOATS("if (t == 0) for (int k = 0; k < 500; k++) s += in[blockIdx.x * 500 + (k + rows) % 500];\n"),
         "xox", "other bits: few[0] = "},
        {FLOATS("float of = 0;\nfor (int k = t; k < 500; k += 128) of += in[blockIdx.x * 500 + k];\n"
                "for (int d = 16; d > 0; d /= 2) of += __shfl_down_sync(~0u, of, d);\n"
                "if (t % 32 == 0) atomicAdd(&s, of);\n"),
         "xox", "other bits in another order"},
        /* What the file says of judging is only another kernel of it. */
        {FLOATS("if (t == 0) for (int k = 0; k < 500; k++) s += in[blockIdx.x * 500 + (k + rows) % "
                "500];\n") "__global__ void same(const float *a, const float *b, float *out) { *out = *a; "
                           "}\n",
         "xox", "other bits"},
    };
    Exercise exercise = *tiny;
    exercise.launch = "total<<<1, 128>>>(in=float[500 * n]:INPUT, few=float[1]:unwritten, 1); "
                      "total<<<n, 128>>>(in, out=float[n]:unwritten, n)";
    exercise.expect = "out=rowsum(in, 500)";
    exercise.same[0] = "few", exercise.same[1] = "out";
    exercise.goal_count = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_of(&exercise, cases[i].code, cases[i].states, cases[i].says);
}

/* Each ends soon, with one line. */
static void hostile_files(void **state) {
    (void)state;
    check("#include \"/etc/passwd\"\n" KERNEL(""), "o----", "line 1: only headers of the toolkit");
    check("", "o----", "");
    check("\x01\x02", "o----", "");
    check(KERNEL("while (((volatile const int *)in)[0] != 123456789) { }\n"), "xoo--",
          "warp instructions: an endless loop?");
    /* Only at a large n, where more may be executed. */
    check(KERNEL(LOOP(" && i < n") "volatile int *v = out;\nwhile (n >= 400) v[blockIdx.x] = 1;\n"
                                   "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n"),
          "xoo--", "warp instructions: an endless loop?");
    check(
        KERNEL("__shared__ int a[1 << 20];\na[n] = in[0];\n__syncthreads();\nout[blockIdx.x] = a[n - 1];\n"),
        "o----", "bytes");
    check(KERNEL("asm volatile(\"trap;\");\n"), "xoo--", "");
    check(KERNEL("if (threadIdx.x == 0) __syncthreads();\n"), "xox--", "");
}

/* The start compiles and is safe, which is no achievement of the learner; elsewhere its goals are shown. */
static void an_unchanged_start_reaches_nothing(void **state) {
    (void)state;
    Grade graded;
    Text text = {0};
    assert_true(grade(tiny->start, &(GradeLimits){.refuses_start = true}, &graded));
    assert_int_equal(graded.met_count, 0);
    print_grades(tiny, &graded, 1, GRADE_GRADESCOPE, &text);
    assert_null(strstr(text_string(&text), "\"score\":1"));
    assert_non_null(strstr(text_string(&text), "nothing was changed"));
    text_clear(&text);
    print_grades(tiny, &graded, 1, GRADE_JUNIT, &text);
    assert_non_null(strstr(text_string(&text), "tests=\"5\" failures=\"5\" skipped=\"0\""));
    text_done(&text), grade_done(&graded);
    if (!grade(tiny->start, &(GradeLimits){0}, &graded)) skip_because("no CUDA compiler was found");
    assert_int_equal(graded.met_count, 2);
    grade_done(&graded);
    assert_true(grade(tiny->solution, &(GradeLimits){.refuses_start = true}, &graded));
    assert_int_equal(graded.met_count, 5);
    grade_done(&graded);
}

static void limits_end_a_grade(void **state) {
    (void)state;
    Grade graded;
    atomic_bool cancel = true;
    Error error = {0};
    if (!grade(tiny->solution, &(GradeLimits){.instructions = 10}, &graded))
        skip_because("no CUDA compiler was found");
    assert_int_equal(graded.goals[1].state, GOAL_MISSED);
    assert_non_null(strstr(graded.goals[1].why, "more than 10 warp instructions"));
    grade_done(&graded);
    assert_true(grade(tiny->solution, &(GradeLimits){.seconds = 1e-9}, &graded));
    assert_string_equal(graded.goals[1].why, "it takes too long: the runs were stopped");
    grade_done(&graded);
    assert_false(
        grade_file(tiny, "mine.cu", tiny->solution, &(GradeLimits){.cancel = &cancel}, &graded, &error));
    assert_string_equal(error.message, "it was stopped");
    grade_done(&graded);
}

static void an_exercise_is_checked(void **state) {
    (void)state;
    Text out = {0};
    Grade graded;
    if (!grade(tiny->solution, &(GradeLimits){0}, &graded)) skip_because("no CUDA compiler was found");
    grade_done(&graded);
    if (!grade_check_exercise(tiny, &(GradeLimits){0}, &out)) fail_msg("%s", text_string(&out));
    text_clear(&out);
    Exercise broken = *tiny; /* what must fail does not, or for another reason */
    broken.wrongs[0].reason = "a reason that nobody gives";
    broken.wrongs[1].code = tiny->solution;
    broken.start = tiny->solution;
    broken.solution = "__global__ void total(const int *in, int *out, int n) { }";
    assert_false(grade_check_exercise(&broken, &(GradeLimits){0}, &out));
    int failed = 0;
    for (const char *at = text_string(&out); (at = strstr(at, "FAILED")); at++) failed++;
    if (failed != 4) fail_msg("%s", text_string(&out));
    text_done(&out);
}

/* Line `line` of the text, from 1, has these words. */
static bool line_has(const char *text, int line, const char *words) {
    for (int i = 1; i < line && text; i++) text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    const char *found = text ? strstr(text, words) : NULL;
    return found && found < text + strcspn(text, "\n");
}

static void a_page_gets_the_goals_and_their_lines(void **state) {
    (void)state;
    Grade graded;
    Error error = {0};
    Text out = {0};
    Exercise *exercise = exercise_read("assets/exercises/ptx-barrier.en.md", &error);
    assert_non_null(exercise);
    grade_print_exercise(exercise, NULL, &out);
    assert_non_null(strstr(text_string(&out), "\"goals\":[]"));
    text_clear(&out);
    assert_true(grade_file(exercise, "mine.ptx", exercise->start, &(GradeLimits){0}, &graded, &error));
    assert_int_equal(graded.goals[1].line, 0);
    assert_true(line_has(exercise->start, graded.goals[2].line, "shared.s32"));
    grade_print_exercise(exercise, &graded, &out);
    assert_non_null(strstr(text_string(&out), "{\"title\":\"PTX: a barrier is missing\",\"task\":\""));
    assert_non_null(strstr(text_string(&out), "\"goal\":\"safe\""));
    grade_done(&graded);
    text_clear(&out);
    assert_true(grade_file(exercise, "mine.ptx", ".version 7.0\n.target sm_70\n.nothing\n", &(GradeLimits){0},
                           &graded, &error));
    assert_int_equal(graded.goals[0].line, 3);
    grade_done(&graded);
    text_done(&out);
    exercise_free(exercise);
}

/* ---- forms ---- */

static Grade example(void) {
    Grade graded = {.file = "a<b>.cu", .goal_count = 3, .met_count = 1, .seconds = 0.5};
    graded.goals[0] = (GradedGoal){.id = "compiles", .words = "compiles", .state = GOAL_MET};
    graded.goals[1] =
        (GradedGoal){.id = "right", .words = "right for n = 1", .state = GOAL_MISSED, .why = "\"4\" & <5>"};
    graded.goals[2] =
        (GradedGoal){.id = "barriers", .words = "barriers <= 8", .why = "first it must be right"};
    return graded;
}

static void assert_form(GradeForm form, const char *expected) {
    Grade graded[2] = {example(), example()};
    Text out = {0};
    print_grades(tiny, graded, 1, form, &out);
    assert_string_equal(text_string(&out), expected);
    text_done(&out);
}

static void the_forms_of_a_grade(void **state) {
    (void)state;
    assert_form(GRADE_TEXT,
                "tiny: One sum for each block\na<b>.cu, 0.5 s\n  [x] compiles\n  [ ] right for n = 1\n"
                "      \"4\" & <5>\n  [-] barriers <= 8\n      first it must be right\n1 of 3 goals\n");
    assert_form(
        GRADE_JUNIT,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
        "  <testsuite name=\"a&lt;b&gt;.cu\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"0.500\">\n"
        "    <testcase classname=\"tiny\" name=\"compiles\"/>\n"
        "    <testcase classname=\"tiny\" name=\"right for n = 1\"><failure message=\"&quot;4&quot; &amp; "
        "&lt;5&gt;\"/>"
        "</testcase>\n"
        "    <testcase classname=\"tiny\" name=\"barriers &lt;= 8\"><skipped message=\"first it must be "
        "right\"/>"
        "</testcase>\n  </testsuite>\n</testsuites>\n");
    Grade graded[2] = {example(), example()};
    Text out = {0};
    print_grades(tiny, graded, 2, GRADE_TEXT, &out);
    assert_non_null(strstr(text_string(&out),
                           "   1 of 3  a<b>.cu                          right for n = 1: \"4\" & <5>\n"));
    text_clear(&out);
    print_grades(tiny, graded, 2, GRADE_JSON, &out);
    assert_non_null(strstr(text_string(&out), "\\\"4\\\" & <5>"));
    text_clear(&out);
    print_grades(tiny, graded, 1, GRADE_GRADESCOPE, &out);
    assert_non_null(strstr(text_string(&out), "max_score"));
    text_done(&out);
}

/* A name or a message of a compiler cannot end an attribute, a line or a document. */
static void names_and_messages_are_data(void **state) {
    (void)state;
    Grade graded = example();
    Text out = {0};
    graded.file = "a\n\x1b[1m\xff\"\xc3\xa9.cu";
    graded.goals[1].why = "\x01\xc2\x85\xef\xbf\xbe";
    print_grades(tiny, &graded, 1, GRADE_TEXT, &out);
    assert_non_null(strstr(text_string(&out), "\na\\x0a\\x1b[1m\\xff\"\xc3\xa9.cu, 0.5 s\n"));
    assert_non_null(strstr(text_string(&out), "\n      \\x01\\x85\\ufffe\n"));
    text_clear(&out);
    print_grades(tiny, &graded, 1, GRADE_JUNIT, &out);
    assert_non_null(strstr(text_string(&out), "name=\"a\\x0a\\x1b[1m\\xff&quot;\xc3\xa9.cu\""));
    assert_non_null(strstr(text_string(&out), "<failure message=\"\\x01\\x85\\ufffe\"/>"));
    text_done(&out);
    check("\xef\xbb\xbf" KERNEL(LOOP(" && i < n") "if (threadIdx.x == 0) out[blockIdx.x] = sum;\n"), "xxxxx",
          "");
}

static int set_up(void **state) {
    Error error = {0};
    if (program_make_folder(state) || setenv("XDG_CACHE_HOME", program_folder(), 1)) return -1;
    tiny = exercise_read("tests/data/exercises/tiny.en.md", &error);
    return tiny ? 0 : -1;
}

static int tear_down(void **state) {
    exercise_free(tiny);
    return program_remove_folder(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solution_reaches_all),
        cmocka_unit_test(each_goal_is_missed_by_itself),
        cmocka_unit_test(what_learners_get_wrong),
        cmocka_unit_test(each_block_has_its_own_sum),
        cmocka_unit_test(what_is_published_is_not_enough),
        cmocka_unit_test(threads_share_the_work),
        cmocka_unit_test(bits_that_vary_are_found),
        cmocka_unit_test(hostile_files),
        cmocka_unit_test(an_unchanged_start_reaches_nothing),
        cmocka_unit_test(limits_end_a_grade),
        cmocka_unit_test(an_exercise_is_checked),
        cmocka_unit_test(a_page_gets_the_goals_and_their_lines),
        cmocka_unit_test(the_forms_of_a_grade),
        cmocka_unit_test(names_and_messages_are_data),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
