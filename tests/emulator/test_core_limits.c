/* Endless runs, runs that are too large, and cancelled runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <pthread.h>
#include <time.h>

static const char endless[] = "mov.u32 %r0, 0;\nLOOP: add.u32 %r0, %r0, 1; bra LOOP;";

static void expect_error(CoreKernel kernel, const char *part) {
    CoreRun run = core_run(kernel);
    if (run.done) fail_msg("it ran; expected: %s", part);
    if (!strstr(run.error.message, part)) fail_msg("'%s' is not in '%s'", part, run.error.message);
    core_done(&run);
}

/* ---- instructions -------------------------------------------------------------------------------------- */

static void test_instruction_budget(void **state) {
    (void)state;
    CoreKernel kernel = {.body = endless, .options = {.instruction_budget = 100000}};
    core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "more than 100000 warp instructions; an endless loop?");
    kernel.untraced = true;
    core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "100000");
    kernel.grid = 1000;
    kernel.block = 64;
    kernel.options.threads = 4;
    core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "100000");
    CoreRun run = core_run(kernel);
    uint64_t executed = 0;
    for (int pc = 0; pc < run.program->code_count; pc++) executed += run.launch->counters[pc].executions;
    assert_in_range(executed, 100000, 120000); /* the executed instructions are counted */
    core_done(&run);
}

/* The budget is that of the grid, not of a block, and does not affect a run that ends in time. */
static void test_budget_of_the_grid(void **state) {
    (void)state;
    CoreKernel kernel = {
        .body = "mov.u32 %r0, 0;\nLOOP: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 1000; @%p0 bra LOOP;",
        .grid = 10,
        .untraced = true,
        .options = {.instruction_budget = 31000}};
    CoreRun run = core_run_well(kernel);
    core_done(&run);
    kernel.grid = 20;
    core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "31000");
}

static void test_every_kind_of_endless_loop(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "LOOP: bra LOOP;",
        "LOOP: setp.lt.u32 %p0, %t, 5; @%p0 bra LOOP;",
        "LOOP: bar.sync 0; bra LOOP;",
        "LOOP: call again; bra LOOP;",
        "TARGETS: .branchtargets LOOP;\nLOOP: mov.u32 %r0, 0; brx.idx %r0, TARGETS;",
        "LOOP: atom.global.add.u32 %r0, [%base], 1; bra LOOP;",
        "LOOP: st.shared.u32 [word], %t; bra LOOP;",
        "LOOP: shfl.sync.idx.b32 %r0, %r0, 0, 31, -1; bra LOOP;",
        "LOOP: nanosleep.u32 1000; bra LOOP;",
        ("and.b32 %r9, %t, 31; setp.lt.u32 %p0, %r9, 5; @%p0 bra A;\nB: bar.warp.sync 0xffffffe0; bra B;\nA: "
         "bar.warp.sync 0x1f; "
         "bra A;"),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        CoreKernel kernel = {.body = bodies[i],
                             .module = ".shared .u32 word;\n.func again() { ret; }\n",
                             .block = 64,
                             .options = {.instruction_budget = 50000}};
        core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "50000");
        kernel.untraced = true;
        core_run_trap(kernel, TRAP_INSTRUCTION_BUDGET, "50000");
    }
}

/* ---- cancelling ---------------------------------------------------------------------------------------- */

static atomic_bool called_off;

static void *call_off(void *unused) {
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    called_off = true;
    return NULL;
}

static void test_cancel(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads += 3) {
        pthread_t thread;
        called_off = false;
        assert_int_equal(pthread_create(&thread, NULL, call_off, NULL), 0);
        expect_error((CoreKernel){.body = endless,
                                  .grid = 1000,
                                  .untraced = true,
                                  .options = {.cancel = &called_off, .threads = threads}},
                     "cancelled");
        pthread_join(thread, NULL);
    }
    /* Also if blocks wait for each other. */
    pthread_t thread;
    called_off = false;
    assert_int_equal(pthread_create(&thread, NULL, call_off, NULL), 0);
    expect_error((CoreKernel){.body = "LOOP: atom.global.add.u32 %r0, [%base], 1; bra LOOP;",
                              .grid = 3,
                              .untraced = true,
                              .options = {.cancel = &called_off}},
                 "cancelled");
    pthread_join(thread, NULL);
}

