/* Kernels with the wait probe, run by the emulator beside their originals: the results are the same, and each
 * wait is recorded as often, and by the lane, as the emulator's own counters and events say. The emulated
 * machine has one multiprocessor, so that every warp is traced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"
#include "tests/gpu/libraries.h"
#include "small_kernel.h"
#include "waited.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kernels of the catalogue -------------------------------------------------------------------------- */

static bool check_kernel(const CatalogRow *row, CatalogOptions options, WaitProbeOptions probe) {
    Waited waited = {.name = row->id, .options = probe};
    CatalogRun resolved;
    Error error = {0};
    options.multiprocessors = 1;
    if (!catalog_resolve(row, &options, &resolved, &error)) return false; /* not with this block */
    for (int side = 0; side < 2; side++)
        if (!catalog_plan(&resolved, &waited.plans[side], &error) ||
            !plan_fill(&waited.plans[side], 1, &error))
            fail_msg("%s: %s", row->id, error.message);
    waited.module = catalog_module(row, &error);
    if (!waited.module) fail_msg("%s: %s", row->id, error.message);
    waited_instrument(&waited);
    waited_run(&waited);
    waited_check(&waited);
    waited_done(&waited);
    return true;
}

static void kernels_wait_as_often_as_they_should(void **state) {
    (void)state;
    int checked = 0;
    WaitProbeOptions with_shared = waited_options, with_lines = waited_options;
    with_shared.kinds |= 1u << WARP_WAITS_SHARED;
    with_lines.kinds |= 1u << WARP_WAITS_SHARED | 1u << WARP_PASSES_LINE;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group == CATALOG_BUG || row->latencies) continue; /* their results depend on time */
        checked += check_kernel(row, (CatalogOptions){.n = 1500}, waited_options);
        checked += check_kernel(row, (CatalogOptions){.n = 200, .block = 64}, with_shared);
        checked += check_kernel(row, (CatalogOptions){.n = 300}, with_lines);
    }
    assert_true(checked > 40);
}

/* ---- small kernels ------------------------------------------------------------------------------------- */

/* Runs it and compares the results. Its body ends itself. */
static Waited run_small_with(SmallKernel small, WaitProbeOptions options) {
    Waited waited = {.name = small.name, .options = options};
    small.has_own_end = true;
    waited.module = small_kernel_parse(&small);
    for (int side = 0; side < 2; side++) small_kernel_plan(&small, &waited.plans[side]);
    waited_instrument(&waited);
    waited_run(&waited);
    return waited;
}

static Waited run_small(SmallKernel small) {
    return run_small_with(small, waited_options);
}

static void check_small(SmallKernel small, int sites) {
    Waited waited = run_small(small);
    waited_check(&waited);
    if (waited.sites.count != sites)
        fail_msg("%s: %d sites, expected %d", small.name, waited.sites.count, sites);
    waited_done(&waited);
}

/* Each lane, or half of a warp, goes its own way. */
static void split_warps(void **state) {
    (void)state;
    check_small((SmallKernel){.name = "a load and an atomic in each arm",
                              .body = "setp.lt.u32 %p0, %l, 12;\n@%p0 bra LOW;\n"
                                      "ld.global.u32 %r0, [%out];\nadd.u32 %r0, %r0, 1;\nbra MEET;\n"
                                      "LOW: atom.global.add.u32 %r0, [%out+4], 7;\nmul.lo.u32 %r0, %r0, 3;\n"
                                      "MEET: st.global.u32 [%out+8], %r0;\nbar.sync 0;\nret;",
                              .block = 64,
                              .grid = 3},
                3);
    check_small((SmallKernel){.name = "rounds that differ by lane",
                              .body = "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n"
                                      "NEXT: ld.global.u32 %r0, [%out];\nadd.u32 %r2, %r2, %r0;\n"
                                      "atom.global.add.u32 %r3, [%out+4], 1;\nadd.u32 %r2, %r2, %r3;\n"
                                      "add.u32 %r1, %r1, 1;\nsetp.le.u32 %p0, %r1, %l;\n@%p0 bra NEXT;\n"
                                      "st.global.u32 [%out+8], %r2;\nmembar.gl;\nret;"},
                3);
    check_small((SmallKernel){.name = "a barrier in each arm",
                              .body =
                                  "setp.lt.u32 %p0, %l, 16;\n@%p0 bra LOW;\n"
                                  "barrier.sync 0;\nst.global.u32 [%out], %t;\nbarrier.sync 0;\nret;\n"
                                  "LOW: barrier.sync 0;\nst.global.u32 [%out+4], %t;\nbarrier.sync 0;\nret;",
                              .block = 64},
                4);
    check_small((SmallKernel){.name = "values that come from either path",
                              .body = "mov.u32 %r0, 5;\nsetp.lt.u32 %p0, %l, 9;\n@%p0 bra SKIP;\n"
                                      "ld.global.u32 %r0, [%out];\nSKIP: st.global.u32 [%out+4], %r0;\nret;"},
                1);
}

