/* Kernels with clocks, run by the emulator: the text links, results are unchanged, and block 0 has as many
 * intervals as its trace; and the arithmetic of intervals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "emulator/emulator.h"
#include "instrument/clocks.h"
#include "session/session.h"
#include "tests/emulator/core.h"
#include "tests/instrument/twin.h"
#include <stdlib.h>
#include <string.h>

/* ---- the arithmetic ------------------------------------------------------------------------------------ */

#define EXIT(time) ((time) | UINT64_C(1) << 63)

/* Warp 0: 100, barrier 150, exit 180; warp 1: 110, barrier 160, exit 170; warp 2 exits early, at 300. */
static void the_last_warp_ends_an_interval(void **state) {
    (void)state;
    static uint64_t samples[CLOCKS_WARPS * CLOCKS_SAMPLES];
    static double cycles[CLOCKS_SAMPLES];
    static const uint64_t warps[3][3] = {{100, 150, EXIT(180)}, {110, 160, EXIT(170)}, {105, EXIT(130)}};
    for (int w = 0; w < 3; w++) memcpy(&samples[w * CLOCKS_SAMPLES], warps[w], sizeof warps[w]);
    assert_int_equal(instrument_clock_intervals(samples, cycles), 2);
    assert_true(cycles[0] == 60 && cycles[1] == 20);
    samples[2 * CLOCKS_SAMPLES + 1] = EXIT(165); /* later than the others' barrier */
    assert_int_equal(instrument_clock_intervals(samples, cycles), 2);
    assert_true(cycles[0] == 65 && cycles[1] == 15);
    memset(samples, 0, sizeof samples);
    assert_int_equal(instrument_clock_intervals(samples, cycles), 0);
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

typedef struct Run {
    Plan plan;
    PtxModule *module, *clocked;
    PtxProgram *program, *clocked_program;
    Emulator *emulator;
    Trace *trace;
} Run;

static void link_clocked(Run *run, const CatalogRow *row) {
    Error error = {0};
    Text out = {0};
    run->module = catalog_module(row, &error);
    if (!run->module) fail_msg("%s", error.message);
    PtxFunction *entry = ptx_module_find_entry(run->module, run->plan.launches[0].entry, &error);
    assert_non_null(entry);
    run->program = ptx_program_link(run->module, entry, &error);
    assert_non_null(run->program);
    const PtxProgram *programs[] = {run->program};
    if (!instrument_clocks(programs, 1, &out, &error)) fail_msg("%s: %s", row->id, error.message);
    run->clocked = ptx_module_parse(text_string(&out), out.length, "clocks", &error);
    if (!run->clocked) fail_msg("%s: line %d: %s", row->id, error.line, error.message);
    entry = ptx_module_find_entry(run->clocked, entry->name, &error);
    run->clocked_program = entry ? ptx_program_link(run->clocked, entry, &error) : NULL;
    if (!run->clocked_program) fail_msg("%s: line %d: %s", row->id, error.line, error.message);
    text_done(&out);
}

static void execute(Run *run) {
    const PlanLaunch *planned = &run->plan.launches[0];
    EmulatorOptions settings = {.threads = 1, .trace_first = 1};
    Error error = {0};
    run->emulator = emulator_new(&settings);
    run->trace = trace_new("emulator");
    for (int i = 0; i < run->plan.buffer_count; i++) {
        PlanBuffer *buffer = &run->plan.buffers[i];
        emulator_add_buffer(run->emulator, buffer->name, buffer->bytes,
                            buffer->count * (uint64_t)ptx_type_bytes(buffer->type), buffer->type);
    }
    Launch launch = twin_bind(run->emulator, planned, run->clocked_program, "with clocks");
    if (!emulator_run(run->emulator, &launch, run->trace, &error)) fail_msg("%s", error.message);
    assert_int_equal(run->trace->trap_count, 0);
    launch_done(&launch);
}

static const uint64_t *samples_of(const Run *run) {
    for (int i = run->plan.buffer_count; i < run->trace->buffer_count; i++)
        if (!strcmp(run->trace->buffers[i].name, CLOCKS_VARIABLE))
            return emulator_buffer_bytes(run->emulator, i);
    fail_msg("there is no " CLOCKS_VARIABLE);
    return NULL;
}

static int intervals_of_trace(const char *kernel, const CatalogOptions *options) {
    RunSpec session_spec = {.kernel = kernel, .catalog = *options, .threads = 1};
    Error error = {0};
    Session *session = session_open(&session_spec, &error);
    if (!session) fail_msg("%s: %s", kernel, error.message);
    int intervals = session_block(session, 0)->steps->interval_step_count;
    session_free(session);
    return intervals;
}

static void compare(const char *kernel, CatalogOptions options) {
    Run run = {0};
    CatalogRun resolved;
    ExpectResult result = {0};
    Error error = {0};
    Plan filled;
    static double cycles[CLOCKS_SAMPLES];
    const CatalogRow *row = catalog_find(kernel, &error);
    assert_non_null(row);
    if (!catalog_resolve(row, &options, &resolved, &error) || !catalog_plan(&resolved, &run.plan, &error))
        fail_msg("%s: %s", kernel, error.message);
    assert_int_equal(run.plan.launch_count, 1);
    assert_true(plan_fill(&run.plan, 0, &error));
    link_clocked(&run, row);
    if (!run.clocked_program) return; /* the test has failed */
    filled = run.plan;                /* these kernels do not change their input */
    execute(&run);
    row->check(&resolved, &filled, &run.plan, &result);
    if (!result.correct) fail_msg("%s: %s instead of %s", kernel, result.result_text, result.expected_text);
    int count = instrument_clock_intervals(samples_of(&run), cycles);
    assert_int_equal(count, intervals_of_trace(kernel, &options));
    for (int i = 0; i < count; i++) assert_true(cycles[i] > 0 && cycles[i] < 1e6);
    emulator_free(run.emulator);
    trace_free(run.trace);
    ptx_program_free(run.program);
    ptx_program_free(run.clocked_program);
    ptx_module_free(run.module);
    ptx_module_free(run.clocked);
    plan_free(&run.plan);
}

static void kernels_have_their_intervals(void **state) {
    static const char *const kernels[] = {
        "interleaved",       "strided",         "sequential", "unrolled",         "shuffle",    "atomic",
        "vectorized_shared", "lab_bank_stride", "row_sum",    "lab_partial_warp", "grid_stride"};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        compare(kernels[i], (CatalogOptions){.n = 3000});
    compare("strided", (CatalogOptions){.n = 100, .block = 1024});
    compare("strided", (CatalogOptions){.n = 100, .block = 32});
}

/* ---- small kernels ---- */

static const char frame[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n%s.visible .entry kernel(.param .u64 out)\n{\n"
    ".reg .pred %%p<8>;\n.reg .b32 %%r<8>;\n%s\nret;\n}\n";

/* The text with clocks; empty if it is refused, for a reason that contains `reason`. */
static Text clocked(const char *functions, const char *body, const char *reason) {
    Text text = {0}, out = {0};
    Error error = {0};
    text_print(&text, frame, functions, body);
    PtxModule *module = ptx_module_parse(text_string(&text), text.length, "small.ptx", &error);
    PtxFunction *entry = module ? ptx_module_find_entry(module, "kernel", &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program) fail_msg("%d: %s", error.line, error.message);
    const PtxProgram *programs[] = {program};
    bool good = instrument_clocks(programs, 1, &out, &error);
    if (good != !reason) fail_msg("%s", good ? "it is not refused" : error.message);
    if (reason && !strstr(error.message, reason)) fail_msg("'%s' is not in '%s'", reason, error.message);
    ptx_program_free(program);
    ptx_module_free(module);
    text_done(&text);
    if (reason) text_clear(&out);
    return out;
}

/* Runs it, and copies the samples. */
static void run_small(const char *body, const uint32_t grid[3],
                      uint64_t samples[CLOCKS_WARPS * CLOCKS_SAMPLES]) {
    Text text = clocked("", body, NULL);
    CoreRun run = core_run_well((CoreKernel){
        .module = text_string(&text), .grid = grid[0], .grid_y = grid[1], .block = 96, .words = 1});
    const uint64_t *written = NULL;
    for (int i = 0; i < run.trace->buffer_count; i++)
        if (!strcmp(run.trace->buffers[i].name, CLOCKS_VARIABLE))
            written = emulator_buffer_bytes(run.emulator, i);
    if (!written) fail_msg("there is no buffer for the clocks");
    memcpy(samples, written, CLOCKS_BYTES);
    core_done(&run);
    text_done(&text);
}

/* This many samples, of which only the last is an exit. The first is 0, where the machine's clock begins. */
static void expect_samples(const uint64_t *samples, int warp, int count) {
    const uint64_t *own = samples + (size_t)warp * CLOCKS_SAMPLES;
    for (int i = 0; i < CLOCKS_SAMPLES; i++) {
        if (i) assert_int_equal(own[i] != 0, i < count);
        assert_int_equal(own[i] >> 63, i == count - 1);
        if (i && i < count) assert_true((own[i] << 1) > (own[i - 1] << 1));
    }
}

/* Guards: warp 1 exits at the first exit, lanes of warp 0 and all of warp 2 do not; the other blocks have one
 * more barrier, which is not recorded. */
static void warps_note_what_they_execute(void **state) {
    (void)state;
    static const uint32_t grids[][3] = {{1, 1, 1}, {2, 1, 1}, {1, 2, 1}};
    static uint64_t samples[CLOCKS_WARPS * CLOCKS_SAMPLES];
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        run_small(
            "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; setp.eq.u32 %p0, %r1, 1; setp.ne.u32 %p1, %r1, 1;\n"
            "@%p0 exit;\n@!%p1 exit;\n"
            "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ctaid.y; or.b32 %r2, %r2, %r3; setp.eq.u32 %p2, %r2, 0;\n"
            "@%p2 bra FIRST;\nbar.sync 0;\nFIRST: bar.sync 0;\nbar.sync 0;\n"
            "setp.lt.u32 %p3, %r0, 200; @!%p3 ret;",
            grids[i], samples);
        expect_samples(samples, 0, 4);
        expect_samples(samples, 1, 2);
        expect_samples(samples, 2, 4);
        for (int warp = 3; warp < CLOCKS_WARPS; warp++) expect_samples(samples, warp, 0);
    }
}

/* Without room for more, the last sample is still the exit, and the next warp's samples are intact. */
static void too_many_intervals(void **state) {
    (void)state;
    static uint64_t samples[CLOCKS_WARPS * CLOCKS_SAMPLES];
    Text body = {0};
    text_print(
        &body,
        "mov.u32 %%r0, 0;\nL: bar.sync 0;\nadd.u32 %%r0, %%r0, 1;\nsetp.lt.u32 %%p0, %%r0, %d;\n@%%p0 bra L;",
        CLOCKS_SAMPLES + 3);
    run_small(text_string(&body), (const uint32_t[]){1, 1, 1}, samples);
    for (int warp = 0; warp < 3; warp++) expect_samples(samples, warp, CLOCKS_SAMPLES);
    text_done(&body);
}

/* A loop begins at the first instruction: the code before the loop is still executed only once. */
static void a_kernel_that_begins_with_a_loop(void **state) {
    (void)state;
    static uint64_t samples[CLOCKS_WARPS * CLOCKS_SAMPLES];
    run_small("L: bar.sync 0;\nadd.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, 3;\n@%p0 bra L;",
              (const uint32_t[]){1, 1, 1}, samples);
    for (int warp = 0; warp < 3; warp++) expect_samples(samples, warp, 5);
}

static void barriers_of_called_functions_are_refused(void **state) {
    (void)state;
    static const char with[] = ".func meet() { .reg .b32 %r<2>; mov.u32 %r0, 1; bar.sync 0; ret; }\n";
    static const char without[] = ".func meet() { .reg .b32 %r<2>; mov.u32 %r0, 1; ret; }\n";
    Text out = clocked(with, "call meet;", "meet");
    text_done(&out);
    out = clocked(without, "call meet;", NULL);
    text_done(&out);
    out = clocked(with, "bar.sync 0;", NULL); /* which is not called */
    assert_null(strstr(text_string(&out), ".func meet"));
    text_done(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_warp_ends_an_interval),
        cmocka_unit_test(kernels_have_their_intervals),
        cmocka_unit_test(warps_note_what_they_execute),
        cmocka_unit_test(too_many_intervals),
        cmocka_unit_test(a_kernel_that_begins_with_a_loop),
        cmocka_unit_test(barriers_of_called_functions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
