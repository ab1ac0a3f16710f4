/* The grid of a run without a GPU: kernels with the residency probe, run by the emulator in the driver's
 * place (stub/emulated.c), whose blocks start 500 ns apart on successive multiprocessors. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/grid_print.h"
#include "libraries.h"
#include "ask/ask.h"
#include "trace/grid_file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MULTIPROCESSORS = 132, BETWEEN_BLOCKS = 500 /* ns */ };

static int begin(void **state) {
    (void)state;
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    return 0;
}

static Session *open_run(RunSpec options) {
    Error error = {0};
    options.backend = BACKEND_GPU;
    options.times_blocks = true;
    options.threads = 1;
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", options.kernel ? options.kernel : options.file, error.message);
    return session;
}

static const GridTimeline *grid_of(Session *session) {
    const SessionGrid *grid = session_grid(session);
    if (!grid->timeline) fail_msg("%s", grid->why ? grid->why : "no grid");
    assert_true(grid->is_live);
    assert_ptr_equal(session_own_grid(session), grid->timeline);
    return grid->timeline;
}

/* ---- kernels of the catalogue -------------------------------------------------------------------------- */

static void check_launch(const GridTimeline *timeline, int index, const TraceLaunch *traced) {
    const GridLaunch *launch = &timeline->launches[index];
    assert_string_equal(launch->entry, traced->name);
    assert_true(grid_same_launch(launch, traced->grid, traced->block));
    assert_int_equal(launch->capacity, 8); /* as in the stub */
    for (uint64_t i = 0; i < launch->block_count; i++) {
        const GridBlock *block = &launch->blocks[i];
        assert_int_equal(block->multiprocessor, i % MULTIPROCESSORS);
        assert_int_equal(block->start - launch->blocks[0].start, i * BETWEEN_BLOCKS);
        /* Two clock ticks are a nanosecond; each is rounded down. */
        assert_in_range(2 * (block->end - block->start) + 1, block->cycles - 1, block->cycles + 3);
        assert_true(block->cycles > 0);
    }
}

/* Every launch, after the one before; the results are still right. */
static void kernels_have_their_grid(void **state) {
    (void)state;
    static const char *const kernels[] = {"interleaved", "multi_add",   "grid_stride",    "two_stage",
                                          "last_block",  "cooperative", "shuffle_atomic", "softmax_row"};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Session *session = open_run((RunSpec){.kernel = kernels[i], .catalog = {.n = 3000, .block = 64}});
        const Trace *trace = session_trace(session);
        const GridTimeline *timeline = grid_of(session);
        assert_string_equal(timeline->of.kernel, kernels[i]);
        assert_string_equal(timeline->of.machine, "Stub 1");
        assert_int_equal(timeline->of.n, 3000);
        assert_int_equal(timeline->multiprocessors, MULTIPROCESSORS);
        assert_int_equal(timeline->launch_count, trace->launch_count);
        assert_true(timeline->overhead == 0); /* the stub's events are 0.25 ms apart */
        for (int k = 0; k < timeline->launch_count; k++) check_launch(timeline, k, trace->launches[k]);
        for (int k = 1; k < timeline->launch_count; k++) assert_in_range(grid_gap(timeline, k), 500, 520);
        assert_true(session_result(session)->correct);
        session_free(session);
    }
}

static void the_report_has_it(void **state) {
    (void)state;
    Text text = {0};
    Session *session = open_run((RunSpec){.kernel = "two_stage", .catalog = {.n = 3000, .block = 64}});
    ask_report(session, true, &text);
    const char *at = strstr(text_string(&text), "\"grid_on_machine\":{\"device\":\"Stub 1\"");
    assert_non_null(at);
    assert_non_null(strstr(at, "\"recorded\":null,\"multiprocessors\":132,"));
    assert_non_null(strstr(at, "\"blocks_per_multiprocessor\":8,"));
    assert_non_null(strstr(at, "\"gap_ns\":null,\"tail_ns\":"));
    assert_non_null(strstr(at, "\"gap_ns\":50"));
    session_free(session);
    text_clear(&text);
    RunSpec options = {.kernel = "interleaved", .catalog = {.n = 3000}, .threads = 1};
    Error error = {0};
    session = session_open(&options, &error);
    ask_report(session, true, &text);
    assert_non_null(strstr(text_string(&text), "\"grid_on_machine\":null"));
    session_free(session);
    text_done(&text);
}