static void test_progress(void **state) {
    (void)state;
    _Atomic uint64_t done = 0;
    CoreRun run = core_run_well((CoreKernel){
        .body = "st.global.u32 [%out], 1;", .grid = 600, .options = {.blocks_done = &done, .threads = 2}});
    assert_int_equal(done, 600);
    core_done(&run);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void test_blocks_too_large_for_this_machine(void **state) {
    (void)state;
    CoreKernel kernel = {.body = ".local .b8 mine[100000];\nst.local.u32 [mine], %t;",
                         .block = 1024,
                         .options = {.memory_limit_bytes = 10 << 20}};
    core_run_trap(kernel, TRAP_TOO_LARGE, "1 resident block needs");
    kernel.options.memory_limit_bytes = 0;
    CoreRun run = core_run_well(kernel);
    core_done(&run);
}

/* All blocks of a cooperative launch are resident; others take turns in the available memory. */
static void test_cooperative_grid_too_large_for_this_machine(void **state) {
    (void)state;
    CoreKernel kernel = {.body = "atom.global.add.u32 %r0, [%base], 1;",
                         .block = 256,
                         .grid = 1000,
                         .untraced = true,
                         .options = {.memory_limit_bytes = 4 << 20}};
    CoreRun run = core_run_well(kernel);
    assert_int_equal(run.out[0], 256000);
    core_done(&run);
    kernel.cooperative = true;
    core_run_trap(kernel, TRAP_TOO_LARGE, "1000 resident blocks need");
}

static void test_local_memory_beyond_any_thread(void **state) {
    (void)state;
    core_run_trap((CoreKernel){.body = ".local .b8 mine[600000];\nst.local.u32 [mine], %t;"},
                  TRAP_STACK_OVERFLOW, "512 KB");
}

/* ---- launches that no machine accepts ------------------------------------------------------------------ */

static void test_geometry(void **state) {
    (void)state;
    static const char body[] = "st.global.u32 [%out], 1;";
    expect_error((CoreKernel){.body = body, .block = 1025, .words = 1}, "a block has at most 1024");
    expect_error((CoreKernel){.body = body, .block = 32, .block_y = 33, .words = 1},
                 "the block has 1056 threads");
    expect_error((CoreKernel){.body = body, .grid = 0x80000000, .words = 1}, "a grid has 1 to 2147483647");
    expect_error((CoreKernel){.body = body, .grid = 1, .grid_y = 65536, .words = 1}, "65535");
    expect_error((CoreKernel){.body = body, .grid = 1 << 20, .grid_y = 1 << 14, .words = 1},
                 "too many to emulate");
    expect_error((CoreKernel){.body = body, .shared_bytes = 300000},
                 "a block uses 300000 bytes of shared memory; the limit is 232448");
    expect_error((CoreKernel){.body = body, .shared_bytes = 0xffffffff}, "bytes of shared memory");
    CoreRun run = core_run_well((CoreKernel){.body = body, .block = 1024, .shared_bytes = 232448});
    core_done(&run);
}

static void test_directives(void **state) {
    (void)state;
    static const char format[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                 ".visible .entry kernel(.param .u64 p) %s { ret; }\n";
    Text module = {0};
    text_print(&module, format, ".reqntid 64, 2");
    expect_error((CoreKernel){.module = text_string(&module), .block = 128},
                 "compiled for blocks of 64 x 2 x 1 threads");
    CoreRun run = core_run_well((CoreKernel){.module = text_string(&module), .block = 64, .block_y = 2});
    core_done(&run);
    text_clear(&module);
    text_print(&module, format, ".maxntid 64");
    expect_error((CoreKernel){.module = text_string(&module), .block = 128},
                 "at most 64 threads per block, not 128");
    text_done(&module);
}

static void expect_cluster_error(const char *directives, CoreKernel kernel, const char *part) {
    Text module = {0};
    text_print(&module,
               ".version 8.0\n.target sm_90\n.address_size 64\n"
               ".visible .entry kernel(.param .u64 p) %s { ret; }\n",
               directives);
    kernel.module = text_string(&module);
    expect_error(kernel, part);
    text_done(&module);
}

/* Launches that a GPU refuses. */
static void test_clusters_refused(void **state) {
    (void)state;
    expect_cluster_error(".reqnctapercluster 2", (CoreKernel){.grid = 3},
                         "the grid of 3x1x1 blocks is not a multiple of the cluster of 2x1x1 blocks");
    expect_cluster_error(".reqnctapercluster 1, 2", (CoreKernel){.grid = 4}, "the cluster of 1x2x1 blocks");
    expect_cluster_error("", (CoreKernel){.grid = 6, .cluster = {4, 1, 1}},
                         "is not a multiple of the cluster of 4x1x1");
    expect_cluster_error(".reqnctapercluster 2", (CoreKernel){.grid = 4, .cluster = {4, 1, 1}},
                         "--cluster: kernel requires clusters of 2x1x1 blocks (.reqnctapercluster)");
    expect_cluster_error(".explicitcluster", (CoreKernel){.grid = 4}, "give --cluster X[,Y[,Z]]");
    expect_cluster_error(".explicitcluster .maxclusterrank 4", (CoreKernel){.grid = 8, .cluster = {8, 1, 1}},
                         "a cluster of 8x1x1 blocks; one of this kernel may have 4");
    expect_cluster_error("", (CoreKernel){.grid = 32, .cluster = {32, 1, 1}}, "it may have 16");
    expect_cluster_error(".reqntid 32 .reqnctapercluster 2 .blocksareclusters", (CoreKernel){.grid = 4},
                         "counts its grid in clusters");
}

static void test_too_few_parameters(void **state) {
    (void)state;
    expect_error((CoreKernel){.module = ".visible .entry kernel(.param .u64 p, .param .u32 n) { ret; }\n"},
                 "takes 12 bytes of parameters, but 8 were given");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instruction_budget),
        cmocka_unit_test(test_budget_of_the_grid),
        cmocka_unit_test(test_every_kind_of_endless_loop),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_blocks_too_large_for_this_machine),
        cmocka_unit_test(test_cooperative_grid_too_large_for_this_machine),
        cmocka_unit_test(test_local_memory_beyond_any_thread),
        cmocka_unit_test(test_geometry),
        cmocka_unit_test(test_directives),
        cmocka_unit_test(test_clusters_refused),
        cmocka_unit_test(test_too_few_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