static void guards(void **state) {
    (void)state;
    check_small((SmallKernel){.name = "guarded waits",
                              .body =
                                  "setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 32;\n@!%p0 bar.sync 2, 32;\n"
                                  "setp.gt.u32 %p1, %l, 20;\n@%p1 membar.cta;\n"
                                  "@%p1 ld.global.u32 %r0, [%out];\n@%p1 st.global.u32 [%out+4], %r0;\nret;",
                              .block = 64},
                4);
    check_small(
        (SmallKernel){.name = "early return, and guarded exits",
                      .body =
                          "setp.eq.u32 %p0, %b, 1;\n@%p0 ret;\nsetp.lt.u32 %p1, %t, 40;\n@%p1 exit;\n"
                          "barrier.sync 0;\nsetp.ge.u32 %p2, %l, 20;\n@!%p2 ret;\n"
                          "ld.global.u32 %r0, [%out];\nst.global.u32 [%out+4], %r0;\nbarrier.sync 0;\nexit;",
                      .block = 96,
                      .grid = 2},
        3);
    check_small((SmallKernel){.name = "no ret", .body = "bar.sync 0;\nst.global.u32 [%out], %t;"}, 1);
    check_small((SmallKernel){.name = "a loop that ends the text",
                              .body = "mov.u32 %r0, 0;\nNEXT: add.u32 %r0, %r0, 1;\nbar.sync 0;\n"
                                      "setp.gt.u32 %p0, %r0, 4;\n@%p0 ret;\nbra NEXT;"},
                1);
    check_small(
        (SmallKernel){.name = "warps that are not full",
                      .body = "bar.sync 0;\nld.global.u32 %r0, [%out];\nst.global.u32 [%out+4], %r0;\nret;",
                      .block = 40},
        2);
}