static void take(void *context, GridTimeline *timeline) {
    GridTimeline **kept = context;
    assert_null(*kept);
    *kept = timeline;
}

/* The output of --bench=grid can be read back. */
static void the_file_has_it(void **state) {
    (void)state;
    BenchOptions options = {.kernel = "two_stage", .catalog = {.n = 5000}};
    GridTimeline *timeline = NULL;
    Error error = {0};
    char path[64];
    snprintf(path, sizeof path, "/tmp/redviz_grid_%d.tsv", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (!grid_print(&options, file, NULL, &error)) fail_msg("%s", error.message);
    fclose(file);
    if (!grid_file_read(path, take, &timeline, &error)) fail_msg("line %d: %s", error.line, error.message);
    unlink(path);
    assert_string_equal(timeline->of.kernel, "two_stage");
    assert_string_equal(timeline->of.dtype, "int");
    assert_true(timeline->of.n == 5000 && timeline->launch_count == 2 && timeline->overhead == 0);
    assert_int_equal(timeline->launches[0].blocks[1].start, BETWEEN_BLOCKS);
    grid_timeline_free(timeline);
}

/* ---- a user's kernels ---------------------------------------------------------------------------------- */

static const char
    before[] = ".version 7.0\n.target sm_75\n.address_size 64\n",
    registers[] =
        "{\n.reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %q<4>;\n"
        "mov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %ctaid.z;\n";

static Session *open_text(const char *head, const char *body, RunSpec options) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/redviz_residency_%d.ptx", (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s%s}\n", before, head, registers, body);
    fclose(file);
    options.file = path;
    Session *session = open_run(options);
    unlink(path);
    return session;
}

/* Warp 0 exits at once, and so do lanes of warp 1; its other lanes continue for a while. Blocks with z = 1
 * exit as a whole. */
static void the_last_warp_ends_a_block(void **state) {
    (void)state;
    static const char body[] =
        "setp.eq.u32 %p0, %r3, 1;\n@%p0 ret;\n"
        "setp.lt.u32 %p1, %r0, 40;\n@%p1 exit;\n"
        "mov.u32 %r4, 0;\nL: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 100;\n@%p2 bra L;\n"
        "setp.ge.u32 %p3, %r0, 50;\n@!%p3 ret;\n"
        "mov.u32 %r4, 0;\nM: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 50;\n@%p2 bra M;\n"
        "ret;\n";
    Session *session = open_text(".visible .entry kernel()\n", body,
                                 (RunSpec){.entry = "kernel", .grid = {3, 2, 2}, .block = {64, 1, 1}});
    const GridTimeline *timeline = grid_of(session);
    const GridLaunch *launch = &timeline->launches[0];
    assert_int_equal(launch->block_count, 12);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(launch->blocks[i].multiprocessor, i);
        assert_int_equal(launch->blocks[i].start, i * BETWEEN_BLOCKS);
        if (i < 6)
            assert_in_range(launch->blocks[i].cycles, 3 * 150, 3 * 150 + 100);
        else
            assert_in_range(launch->blocks[i].cycles, 1, 50);
    }
    session_free(session);
}

/* An entry without ret, without a list, with directives behind the list, with a parameter. */
static void headers_of_all_kinds(void **state) {
    (void)state;
    static const char *const heads[] = {".visible .entry kernel\n", ".visible .entry kernel( )\n",
                                        ".visible .entry kernel()\n.maxntid 64, 1, 1\n.minnctapersm 2\n",
                                        ".visible .entry kernel(\n.param .u64 out\n)\n.reqntid 32, 1, 1\n"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        Session *session =
            open_text(heads[i], "add.u32 %r0, %r0, 1;\n",
                      (RunSpec){.entry = "kernel", .grid = {2, 1, 1}, .block = {32, 1, 1}, .catalog.n = 32});
        assert_int_equal(grid_of(session)->launches[0].block_count, 2);
        session_free(session);
    }
}

