/* Captured runs on a driver whose GPU is the emulator (stub/emulated.c): it runs the instrumented kernels, at
 * other addresses. (Other orders: tests/session/test_compare.c.) */
#define _DEFAULT_SOURCE

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "session/state.h"
#include "libraries.h"
#include "ptx/approximate.h"
#include "session/gpu.h"
#include "trace/trace_compare.h"
#include "trace/producer_rules.h"

static int begin(void **state) {
    (void)state;
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    return 0;
}

static Session *open_run(RunSpec options) {
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", options.kernel, error.message);
    return session;
}

static RunSpec run_of(const char *kernel, const char *dtype, uint32_t block) {
    RunSpec options = {.kernel = kernel, .catalog = {.n = 5000, .block = block, .seed = 1}};
    if (dtype) assert_true(plan_type_parse(dtype, &options.catalog.dtype));
    return options;
}

/* ---- --verify ------------------------------------------------------------------------------------------ */

static void verify(const char *kernel, const char *dtype, const char *says) {
    Error error = {0};
    Text text = {0};
    bool same = false;
    RunSpec options = run_of(kernel, dtype, 64);
    options.keep_inputs = true;
    Session *session = open_run(options);
    if (!ask_verify(session, &text, &same, &error)) fail_msg("%s: %s", kernel, error.message);
    if (!same || !strstr(text_string(&text), says)) fail_msg("%s", text_string(&text));
    session_free(session);
    text_done(&text);
}

static void what_is_verified(void **state) {
    (void)state;
    verify("interleaved", "int",
           "emulator and Stub 1 agree\n  1 blocks, 64 threads, 1727 events of threads\n"
           "  from the recording: 0 values that only scheduling decides; 0 differ from the emulator's");
    verify("strided", "double", "  memory after the run: the same to the bit\n");
    verify("two_stage", "float", "  2 blocks, 128 threads");
    verify("atomic", "int", "  from the recording: 64 values that only scheduling decides;");
    verify("last_block", "float", "  from the recording: 1 values that only scheduling decides;");
    verify("softmax_row", "float",
           "results of .approx, within the error that PTX states; 0 differ from the emulator's");
    verify("redux", "int", "  active masks: ");
    verify("lab_latency", "int", "  active masks: "); /* reads %clock64 */
}

/* Kernels in which lanes meet from several places, or have exited. */
static void own_kernels_agree(void **state) {
    (void)state;
    Text command = {0};
    const char *redviz = getenv("REDVIZ_BIN");
    text_print(&command, "sh tests/device/verify.sh %s >&2", redviz ? redviz : "build/redviz");
    assert_int_equal(system(text_string(&command)), 0);
    text_done(&command);
}

static void cooperative_grids_shrink_to_what_fits(void **state) {
    (void)state;
    setenv("STUB_BLOCKS", "1", 1); /* per multiprocessor */
    Error error = {0};
    Text text = {0};
    bool same = false;
    RunSpec options = run_of("cooperative", "int", 256);
    options.catalog.n = 1 << 20;
    options.keep_inputs = true;
    Session *session = open_run(options);
    assert_int_equal(session_trace(session)->launches[0]->grid[0], 264);
    if (!ask_verify(session, &text, &same, &error)) fail_msg("%s", error.message);
    assert_true(same);
    assert_non_null(strstr(text_string(&text), "  grid: 132 blocks, all that the GPU can hold at once"));
    session_free(session);
    options.catalog.grid = 200; /* requested */
    session = open_run(options);
    assert_false(ask_verify(session, &text, &same, &error));
    assert_non_null(
        strstr(error.message, "a cooperative grid of 200 blocks; instrumented, the GPU holds 132"));
    session_free(session);
    text_done(&text);
    unsetenv("STUB_BLOCKS");
}

/* ---- captured data
 * --------------------------------------------------------------------------------------- */

static void events_that_find_no_room_are_counted(void **state) {
    (void)state;
    Error error = {0};
    Text text = {0};
    bool same = false;
    RunSpec options = run_of("interleaved", "int", 1024);
    options.keep_inputs = true;
    Session *session = open_run(options);
    Cuda *cuda = session_gpu_take(&error);
    GpuCopy copy;
    assert_non_null(cuda);
    if (!session_gpu_copy_capture(&copy, session, cuda, &(CaptureOptions){.region_bytes = 1 << 16}, &error))
        fail_msg("%s", error.message);
    session_gpu_give_back(false);
    assert_true(copy.trace->launches[0]->dropped > 100);
    assert_int_equal(copy.tally.dropped, copy.trace->launches[0]->dropped);
    AskRecording other = {copy.trace, copy.base, "Stub 1", false};
    assert_false(ask_compare(session, &other, &(EmulatorTakenValues){0}, &text, &same, &error));
    assert_non_null(strstr(error.message, "events did not fit the trace buffer"));
    session_gpu_copy_done(&copy);
    session_free(session);
}