/* Warp 1 waits until warp 0 has written, many rounds later. */
static void a_spin_is_one_wait(void **state) {
    (void)state;
    static const char body[] =
        "setp.ge.u32 %p0, %t, 32;\n@%p0 bra WAIT;\nmov.u32 %r0, 0;\n"
        "WORK: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 200;\n@%p1 bra WORK;\n"
        "mov.u32 %r1, 1234;\nst.volatile.global.u32 [%base], %r1;\nbra DONE;\n"
        "WAIT: ld.volatile.global.u32 %r1, [%base];\nsetp.ne.u32 %p2, %r1, 1234;\n@%p2 bra WAIT;\n"
        "DONE: st.global.u32 [%out+8], %r1;\nret;";
    Waited waited = run_small((SmallKernel){.name = "spin", .body = body, .block = 64});
    waited_check(&waited);
    assert_int_equal(waited.sites.count, 1);
    assert_int_equal(waited.sites.sites[0].state, WARP_WAITS_OTHERS);
    for (uint32_t slot = 0; slot < 2; slot++) {
        const WaitHeader *header = waited_header(&waited, 0, slot);
        assert_int_equal(header->counts[0], header->warp);
        if (header->warp) assert_in_range(waited_records(&waited, 0, slot, 0)->duration, 300, 2000);
    }
    waited_done(&waited);
    /* A loop that waits for two words is one wait, too. */
    waited = run_small((SmallKernel){
        .name = "two words",
        .body = "setp.ge.u32 %p0, %t, 32;\n@%p0 bra WAIT;\nmov.u32 %r0, 0;\n"
                "WORK: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 200;\n@%p1 bra WORK;\n"
                "mov.u32 %r1, 1234;\nst.volatile.global.u32 [%base], %r1;\n"
                "st.volatile.global.u32 [%base+4], %r1;\nbra DONE;\n"
                "WAIT: ld.volatile.global.u32 %r1, [%base];\nadd.u32 %r2, %r1, 0;\n"
                "ld.volatile.global.u32 %r3, [%base+4];\nadd.u32 %r2, %r2, %r3;\n"
                "setp.ne.u32 %p2, %r2, 2468;\n@%p2 bra WAIT;\nDONE: st.global.u32 [%out+8], %r1;\nret;",
        .block = 64});
    waited_check(&waited);
    assert_int_equal(waited.sites.count, 2);
    for (uint32_t slot = 0; slot < 2; slot++) {
        const WaitHeader *header = waited_header(&waited, 0, slot);
        assert_int_equal(header->counts[0], header->warp);
    }
    waited_done(&waited);
    /* A loop over mbarrier.try_wait, too. */
    waited = run_small((SmallKernel){
        .name = "mbarrier",
        .body = ".shared .align 8 .b64 gate;\nsetp.ne.u32 %p0, %t, 0;\n@%p0 bra READY;\n"
                "mbarrier.init.shared.b64 [gate], 1;\nREADY: bar.sync 0;\n@%p0 bra WAIT;\nmov.u32 %r0, 0;\n"
                "WORK: add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p1, %r0, 200;\n@%p1 bra WORK;\n"
                "mbarrier.arrive.shared.b64 %q0, [gate];\nWAIT: mbarrier.try_wait.parity.shared.b64 %p2, "
                "[gate], 0;\n"
                "@!%p2 bra WAIT;\nst.global.u32 [%out+8], %t;\nret;",
        .block = 64});
    waited_check(&waited);
    for (uint32_t slot = 0; slot < 2; slot++)
        if (waited_header(&waited, 0, slot)->warp == 1)
            assert_int_equal(waited_header(&waited, 0, slot)->counts[0], 2);
    waited_done(&waited);
}

