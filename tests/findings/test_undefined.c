/* Undefined values of shuffles and registers: found where they are used, and only there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/findings.h"
#include "ptx/opcodes.h"
#include "tests/emulator/core.h"
#include <string.h>

typedef struct Case {
    const char *body;     /* SHUFFLE: lanes 16 to 31 have exited; %r1 is undefined in lanes 8 to 15 */
    const char *expected; /* text of the instruction that uses it; "": none */
    uint32_t lanes;
} Case;

#define SHUFFLE "shfl.sync.down.b32 %r1, %t, 8, 31, -1;\n"
#define STORE   "st.global.u32 [%out], "

static const char module[] =
    ".shared .align 8 .b8 words[256];\n"
    ".func (.reg .u32 d) twice(.reg .u32 a) { add.u32 d, a, a; ret; }\n"
    ".func (.param .u32 d) by_memory(.param .u32 a) { .reg .u32 x; ld.param.u32 x, "
    "[a]; st.param.u32 [d], x; ret; }\n"
    ".func (.reg .v2 .u32 d) turns(.reg .v2 .u32 a) { mov.u32 d.x, a.y; mov.u32 d.y, a.x; ret; }\n"
    ".func stores(.reg .u64 p, .reg .u32 a) { st.global.u32 [p], a; ret; }\n"
    ".func (.param .u32 d) forgets() { .reg .u32 x; st.param.u32 [d], x; ret; }\n";

static void check_in(const Case *c, bool traced, uint32_t block) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    Text body = {0};
    text_print(&body,
               "and.b32 %%r20, %%t, 31; setp.ge.u32 %%p15, %%r20, 16; setp.lt.u32 %%p8, %%r20, 8; shl.b32 "
               "%%r0, %%t, 2;\n"
               ".local .align 8 .b8 depot[64]; mov.u32 %%r19, words; add.u32 %%r19, %%r19, %%r0;\n"
               "@%%p15 bra END;\n%s\nEND:",
               c->body);
    CoreRun run = core_run_well((CoreKernel){.body = text_string(&body),
                                             .module = module,
                                             .block = block,
                                             .untraced = !traced,
                                             .options = {.observer = &observer}});
    Findings *findings = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
    Text found = {0};
    for (int i = 0; i < findings->error_count; i++) {
        const Finding *finding = &findings->items[i];
        if (finding->kind != FINDING_UNDEFINED_SHUFFLE) continue;
        text_add(&found, found.length ? "\n" : "");
        core_add_instruction(&run, finding->access.pc, &found);
        assert_int_equal(run.program->code[finding->other.pc].instruction->opcode, PTX_shfl);
        if (finding->access.lanes != c->lanes)
            fail_msg("%s: lanes 0x%08x, expected 0x%08x", c->body, finding->access.lanes, c->lanes);
    }
    if (strcmp(text_string(&found), c->expected) != 0)
        fail_msg("%s: expected '%s', found '%s'", c->body, c->expected, text_string(&found));
    text_done(&found);
    text_done(&body);
    findings_free(findings);
    race_detector_free(detector);
    core_done(&run);
}

static void check_all(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        check_in(&cases[i], true, 32);
        check_in(&cases[i], false, 32);
        check_in(&cases[i], false, 64);
    }
}
#define CHECK(cases) check_all(cases, sizeof(cases) / sizeof *(cases))

