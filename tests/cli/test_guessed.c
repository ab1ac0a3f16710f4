/* Files whose launch is guessed: what the output says of it, and that a guess is no fault of the kernel's. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    return setenv("XDG_CACHE_HOME", program_folder(), 1);
}

/* What `@ FOLDER/NAME OPTIONS` prints on both streams, with blanks for line breaks; the caller frees it.
 * Skips where there is no compiler. */
static char *run(int status, const char *name, const char *text, const char *options) {
    program_write_file(name, text);
    Outcome outcome = program_shell("@ %s/%s %s 2>&1", program_folder(), name, options);
    const char *missing = program_missing_compiler(&outcome);
    if (!missing && outcome.status != status) fail_msg("exit %d: %s", outcome.status, outcome.out);
    char *out = outcome.out;
    outcome.out = NULL;
    program_outcome_done(&outcome);
    for (char *at = out; *at; at++)
        if (*at == '\n') *at = ' ';
    if (missing) free(out);
    if (missing) skip_because("%s", missing);
    return out;
}

static void expect(int status, const char *name, const char *text, const char *options, const char *words) {
    char *out = run(status, name, text, options);
    program_assert_contains(out, words);
    free(out);
}

static const char sum[] = "__global__ void total(const float *x, float *out, int n) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n) atomicAdd(out, x[i]);\n}\n";

/* Adds `more` to the kernel above. */
static const char *sum_and(const char *more) {
    static char text[1024];
    snprintf(text, sizeof text, "%s%s", sum, more);
    return text;
}

static void the_first_line_says_that_it_is_a_guess(void **state) {
    (void)state;
    char *out = run(0, "k.cu", sum, "--n 2^14 --report");
    assert_ptr_equal(
        strstr(out, "guessed: --args 'x=float[n]:random, out=float[n], n' --block 256 --grid 64 "), out);
    program_assert_contains(out, "with guessed arguments: result not checked: it looks like sum(x)");
    assert_null(strstr(out, "--run"));
    free(out);
    out = run(0, "k.cu", sum, "--n 2^14 --check");
    assert_ptr_equal(strstr(out, "guessed: --args "), out);
    program_assert_contains(out, "The result is not checked");
    free(out);
    expect(0, "k.cu", sum_and("int main() { total<<<4, 64>>>(0, 0, 256); }\n"), "--report",
           "k.cu runs the program itself");
    expect(0, "k.cu", sum, "--args 'x=float[n]:random, out=float[1], n' --n 256 --report",
           "guessed: --block 256 --grid 1 ");
}

static void literals_are_no_guess(void **state) {
    (void)state;
    skip_without_nvcc("__managed__");
    char *out = run(0, "k.cu",
                    sum_and("const int N = 4096, B = 128;\n__managed__ float in[N], out;\n"
                            "void f() { float y[1]; total<<<(N + B - 1) / B, B>>>(in, y, N); }\n"),
                    "--report");
    program_assert_contains(out, "read in the file: --args 'x=float[n]:random, out=float[1], n' --block 128 "
                                 "--grid 32 --n 4096 (line 7)");
    assert_null(strstr(out, "guess"));
    free(out);
    expect(0, "k.cu",
           sum_and("void f(float *a, float *b, int n) { total<<<(n + 63) / 64, 64>>>(a, b, n); }\n"),
           "--n 1000 --report", "read in the file: --block 64 --grid 16 (line 5)");
}

static const char beyond[] = "__global__ void k(const float *x, float *y, int n) {\n"
                             "    y[blockIdx.x] = x[n + threadIdx.x];\n}\n";

/* Faults of a guess are called so, and the status is 0; of arguments that were given, or are all literal, it
 * is 1. */
static void a_guess_is_no_failure(void **state) {
    (void)state;
    static const char literal[] = "void f() { float x[64], y[1]; k<<<1, 64>>>(x, y, 64); }\n";
    char text[512];
    snprintf(text, sizeof text, "%s%s", beyond, literal);
    expect(0, "k.cu", beyond, "--report", "with guessed arguments: TRAP out of bounds, ");
    expect(0, "k.cu", beyond, "--check", "With guessed arguments: ");
    expect(1, "k.cu", beyond, "--args 'x=float[n], y=float[n], n' --report", "TRAP out of bounds: ");
    expect(1, "k.cu", beyond, "--launch 'k<<<1, 32>>>(x, y, n)' --check", "out of bounds");
    expect(1, "k.cu", text, "--check", "out of bounds");
    expect(1, "k.cu", sum, "--n 256 --expect 'max(x)' --report", "with guessed arguments: result");
}