/* What stands twice in the text: labels, scopes, tables of branches; and once: shared memory. */
static void both_copies(void **state) {
    (void)state;
    check_small(
        (SmallKernel){
            .name = "scopes",
            .body = "mov.u32 %r0, 0;\n{ .reg .b32 %mine; .reg .pred %mp; mov.u32 %mine, %l;\n"
                    "AGAIN: add.u32 %r0, %r0, %mine; setp.lt.u32 %mp, %r0, 50;\n"
                    "ld.global.u32 %r1, [%out]; add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, 1;\n"
                    "@%mp bra AGAIN; { .reg .b32 %mine; mov.u32 %mine, 3; add.u32 %r0, %r0, %mine; } }\n"
                    "st.global.u32 [%out+4], %r0;\nret;"},
        1);
    check_small(
        (SmallKernel){.name = "a table of branches",
                      .body =
                          "TABLE: .branchtargets A, B, C;\nrem.u32 %r0, %l, 3;\nld.global.u32 %r1, [%out];\n"
                          "brx.idx %r0, TABLE;\nA: add.u32 %r1, %r1, 1;\nbra MEET;\n"
                          "B: bar.warp.sync 0x92492492;\nmul.lo.u32 %r1, %r1, 3;\nC: add.u32 %r1, %r1, 9;\n"
                          "MEET: st.global.u32 [%out+4], %r1;\nret;"},
        3);
    check_small((SmallKernel){.name = "calls",
                              .module = ".func (.reg .b32 %got) fetch(.reg .b64 %from) {\n"
                                        "ld.global.u32 %got, [%from];\nadd.u32 %got, %got, 1;\nret;\n}",
                              .body = "ld.global.u32 %r1, [%out];\ncall (%r0), fetch, (%out);\n"
                                      "add.u32 %r0, %r0, %r1;\nst.global.u32 [%out+4], %r0;\nret;"},
                1);
    Waited waited = run_small((SmallKernel){
        .name = "shared memory",
        .module = ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b32 of_module;",
        .body = ".shared .align 4 .b8 fixed[256];\nshl.b32 %r0, %t, 2;\nmov.u32 %r1, fixed;\nadd.u32 "
                "%r1, %r1, %r0;\n"
                "st.shared.u32 [%r1], %t;\nmov.u32 %r2, dynamic;\nadd.u32 %r2, %r2, "
                "%r0;\nst.shared.u32 [%r2], %r0;\n"
                "st.shared.u32 [of_module], 5;\nbar.sync 0;\nld.shared.u32 %r3, "
                "[%r1];\nld.shared.u32 %r4, [%r2];\n"
                "ld.shared.u32 %r5, [of_module];\nadd.u32 %r3, %r3, %r4;\nadd.u32 %r3, %r3, %r5;\n"
                "st.global.u32 [%out+4], %r3;\nret;",
        .block = 64,
        .shared_bytes = 256});
    waited_check(&waited);
    const char *first = strstr(text_string(&waited.text), "fixed[256]");
    assert_non_null(first);
    assert_null(strstr(first + 1, "fixed[256]"));
    waited_done(&waited);
}

static void launches_of_all_kinds(void **state) {
    (void)state;
    static const char body[] =
        "ld.global.u32 %r0, [%out];\nadd.u32 %r0, %r0, 1;\nst.global.u32 [%out], %r0;\n"
        "bar.sync 0;\nret;";
    check_small((SmallKernel){.name = "two launches", .body = body, .launches = 2, .grid = 2, .block = 64},
                2);
    check_small((SmallKernel){.name = "cooperative", .body = body, .cooperative = true, .grid = 2}, 2);
    check_small(
        (SmallKernel){.name = "clusters",
                      .body = "barrier.cluster.arrive;\nbarrier.cluster.wait;\nst.global.u32 [%out], %l;\n"
                              "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\nret;",
                      .grid = 4,
                      .block = 64,
                      .cluster = 2},
        2);
    check_small(
        (SmallKernel){.name = "copies",
                      .body = ".shared .align 16 .b8 to[1024];\nshl.b32 %r0, %t, 4;\nmov.u32 %r1, to;\n"
                              "add.u32 %r1, %r1, %r0;\ncp.async.ca.shared.global [%r1], [%out], 16;\n"
                              "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%r1];\n"
                              "st.global.u32 [%out+32], %r2;\nret;"},
        1);
}

/* ---- room ---------------------------------------------------------------------------------------------- */

static const char many_barriers[] =
    "mov.u32 %r0, 0;\nNEXT: bar.sync 0;\nadd.u32 %r0, %r0, 1;\n"
    "setp.lt.u32 %p0, %r0, 600;\n@%p0 bra NEXT;\nst.global.u32 [%out], %r0;\nret;";

/* Warps without a slot run the original; waits without room are counted. */
static void expect_difference(const Waited *waited, const WarpTimeline *timeline, const char *text) {
    WarpComparison comparison;
    waited_compare(waited, timeline, &comparison);
    assert_string_equal(text_string(&comparison.difference), text);
    assert_int_equal(comparison.warps, 2);
    if (*text) assert_true(comparison.agree < 2 || strstr(text, " times, "));
    warp_comparison_done(&comparison);
}

static WarpLine *line_of_warp(const WarpTimeline *timeline, uint32_t warp) {
    return &timeline->lines[timeline->lines[0].warp == warp ? 0 : 1];
}