static void what_is_not_used_is_silent(void **state) {
    (void)state;
    static const Case cases[] = {
        {SHUFFLE, "", 0},
        {SHUFFLE "@%p8 " STORE "%r1;", "", 0}, /* if (t < 8) out[t] = v */
        {SHUFFLE "@!%p8 bra OVER; " STORE "%r1; OVER:", "", 0},
        {SHUFFLE "selp.u32 %r2, %r1, 0, %p8; " STORE "%r2;", "", 0},
        {SHUFFLE "@!%p8 mov.u32 %r1, 0; " STORE "%r1;", "", 0},
        {SHUFFLE "add.u32 %r2, %r1, %t; mov.u32 %r2, 5; " STORE "%r2;", "", 0},
        {SHUFFLE "selp.u32 %r3, -1, 0, %p8; and.b32 %r2, %r1, %r3; " STORE "%r2;", "", 0},
        {SHUFFLE "selp.u32 %r3, 1, 0, %p8; mul.lo.u32 %r2, %r1, %r3; " STORE "%r2;", "", 0},
        {SHUFFLE "setp.lt.and.u32 %p1, %r1, 4, %p8; @%p1 " STORE "7;", "", 0},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; and.pred %p2, %p8, %p1; @%p2 " STORE "7;", "", 0},
        {SHUFFLE "add.u32 %r1, %r1, %t; shfl.sync.down.b32 %r2, %r1, 4, 31, -1; setp.lt.u32 %p1, %r20, 4;\n"
                 "@%p1 " STORE "%r2;",
         "", 0}, /* the ladder of 16 lanes: lanes 0 to 3 read 4 to 7 */
        {SHUFFLE "ld.global.u32 %r1, [%out]; " STORE "%r1;", "", 0},
        {SHUFFLE "atom.global.add.u32 %r1, [%out], 1; " STORE "%r1;", "", 0},
        {SHUFFLE "shfl.sync.idx.b32 %r1, %r1, 3, 31, -1; " STORE "%r1;", "", 0},
        {SHUFFLE "mov.u32 %r1, %t; vote.sync.ballot.b32 %r1, %p8, -1; " STORE "%r1;", "", 0},
        {SHUFFLE "st.local.u32 [depot], %r1; st.local.u32 [depot], %t; ld.local.u32 %r2, [depot]; " STORE
                 "%r2;",
         "", 0},
        {SHUFFLE "mov.u32 %r1, 0; call (%r2), twice, (%r1); " STORE "%r2;", "", 0},
        {SHUFFLE ".reg .v2 .u32 v, w; mov.u32 v.x, %r1; mov.u32 v.y, 1; call (w), turns, (v); " STORE "w.x;",
         "", 0},
        {SHUFFLE "call (%r2), twice, (%t); " STORE "%r2;", "", 0},
        {"shfl.sync.down.b32 _|%p1, %t, 8, 31, -1; selp.u32 %r1, 1, 0, %p1; " STORE "%r1;", "", 0},
        {SHUFFLE
         "setp.lt.u32 %p1, %r1, 4; shfl.sync.down.b32 %r2|%p1, %t, 1, 31, -1; selp.u32 %r1, 1, 0, %p1; " STORE
         "%r1;",
         "", 0}};
    CHECK(cases);
}

static void uses_are_found(void **state) {
    (void)state;
    static const Case cases[] = {
        {SHUFFLE STORE "%r1;", "st.global.u32 [%out], %r1", 0xff00},
        {SHUFFLE "st.shared.u32 [%r19], %r1;", "st.shared.u32 [%r19], %r1", 0xff00},
        {SHUFFLE "selp.u32 %r2, %r1, 0, %p15; selp.u32 %r3, 0, %r1, %p15; " STORE
                 "%r2; st.shared.u32 [%r19], %r3;",
         "st.shared.u32 [%r19], %r3", 0xff00},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; selp.u32 %r2, 1, 2, %p1; " STORE "%r2;",
         "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; or.pred %p2, %p15, %p1; @%p2 " STORE "7;",
         "@%p2 st.global.u32 [%out], 7", 0xff00},
        {SHUFFLE "mov.u32 %r2, 1; setp.lt.u32 %p1, %r1, 4; @%p1 mov.u32 %r2, 7; " STORE "%r2;",
         "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; @%p1 bra OVER; " STORE "7; OVER:", "@%p1 bra OVER", 0xff00},
        {SHUFFLE
         "cvt.u64.u32 %q1, %r1; and.b64 %q1, %q1, 4; add.u64 %q1, %q1, %out; ld.global.u32 %r3, [%q1];",
         "ld.global.u32 %r3, [%q1]", 0xff00},
        {SHUFFLE "red.global.add.u32 [%base], %r1;", "red.global.add.u32 [%base], %r1", 0xff00},
        {SHUFFLE "atom.global.cas.b32 %r3, [%out], 1, %r1;", "atom.global.cas.b32 %r3, [%out], 1, %r1",
         0xff00},
        {SHUFFLE "mov.b64 %q1, {%t, %r1}; mov.b64 {%r2, %r3}, %q1; " STORE "%r3;",
         "st.global.u32 [%out], %r3", 0xff00},
        {SHUFFLE "add.u32 %r1, %r1, %t; shfl.sync.down.b32 %r2, %r1, 4, 31, -1; @%p8 " STORE "%r2;",
         "@%p8 st.global.u32 [%out], %r2", 0xf0},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; vote.sync.any.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2; " STORE
                 "%r2;",
         "st.global.u32 [%out], %r2", 0xffff},
        {SHUFFLE "redux.sync.add.u32 %r2, %r1, -1; " STORE "%r2;", "st.global.u32 [%out], %r2", 0xffff},
        {SHUFFLE "st.local.u32 [depot], %r1; ld.local.u32 %r2, [depot]; " STORE "%r2;",
         "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE
         "mov.u64 %q1, depot; cvta.local.u64 %q1, %q1; st.u32 [%q1], %r1; ld.local.u32 %r2, [depot]; " STORE
         "%r2;",
         "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE "call (%r2), twice, (%r1); " STORE "%r2;", "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE "{ .param .u32 a, d; st.param.u32 [a], %r1; call (d), by_memory, (a); ld.param.u32 %r2, "
                 "[d]; } " STORE "%r2;",
         "st.global.u32 [%out], %r2", 0xff00},
        {SHUFFLE ".reg .v2 .u32 v, w; mov.u32 v.x, %r1; mov.u32 v.y, 1; call (w), turns, (v); " STORE "w.y;",
         "st.global.u32 [%out], w.y", 0xff00},
        {SHUFFLE "call stores, (%out, %r1);", "st.global.u32 [p], a", 0xff00},
        {SHUFFLE "add.cc.u32 %r2, %r1, -1; addc.u32 %r3, 0, 0; " STORE "%r3;", "st.global.u32 [%out], %r3",
         0xff00},
        {SHUFFLE "setp.lt.u32 %p1, %r1, 4; barrier.red.popc.u32 %r2, 0, %p1;",
         "barrier.red.popc.u32 %r2, 0, %p1", 0xff00},
        {SHUFFLE "mov.u32 %r1, %t; shfl.sync.idx.b32 %r2, %t, 20, 31, -1; " STORE "%r2;",
         "st.global.u32 [%out], %r2", 0xffff}};
    CHECK(cases);
}

