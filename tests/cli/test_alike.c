/* A result of a function that is not known: does every element count, and each like any other? */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("XDG_CACHE_HOME", program_folder(), 1);
    return 0;
}

#define NOT_CHECKED "result not checked: no reduction that is known gives it"
#define NOT_ALIKE   NOT_CHECKED "; --expect"
#define IN_ORDER    NOT_CHECKED " (it depends on the order\nof the elements); --expect"

/* A sum of TERM of every element, by blocks of 256 threads; the last block adds what EXTRA says. */
#define SUM(TERM, EXTRA)                                                                                     \
    "__device__ int f(float x, float y) { return x * x + y * y < 0.5f; }\n"                                  \
    "__global__ void total(const float *x, const float *y, int *out, int n) {\n"                             \
    "    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n"                                            \
    "    for (; i < n; i += gridDim.x * blockDim.x) s += " TERM ";\n" EXTRA                                  \
    "    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"                                    \
    "    if (threadIdx.x % 32 == 0) atomicAdd(out, s);\n}\n"                                                 \
    "int main() {\n    int n = 16384, *out;\n    float *x, *y;\n    cudaMalloc(&x, n * 4);\n"                \
    "    cudaMalloc(&y, n * 4);\n    cudaMalloc(&out, 4);\n    total<<<16, 256>>>(x, y, out, n);\n}\n"

/* Points in a circle are counted: no reduction that has a name. */
static void a_function_of_elements_is_summed(void **state) {
    (void)state;
    EXPECT(SUM("f(x[i], y[i])", ""), NOT_CHECKED " (every element counts\nalike, as in sum(f(x, y)));");
}

static void a_missing_element_is_not_alike(void **state) {
    (void)state;
    EXPECT(SUM("i < n - 100 ? f(x[i], y[i]) : 0", ""), NOT_ALIKE);
}

static void an_element_that_counts_twice_is_not_alike(void **state) {
    (void)state;
    EXPECT(SUM("f(x[i], y[i])", "    if (i - n < 64) s += f(x[0], y[0]) + f(x[i - n], y[i - n]);\n"),
           NOT_CHECKED);
}

/* It depends on the place of an element what it counts. */
static void alternating_signs_are_not_alike(void **state) {
    (void)state;
    EXPECT(SUM("(i % 2 ? 1 : -1) * f(x[i], y[i])", ""), IN_ORDER);
}

/* Elements that were never looked at are no question of their order. */
static void what_is_not_loaded_is_not_called_an_order(void **state) {
    (void)state;
    EXPECT(SUM("i < 64 ? f(x[i], y[i]) : 0", ""), NOT_CHECKED " (not all elements are\nloaded);");
}

/* The same number, whatever the elements are. */
static void a_result_without_elements_is_not_checked(void **state) {
    (void)state;
    EXPECT(SUM("f(x[i], y[i]) < 2", ""), NOT_ALIKE);
}

/* With the n that this run was made smaller to, not with the one of the file. */
static void a_smaller_n_stays_what_it_is(void **state) {
    (void)state;
    EXPECT("__global__ void total(const float *x, int *out, long n) {\n"
           "    long i = blockIdx.x * blockDim.x + threadIdx.x;\n    int s = 0;\n"
           "    for (; i < n; i += gridDim.x * blockDim.x) s += x[i] * x[i] < 0.25f;\n"
           "    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
           "    if (threadIdx.x % 32 == 0) atomicAdd(out, s);\n}\n"
           "int main() {\n    const long n = 1l << 30;\n    float *x;\n    int *out;\n"
           "    cudaMalloc(&x, n * sizeof(float));\n    cudaMalloc(&out, 4);\n"
           "    total<<<16, 256>>>(x, out, n);\n}\n",
           "smaller n)", "as in sum(f(x)));");
}

/* Pairs of elements belong together: in another order of single ones the sum is another. */
static void pairs_stay_together(void **state) {
    (void)state;
    EXPECT("__global__ void total(const float2 *points, int *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;\n"
           "    for (; i < n; i += gridDim.x * blockDim.x) s += points[i].x > 2 * points[i].y;\n"
           "    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
           "    if (threadIdx.x % 32 == 0) atomicAdd(out, s);\n}\n"
           "int main() {\n    int n = 16384, *out;\n    float2 *points;\n    cudaMalloc(&points, n * 8);\n"
           "    cudaMalloc(&out, 4);\n    total<<<16, 256>>>(points, out, n);\n}\n",
           "all groups of 2\nelements count alike, as in sum(f(points)));");
}