static void a_difference_is_named(void **state) {
    (void)state;
    static const char body[] = "bar.sync 0;\nld.global.u32 %r0, [%out];\nadd.u32 %r0, %r0, 1;\n"
                               "st.global.u32 [%out+4], %r0;\nbar.sync 1;\nbar.sync 2;\nret;";
    Waited waited = run_small((SmallKernel){.name = "differs", .body = body, .block = 64});
    WarpTimeline *timeline = waited_timeline(&waited);
    WarpLine *line = line_of_warp(timeline, 1);
    int pcs[4];
    char text[160];
    assert_int_equal(line->wait_count, 4);
    for (int i = 0; i < 4; i++) pcs[i] = timeline->sites[line->waits[i].site].pc;
    expect_difference(&waited, timeline, "");
    WarpWait last = line->waits[3];
    line->waits[3] = line->waits[2]; /* the last two barriers, the other way round */
    line->waits[2] = last;
    snprintf(text, sizeof text,
             "block 0, warp 1, lane 0, wait 2: the machine waits at pc %d (barrier), the emulator at pc %d "
             "(barrier)",
             pcs[3], pcs[2]);
    expect_difference(&waited, timeline, text);
    line->waits[2] = line->waits[3];
    line->waits[3] = last;
    line->wait_count = 3; /* the last one is missing */
    snprintf(text, sizeof text,
             "block 0, warp 1, lane 0, wait 3: the machine waits at none, the emulator at pc %d (barrier)",
             pcs[3]);
    expect_difference(&waited, timeline, text);
    timeline->dropped = 1; /* no wonder */
    expect_difference(&waited, timeline, "");
    timeline->dropped = 0;
    line->wait_count = 4;
    line->waits[1].site = line->waits[0].site; /* a barrier too many, a load too few */
    snprintf(text, sizeof text,
             "block 0, warp 1, lane 0, wait 2: the machine waits at pc %d (barrier), the emulator at pc %d "
             "(barrier)",
             pcs[0], pcs[2]);
    expect_difference(&waited, timeline, text);
    warp_timeline_free(timeline);
    waited_done(&waited);
}

/* The machine need not split a warp as the emulator does: each lane of the other part records, too. */
static void other_parts_of_a_warp_may_wait(void **state) {
    (void)state;
    Waited waited = run_small(
        (SmallKernel){.name = "parts", .body = "barrier.sync 0;\nbarrier.sync 1;\nret;", .block = 64});
    WarpTimeline *timeline = waited_timeline(&waited);
    WarpLine *line = line_of_warp(timeline, 0);
    WarpWait more[4] = {line->waits[0], line->waits[1], line->waits[1], line->waits[1]};
    WarpComparison comparison;
    assert_int_equal(line->wait_count, 2);
    more[2].lane = 20;
    line->waits = more;
    line->wait_count = 3;
    timeline->line_count = 2;
    waited_compare(&waited, timeline, &comparison);
    assert_int_equal(comparison.agree, 2);
    assert_int_equal(comparison.split, 1);
    warp_comparison_done(&comparison);
    more[3].lane = 20; /* twice, where the thread comes by once */
    line->wait_count = 4;
    waited_compare(&waited, timeline, &comparison);
    assert_int_equal(comparison.agree, 1);
    warp_comparison_done(&comparison);
    warp_timeline_free(timeline);
    waited_done(&waited);
}

static void what_has_no_room(void **state) {
    (void)state;
    const WaitProbeOptions few = {.kinds = WAIT_DEFAULT_KINDS, .room = 4, .slots = 3};
    Waited waited =
        run_small_with((SmallKernel){.name = "no room", .body = many_barriers, .grid = 3, .block = 64}, few);
    assert_int_equal(waited_wanted_slots(&waited, 0), 6);
    for (uint32_t slot = 0; slot < 3; slot++) {
        const WaitHeader *header = waited_header(&waited, 0, slot);
        assert_int_equal(header->counts[0], 600);
        for (int i = 0; i < 4; i++) assert_true(waited_records(&waited, 0, slot, 0)[i].end > 0);
        assert_int_equal(waited_records(&waited, 0, slot, 1)->end, 0); /* the next lane's */
    }
    waited_done(&waited);
}