static void other_names_of_files_are_opened(void **state) {
    (void)state;
    static const char *const names[] = {"k.cuh", "k.hpp", "k.cpp", "k.h"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(0, names[i], sum, "--n 256 --report", "looks like sum(x)");
    free(program_output(0, "mkdir -p %s/elsewhere && echo '#define PART 2' > %s/elsewhere/part.h",
                        program_folder(), program_folder()));
    char options[512];
    snprintf(options, sizeof options, "--compile-flags '-DMORE=3 -I%s/elsewhere' --n 1 --dump x",
             program_folder());
    expect(0, "k.cuh", "#include <part.h>\n__global__ void k(float *x) { x[0] = PART + MORE; }\n", options,
           "5 ");
}

/* Kernels of headers are not the user's. */
static void a_file_without_a_kernel_is_refused(void **state) {
    (void)state;
    expect(2, "k.cu", "int add(int a, int b) { return a + b; }\n", "--report",
           "k.cu: no kernel in this file");
    expect(2, "k.cu",
           "template <typename T, int B> __global__ void row_sum(const T *x, T *y) { y[B] = x[0]; }\n",
           "--report", "--entry 'row_sum<float, 256>'");
    char *out =
        run(0, "k.cu",
            "template <typename T, int B> __global__ void row_sum(const T *x, T *y) { y[B] = x[0]; }\n"
            "void f(double *x, double *y) { row_sum<double, 4><<<2, 64>>>(x, y); }\n",
            "--report");
    program_assert_contains(out, "row_sum<double,4><<<2, 64>>>");
    free(out);
}

static void the_first_kernel_that_is_launched_is_taken(void **state) {
    (void)state;
    static const char other[] = "__global__ void other(int *p, int n) { if (n) p[threadIdx.x] = n; }\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s", other, sum);
    expect(0, "k.cu", text, "--report", "--entry 'other'");
    snprintf(text, sizeof text, "%s%svoid f(float *x, float *y) { total<<<4, 64>>>(x, y, 256); }\n", other,
             sum);
    expect(0, "k.cu", text, "--report", "--entry 'total'");
    expect(0, "k.cu", text, "--entry other --report", "other<<<");
}

static const char listing[] =
    "Fatbin ptx code:\n================\narch = sm_75\ncode version = [8,0]\n\n"
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %a;\n ld.param.u64 %a, [p];\n"
    " st.global.u32 [%a], 7;\n ret;\n}\n\nFatbin elf code:\n================\narch = sm_75\n";

/* As cuobjdump -ptx prints it: lines keep their numbers. */
static void the_listing_of_a_program_is_ptx(void **state) {
    (void)state;
    expect(0, "k.ptx", listing, "--n 1 --dump in:1", "7 ");
    char wrong[1024];
    snprintf(wrong, sizeof wrong, "%s", listing);
    strstr(wrong, "ld.param")[3] = 'h';
    expect(2, "k.ptx", wrong, "--report", "k.ptx:12:");
}

/* A kernel that waits for the grid is launched so. */
static void waiting_for_the_grid_is_cooperative(void **state) {
    (void)state;
    skip_without_nvcc("cooperative_groups.h");
    char *out =
        program_output(0, "@ kernels/cooperative.cu --entry 'cooperative<int, Sum>' --n 2^16 --report");
    program_assert_contains(out, "(cooperative)");
    free(out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_says_that_it_is_a_guess),
        cmocka_unit_test(literals_are_no_guess),
        cmocka_unit_test(a_guess_is_no_failure),
        cmocka_unit_test(other_names_of_files_are_opened),
        cmocka_unit_test(a_file_without_a_kernel_is_refused),
        cmocka_unit_test(the_first_kernel_that_is_launched_is_taken),
        cmocka_unit_test(the_listing_of_a_program_is_ptx),
        cmocka_unit_test(waiting_for_the_grid_is_cooperative),
    };
    return cmocka_run_group_tests_name("guessed", tests, set_up, program_remove_folder);
}