/* The probes need registers, too: those available to a block of this size. */
static void the_compiler_knows_the_block(void **state) {
    (void)state;
    Error error = {0};
    RunSpec options = run_of("sequential", "double", 4096);
    options.catalog.block = 1024;
    options.backend = BACKEND_GPU;
    unsetenv("STUB_THREADS");
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    assert_string_equal(getenv("STUB_THREADS"), "1024");
    session_free(session);
}

static void what_the_driver_refuses_is_told(void **state) {
    (void)state;
    static const char *const calls[] = {"cuModuleLoadDataEx=218", "cuMemAlloc_v2=2", "cuLaunchKernel=1",
                                        "cuModuleGetFunction=500", "cuEventCreate=2"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        Error error = {0};
        RunSpec options = run_of("interleaved", "int", 64);
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(calls[i], "_="), calls[i]);
        options.backend = BACKEND_GPU;
        setenv("STUB_FAIL", calls[i], 1);
        assert_null(session_open(&options, &error));
        unsetenv("STUB_FAIL");
        if (strncmp(error.message, "--backend gpu: ", 15) != 0 || !strstr(error.message, name))
            fail_msg("%s: %s", calls[i], error.message);
    }
}

/* ---- --backend gpu ------------------------------------------------------------------------------------- */

static void same_threads(Session *a, Session *b, const char *what) {
    TraceSide sides[2] = {{session_trace(a), NULL, "emulator"}, {session_trace(b), NULL, "gpu"}};
    TraceComparison comparison;
    trace_compare(&sides[0], &sides[1], &comparison);
    if (!comparison.same) fail_msg("%s: %s", what, text_string(&comparison.difference));
    trace_comparison_done(&comparison);
}

/* The weights of an event's values, of the replay that answers for the block. */
static bool event_weights(Session *session, int view, int event, uint32_t weight[32], int32_t producer[32]) {
    if (session_progress(session, view, event) < 0 || !session->views[view].replay) return false;
    const ReplayEventProvenance *found = replay_event_provenance(session->views[view].replay, event);
    if (!found) return false;
    memcpy(weight, found->weight, sizeof found->weight);
    memcpy(producer, found->producer, sizeof found->producer);
    return true;
}

/* Queries of values give the same answers, thread by thread. */
static void same_weights(Session *a, Session *b, const char *what) {
    uint32_t weights[2][32];
    int32_t producers[32];
    for (int v = 0; v < session_block_count(a); v++) {
        Session *sides[2] = {a, b};
        uint64_t sums[2] = {0, 0};
        for (int s = 0; s < 2; s++) {
            int events = trace_block_event_count(session_block(sides[s], v)->block);
            for (int e = 0; e < events; e++) {
                if (!event_weights(sides[s], v, e, weights[s], producers))
                    fail_msg("%s: event %d of %d of side %d has no weights", what, e, events, s);
                for (int lane = 0; lane < 32; lane++) sums[s] += weights[s][lane];
            }
        }
        if (sums[0] != sums[1]) fail_msg("%s: the weights are others", what);
        assert_int_equal(!session_folds(a, v), !session_folds(b, v));
    }
}

/* The order of threads and the values of clocks differ there. */
static bool depends_on_the_machine(const Trace *trace) {
    for (int l = 0; l < trace->launch_count; l++) {
        const PtxProgram *program = trace->launches[l]->program;
        for (int pc = 0; pc < program->code_count; pc++)
            if (trace_watches(program->code[pc].instruction) ||
                ptx_reads_machine(program->code[pc].instruction))
                return true;
    }
    return false;
}

static void compare_backends(const CatalogRow *row, const char *dtype, uint32_t block) {
    RunSpec options = run_of(row->id, dtype, block);
    CatalogRun run;
    char what[96];
    if (!catalog_resolve(row, &options.catalog, &run, NULL)) return; /* not a type or size of this kernel */
    snprintf(what, sizeof what, "%s %s %u", row->id, dtype, block);
    Session *emulated = open_run(options);
    options.backend = BACKEND_GPU;
    Session *captured = open_run(options);
    assert_string_equal(session_backend(captured), "Stub 1 LIVE");
    assert_true(session_is_captured(captured) && !session_is_captured(emulated));
    assert_false(ask_failed(captured));
    bool in_one_order = !depends_on_the_machine(session_trace(captured));
    if (in_one_order) same_threads(emulated, captured, what);
    if (in_one_order) same_weights(emulated, captured, what);
    session_free(emulated);
    session_free(captured);
}

