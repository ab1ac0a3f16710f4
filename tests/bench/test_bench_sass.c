/* Recordings of --bench=sass, on stubs of driver, CUPTI and nvdisasm: every kernel, type and launch; and what
 * remains if something fails (tests/gpu/stub). */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "bench/bench.h"
#include "sass/recorded.h"
#include "tests/gpu/libraries.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 512 };

typedef struct Taken {
    char names[MOST_KERNELS][64]; /* "two_stage int 1" */
    SassMeasured counted[MOST_KERNELS], sampled[MOST_KERNELS];
    int count;
    Text recording;
    char missing[4096]; /* a line each */
    int cells;
} Taken;

static int clean(void **state) {
    (void)state;
    unsetenv("STUB_FAIL");
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    setenv("REDVIZ_NVDISASM", "tests/gpu/stub/nvdisasm.sh", 1);
    return 0;
}

static void take_cell(void *context, const char *kernel, const char *dtype) {
    (void)kernel, (void)dtype;
    ((Taken *)context)->cells++;
}

static void take_kernel(void *context, const SassKernel *kernel) {
    Taken *taken = context;
    assert_true(taken->count < MOST_KERNELS);
    snprintf(taken->names[taken->count], sizeof *taken->names, "%s %s %d", kernel->kernel, kernel->dtype,
             kernel->launch);
    taken->counted[taken->count] = kernel->counted;
    taken->sampled[taken->count++] = kernel->sampled;
    if (!taken->recording.length) sass_record_begin(&taken->recording);
    sass_record_kernel(&taken->recording, kernel);
}

static void take_missing(void *context, const char *kernel, const char *dtype, const char *why) {
    Taken *taken = context;
    size_t length = strlen(taken->missing);
    if (strstr(why, "found no room")) return;
    snprintf(taken->missing + length, sizeof taken->missing - length, "%s %s: %s\n", kernel, dtype, why);
}

static bool record(Taken *taken, const char *kernel, CatalogOptions catalog, Error *error) {
    BenchOptions options = {.kernel = kernel, .catalog = catalog};
    BenchSassSink sink = {taken, take_cell, take_kernel, take_missing};
    *taken = (Taken){.count = 0};
    return bench_sass(&options, &sink, error);
}

static int find(const Taken *taken, const char *name) {
    for (int i = 0; i < taken->count; i++)
        if (!strcmp(taken->names[i], name)) return i;
    fail_msg("there is no %s", name);
    return -1;
}

static Taken taken;

static void every_type_and_launch(void **state) {
    (void)state;
    Error error = {0};
    if (!record(&taken, "two_stage", (CatalogOptions){.n = 0}, &error)) fail_msg("%s", error.message);
    assert_int_equal(taken.count, 3 * 2);
    assert_int_equal(taken.cells, 3 * 2); /* sampled, counted */
    int at = find(&taken, "two_stage double 1");
    assert_true(taken.counted[at].n == 1 << 20 && taken.sampled[at].n == 1 << 24);
    assert_int_equal(taken.counted[at].grid, 1);
    assert_string_equal(taken.missing, "");
    text_done(&taken.recording);
}

static void at_the_size_that_is_asked_for(void **state) {
    (void)state;
    Error error = {0};
    if (!record(&taken, "half_naive", (CatalogOptions){.n = 5000}, &error)) fail_msg("%s", error.message);
    int at = find(&taken, "half_naive half 0");
    assert_true(taken.count == 1 && taken.counted[at].n == 5000 && taken.sampled[at].n == 5000);
    text_done(&taken.recording);
}

static bool count_kernel(void *context, SassKernel *kernel) {
    ++*(int *)context;
    sass_kernel_done(kernel);
    return true;
}

/* The whole catalogue except the bugs; the output can be read back. */
static void all_kernels(void **state) {
    (void)state;
    Error error = {0};
    int read = 0;
    if (!record(&taken, "all", (CatalogOptions){.n = 4096}, &error)) fail_msg("%s", error.message);
    assert_string_equal(taken.missing, "");
    find(&taken, "cooperative float 0");
    find(&taken, "triton_sum float 1");
    find(&taken, "lab_latency int 0");
    for (int i = 0; i < taken.count; i++)
        if (!strncmp(taken.names[i], "bug_", 4) || !taken.counted[i].n || !taken.sampled[i].n)
            fail_msg("%s", taken.names[i]);
    if (!sass_read_text(text_string(&taken.recording), "recording", count_kernel, &read, &error))
        fail_msg("%s", error.message);
    assert_int_equal(read, taken.count);
    text_done(&taken.recording);
}

static void what_is_missing_is_said(void **state) {
    (void)state;
    Error error = {0};
    setenv("STUB_FAIL", "cuptiPCSamplingEnable=35", 1);
    if (!record(&taken, "shuffle", (CatalogOptions){.dtype = PTX_S32}, &error)) fail_msg("%s", error.message);
    assert_true(taken.count == 1 && taken.counted[0].n && !taken.sampled[0].n);
    assert_non_null(
        strstr(taken.missing, "shuffle int: not sampled: cuptiPCSamplingEnable: CUPTI_ERROR_INSUFF"));
    text_done(&taken.recording);
}

/* Each kernel is tried, and reported once if it fails for a reason other than a missing GPU. */
static void nothing_at_all(void **state) {
    (void)state;
    Error error = {0};
    setenv("REDVIZ_NVDISASM", "/nowhere", 1);
    assert_false(record(&taken, "shuffle", (CatalogOptions){.n = 0}, &error));
    assert_string_equal(error.message, "no machine code was recorded");
    assert_string_equal(
        taken.missing,
        "shuffle int: no machine code: REDVIZ_NVDISASM=/nowhere is not an executable program\n"
        "shuffle float: no machine code: REDVIZ_NVDISASM=/nowhere is not an executable program\n"
        "shuffle double: no machine code: REDVIZ_NVDISASM=/nowhere is not an executable program\n");
    setenv("REDVIZ_CUDA", "/nowhere", 1);
    assert_false(record(&taken, "shuffle", (CatalogOptions){.n = 0}, &error));
    assert_string_equal(error.message, "there is no CUDA driver here (/nowhere)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_type_and_launch, clean),
        cmocka_unit_test_setup(at_the_size_that_is_asked_for, clean),
        cmocka_unit_test_setup(all_kernels, clean),
        cmocka_unit_test_setup(what_is_missing_is_said, clean),
        cmocka_unit_test_setup(nothing_at_all, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