/* The variable is 1 after the first run: a second one without resetting it would trap. */
static void variables_are_put_back(void **state) {
    (void)state;
    static const char body[] =
        "mov.u64 %q0, flag;\nld.global.u32 %r4, [%q0];\nsetp.ne.u32 %p0, %r4, 0;\n@%p0 trap;\n"
        "mov.u32 %r4, 1;\nst.global.u32 [%q0], %r4;\nret;\n";
    Session *session = open_text(".visible .global .u32 flag;\n.visible .entry kernel()\n", body,
                                 (RunSpec){.entry = "kernel", .grid = {1, 1, 1}, .block = {1, 1, 1}});
    assert_int_equal(grid_of(session)->launches[0].block_count, 1);
    session_free(session);
}

static void what_cannot_have_the_probe(void **state) {
    (void)state;
    static const char head[] = ".func leave()\n{\nexit;\n}\n.visible .entry kernel()\n";
    Session *session = open_text(head, "call leave;\nret;\n",
                                 (RunSpec){.entry = "kernel", .grid = {1, 1, 1}, .block = {1, 1, 1}});
    assert_null(session_grid(session)->timeline);
    assert_string_equal(session_grid(session)->why,
                        "the called function leave exits, which the probe would not see");
    session_free(session);
}

/* ---- kept in a session file ---------------------------------------------------------------------------- */

static char *text_of(const GridTimeline *timeline) {
    Text text = {0};
    grid_file_write(timeline, &text);
    return text.data;
}

static Session *save_and_open(Session *session, const char *path) {
    Error error = {0};
    if (!ask_save(session, path, &error)) fail_msg("%s", error.message);
    RunSpec options = {.saved = path, .threads = 1};
    Session *again = session_open(&options, &error);
    if (!again) fail_msg("%s", error.message);
    return again;
}

/* The grid of this run is used even if another size was recorded, and saved again from there. */
static void a_session_file_keeps_the_grid(void **state) {
    (void)state;
    char path[] = "/tmp/redviz_grid_XXXXXX", other[] = "/tmp/redviz_grid_XXXXXX";
    close(mkstemp(path)), close(mkstemp(other));
    RunSpec options = {.kernel = "two_stage"};
    options.catalog.n = 5000;
    Session *session = open_run(options);
    char *measured = text_of(grid_of(session));
    Session *again = save_and_open(session, path), *twice = save_and_open(again, other);
    session_free(session);
    Session *const opened[] = {again, twice};
    for (int i = 0; i < 2; i++) {
        const SessionGrid *grid = session_grid(opened[i]);
        assert_non_null(grid->timeline);
        assert_true(grid->is_saved && !grid->is_live && !grid->why);
        assert_ptr_equal(session_own_grid(opened[i]), grid->timeline);
        char *read = text_of(grid->timeline);
        assert_string_equal(read, measured);
        free(read);
    }
    session_free(again), session_free(twice);
    free(measured);
    unlink(path), unlink(other);
}

/* A recording of the same kernel is not this run's: it is not saved. */
static void a_session_file_keeps_no_recording(void **state) {
    (void)state;
    char path[] = "/tmp/redviz_grid_XXXXXX";
    Error error = {0};
    close(mkstemp(path));
    RunSpec options = {.kernel = "two_stage", .backend = BACKEND_EMULATOR, .threads = 1};
    Session *session = session_open(&options, &error);
    assert_non_null(session);
    session_grid(session);
    Session *again = save_and_open(session, path);
    assert_false(session_grid(again)->is_saved);
    session_free(session), session_free(again);
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(kernels_have_their_grid, begin),
        cmocka_unit_test_setup(the_report_has_it, begin),
        cmocka_unit_test_setup(the_file_has_it, begin),
        cmocka_unit_test_setup(the_last_warp_ends_a_block, begin),
        cmocka_unit_test_setup(headers_of_all_kinds, begin),
        cmocka_unit_test_setup(variables_are_put_back, begin),
        cmocka_unit_test_setup(what_cannot_have_the_probe, begin),
        cmocka_unit_test_setup(a_session_file_keeps_the_grid, begin),
        cmocka_unit_test_setup(a_session_file_keeps_no_recording, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
