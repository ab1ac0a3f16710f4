/* Machine code on a GPU, against stubs of the driver, CUPTI and nvdisasm (stub/): it is loaded with line
 * information, disassembled, sampled and counted instruction by instruction; each of these may fail without
 * the others. */
#define _POSIX_C_SOURCE 200809L

#include "base/text.h"
#include "gpu/pc_sampling.h"
#include "gpu/sass_measure.h"
#include "ptx/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libraries.h"

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry twice()\n{\n\tret;\n}\n"
                          ".visible .entry once()\n{\n\tret;\n}\n";

static int clean(void **state) {
    static const char *const variables[] = {"STUB_FAIL", "STUB_PCS", "STUB_NO_PCS", "STUB_LOG",
                                            "STUB_NVDISASM_FAILS"};
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    use_library("REDVIZ_CUDA", "libcuda_stub.so");
    use_library("REDVIZ_CUPTI", "libcupti_stub.so");
    setenv("REDVIZ_NVDISASM", "tests/gpu/stub/nvdisasm.sh", 1);
    return 0;
}

static Cuda *open_stub(void) {
    Error error = {0};
    Cuda *cuda = cuda_open(&error);
    if (!cuda) fail_msg("%s", error.message);
    return cuda;
}

/* ---- loading ------------------------------------------------------------------------------------------- */

static void loaded_code_is_kept(void **state) {
    (void)state;
    Error error = {0};
    Cuda *cuda = open_stub();
    GpuRun run;
    if (!gpu_run_begin_keeping(&run, cuda, ptx, &error)) fail_msg("%s", error.message);
    assert_int_equal(run.code.bytes, sizeof ptx); /* the stub's cubin is the text */
    assert_memory_equal(run.code.cubin, ptx, sizeof ptx);
    gpu_run_end(&run);
    assert_null(run.code.cubin);
    cuda_close(cuda);
}

static void a_compiler_that_fails(void **state) {
    (void)state;
    static const char *const calls[] = {"cuModuleLoadDataEx"};
    Cuda *cuda = open_stub();
    setenv("STUB_LOG", "\nptxas application ptx input, line 7; error\nmore", 1);
    for (size_t i = 0; i < 1; i++) {
        char fail[64];
        Error error = {0};
        GpuRun run;
        snprintf(fail, sizeof fail, "%s=218", calls[i]);
        setenv("STUB_FAIL", fail, 1);
        assert_false(gpu_run_begin_keeping(&run, cuda, ptx, &error));
        gpu_run_end(&run);
        if (!strstr(error.message, "CUDA_ERROR_INVALID_PTX): ptxas application ptx input, line 7; error") ||
            strstr(error.message, "more"))
            fail_msg("%s", error.message);
    }
    cuda_close(cuda);
}

/* ---- measuring ----------------------------------------------------------------------------------------- */

enum { LAUNCHES = 3 };

typedef struct Measured { /* twice(), twice() and once() */
    Cuda *cuda;
    PtxModule *module;
    PtxProgram *programs[LAUNCHES];
    GpuRun run;
    GpuLaunch launches[LAUNCHES];
    bool fails_to_load;
    int restored;
    SassKernel kernels[LAUNCHES];
    SassNotes notes;
} Measured;

static bool load(void *context, Error *error) {
    static const char *const entries[LAUNCHES] = {"twice", "twice", "once"};
    Measured *measured = context;
    if (measured->fails_to_load) return error_set(error, "no such module");
    if (!gpu_run_begin_keeping(&measured->run, measured->cuda, ptx, error)) return false;
    measured->module = ptx_module_parse(ptx, strlen(ptx), "test", error);
    for (int i = 0; i < LAUNCHES; i++) {
        PtxFunction *entry = ptx_module_find_entry(measured->module, entries[i], error);
        measured->programs[i] = ptx_program_link(measured->module, entry, error);
        measured->launches[i].launch =
            (Launch){.program = measured->programs[i], .grid = {(uint32_t)i + 1, 2, 1}, .block = {32, 4, 1}};
        if (!gpu_run_prepare(&measured->run, &measured->launches[i], error)) return false;
    }
    return true;
}

static bool restore(void *context, Error *error) {
    (void)error;
    ((Measured *)context)->restored++;
    return true;
}

static bool measure(Measured *measured, int parts, Error *error) {
    SassWork work = {.cuda = measured->cuda,
                     .n = 1000,
                     .driver = "1.2, CUDA 13.0",
                     .load = load,
                     .restore = restore,
                     .context = measured,
                     .run = &measured->run,
                     .launches = measured->launches,
                     .count = LAUNCHES};
    return gpu_sass_measure(&work, parts, measured->kernels, &measured->notes, error);
}