/* A use of the results of two shuffles is found for each; a loop uses them once an iteration. */
static void shuffles_are_told_apart(void **state) {
    (void)state;
    static const Case cases[] = {
        {SHUFFLE "shfl.sync.down.b32 %r2, %t, 4, 31, -1; @%p8 mov.u32 %r1, 0; add.u32 %r3, %r1, %r2;\n"
                 "setp.lt.u32 %p1, %r20, 12; @%p1 " STORE "%r3;",
         "@%p1 st.global.u32 [%out], %r3", 0xf00}};
    CHECK(cases);
}

/* Lanes 0 to 15 shuffle among themselves: lane 8 and those after it receive an undefined value, and a product
 * mixes it into all results. */
static void a_product_hands_on_what_is_undefined(void **state) {
    (void)state;
    static const char *const products[] = {
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r1, %r1}, {%r2}, "
        "{%f0, %f1, %f2, %f3}; mov.b32 %r3, %f3;\n",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r3, %r1;\n"};
    for (size_t i = 0; i < 2 * sizeof products / sizeof *products; i++) {
        RaceDetector *detector = race_detector_new();
        TraceObserver observer = race_detector_observer(detector);
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r1, %%t; mov.u32 %%r2, 0; mov.b32 %%f0, %%r2; mov.b32 %%f1, %%f0; mov.b32 "
                   "%%f2, %%f0;\n"
                   "mov.b32 %%f3, %%f0; setp.ge.u32 %%p0, %%t, 16; @%%p0 bra OVER;\n"
                   "shfl.sync.down.b32 %%r1, %%t, 8, 31, 0xffff;\nOVER: %s%sst.global.u32 [%%out], %%r3;",
                   i % 2 ? "mov.u32 %r1, 5;\n" : "", products[i / 2]);
        CoreRun run =
            core_run_well((CoreKernel){.body = text_string(&body), .options = {.observer = &observer}});
        Findings *findings = findings_new(detector, run.trace, NULL, &(FindingKnown){.leak_pc = PTX_NO_PC});
        int found = 0;
        for (int k = 0; k < findings->error_count; k++)
            found += findings->items[k].kind == FINDING_UNDEFINED_SHUFFLE;
        assert_int_equal(found, i % 2 ? 0 : 1);
        text_done(&body);
        findings_free(findings);
        race_detector_free(detector);
        core_done(&run);
    }
}

/* ---- registers ---- */

typedef struct Register {
    const char *body;     /* %p8: lanes 0 to 7; %p15: all lanes */
    const char *expected; /* the instruction that reads it and the fault; NULL: none */
    int line;             /* of the body, from 0: the use */
    uint32_t lanes;
} Register;

