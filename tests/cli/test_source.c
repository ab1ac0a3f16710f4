/* --source: a changed copy of the source of a kernel of the catalogue runs in its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "program.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Makes NAME.cu of kernels/strided.cu by sed, and runs it. Skips the test without a compiler. */
static Outcome run_copy(const char *name, const char *sed, const char *options) {
    const char *folder = program_folder();
    Outcome made = program_shell("sed '%s' kernels/strided.cu > %s/%s.cu", sed, folder, name);
    assert_int_equal(made.status, 0);
    program_outcome_done(&made);
    Outcome outcome =
        program_shell("@ --kernel strided --n 4096 --source %s/%s.cu %s", folder, name, options);
    const char *missing = program_missing_compiler(&outcome);
    if (missing) program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
    return outcome;
}

static void check_refused(const char *name, const char *sed, const char *message) {
    Outcome outcome = run_copy(name, sed, "--report");
    assert_int_equal(outcome.status, 2);
    program_assert_contains(outcome.err, message);
    assert_int_equal(program_line_count(outcome.err) <= 3, 1);
    program_outcome_done(&outcome);
}

static void an_edited_copy_is_checked_as_the_kernel_is(void **state) {
    (void)state;
    Outcome outcome = run_copy("same", "", "--report");
    assert_int_equal(outcome.status, 0);
    program_assert_contains(outcome.out, "strided (edited)");
    program_assert_contains(outcome.out, ": ok");
    program_assert_contains(outcome.out, "same.cu");
    assert_null(strstr(outcome.out, "samples"));   /* recorded of the kernel, not of the copy */
    assert_null(strstr(outcome.out, "a quarter")); /* the same */
    program_outcome_done(&outcome);
    outcome = run_copy("wrong", "s/op(sdata\\[index\\], /op(sdata[tid], /", "--check");
    assert_int_equal(outcome.status, 1);
    program_outcome_done(&outcome);
}

/* A padded array needs more shared memory than the kernel is launched with. */
static void a_copy_may_need_more_shared_memory(void **state) {
    (void)state;
    static const char pad[] = "s/sdata\\[tid\\]/sdata[tid + tid \\/ 32]/; "
                              "s/sdata\\[index\\]/sdata[index + index \\/ 32]/g; "
                              "s/sdata\\[index + s\\]/sdata[index + s + (index + s) \\/ 32]/";
    Outcome outcome = run_copy("padded", pad, "--report");
    assert_int_equal(outcome.status, 1);
    program_outcome_done(&outcome);
    outcome = run_copy("padded", pad, "--shared 1056 --report");
    assert_int_equal(outcome.status, 0);
    program_assert_contains(outcome.out, ": ok");
    program_outcome_done(&outcome);
}

static void what_cannot_run_is_one_line(void **state) {
    (void)state;
    check_refused("renamed", "s/void strided/void other/; s/strided</other</",
                  "renamed.cu: there is no kernel strided<int,Sum>, which the run of strided launches");
    check_refused("more", "s/unsigned n)/unsigned n, int k)/; s/unsigned)/unsigned, int)/",
                  "more.cu: strided<int,Sum> takes (const int*, int*, unsigned int, int): the run of strided "
                  "launches it with (const int*, int*, unsigned int)");
    check_refused("bare", "/^template __global__/d",
                  "bare.cu: it makes no instance of a kernel: keep those at the end of kernels/strided.cu");
    check_refused("broken", "s/__syncthreads();/__syncthread();/", "broken.cu:21:5: ");
}

static void wrong_uses_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *options, *message;
    } cases[] = {
        {"--kernel strided --source a.ptx --report", "--source: 'a.ptx' is no .cu file"},
        {"--kernel triton_sum --source a.cu --report", "--source: triton_sum is written in Triton"},
        {"a.cu --source b.cu --report", "--source is for kernels of the catalogue, not for a file"},
        {"--kernel strided --watch", "--watch is for FILE.cu and FILE.ptx, or with --source"},
        {"--kernel strided --source no_such.cu --report", "no_such.cu: cannot open"},
        {"--kernel strided --compare source=no_such.cu --frame", "--compare: no_such.cu: cannot open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Outcome outcome = program_shell("@ %s", cases[i].options);
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, cases[i].message);
        program_outcome_done(&outcome);
    }
}