/* Another multiprocessor is traced: nothing is written. */
static void others_run_the_original(void **state) {
    (void)state;
    Waited waited = {.name = "others", .options = waited_options};
    SmallKernel small = {.name = "others", .body = many_barriers, .has_own_end = true};
    waited.module = small_kernel_parse(&small);
    for (int side = 0; side < 2; side++) small_kernel_plan(&small, &waited.plans[side]);
    waited_instrument(&waited);
    for (int multiprocessor = -1; multiprocessor < 2; multiprocessor += 2) {
        uint64_t value = wait_parameter(UINT64_C(0xffffffffffff), multiprocessor);
        EmulatorOptions settings = {.threads = 1, .trace_first = 1, .multiprocessors = 1};
        Plan plan;
        Error error = {0};
        plan_copy(&waited.plans[0], &plan);
        assert_true(plan_fill(&plan, 1, &error));
        plan_add_scalar(&plan, &plan.launches[0], &value, sizeof value);
        Emulator *emulator = emulator_new(&settings);
        Trace *trace = trace_new("emulator");
        emulator_add_buffer(emulator, "out", plan.buffers[0].bytes, plan.buffers[0].count * 4, PTX_U32);
        Launch launch = twin_bind(emulator, &plan.launches[0], waited.probed[0], "others");
        assert_true(emulator_run(emulator, &launch, trace, &error));
        assert_int_equal(trace->trap_count, 0); /* the buffer's address is none */
        assert_int_equal(((const uint32_t *)(const void *)plan.buffers[0].bytes)[0], 600);
        launch_done(&launch);
        emulator_free(emulator);
        trace_free(trace);
        plan_free(&plan);
    }
    waited_done(&waited);
}

/* On a GPU (the emulated one), more room is made until nothing is dropped. */
static void the_buffer_grows(void **state) {
    (void)state;
    char path[64];
    Error error = {0};
    use_library("REDVIZ_CUDA", "libcuda_emulated.so");
    snprintf(path, sizeof path, "/tmp/redviz_waits_%d.ptx", (int)getpid());
    PtxModule *module =
        small_kernel_parse(&(SmallKernel){.name = "grows", .body = many_barriers, .has_own_end = true});
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(module->text, file);
    fclose(file);
    ptx_module_free(module);
    RunSpec options = {.file = path,
                       .entry = "kernel",
                       .args = "out=uint[1024]",
                       .grid = {1, 1, 1},
                       .block = {64, 1, 1},
                       .threads = 1,
                       .times_warps = true,
                       .keep_inputs = true};
    Session *session = session_open(&options, &error);
    unlink(path);
    if (!session) fail_msg("%s", error.message);
    const SessionWarps *warps = session_warps(session);
    if (warps->count != 1) fail_msg("%s", warps->why);
    const WarpTimeline *timeline = warps->timelines[0];
    assert_true(warps->is_live && timeline->dropped == 0);
    assert_int_equal(timeline->line_count, 2);
    for (int i = 0; i < 2; i++) assert_int_equal(timeline->lines[i].wait_count, 600);
    session_free(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_wait_as_often_as_they_should),
        cmocka_unit_test(split_warps),
        cmocka_unit_test(guards),
        cmocka_unit_test(a_spin_is_one_wait),
        cmocka_unit_test(both_copies),
        cmocka_unit_test(launches_of_all_kinds),
        cmocka_unit_test(a_difference_is_named),
        cmocka_unit_test(other_parts_of_a_warp_may_wait),
        cmocka_unit_test(what_has_no_room),
        cmocka_unit_test(others_run_the_original),
        cmocka_unit_test(the_buffer_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