#define SETUP                                                                                                \
    "setp.lt.u32 %p8, %t, 8; setp.lt.u32 %p15, %t, 99; mov.u32 %r20, words; mov.u64 %q20, words;\n"          \
    "mbarrier.init.shared.b64 [words+248], 32; bar.sync 0;\n"

static void check_register(const Register *c, bool traced) {
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    Text body = {0}, found = {0}, expected = {0};
    text_print(&body, "%s.local .align 8 .b8 depot[64];\n%s\n", SETUP, c->body);
    CoreRun run = core_run((CoreKernel){.body = text_string(&body),
                                        .module = module,
                                        .cluster = {1, 1, 1},
                                        .untraced = !traced,
                                        .options = {.observer = &observer}});
    if (!run.done) fail_msg("%s: %s", c->body, run.error.message);
    uint32_t lanes = 0;
    int first = run.program->code[core_pc(&run, "mbarrier.init", 0)].instruction->line + 2; /* of the body */
    for (int i = 0; i < run.trace->trap_count; i++) {
        const Trap *trap = &run.trace->traps[i];
        text_add(&found, found.length ? "\n" : "");
        core_add_instruction(&run, trap->pc, &found);
        text_print(&found, ": %s", trap->detail);
        lanes |= trap->lanes;
    }
    if (c->expected)
        text_print(&expected, "%s, in line %d (thread %d of the block)", c->expected, first + c->line,
                   __builtin_ctz(c->lanes));
    if (strcmp(text_string(&found), text_string(&expected)) != 0)
        fail_msg("%s: expected '%s', found '%s'", c->body, text_string(&expected), text_string(&found));
    assert_int_equal(lanes, c->lanes);
    text_done(&expected);
    text_done(&found);
    text_done(&body);
    race_detector_free(detector);
    core_done(&run);
}

static void check_registers(const Register *cases, size_t count) {
    for (size_t i = 0; i < 2 * count; i++) check_register(&cases[i / 2], i % 2);
}

#define READ(reg, use) ": register " reg " is read but was never written, and its value " use

static void an_unwritten_register_is_found_where_it_is_read(void **state) {
    (void)state;
    static const Register cases[] = {
        {STORE "%r1;", "st.global.u32 [%out], %r1" READ("%r1", "is stored"), 0, 0xffffffff},
        {"add.u32 %r1, %t, %r5;\n" STORE "%r1;", "add.u32 %r1, %t, %r5" READ("%r5", "is stored"), 1,
         0xffffffff},
        {"@%p8 mov.u32 %r1, 1;\nadd.u32 %r1, %r1, %t;\n" STORE "%r1;",
         "add.u32 %r1, %r1, %t" READ("%r1", "is stored"), 2, 0xffffff00},
        {"@%p8 bra OVER; mov.u32 %r1, 1;\nOVER: " STORE "%r1;",
         "st.global.u32 [%out], %r1" READ("%r1", "is stored"), 1, 0xff},
        {"slct.u32.s32 %r3, %r1, %t, 1;\n" STORE "%r3;",
         "slct.u32.s32 %r3, %r1, %t, 1" READ("%r1", "is stored"), 1, 0xffffffff},
        {"@%p1 " STORE "7;",
         "@%p1 st.global.u32 [%out], 7" READ("%p1", "decides whether an instruction is executed"), 0,
         0xffffffff},
        {"@%p1 bra OVER; " STORE "7; OVER:", "@%p1 bra OVER" READ("%p1", "decides a branch"), 0, 0xffffffff},
        {"add.u64 %q2, %out, %q1;\nld.global.u32 %r3, [%q2];",
         "add.u64 %q2, %out, %q1" READ("%q1", "is part of an address"), 1, 0xffffffff},
        {"red.global.add.u32 [%base], %r1;",
         "red.global.add.u32 [%base], %r1" READ("%r1", "is an atomic's operand"), 0, 0xffffffff},
        {"barrier.red.popc.u32 %r2, 0, %p1;",
         "barrier.red.popc.u32 %r2, 0, %p1" READ("%p1", "is part of a barrier's result"), 0, 0xffffffff},
        {"@!%p8 mov.u32 %r1, 1;\nshfl.sync.idx.b32 %r2, %r1, 9, 31, -1;\n@%p8 shfl.sync.idx.b32 %r3, %r1, 3, "
         "31, "
         "0xff;\n@%p8 " STORE "%r3;",
         "shfl.sync.idx.b32 %r2, %r1, 9, 31, -1" READ("%r1", "is stored"), 3, 0xff},
        {"mov.b64 %q1, {%t, %r1}; mov.b64 {%r2, %r3}, %q1;\n" STORE "%r3;",
         "mov.b64 %q1, {%t, %r1}" READ("%r1", "is stored"), 1, 0xffffffff},
        {"st.local.u32 [depot], %r1; ld.local.u32 %r2, [depot];\n" STORE "%r2;",
         "st.local.u32 [depot], %r1" READ("%r1", "is stored"), 1, 0xffffffff},
        {"{ .param .u32 a, d; st.param.u32 [a], %r1; call (d), by_memory, (a); ld.param.u32 %r2, [d]; "
         "}\n" STORE "%r2;",
         "st.param.u32 [a], %r1" READ("%r1", "is stored"), 1, 0xffffffff},
        {"{ .param .u32 d; call (d), forgets; ld.param.u32 %r2, [d]; }\n" STORE "%r2;",
         "st.param.u32 [d], x" READ("x", "is stored"), 1, 0xffffffff}};
    check_registers(cases, sizeof cases / sizeof *cases);
}