static void measured_done(Measured *measured) {
    for (int i = 0; i < LAUNCHES; i++) {
        sass_kernel_done(&measured->kernels[i]);
        if (measured->programs[i]) ptx_program_free(measured->programs[i]);
    }
    gpu_run_end(&measured->run);
    ptx_module_free(measured->module);
    cuda_close(measured->cuda);
}

static Measured begin(int parts) {
    Error error = {0};
    Measured measured = {.cuda = open_stub()};
    if (!measure(&measured, parts, &error)) fail_msg("%s", error.message);
    return measured;
}

static void expect_counts(const SassKernel *kernel) {
    assert_int_equal(kernel->counted.n, 1000);
    for (int i = 0; i < kernel->count; i++) {
        const SassInstruction *at = &kernel->instructions[i];
        assert_true(at->executed == 1 && at->acting == 2 && at->threads == 3);
    }
}

/* The two reasons that the stub samples, once each: not also as "not issued". */
static void expect_samples(const SassKernel *kernel) {
    assert_true(kernel->sampled.n == 1000 && kernel->sampled.period == 32 && kernel->sampled.overhead == 0);
    for (int i = 0; i < kernel->count; i++) {
        const uint32_t *samples = kernel->instructions[i].samples;
        for (int stall = 0; stall < SASS_STALLS; stall++)
            assert_int_equal(samples[stall],
                             stall == SASS_STALL_wait || stall == SASS_STALL_not_selected ? i + 1 : 0);
    }
}

static void every_instruction_of_every_launch(void **state) {
    (void)state;
    Measured measured = begin(SASS_ALL);
    const SassKernel *last = &measured.kernels[2];
    assert_string_equal(measured.notes.code.message, "");
    assert_string_equal(measured.notes.counts.message, "");
    assert_string_equal(measured.notes.samples.message, "");
    assert_int_equal(measured.notes.dropped, 3 * LAUNCHES);
    assert_int_equal(measured.notes.unplaced, 0);
    for (int i = 0; i < LAUNCHES; i++) {
        assert_int_equal(measured.kernels[i].count, 2);
        assert_int_equal(measured.kernels[i].launch, i);
        expect_counts(&measured.kernels[i]);
        expect_samples(&measured.kernels[i]);
    }
    assert_string_equal(last->entry, "once");
    assert_string_equal(last->machine, "Stub 1");
    assert_string_equal(last->driver, "1.2, CUDA 13.0");
    assert_true(last->counted.grid == 6 && last->counted.block == 128 && isnan(last->counted.overhead));
    assert_int_equal(measured.restored, 2 + 7 + 1); /* to sample, to time, to count */
    measured_done(&measured);
}

/* For example at another size: the instructions and the samples stay. */
static void counts_may_come_later(void **state) {
    (void)state;
    Error error = {0};
    Measured measured = begin(SASS_SAMPLES);
    assert_int_equal(measured.kernels[0].counted.n, 0);
    expect_samples(&measured.kernels[0]);
    gpu_run_end(&measured.run);
    for (int i = 0; i < LAUNCHES; i++) ptx_program_free(measured.programs[i]);
    ptx_module_free(measured.module);
    setenv("REDVIZ_NVDISASM", "/nowhere", 1); /* not tried again */
    if (!measure(&measured, SASS_COUNTS, &error)) fail_msg("%s", error.message);
    expect_counts(&measured.kernels[0]);
    expect_samples(&measured.kernels[0]);
    measured_done(&measured);
}

/* Code after the listed instructions: a called function, or padding. */
static void other_places_are_said(void **state) {
    (void)state;
    setenv("STUB_PCS", "3", 1);
    Measured measured = begin(SASS_ALL);
    assert_int_equal(measured.notes.unplaced, LAUNCHES * (1 + 2 * 3));
    expect_counts(&measured.kernels[0]);
    expect_samples(&measured.kernels[0]);
    measured_done(&measured);
}

static void samples_that_fail(void **state) {
    (void)state;
    static const char *const names[] = {
        "cuptiPCSamplingEnable", "cuptiPCSamplingGetNumStallReasons",        "cuptiPCSamplingGetStallReasons",
        "cuptiPCSamplingStart",  "cuptiPCSamplingSetConfigurationAttribute", "cuptiPCSamplingGetData"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char fail[96], words[160];
        snprintf(fail, sizeof fail, "%s=35", names[i]);
        snprintf(words, sizeof words, "%s: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: the driver lets only root",
                 names[i]);
        setenv("STUB_FAIL", fail, 1);
        Measured measured = begin(SASS_ALL);
        if (!strstr(measured.notes.samples.message, words))
            fail_msg("%s: %s", fail, measured.notes.samples.message);
        assert_int_equal(measured.kernels[0].sampled.n, 0);
        expect_counts(&measured.kernels[0]);
        measured_done(&measured);
    }
    clean(NULL);
    every_instruction_of_every_launch(NULL); /* nothing was left enabled */
}

