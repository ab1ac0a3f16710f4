/* Keeping a remedy: I tries it in a copy of the PTX, k shows what it changes in the source, and writes that.
 * The written file compiles, and its run has the count that the remedy promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/skip.h"
#include "base/text.h"
#include "program.h"
#include <stdio.h>
#include <string.h>

/* Runs redviz in the folder of the tests. Skips the test without a compiler. */
static char *run_there(const char *options) {
    Outcome outcome = program_shell("redviz=$(realpath @) && cd %s && $redviz %s", program_folder(), options);
    const char *missing = program_missing_compiler(&outcome);
    char *out = outcome.out;
    if (missing) program_outcome_done(&outcome);
    if (missing) skip_because("%s", missing);
    if (outcome.status) fail_msg("%s: %s", options, outcome.err);
    free(outcome.err);
    return out;
}

static uint64_t number_after(const char *text, const char *words) {
    const char *at = strstr(text, words);
    uint64_t number = 0;
    if (!at) fail_msg("no '%s' in\n%s", words, text);
    for (at += strlen(words); (*at >= '0' && *at <= '9') || *at == ','; at++)
        if (*at != ',') number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static void assert_shows(const char *options, const char *words) {
    char *out = run_there(options);
    program_assert_contains(out, words);
    free(out);
}

/* `I` of the run promises a count; the written file has it. */
static void check_promise(const char *run, const char *change, const char *written) {
    char options[256], words[128];
    snprintf(options, sizeof options, "%s --frame=120x40 --keys I", run);
    char *tried = run_there(options);
    snprintf(words, sizeof words, "%s: wavefronts ", change);
    const char *line = strstr(tried, words);
    if (!line) fail_msg("no '%s' in\n%s", words, tried);
    uint64_t before = number_after(line, words), promised = number_after(line, " -> ");
    free(tried);
    snprintf(options, sizeof options, "%s --frame=120x40 --keys Ikk", run);
    free(run_there(options));
    snprintf(options, sizeof options, "%s --report=json", written);
    char *report = run_there(options);
    uint64_t now = number_after(report, "\"shared_load_wavefronts\":") +
                   number_after(report, "\"shared_store_wavefronts\":");
    free(report);
    if (now != promised || now >= before)
        fail_msg("%s: %d wavefronts before, %d promised, %d in the file", run, (int)before, (int)promised,
                 (int)now);
}

static void write_there(const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_holds(const char *name, const char *words) {
    char path[256], *text;
    size_t length;
    snprintf(path, sizeof path, "%s/%s", program_folder(), name);
    assert_true(text_read_file(path, 1 << 16, &text, &length, NULL));
    program_assert_contains(text, words);
    free(text);
}

static void a_kernel_that_ships_is_kept_as_a_copy(void **state) {
    (void)state;
    check_promise("--kernel strided --n 4096", "a word after every 32 in sdata",
                  "--kernel strided --n 4096 --source strided.cu --shared 1056");
    assert_shows("--kernel strided --n 4096 --source strided.cu --shared 1056 --report", ": ok");
    /* it is never written over */
    assert_shows("--kernel strided --n 4096 --frame=120x40 --keys Ik",
                 "./strided.cu is there already: e edits it");
    assert_holds("strided.cu", "op(sdata[index + index / 32], sdata[index + s + (index + s) / 32]);");
    check_promise("--kernel lab_bank_stride", "a word after every 32 in words",
                  "--kernel lab_bank_stride --source lab_bank_stride.cu --shared 264");
}

#define HEAD "__global__ void mine(const float *in, float *out, int n) {\n"
#define BODY                                                                                                 \
    "    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;\n"                                            \
    "    s[t] = i < n ? in[i] : 0; // not s[t + 1]\n"                                                        \
    "    __syncthreads();\n"                                                                                 \
    "    for (int d = 1; d < blockDim.x; d *= 2) {\n"                                                        \
    "        int k = 2 * d * t;\n"                                                                           \
    "        if (k < blockDim.x) s[k] += s[k + d];\n"                                                        \
    "        __syncthreads();\n"                                                                             \
    "    }\n"                                                                                                \
    "    if (t == 0) out[blockIdx.x] = s[0];\n"                                                              \
    "}\n"

static void a_file_is_changed_where_it_is(void **state) {
    (void)state;
    write_there("own.cu", HEAD "    __shared__ float s[256];\n" BODY);
    check_promise("own.cu --n 4096", "a word after every 32 in s", "own.cu --n 4096");
    assert_holds("own.cu", "__shared__ float s[264];");
    assert_holds("own.cu", "s[t + t / 32] = i < n ? in[i] : 0; // not s[t + 1]\n");
    assert_holds("own.cu", "out[blockIdx.x] = s[0];");
    write_there("given.cu", HEAD "    extern __shared__ float s[];\n" BODY "int main() {\n"
                                 "    float *in, *out;\n"
                                 "    cudaMalloc(&in, 4096 * sizeof(float));\n"
                                 "    cudaMalloc(&out, 16 * sizeof(float));\n"
                                 "    mine<<<16, 256, 256 * sizeof(float)>>>(in, out, 4096);\n"
                                 "    cudaDeviceSynchronize();\n}\n");
    check_promise("given.cu", "a word after every 32 in s", "given.cu");
    assert_holds("given.cu", "<<<16, 256, (256 * sizeof(float)) + (256 * sizeof(float)) / 32 * 1>>>");
}

static void a_swizzle_is_kept_too(void **state) {
    (void)state;
    write_there("mixed.cu", HEAD "    __shared__ float s[256];\n" BODY);
    assert_shows("mixed.cu --n 4096 --frame=120x40 --keys II",
                 "the row of 32 words in s: wavefronts 2,400 -> 720");
    free(run_there("mixed.cu --n 4096 --frame=120x40 --keys IIkk"));
    assert_holds("mixed.cu", "s[k ^ k / 32 % 32] += s[(k + d) ^ (k + d) / 32 % 32];");
    assert_holds("mixed.cu", "out[blockIdx.x] = s[0];");
    char *report = run_there("mixed.cu --n 4096 --report=json");
    assert_int_equal(number_after(report, "\"shared_load_wavefronts\":"), 400);
    assert_int_equal(number_after(report, "\"shared_store_wavefronts\":"), 320);
    free(report);
}

static void nothing_is_written_unseen(void **state) {
    (void)state;
    static const char source[] = HEAD "    __shared__ float s[256];\n" BODY;
    write_there("seen.cu", source);
    assert_shows("seen.cu --n 4096 --frame=80x24 --keys Ik", "│ -    __shared__ float s[256];");
    assert_shows("seen.cu --n 4096 --frame=80x24 --keys Ik", "│ +    __shared__ float s[264];");
    assert_shows("seen.cu --n 4096 --frame=80x24 --keys Ik", "k writes it   Esc leaves it");
    free(run_there("seen.cu --n 4096 --frame=80x24 --keys 'Ik<Esc>'"));
    assert_holds("seen.cu", source);
    /* elsewhere k is a line up */
    assert_shows("seen.cu --n 4096 --frame=80x24 --keys k", "── source  seen.cu");
}

static void what_cannot_be_written_says_why(void **state) {
    (void)state;
    static const struct {
        const char *declared, *use, *why;
    } cases[] = {
        {"__shared__ float s[256];", "float *p = s; p[t] += 1;",
         "line 4 uses `s` otherwise than by an index"},
        {"__shared__ float s[256];", "int j = t; s[j++] += 1;",
         "line 4: the index of `s` is not simple enough"},
        {"#define AT(i) s[i]\n__shared__ float s[256];", "AT(t) += 1;", "a macro uses `s`"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char source[2048], options[128];
        snprintf(source, sizeof source, HEAD "%s\n    int t = threadIdx.x;\n    s[t] = in[t]; %s\n%s",
                 cases[i].declared, cases[i].use, strstr(BODY, "    __syncthreads();\n    for"));
        snprintf(options, sizeof options, "refused%d.cu", (int)i);
        write_there(options, source);
        snprintf(options, sizeof options, "refused%d.cu --n 4096 --frame=120x40 --keys Ik", (int)i);
        assert_shows(options, cases[i].why);
        assert_shows(options, "not written: ");
    }
}

/* The barrier that ends a race is proved in a copy of the source; k writes it, on a line of its own. */
static void a_missing_barrier_is_written(void **state) {
    (void)state;
    static const char source[] = HEAD "    __shared__ float s[256];\n"
                                      "    int t = threadIdx.x;\n"
                                      "    s[t] = in[blockIdx.x * blockDim.x + t];\n"
                                      "    out[blockIdx.x * blockDim.x + t] = s[255 - t];\n"
                                      "}\n";
    write_there("race.cu", source);
    Outcome before = program_shell("@ %s/race.cu --n 4096 --check", program_folder());
    program_assert_contains(before.out, "race on shared memory");
    program_outcome_done(&before);
    assert_shows("race.cu --n 4096 --frame=80x24 --keys fI", "│ +    __syncthreads();  ");
    assert_shows("race.cu --n 4096 --frame=80x24 --keys fI",
                 "│      out[blockIdx.x * blockDim.x + t] = s[255 - t];");
    free(run_there("race.cu --n 4096 --frame=80x24 --keys 'fI<Esc>'"));
    assert_holds("race.cu", source);
    free(run_there("race.cu --n 4096 --frame=80x24 --keys fIk"));
    assert_holds("race.cu", "+ t];\n    __syncthreads();\n    out[");
    char *after = run_there("race.cu --n 4096 --check");
    assert_null(strstr(after, "race on shared memory"));
    free(after);
    /* what ships has no source that was compiled here */
    Outcome shipped = program_shell("@ --kernel bug_missing_sync --n 4096 --frame=120x40 --keys fI");
    program_assert_contains(shipped.out,
                            "not written: it is proved in a source that is compiled here: e copies");
    program_outcome_done(&shipped);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_ships_is_kept_as_a_copy),
        cmocka_unit_test(a_file_is_changed_where_it_is),
        cmocka_unit_test(a_swizzle_is_kept_too),
        cmocka_unit_test(nothing_is_written_unseen),
        cmocka_unit_test(what_cannot_be_written_says_why),
        cmocka_unit_test(a_missing_barrier_is_written),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