/* Each instruction writes its register in all lanes, though under a guard: before it, the register is
 * undefined. */
static void every_instruction_writes_its_register(void **state) {
    (void)state;
    static const char *const writes[] = {
        "mov.u32 %r1, 5;",
        "ld.global.u32 %r1, [%out];",
        "ld.local.u32 %r1, [depot];",
        "atom.global.add.u32 %r1, [%out], 1;",
        "atom.global.cas.b32 %r1, [%out], 1, 2;",
        "shfl.sync.idx.b32 %r1, %t, 3, 31, -1;",
        "shfl.sync.idx.b32 %r2|%p1, %t, 3, 31, -1; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "vote.sync.ballot.b32 %r1, %p15, -1;",
        "vote.sync.all.pred %p1, %p15, -1; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "match.any.sync.b32 %r1, %t, -1;",
        "match.all.sync.b32 %r1|%p1, %t, -1; @%p1 mov.u32 %r1, 1;",
        "redux.sync.add.u32 %r1, %t, -1;",
        "elect.sync %r1|%p1, -1; @%p1 mov.u32 %r1, 1;",
        "activemask.b32 %r1;",
        "setp.lt.u32 %p1|%p2, %t, 9; @%p15 selp.u32 %r1, 1, 0, %p1; @%p15 selp.u32 %r1, 1, %r1, %p2;",
        "barrier.red.popc.u32 %r1, 0, %p15;",
        "barrier.red.and.pred %p1, 0, %p15; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "mov.b64 {%r2, %r1}, %q20;",
        "ld.global.v2.u32 {%r1, %r2}, [%base]; @%p15 add.u32 %r1, %r1, %r2;",
        "ld.shared.u32 %r2, [words+248]; @%p15 add.u32 %r1, %r2, 0;",
        "add.cc.u32 %r2, %t, 1; @%p15 addc.u32 %r1, 0, 0;",
        "mapa.shared::cluster.u32 %r1, %r20, 0;",
        "getctarank.shared::cluster.u32 %r1, %r20;",
        "alloca.u64 %q1, 16; @%p15 cvt.u32.u64 %r1, %q1;",
        "stacksave.u64 %q1; @%p15 cvt.u32.u64 %r1, %q1;",
        "isspacep.shared %p1, %q20; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "mbarrier.arrive.shared.b64 %q1, [words+248]; @%p15 cvt.u32.u64 %r1, %q1;",
        "mbarrier.test_wait.parity.shared.b64 %p1, [words+248], 1; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "mbarrier.try_wait.parity.shared.b64 %p1, [words+248], 1; @%p15 selp.u32 %r1, 1, 0, %p1;",
        "mbarrier.pending_count.b64 %r1, 0;",
        "createpolicy.fractional.L2::evict_last.b64 %q1, 1.0; @%p15 cvt.u32.u64 %r1, %q1;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [words];",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %t;",
        "bra NEXT; NEXT: { .param .u32 a, d; st.param.u32 [a], %t; call (d), by_memory, (a); ld.param.u32 "
        "%r2, [d]; } "
        "@%p15 mov.u32 %r1, %r2;",
        "bra NEXT; NEXT: call (%r2), twice, (%t); @%p15 mov.u32 %r1, %r2;"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++) {
        Text body = {0};
        text_print(
            &body,
            "st.shared.v4.u32 [words], {%%t, %%t, %%t, %%t}; st.local.u32 [depot], %%t;\n@%%p15 %s\n%s%%r1;",
            writes[i], STORE);
        check_registers(&(Register){.body = text_string(&body)}, 1);
        text_done(&body);
    }
}