static void no_samples_at_all(void **state) {
    (void)state;
    setenv("STUB_NO_PCS", "1", 1);
    Measured measured = begin(SASS_ALL);
    assert_string_equal(measured.notes.samples.message, "PC sampling: no samples: its buffer was full");
    assert_int_equal(measured.kernels[0].sampled.n, 0);
    expect_counts(&measured.kernels[0]);
    measured_done(&measured);
}

static void counts_that_fail(void **state) {
    (void)state;
    static const char *const names[] = {"cuptiProfilerInitialize", "cuptiDeviceGetChipName",
                                        "cuptiSassMetricsEnable", "cuptiSassMetricsGetDataProperties",
                                        "cuptiSassMetricsFlushData"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char fail[96];
        snprintf(fail, sizeof fail, "%s=35", names[i]);
        setenv("STUB_FAIL", fail, 1);
        Measured measured = begin(SASS_ALL);
        if (!strstr(measured.notes.counts.message, names[i]))
            fail_msg("%s: %s", fail, measured.notes.counts.message);
        assert_int_equal(measured.kernels[0].counted.n, 0);
        expect_samples(&measured.kernels[0]);
        measured_done(&measured);
    }
}

static void a_chip_without_these_metrics(void **state) {
    (void)state;
    setenv("STUB_FAIL", "cuptiSassMetricsGetProperties=1", 1);
    Measured measured = begin(SASS_COUNTS);
    assert_string_equal(measured.notes.counts.message,
                        "CUPTI cannot count smsp__sass_inst_executed on GS100");
    measured_done(&measured);
}

static void without_a_listing(void **state) {
    (void)state;
    setenv("STUB_NVDISASM_FAILS", "nvdisasm fatal   : Invalid cubin", 1);
    Measured measured = begin(SASS_ALL);
    assert_string_equal(measured.notes.code.message, "nvdisasm failed: nvdisasm fatal   : Invalid cubin");
    assert_int_equal(measured.kernels[0].count, 0);
    measured_done(&measured);
    clean(NULL);
    setenv("REDVIZ_NVDISASM", "/nowhere", 1);
    measured = begin(SASS_ALL);
    assert_string_equal(measured.notes.code.message, "REDVIZ_NVDISASM=/nowhere is not an executable program");
    measured_done(&measured);
    clean(NULL);
    every_instruction_of_every_launch(NULL);
}

static void launches_that_fail(void **state) {
    (void)state;
    setenv("STUB_FAIL", "cuLaunchKernel=700", 1);
    Error error = {0};
    Measured measured = {.cuda = open_stub()};
    assert_false(measure(&measured, SASS_ALL, &error));
    assert_non_null(strstr(error.message, "cuLaunchKernel: "));
    measured_done(&measured);
    measured = (Measured){.cuda = open_stub(), .fails_to_load = true};
    error = (Error){0};
    assert_false(measure(&measured, SASS_ALL, &error));
    assert_string_equal(error.message, "no such module");
    measured_done(&measured);
    clean(NULL);
    every_instruction_of_every_launch(NULL);
}

/* A long launch gets fewer samples per cycle, so that they fit in the buffer. */
static void the_period_grows(void **state) {
    (void)state;
    Cuda cuda = {.clock_khz = 1000000};
    assert_int_equal(pc_sampling_period(&cuda, 0), 32);
    assert_int_equal(pc_sampling_period(&cuda, 1000), 512);    /* 10^6 cycles: 1,953 samples */
    assert_int_equal(pc_sampling_period(&cuda, 10000), 8192);  /* 10^7: 1,221 */
    assert_int_equal(pc_sampling_period(&cuda, 1e7), 1 << 23); /* 10^10: 1,192 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(loaded_code_is_kept, clean),
        cmocka_unit_test_setup(a_compiler_that_fails, clean),
        cmocka_unit_test_setup(every_instruction_of_every_launch, clean),
        cmocka_unit_test_setup(counts_may_come_later, clean),
        cmocka_unit_test_setup(other_places_are_said, clean),
        cmocka_unit_test_setup(samples_that_fail, clean),
        cmocka_unit_test_setup(no_samples_at_all, clean),
        cmocka_unit_test_setup(counts_that_fail, clean),
        cmocka_unit_test_setup(a_chip_without_these_metrics, clean),
        cmocka_unit_test_setup(without_a_listing, clean),
        cmocka_unit_test_setup(launches_that_fail, clean),
        cmocka_unit_test_setup(the_period_grows, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
