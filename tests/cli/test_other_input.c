/* Faults that an input hides: a result that is right for it is tried with one that shows them, and right
 * kernels stay right. */
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

/* `@ FOLDER/k.cu OPTIONS` ends with `status` and prints `words`, with blanks for line breaks, and not
 * `never`. */
static void expect(int status, const char *text, const char *options, const char *words, const char *never) {
    program_write_file("k.cu", text);
    Outcome outcome = program_shell("@ %s/k.cu %s 2>&1", program_folder(), options);
    const char *missing = program_missing_compiler(&outcome);
    for (char *at = outcome.out; *at; at++)
        if (*at == '\n') *at = ' ';
    if (!missing && outcome.status != status) fail_msg("exit %d: %s", outcome.status, outcome.out);
    if (!missing && words) program_assert_contains(outcome.out, words);
    if (!missing && never && strstr(outcome.out, never)) fail_msg("%s", outcome.out);
    program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
}

/* The sum of all but `skip` elements, each times `by`, which is taken back at the end. */
static const char sums[] =
    "__global__ void k(const float *x, float *out, int n, int skip, float by) {\n"
    "    float v = 0;\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - skip; i += gridDim.x * blockDim.x) "
    "v += x[i] * by;\n"
    "    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);\n"
    "    if (threadIdx.x % 32 == 0) atomicAdd(out, v / by);\n}\n";

static void an_element_is_no_rounding(void **state) {
    (void)state;
#define SUM(SKIP, BY)                                                                                        \
    "--args 'x=float[n]:random, out=float[1]:zero, n, " SKIP ", " BY                                         \
    "' --n 100000 --grid 391 --block 256 --expect 'sum(x)'"
    expect(0, sums, SUM("0", "1") " --report", ": ok, off by", "WRONG");
    expect(1, sums, SUM("1", "1") " --report", "without rounding the same run gives", ": ok");
    expect(1, sums, SUM("1", "1") " --check", "off by 0.875)", NULL);
    expect(0, sums, SUM("0", "1") " --check", "The result is ", "not checked");
    /* terms that the kernel rounds do not make it wrong */
    expect(0, sums, SUM("0", "0.1f") " --report", ", all of it rounding", "WRONG");
    expect(0, sums, SUM("0", "1") " --report", "Rounding: values are off in line 5 by up to", "WRONG");
#undef SUM
}

static const char peaks[] = "__global__ void k(const float *x, float *out, int n, float from) {\n"
                            "    float v = from;\n"
                            "    for (int i = threadIdx.x; i < n; i += 32) v = fmaxf(v, x[i]);\n"
                            "    for (int d = 16; d > 0; d /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, d));\n"
                            "    if (threadIdx.x == 0) *out = v;\n}\n";

static void an_extreme_needs_a_start(void **state) {
    (void)state;
#define PEAK(INPUT, FROM)                                                                                    \
    "--args 'x=float[n]:random" INPUT ", out=float[1], n, " FROM                                             \
    "' --n 1000 --grid 1 --block 32 --expect 'max(x)'"
    expect(0, peaks, PEAK("", "-1e30") " --report", ": ok", "WRONG");
    expect(1, peaks, PEAK("", "0") " --check", "with negative numbers only in x", NULL);
    /* it may be meant for such numbers */
    expect(0, peaks, PEAK("(0.0,1)", "0") " --report", ": ok", "WRONG");
#undef PEAK
}

static const char place[] =
    "__global__ void k(const int *x, int *out, int n, int last) {\n"
    "    int at = 0;\n"
    "    for (int i = 1; i < n; i++) if (x[i] > x[at] || (last && x[i] == x[at])) at = i;\n"
    "    *out = at;\n}\n";

static void the_first_of_equal_ones_is_asked_for(void **state) {
    (void)state;
#define PLACE(LAST, FUNCTION)                                                                                \
    "--args 'x=int[64]:ones, out=int[1], 64, " LAST "' --grid 1 --block 1 --expect '" FUNCTION "(x)' "       \
    "--report"
    expect(0, place, PLACE("0", "argmax"), ": ok", "WRONG");
    expect(1, place, PLACE("1", "argmax"), "equal, and the first is asked for", NULL);
    expect(0, place, PLACE("1", "argmax_any"), ": ok", "WRONG");
#undef PLACE
}