static void every_kernel_is_captured(void **state) {
    (void)state;
    static const char *const types[] = {"int", "float", "double", "half", "bfloat"};
    for (int i = 0; i < catalog_count(); i++) {
        if (catalog_row(i)->group == CATALOG_BUG) continue;
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            compare_backends(catalog_row(i), types[t], 64);
            if (!getenv("REDVIZ_TEST_QUICK")) compare_backends(catalog_row(i), types[t], 256);
        }
    }
}

static void a_report_says_who(void **state) {
    (void)state;
    RunSpec options = run_of("last_block", "int", 64);
    options.backend = BACKEND_AUTO;
    Session *session = open_run(options);
    Text text = {0};
    ask_report(session, true, &text);
    assert_non_null(strstr(text_string(&text), "\"backend\":\"gpu\",\"device\":\"Stub 1\",\"n\":5000"));
    assert_non_null(strstr(text_string(&text), "\"counted_by\":\"emulator\",\"dropped_events\":0}"));
    assert_non_null(strstr(text_string(&text), "\"correct\":true"));
    text_clear(&text);
    ask_report(session, false, &text);
    assert_non_null(
        strstr(text_string(&text), "events and result: Stub 1; counts of the whole grid: the emulator"));
    session_free(session);
    text_done(&text);
}

static void print_events(Session *session, Text *out) {
    FILE *file = tmpfile();
    char part[4096];
    size_t bytes;
    session_events(session, file);
    rewind(file);
    while ((bytes = fread(part, 1, sizeof part, file)) > 0) text_add_bytes(out, part, bytes);
    fclose(file);
}

/* Grid barriers use memory internal to the driver: its addresses are not saved. */
static void a_captured_run_is_kept(void **state) {
    (void)state;
    static const char *const kernels[] = {"cooperative", "last_block", "softmax_row", "cluster"};
    char path[] = "/tmp/redviz_capture_XXXXXX.redviz";
    int file = mkstemps(path, 7);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Error error = {0};
        Text before = {0}, after = {0};
        RunSpec options = run_of(kernels[i], "float", 64);
        options.backend = BACKEND_GPU;
        Session *session = open_run(options);
        print_events(session, &before);
        if (!ask_save(session, path, &error)) fail_msg("%s", error.message);
        session_free(session);
        session = session_open(&(RunSpec){.saved = path}, &error);
        if (!session) fail_msg("%s", error.message);
        assert_string_equal(session_backend(session), "RECORDED Stub 1");
        print_events(session, &after);
        assert_string_equal(text_string(&before), text_string(&after));
        assert_true(session_progress(session, 0, 0) >= 0);
        session_free(session);
        text_done(&before);
        text_done(&after);
    }
    unlink(path);
}

static long captures(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    long count = ftell(file);
    fclose(file);
    return count;
}

/* The first look captures; the run that counts the grid takes over its events, and otherwise equals a run
 * that captured itself. */
static void a_large_run_is_captured_once(void **state) {
    (void)state;
    char path[] = "/tmp/redviz_captures_XXXXXX";
    close(mkstemp(path));
    setenv("STUB_CAPTURES", path, 1);
    RunSpec options = run_of("interleaved", "int", 256);
    options.catalog.n = 1 << 19;
    options.backend = BACKEND_GPU;
    Session *alone = open_run(options);
    assert_int_equal(captures(path), 1);
    options.first_look = options.times_blocks = true;
    Session *first = open_run(options);
    assert_true(session_grid(first)->is_live);
    assert_true(session_is_partial(first) && session_is_captured(first));
    assert_int_equal(captures(path), 2);
    options.first_look = false;
    options.search_races = options.has_events = true;
    Session *whole = open_run(options);
    assert_false(session_is_captured(whole) || session_spec(whole)->has_events);
    session_take_events(whole, first);
    assert_int_equal(captures(path), 2);
    session_free(first);
    assert_true(session_grid(whole)->is_live && session_grid(whole)->timeline);
    assert_string_equal(session_backend(whole), session_backend(alone));
    assert_true(session_result(whole)->correct);
    assert_string_equal(session_result(whole)->result_text, session_result(alone)->result_text);
    Text mine = {0}, others = {0};
    print_events(whole, &mine);
    print_events(alone, &others);
    assert_string_equal(text_string(&mine), text_string(&others));
    const TraceLaunch *launch = session_trace(whole)->launches[0], *same = session_trace(alone)->launches[0];
    assert_int_equal(launch->symbol_count, same->symbol_count);
    assert_int_equal(launch->symbols[0].window_offset, same->symbols[0].window_offset);
    assert_string_equal(launch->symbols[0].name, same->symbols[0].name);
    assert_true(session_progress(whole, 0, 0) == session_progress(alone, 0, 0));
    assert_non_null(ask_hazards(whole));
    text_done(&mine);
    text_done(&others);
    session_free(whole);
    session_free(alone);
    unsetenv("STUB_CAPTURES");
    unlink(path);
}