/* Beside the program, whatever the working folder is. */
static void files_are_found_without_proc(void **state) {
    (void)state;
    Outcome outcome = program_shell("unshare -rm sh -c 'mount -t tmpfs none /proc' 2>&1 && echo may");
    bool may = strstr(outcome.out, "may") != NULL;
    program_outcome_done(&outcome);
    if (!may) skip_because("no mount of its own is allowed here");
    outcome = program_shell("unshare -rm sh -c \"mount -t tmpfs none /proc; cd /; $(realpath @) --kernel "
                            "strided --report\"");
    program_assert_contains(outcome.out, "EMULATED");
    program_outcome_done(&outcome);
}

static void without_a_compiler_the_line_says_how_to_get_one(void **state) {
    (void)state;
    Outcome outcome =
        program_shell("REDVIZ_NVRTC=/nonexistent CUDA_HOME=/nonexistent CUDA_PATH=/nonexistent PATH= @ "
                      "--kernel strided --source kernels/strided.cu --no-cache --report");
    bool has_other = access("/usr/local/cuda", F_OK) == 0; /* looked at without being named */
    if (!has_other)
        program_assert_contains(outcome.err,
                                "there is no CUDA compiler: apt-get install clang, or pip install "
                                "nvidia-cuda-nvrtc");
    program_outcome_done(&outcome);
    outcome =
        program_shell(/* as a wheel installs it */
                      "mkdir -p %s/redviz/bin && cp @ %s/redviz/bin && touch %s/redviz/__init__.py && "
                      "REDVIZ_SHARE=$PWD "
                      "REDVIZ_NVRTC=/nonexistent CUDA_HOME=/nonexistent CUDA_PATH=/nonexistent PATH= "
                      "%s/redviz/bin/redviz --kernel strided --source kernels/strided.cu --no-cache --report",
                      program_folder(), program_folder(), program_folder(), program_folder());
    if (!has_other)
        program_assert_contains(outcome.err, "there is no CUDA compiler: pip install 'redviz[cuda]', or ");
    program_outcome_done(&outcome);
    if (has_other) skip_because("/usr/local/cuda is looked at without being named");
}

/* The kernel as it ships beside the copy: the same place, what changed, and the result. */
static void a_copy_is_compared_with_the_kernel(void **state) {
    (void)state;
    Outcome outcome =
        run_copy("free",
                 "s/2 \\* s \\* tid;/tid;/; s/index < blockDim.x/index < s/; "
                 "s/unsigned s = 1; s < blockDim.x; s \\*= 2/unsigned s = blockDim.x \\/ 2; s > 0; "
                 "s \\/= 2/",
                 "--report");
    assert_int_equal(outcome.status, 0);
    program_outcome_done(&outcome);
    outcome = program_shell("@ --kernel strided --n 4096 --compare source=%s/free.cu --frame=80x24",
                            program_folder());
    assert_int_equal(outcome.status, 0);
    program_assert_contains(outcome.out, "free.cu  edited, line 23");
    program_assert_contains(outcome.out, "excess wavefronts 1,680 -> 0   ");
    program_assert_contains(outcome.out, "before  strided ");
    program_assert_contains(outcome.out, "after   strided (edited)");
    program_assert_contains(outcome.out, "wavefront 1 of 2");
    program_assert_contains(outcome.out, "wavefront 1 of 1");
    program_outcome_done(&outcome);
}

/* What was saved of an edited run says so, and does not run again as the kernel that ships. */
static void a_saved_copy_stays_a_copy(void **state) {
    (void)state;
    const char *folder = program_folder();
    char save[512];
    snprintf(save, sizeof save, "--report --save %s/copy.redviz", folder);
    Outcome outcome = run_copy("same", "", save);
    assert_int_equal(outcome.status, 0);
    program_outcome_done(&outcome);
    outcome = program_shell("@ %s/copy.redviz --frame=120x40", folder);
    assert_int_equal(outcome.status, 0);
    program_assert_contains(outcome.out, "strided (edited)");
    program_outcome_done(&outcome);
    outcome = program_shell("@ %s/copy.redviz --frame=120x40 --keys 'p<Up>'", folder);
    program_assert_contains(outcome.out, "a saved session holds this one run");
    program_outcome_done(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_edited_copy_is_checked_as_the_kernel_is),
        cmocka_unit_test(a_copy_may_need_more_shared_memory),
        cmocka_unit_test(what_cannot_run_is_one_line),
        cmocka_unit_test(wrong_uses_are_refused),
        cmocka_unit_test(files_are_found_without_proc),
        cmocka_unit_test(without_a_compiler_the_line_says_how_to_get_one),
        cmocka_unit_test(a_copy_is_compared_with_the_kernel),
        cmocka_unit_test(a_saved_copy_stays_a_copy),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