static void an_unused_register_is_silent(void **state) {
    (void)state;
    static const Register cases[] = {
        {"add.u32 %r2, %r1, %t;", NULL, 0, 0},
        {"@%p8 mov.u32 %r1, 1; @%p8 " STORE "%r1;", NULL, 0, 0},
        {"selp.u32 %r2, 5, %r1, %p15; " STORE "%r2;", NULL, 0, 0},
        {"and.b32 %r2, %r1, 0; " STORE "%r2;", NULL, 0, 0},
        {"@%p15 mov.u32 %r1, 0; LOOP: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 9; @%p1 bra LOOP;\n" STORE
         "%r1;",
         NULL, 0, 0},
        {"xor.b32 %r1, %r1, %r1; " STORE "%r1;", NULL, 0, 0},
        {"sub.u32 %r1, %r1, %r1; " STORE "%r1;", NULL, 0, 0},
        {"@%p8 mov.u32 %r1, 1; setp.lt.u32 %p1, %t, 8; selp.s32 %r2, 1, -1, %p1;\n"
         "slct.u32.s32 %r3, %r1, %t, %r2; " STORE "%r3;",
         NULL, 0, 0},
        {"@%p8 mov.u32 %r1, 1; selp.f32 %f1, 0f00000000, 0fBF800000, %p8;\n"
         "slct.u32.f32 %r3, %r1, %t, %f1; " STORE "%r3;",
         NULL, 0, 0},
        {"bfi.b32 %r1, %t, %r1, 0, 16; bfi.b32 %r1, %t, %r1, 16, 16; " STORE "%r1;", NULL, 0, 0},
        {"prmt.b32 %r2, %t, %r1, 0x3210; " STORE "%r2;", NULL, 0, 0},
        {".reg .v2 .u32 v, u; mov.u32 u.x, 1; mov.u32 u.y, 2; mov.v2.u32 v, u; " STORE "v.y;", NULL, 0, 0},
        {".reg .v2 .u32 v; @%p15 ld.global.v2.u32 v, [%base]; " STORE "v.y;", NULL, 0, 0},
        {".reg .v2 .u32 v; mov.u32 v.x, 1; mov.u32 v.y, 2; " STORE "v.y;", NULL, 0, 0}};
    check_registers(cases, sizeof cases / sizeof *cases);
}

/* The first register in the frame may be unwritten when mbarrier.init and mbarrier.arrive run. */
static void an_mbarrier_stores_no_register(void **state) {
    (void)state;
    RaceDetector *detector = race_detector_new();
    TraceObserver observer = race_detector_observer(detector);
    CoreRun run = core_run_well(
        (CoreKernel){.module = ".shared .align 8 .b64 gate;\n"
                               ".visible .entry kernel(.param .u64 out)\n{\n"
                               ".reg .pred %p<2>; .reg .b32 %a, %r<2>; .reg .b64 %q<3>;\n"
                               "ld.param.u64 %q1, [out]; mov.u32 %r1, %tid.x; setp.eq.u32 %p0, %r1, 0;\n"
                               "@%p0 mbarrier.init.shared::cta.b64 [gate], 1;\n"
                               "@%p0 mbarrier.arrive.shared::cta.b64 _, [gate];\n"
                               "mul.wide.u32 %q2, %r1, 4; add.u64 %q2, %q2, %q1; st.global.u32 [%q2], 5;\n"
                               "setp.lt.u32 %p1, %r1, 7; @%p1 ld.global.u32 %a, [%q2]; @!%p1 mov.u32 %a, 6;\n"
                               "st.global.u32 [%q2], %a; ret;\n}\n",
                     .options = {.observer = &observer}});
    assert_int_equal(run.out[6], 5);
    assert_int_equal(run.out[7], 6);
    assert_int_equal(run.trace->trap_count, 0);
    race_detector_free(detector);
    core_done(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_used_is_silent),
        cmocka_unit_test(uses_are_found),
        cmocka_unit_test(shuffles_are_told_apart),
        cmocka_unit_test(a_product_hands_on_what_is_undefined),
        cmocka_unit_test(an_unwritten_register_is_found_where_it_is_read),
        cmocka_unit_test(every_instruction_writes_its_register),
        cmocka_unit_test(an_unused_register_is_silent),
        cmocka_unit_test(an_mbarrier_stores_no_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