static void the_first_nan_has_a_line(void **state) {
    (void)state;
    static const char root[] = "__global__ void k(const float *x, float *out) {\n"
                               "    float v = x[threadIdx.x];\n"
                               "    out[threadIdx.x] = sqrtf(v - 2);\n}\n";
    expect(0, root, "--args 'x=float[32]:ones, out=float[32]' --grid 1 --block 32 --check",
           "The first NaN that is made of finite input is stored in line 3, to out[0]", NULL);
    static const char inverse[] = "__global__ void k(const float *x, float *out) {\n"
                                  "    __shared__ float s[32];\n"
                                  "    s[threadIdx.x] = -INFINITY;\n"
                                  "    out[threadIdx.x] = 1 / x[threadIdx.x];\n}\n";
    expect(0, inverse, "--args 'x=float[32]:zero, out=float[32]' --grid 1 --block 32 --check",
           "The first infinity that is made of finite input is stored in line 4, to out[0]", NULL);
    expect(0, inverse, "--args 'x=float[32]:ones, out=float[32]' --grid 1 --block 32 --check", NULL,
           "infinity");
    expect(0, root, "--args 'x=float[32]:4, out=float[32]' --grid 1 --block 32 --check", NULL, "NaN");
    expect(0, root, "--args 'x=float[32]:nan, out=float[32]' --grid 1 --block 32 --check", NULL, "NaN");
}

static void a_mean_leaves_nothing_out(void **state) {
    (void)state;
    static const char mean[] =
        "__global__ void k(const float *x, float *out, int n, int skip) {\n"
        "    float v = 0;\n"
        "    for (int i = threadIdx.x + blockIdx.x * 256; i < n - skip; i += 256 * gridDim.x) v += x[i];\n"
        "    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);\n"
        "    if (threadIdx.x % 32 == 0) atomicAdd(out, v / n);\n}\n";
#define MEAN(N, SKIP)                                                                                        \
    "--args 'x=float[n]:random(0.0,1.0), out=float[1]:zero, n, " SKIP "' --n " N                             \
    " --grid 512 --block 256 --expect 'mean(x)' --report"
    expect(0, mean, MEAN("262144", "0"), ": ok", "WRONG");
    expect(1, mean, MEAN("262144", "60"), "without rounding the same run gives", ": ok");
    expect(0, mean, MEAN("300000", "0"), ": ok", "WRONG");
#undef MEAN
}

/* All in half: the elements may be off by a tenth, but not all of them in one direction. */
static void probabilities_add_up_to_one(void **state) {
    (void)state;
    skip_without_nvcc("cuda_fp16.h");
    static const char softmax[] =
        "#include <cuda_fp16.h>\n"
        "__global__ void k(const __half *x, __half *y, float by) {\n"
        "    __shared__ __half s[64];\n"
        "    int t = threadIdx.x;\n"
        "    __half e = hexp(x[blockIdx.x * 64 + t]);\n"
        "    s[t] = e;\n"
        "    for (int d = 32; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] = __hadd(s[t], s[t + d]); }\n"
        "    __syncthreads();\n"
        "    y[blockIdx.x * 64 + t] = __hmul(__hmul(e, hrcp(s[0])), __float2half(by));\n}\n";
#define SOFTMAX(BY)                                                                                          \
    "--args 'x=half[n]:random(-1.0,1.0), y=half[n], " BY                                                     \
    "' --n 4096 --grid 64 --block 64 --expect 'softmax(x, 64)' --report"
    expect(0, softmax, SOFTMAX("1"), ": ok", "WRONG");
    expect(1, softmax, SOFTMAX("1.09"), "WRONG", ": ok");
#undef SOFTMAX
}

static void a_size_that_nothing_has_is_not_shown(void **state) {
    (void)state;
    expect(0, place, "--args 'x=int[64]:ones, out=int[1], 64, 0' --grid 1 --block 1 --report", NULL, "n = ");
    expect(0, place, "--args 'x=int[n]:ones, out=int[1], n, 0' --n 64 --grid 1 --block 1 --report", "n = 64",
           NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_element_is_no_rounding),   cmocka_unit_test(a_mean_leaves_nothing_out),
        cmocka_unit_test(probabilities_add_up_to_one), cmocka_unit_test(a_size_that_nothing_has_is_not_shown),
        cmocka_unit_test(an_extreme_needs_a_start),    cmocka_unit_test(the_first_of_equal_ones_is_asked_for),
        cmocka_unit_test(the_first_nan_has_a_line),
    };
    return cmocka_run_group_tests_name("other input", tests, set_up, program_remove_folder);
}
