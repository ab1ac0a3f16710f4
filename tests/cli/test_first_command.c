/* `redviz FILE.cu --report` and nothing else: what it makes of files as people write them. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("XDG_CACHE_HOME", program_folder(), 1);
    return 0;
}

/* The report of a file with this text has these words. Without a compiler, the test is skipped. */
static void expect(const char *text, const char *const *words, int count) {
    char path[512];
    snprintf(path, sizeof path, "%s/file.cu", program_folder());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    Outcome outcome = program_shell("@ %s/file.cu --report", program_folder());
    bool is_missing = outcome.status == 2 && strstr(outcome.err, "there is no") != NULL;
    if (!is_missing && outcome.status) fail_msg("%s", outcome.err);
    for (int i = 0; !is_missing && i < count; i++) program_assert_contains(outcome.out, words[i]);
    program_outcome_done(&outcome);
    if (is_missing) skip();
}

#define EXPECT(text, ...)                                                                                    \
    do {                                                                                                     \
        static const char *const words[] = {__VA_ARGS__};                                                    \
        expect(text, words, (int)(sizeof words / sizeof *words));                                            \
    } while (0)

/* A kernel without a pointer shows how an instruction works: the next one reduces. */
static void a_demonstration_is_passed_over(void **state) {
    (void)state;
    EXPECT("#include <cstdio>\n"
           "__global__ void demo() {\n"
           "    int v = __shfl_down_sync(~0u, threadIdx.x, 1);\n"
           "    if (threadIdx.x == 0) printf(\"%d\\n\", v);\n"
           "}\n"
           "__global__ void total(const int *in, int *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) atomicAdd(out, in[i]);\n"
           "}\n"
           "void run(int *in, int *out) { demo<<<1, 32>>>(); total<<<8, 32>>>(in, out, 256); }\n",
           "--entry 'total'", "looks like sum(in)");
}

/* None of its kernels works together: the one whose name says so is a step of a sum. */
static void a_step_of_a_sum_is_found_by_its_name(void **state) {
    (void)state;
    EXPECT("__global__ void fill(float *p, float x) { p[blockIdx.x * blockDim.x + threadIdx.x] = x; }\n"
           "__global__ void sum_step(float *p, int half) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < half) p[i] += p[half + i];\n"
           "}\n"
           "int main() {\n"
           "    float *p;\n    cudaMalloc(&p, 4096 * sizeof(float));\n"
           "    fill<<<16, 256>>>(p, 1);\n    sum_step<<<8, 256>>>(p, 2048);\n}\n",
           "--entry 'sum_step'", "looks like sum(p) of 2048 partial results");
}

/* The number that a command line may change is made smaller like any other. */
static void a_long_run_is_made_shorter(void **state) {
    (void)state;
    EXPECT("#include <cstdlib>\n"
           "__global__ void total(const float *in, float *out, int n) {\n"
           "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "    if (i < n) atomicAdd(out, in[i]);\n"
           "}\n"
           "int main(int argc, char **argv) {\n"
           "    int n = 1 << 28;\n    if (argc > 1) n = atoi(argv[1]);\n    float *in, *out;\n"
           "    cudaMalloc(&in, n * sizeof(float));\n    cudaMalloc(&out, sizeof(float));\n"
           "    total<<<(n + 255) / 256, 256>>>(in, out, n);\n}\n",
           "<<<4096, 256>>>", "with a smaller n", "looks like sum(in)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demonstration_is_passed_over),
        cmocka_unit_test(a_step_of_a_sum_is_found_by_its_name),
        cmocka_unit_test(a_long_run_is_made_shorter),
    };
    return cmocka_run_group_tests_name("first command", tests, set_up, program_remove_folder);
}