/* Nothing is taken over from a run of other code, or from one that captured nothing. */
static void events_of_another_run_are_not_taken(void **state) {
    (void)state;
    RunSpec options = run_of("interleaved", "int", 64);
    Session *whole = open_run(options), *emulated = open_run(options);
    options.kernel = "sequential";
    options.backend = BACKEND_GPU;
    Session *other = open_run(options);
    session_take_events(whole, emulated);
    session_take_events(whole, other);
    assert_string_equal(session_backend(whole), "EMULATED");
    assert_string_equal(session_backend(other), "Stub 1 LIVE");
    assert_int_equal(session_block_count(whole), 1);
    session_free(emulated);
    session_free(other);
    session_free(whole);
}

static void without_a_driver(void **state) {
    (void)state;
    Error error = {0};
    RunSpec options = run_of("interleaved", "int", 64);
    session_gpu_take(NULL);
    session_gpu_give_back(true); /* the existing one is closed */
    setenv("REDVIZ_CUDA", "/nowhere/libcuda.so.1", 1);
    options.backend = BACKEND_AUTO;
    Session *session = open_run(options);
    assert_string_equal(session_backend(session), "EMULATED");
    session_free(session);
    options.backend = BACKEND_GPU;
    assert_null(session_open(&options, &error));
    assert_string_equal(error.message, "--backend gpu: there is no CUDA driver here (/nowhere/libcuda.so.1)");
}

/* Last: this process cannot use the GPU afterwards. */
static void a_kernel_that_never_returns(void **state) {
    (void)state;
    Error error = {0};
    RunSpec options = {.file = "tests/cli/spin.ptx",
                       .catalog = {.n = 64},
                       .instruction_budget = 100000,
                       .keep_inputs = true};
    Session *session = open_run(options);
    Cuda *cuda = session_gpu_take(&error);
    GpuCopy copy;
    assert_non_null(cuda);
    assert_false(session_gpu_copy_capture(&copy, session, cuda, &(CaptureOptions){.seconds = 0.05}, &error));
    session_gpu_give_back(true);
    assert_non_null(strstr(error.message, "the kernel has not returned after 0.05 s on Stub 1; giving up"));
    assert_true(session_gpu_is_hung());
    session_gpu_copy_done(&copy);
    session_free(session);
    RunSpec next = run_of("interleaved", "int", 64);
    next.backend = BACKEND_GPU;
    assert_null(session_open(&next, &error));
    assert_non_null(strstr(error.message, "still busy with what did not return"));
    next.backend = BACKEND_AUTO;
    session = open_run(next);
    assert_string_equal(session_backend(session), "EMULATED");
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_verified, begin),
        cmocka_unit_test_setup(own_kernels_agree, begin),
        cmocka_unit_test_setup(cooperative_grids_shrink_to_what_fits, begin),
        cmocka_unit_test_setup(events_that_find_no_room_are_counted, begin),
        cmocka_unit_test_setup(the_compiler_knows_the_block, begin),
        cmocka_unit_test_setup(what_the_driver_refuses_is_told, begin),
        cmocka_unit_test_setup(every_kernel_is_captured, begin),
        cmocka_unit_test_setup(a_report_says_who, begin),
        cmocka_unit_test_setup(a_captured_run_is_kept, begin),
        cmocka_unit_test_setup(a_large_run_is_captured_once, begin),
        cmocka_unit_test_setup(events_of_another_run_are_not_taken, begin),
        cmocka_unit_test_setup(without_a_driver, begin),
        cmocka_unit_test_setup(a_kernel_that_never_returns, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