#define PAIR(EXTRA)                                                                                          \
    "__global__ void both(const double *a, double2 *out, int n) {\n"                                         \
    "    __shared__ double most[256], sum[256];\n    int t = threadIdx.x, i = blockIdx.x * 256 + t;\n"       \
    "    most[t] = sum[t] = i < n ? exp(a[i] / 8) : 0;\n    __syncthreads();\n" EXTRA                        \
    "    for (int d = 128; d; d /= 2) {\n        if (t < d) {\n"                                             \
    "            most[t] = max(most[t], most[t + d]);\n            sum[t] += sum[t + d];\n        }\n"       \
    "        __syncthreads();\n    }\n    if (t == 0) out[blockIdx.x] = make_double2(most[0], sum[0]);\n}\n" \
    "int main() {\n    int n = 16384;\n    double *a;\n    double2 *out;\n    cudaMalloc(&a, n * 8);\n"      \
    "    cudaMalloc(&out, 64 * 16);\n    both<<<64, 256>>>(a, out, n);\n}\n"

/* A block leaves two numbers; both are folds. */
static void members_are_folds_of_their_own(void **state) {
    (void)state;
    EXPECT(PAIR(""), "max(f(a)) of 64 partial results and sum(f(a)) of 64 partial\nresults);");
}

static void every_member_must_be_a_fold(void **state) {
    (void)state;
    EXPECT(PAIR("    if (t > 200) most[t] = 0;\n"), NOT_ALIKE);
}

/* Logarithms of negative elements: the same in every order. */
static void what_is_no_number_does_not_depend_on_the_order(void **state) {
    (void)state;
    EXPECT("__global__ void total(const float *x, float *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float s = i < n ? logf(x[i]) : 0;\n"
           "    for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
           "    if (threadIdx.x % 32 == 0) atomicAdd(out, s);\n}\n"
           "int main() {\n    int n = 4096;\n    float *x, *out;\n    cudaMalloc(&x, n * 4);\n"
           "    cudaMalloc(&out, 4);\n    total<<<16, 256>>>(x, out, n);\n}\n",
           NOT_ALIKE);
}

/* A file of the run says the same, and runs nothing. */
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

/* The largest of few elements is found by chance, too: but it is theirs alike, and no sum. */
static void an_extreme_is_no_sum(void **state) {
    (void)state;
    EXPECT("__global__ void most(const float *a, float *out) {\n    __shared__ float s[8];\n"
           "    s[threadIdx.x] = a[threadIdx.x] * a[threadIdx.x];\n    __syncthreads();\n"
           "    for (int d = 4; d; d /= 2) {\n        if (threadIdx.x < d && s[threadIdx.x] < s[threadIdx.x "
           "+ d])\n"
           "            s[threadIdx.x] = s[threadIdx.x + d];\n        __syncthreads();\n    }\n"
           "    if (threadIdx.x == 0) out[0] = s[0];\n}\n"
           "int main() {\n    float *a, *out;\n    cudaMalloc(&a, 32);\n    cudaMalloc(&out, 4);\n"
           "    most<<<1, 8>>>(a, out);\n}\n",
           "as in max(f(a)))");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_of_elements_is_summed),
        cmocka_unit_test(a_missing_element_is_not_alike),
        cmocka_unit_test(an_element_that_counts_twice_is_not_alike),
        cmocka_unit_test(what_is_not_loaded_is_not_called_an_order),
        cmocka_unit_test(alternating_signs_are_not_alike),
        cmocka_unit_test(a_result_without_elements_is_not_checked),
        cmocka_unit_test(a_smaller_n_stays_what_it_is),
        cmocka_unit_test(pairs_stay_together),
        cmocka_unit_test(members_are_folds_of_their_own),
        cmocka_unit_test(every_member_must_be_a_fold),
        cmocka_unit_test(what_is_no_number_does_not_depend_on_the_order),
        cmocka_unit_test(a_saved_run_says_it_too),
        cmocka_unit_test(an_extreme_is_no_sum),
    };
    return cmocka_run_group_tests_name("alike", tests, set_up, program_remove_folder);
}
