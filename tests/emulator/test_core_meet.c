/* Lanes that execute a .sync instruction together from several places of a warp: with the same qualifiers and
 * the same mask they meet, and get what they would get at one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core.h"
#include <string.h>

/* $d, $q: result and second result; $s: the lane's number; $p: a predicate; $m: the mask. */
static const char *const instructions[] = {
    "redux.sync.add.u32 $d, $s, $m;",
    "redux.sync.min.s32 $d, $s, $m;",
    "redux.sync.max.u32 $d, $s, $m;",
    "redux.sync.and.b32 $d, $s, $m;",
    "redux.sync.or.b32 $d, $s, $m;",
    "redux.sync.xor.b32 $d, $s, $m;",
    "shfl.sync.up.b32 $d|$q, $s, 3, 0, $m;",
    "shfl.sync.down.b32 $d|$q, $s, 9, 31, $m;",
    "shfl.sync.bfly.b32 $d|$q, $s, 16, 31, $m;",
    "shfl.sync.bfly.b32 $d, $s, 5, 0x181f, $m;",
    "shfl.sync.idx.b32 $d|$q, $s, $s, 31, $m;",
    "shfl.sync.down.b32 $d, $s, %t, 31, $m;",
    "vote.sync.all.pred $q, $p, $m;",
    "vote.sync.any.pred $q, $p, $m;",
    "vote.sync.uni.pred $q, $p, $m;",
    "vote.sync.ballot.b32 $d, $p, $m;",
    "match.any.sync.b32 $d, $s, $m;",
    "match.all.sync.b32 $d|$q, $s, $m;",
    "elect.sync $d|$q, $m;",
};
enum { INSTRUCTIONS = sizeof instructions / sizeof *instructions };

typedef struct Registers {
    const char *d, *q, *s, *p;
} Registers;

/* Each place has its own registers. */
static const Registers registers[] = {{"%r10", "%p10", "%r20", "%p5"},
                                      {"%r11", "%p11", "%r21", "%p6"},
                                      {"%r22", "%p12", "%r22", "%p7"}}; /* it overwrites its operand */

static void add(const char *instruction, const Registers *with, const char *mask, Text *out) {
    for (const char *at = instruction; *at; at++) {
        if (*at != '$') {
            text_print(out, "%c", *at);
            continue;
        }
        at++;
        text_add(out, *at == 'd'   ? with->d
                      : *at == 'q' ? with->q
                      : *at == 's' ? with->s
                      : *at == 'p' ? with->p
                                   : mask);
    }
    text_print(out, " mov.u32 %%r1, %s; mov.pred %%p1, %s;\n", with->d, with->q);
}

/* The numbers that they exchange; the results go to %r1 and %p1. */
static void begin(Text *out) {
    text_add(out,
             "mad.lo.u32 %r20, %t, 37, 11; and.b32 %r20, %r20, 7; mov.u32 %r21, %r20; mov.u32 %r22, %r20;\n"
             "setp.ne.u32 %p5, %r20, 5; mov.pred %p6, %p5; mov.pred %p7, %p5;\n"
             "mov.u32 %r10, 0; mov.u32 %r11, 0; setp.gt.u32 %p10, %t, 99; mov.pred %p11, %p10;\n"
             "mov.pred %p12, %p10;\n"
             "setp.lt.u32 %p2, %t, 5; setp.lt.u32 %p3, %t, 20; setp.ge.u32 %p4, %t, 28;\n");
}

static void end(Text *out) {
    text_add(out,
             "MEET: selp.u32 %r2, 0x10000, 0, %p1; add.u32 %r1, %r1, %r2; st.global.u32 [%out], %r1;\nEND:");
}

/* Vote has no $d, others no $q: what these registers hold is the same at all places. */
static void expect_same(const char *what, const char *apart, const char *together) {
    CoreRun a = core_run_well((CoreKernel){.body = apart}), b = core_run_well((CoreKernel){.body = together});
    for (int lane = 0; lane < 32; lane++)
        if (a.out[lane] != b.out[lane])
            fail_msg("%s: lane %d has 0x%x, at one place 0x%x", what, lane, a.out[lane], b.out[lane]);
    core_done(&a);
    core_done(&b);
}

/* ---- two and three places ------------------------------------------------------------------------------ */

static void write_places(const char *instruction, const char *before, const char *mask, int places,
                         Text *out) {
    text_done(out);
    *out = (Text){0};
    begin(out);
    text_add(out, before);
    if (places > 1) text_add(out, "@%p2 bra A;\n");
    if (places > 2) text_add(out, "@%p3 bra B;\n");
    add(instruction, &registers[0], mask, out);
    if (places > 1) {
        text_add(out, "bra MEET;\nA: ");
        add(instruction, &registers[1], mask, out);
    }
    if (places > 2) {
        text_add(out, "bra MEET;\nB: ");
        /* later than the others */
        text_add(out, "mov.u32 %r3, 0; L: add.u32 %r3, %r3, 1; setp.lt.u32 %p9, %r3, 20; @%p9 bra L;\n");
        add(instruction, &registers[2], mask, out);
    }
    end(out);
}

static void test_places(void **state) {
    (void)state;
    static const struct {
        const char *before, *mask;
    } ways[] = {
        {"", "-1"},
        {"@%p4 bra END;\n", "-1"}, /* lanes 28 to 31 return */
        {"@%p4 exit;\n", "-1"},
        {"@%p4 bra MEET;\n", "0x0fffffff"}, /* lanes 28 to 31 are not named */
        {"mov.u32 %r30, -1;\n", "%r30"},    /* a mask in a register */
    };
    Text apart = {0}, together = {0};
    for (size_t i = 0; i < INSTRUCTIONS; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            for (int places = 2; places <= 3; places++) {
                /* the third place overwrites its operand: only where d is written */
                if (places == 3 && !strstr(instructions[i], "$d")) continue;
                write_places(instructions[i], ways[w].before, ways[w].mask, places, &apart);
                write_places(instructions[i], ways[w].before, ways[w].mask, 1, &together);
                expect_same(instructions[i], text_string(&apart), text_string(&together));
            }
    text_done(&apart);
    text_done(&together);
}

/* What an H100 gives: tests/kernels/places.ptx. */
static void test_sum_and_shuffle(void **state) {
    (void)state;
    CoreRun run =
        core_run_well((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bra LOW;\n"
                                           "add.u32 %r1, %t, 100; redux.sync.add.u32 %r2, %r1, -1;\n"
                                           "shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1; bra MEET;\n"
                                           "LOW: add.u32 %r1, %t, 1000; redux.sync.add.u32 %r2, %r1, -1;\n"
                                           "shfl.sync.bfly.b32 %r3, %r1, 16, 31, -1;\n"
                                           "MEET: st.global.u32 [%out], %r2; st.global.u32 [%out+128], %r3;",
                                   .words = 64});
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t from = lane ^ 16;
        assert_int_equal(run.out[lane], 10896);
        assert_int_equal(run.out[32 + lane], from + (from < 8 ? 1000 : 100));
    }
    /* an event and an execution at each place */
    for (int place = 0; place < 2; place++) {
        TraceEvent event = {0};
        uint32_t mask = 0, expected = place ? 0xff : 0xffffff00;
        assert_int_equal(core_masks(&run, 0, core_pc(&run, "redux", place), &mask, 1), 1);
        assert_int_equal(mask, expected);
        const TraceCounter *counter = core_counter(&run, "shfl", place);
        assert_int_equal(counter->executions, 1);
        assert_int_equal(counter->requests, 1);
        assert_int_equal(counter->lanes, place ? 8 : 24);
        for (int i = 0; i < core_event_count(&run, 0) && event.pc != core_pc(&run, "shfl", place); i++)
            core_event(&run, 0, i, &event);
        assert_int_equal(event.mask, expected);
        assert_int_equal(event.participants, 0xffffffff);
        for (int lane = 0; lane < 32; lane++) {
            if (!(expected >> lane & 1)) continue;
            assert_int_equal(event.source[lane], lane ^ 16);
            assert_int_equal(event.value[0][lane], run.out[32 + lane]);
            assert_int_equal(event.operand[lane], lane + (lane < 8 ? 1000 : 100));
        }
    }
    core_done(&run);
}

/* Guards at both places: lanes with a false guard do not take part. */
static void test_guarded_places(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "and.b32 %r0, %t, 1; setp.eq.u32 %p1, %r0, 0; setp.lt.u32 %p0, %t, 8;\n"
                             "mov.u32 %r2, 7; @%p0 bra LOW;\n"
                             "@%p1 redux.sync.add.u32 %r2, %t, 0x55555555; bra MEET;\n"
                             "LOW: @%p1 redux.sync.add.u32 %r2, %t, 0x55555555;\n"
                             "MEET: st.global.u32 [%out], %r2;"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane % 2 ? 7 : 240);
    for (int place = 0; place < 2; place++) {
        assert_int_equal(core_counter(&run, "redux", place)->executions, 1);
        assert_int_equal(core_counter(&run, "redux", place)->lanes, place ? 4 : 12);
    }
    core_done(&run);
}

/* ---- loops, calls -------------------------------------------------------------------------------------- */

/* Each lane makes three rounds: of these lane t makes t % 4 in the first loop, or all of them
 * (`together`). */
static void write_loops(const char *instruction, bool together, Text *out) {
    /* other numbers for the next round */
    static const char next[] = "mad.lo.u32 %r32, %r32, 31, %r1; selp.u32 %r33, 5, 0, %p1;\n"
                               "add.u32 %r32, %r32, %r33; add.u32 %r31, %r31, 1;\n"
                               "xor.b32 %r20, %r20, %r31; mov.u32 %r21, %r20;\n"
                               "setp.lt.u32 %p5, %r20, 6; mov.pred %p6, %p5;\n";
    text_done(out);
    *out = (Text){0};
    begin(out);
    text_print(out, "%s; mov.u32 %%r31, 0; mov.u32 %%r32, 0;\n",
               together ? "mov.u32 %r30, 3" : "and.b32 %r30, %t, 3");
    text_add(out, "LOOP: setp.ge.u32 %p8, %r31, %r30; @%p8 bra REST;\n");
    add(instruction, &registers[0], "-1", out);
    text_print(out, "%sbra LOOP;\nREST: setp.ge.u32 %%p8, %%r31, 3; @%%p8 bra DONE;\n", next);
    add(instruction, &registers[1], "-1", out);
    text_print(out, "%sbra REST;\nDONE: mov.u32 %%r1, %%r32; setp.gt.u32 %%p1, %%t, 99;\n", next);
    end(out);
}

/* Lanes leave the loop one by one and go on behind it: in each round all of them meet. */
static void test_loops_that_lanes_leave(void **state) {
    (void)state;
    Text apart = {0}, together = {0};
    for (size_t i = 0; i < INSTRUCTIONS; i++) {
        write_loops(instructions[i], false, &apart);
        write_loops(instructions[i], true, &together);
        expect_same(instructions[i], text_string(&apart), text_string(&together));
    }
    text_done(&apart);
    text_done(&together);
}

/* One instruction of a function, in two calls; and one of the caller with one of a function. */
static void test_calls(void **state) {
    (void)state;
    static const char module[] =
        ".func (.reg .u32 s) sum(.reg .u32 a)\n{ redux.sync.add.u32 s, a, -1; ret; }\n";
    CoreRun run = core_run_well(
        (CoreKernel){.module = module,
                     .body = "setp.lt.u32 %p0, %t, 8; setp.lt.u32 %p1, %t, 16; @%p0 bra A; @%p1 bra B;\n"
                             "call (%r1), sum, (%t); bra MEET;\nA: add.u32 %r0, %t, 1;\n"
                             "call (%r1), sum, (%r0); bra MEET;\nB: redux.sync.add.u32 %r1, %t, -1;\n"
                             "MEET: st.global.u32 [%out], %r1;"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], 496 + 8);
    core_done(&run);
}

/* ---- several masks ------------------------------------------------------------------------------------- */

/* Tiles of 8 lanes: each half of a tile is at a place of its own. */
static void test_tiles(void **state) {
    (void)state;
    CoreRun run = core_run_well(
        (CoreKernel){.body = "and.b32 %r0, %t, 24; mov.u32 %r1, 0xff; shl.b32 %r1, %r1, %r0;\n"
                             "and.b32 %r2, %t, 4; setp.eq.u32 %p0, %r2, 0; @%p0 bra LOW;\n"
                             "redux.sync.add.u32 %r3, %t, %r1; shfl.sync.bfly.b32 %r4, %t, 7, 31, %r1;\n"
                             "bra MEET;\n"
                             "LOW: redux.sync.add.u32 %r3, %t, %r1; shfl.sync.bfly.b32 %r4, %t, 7, 31, %r1;\n"
                             "MEET: st.global.u32 [%out], %r3; st.global.u32 [%out+128], %r4;",
                     .words = 64});
    for (int lane = 0; lane < 32; lane++) {
        assert_int_equal(run.out[lane], 8 * (lane / 8 * 8) + 28);
        assert_int_equal(run.out[32 + lane], lane ^ 7);
    }
    core_done(&run);
}

/* The lower tile is complete first, and the upper one needs what it stores. */
static void test_tiles_go_on_alone(void **state) {
    (void)state;
    CoreRun run = core_run_well((CoreKernel){
        .module = ".shared .u32 word;\n",
        .body = "st.volatile.shared.u32 [word], 0; bar.warp.sync -1;\n"
                "setp.lt.u32 %p0, %t, 16; selp.u32 %r1, 0xffff, 0xffff0000, %p0; and.b32 %r2, %t, 8;\n"
                "setp.eq.u32 %p1, %r2, 0; @%p1 bra ONE; @%p0 bra TWO;\n" /* 24-31 wait for lane 0's store */
                "WAIT: ld.volatile.shared.u32 %r5, [word]; setp.eq.u32 %p2, %r5, 0; @%p2 bra WAIT;\n"
                "TWO: redux.sync.add.u32 %r3, %t, %r1; bra MEET;\n"
                "ONE: redux.sync.add.u32 %r3, %t, %r1; st.volatile.shared.u32 [word], 1;\n"
                "MEET: st.global.u32 [%out], %r3;"});
    for (int lane = 0; lane < 32; lane++) assert_int_equal(run.out[lane], lane < 16 ? 120 : 376);
    core_done(&run);
}

/* ---- what does not meet -------------------------------------------------------------------------------- */

static void test_others_do_not_meet(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
    } pairs[] = {
        {"shfl.sync.down.b32 %r1, %t, 1, 31, -1;", "shfl.sync.up.b32 %r1, %t, 1, 0, -1;"},
        {"shfl.sync.down.b32 %r1, %t, 1, 31, -1;", "shfl.sync.idx.b32 %r1, %t, 1, 31, -1;"},
        {"redux.sync.add.u32 %r1, %t, -1;", "redux.sync.max.u32 %r1, %t, -1;"},
        {"redux.sync.max.s32 %r1, %t, -1;", "redux.sync.max.u32 %r1, %t, -1;"},
        {"redux.sync.add.u32 %r1, %t, -1;", "shfl.sync.idx.b32 %r1, %t, 1, 31, -1;"},
        {"vote.sync.all.pred %p1, %p0, -1;", "vote.sync.any.pred %p1, %p0, -1;"},
        {"vote.sync.ballot.b32 %r1, %p0, -1;", "vote.sync.any.pred %p1, %p0, -1;"},
        {"match.any.sync.b32 %r1, %t, -1;", "match.all.sync.b32 %r1, %t, -1;"},
        {"match.any.sync.b32 %r1, %t, -1;", "match.any.sync.b64 %r1, %q1, -1;"},
        {"bar.warp.sync -1;", "redux.sync.add.u32 %r1, %t, -1;"},
        /* other masks */
        {"redux.sync.add.u32 %r1, %t, -1;", "redux.sync.add.u32 %r1, %t, 0x0fffffff;"},
        {"shfl.sync.down.b32 %r1, %t, 1, 31, -1;", "shfl.sync.down.b32 %r1, %t, 1, 31, 0x0fffffff;"},
        {"vote.sync.all.pred %p1, %p0, -1;", "vote.sync.all.pred %p1, %p0, 0x0fffffff;"},
        {"match.any.sync.b32 %r1, %t, -1;", "match.any.sync.b32 %r1, %t, 0x0fffffff;"},
        {"bar.warp.sync -1;", "bar.warp.sync 0x0fffffff;"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int swapped = 0; swapped < 2; swapped++) {
            Text body = {0};
            text_print(&body,
                       "setp.lt.u32 %%p0, %%t, 8; mov.u64 %%q1, 0; @%%p0 bra LOW;\n%s bra MEET;\nLOW: %s\n"
                       "MEET: st.global.u32 [%%out], %%r1; bar.warp.sync -1;",
                       swapped ? pairs[i].b : pairs[i].a, swapped ? pairs[i].a : pairs[i].b);
            core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_MISSING_LANES, "never arrive");
            core_run_trap((CoreKernel){.body = text_string(&body), .untraced = true}, TRAP_MISSING_LANES,
                          "never arrive");
            text_done(&body);
        }
}

/* The sentence names both places and masks, and what each waits for. */
static void test_sentences(void **state) {
    (void)state;
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"redux.sync.add.u32 %r1, %t, 0x0fffffff; bra MEET;\nLOW: redux.sync.add.u32 %r1, %t, -1;\nMEET:",
         "lanes 8-31 of warp 0 wait at redux.sync.add.u32: mask 0x0fffffff names lanes 0-7, which "
         "never "
         "arrive; lanes 0-7 wait at redux.sync.add.u32, with mask 0xffffffff"},
        {"bra MEET;\nLOW: redux.sync.add.u32 %r1, %t, -1;\nMEET: bar.sync 0;",
         "lanes 0-7 of warp 0 wait at redux.sync.add.u32: mask 0xffffffff names lanes 8-31, which "
         "never "
         "arrive; lanes 8-31 wait at bar.sync"},
        {"bra MEET;\nLOW: redux.sync.add.u32 %r1, %t, 0x1ff;\nMEET: bar.warp.sync -1;",
         "mask 0x000001ff names lane 8, which never arrives; lanes 8-31 wait at bar.warp.sync, with mask "
         "0xffffffff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text body = {0};
        text_print(&body, "setp.lt.u32 %%p0, %%t, 8; @%%p0 bra LOW;\n%s", cases[i].body);
        core_run_trap((CoreKernel){.body = text_string(&body)}, TRAP_MISSING_LANES, cases[i].says);
        text_done(&body);
    }
    core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 redux.sync.add.u32 %r1, %t, -1;"},
                  TRAP_MISSING_LANES,
                  "mask 0xffffffff names lanes 8-31, which never arrive; its guard is false in lanes 8-31");
    core_run_trap((CoreKernel){.body = "setp.lt.u32 %p0, %t, 8; @%p0 bar.sync 0;"}, TRAP_DIVERGENT_BARRIER,
                  "must execute it together; its guard is false in lanes 8-31");
    /* the barrier is inside the branch, and the mask behind it is right */
    core_run_trap((CoreKernel){.body = "setp.ge.u32 %p0, %t, 8; @%p0 bra OVER; bar.sync 0;\n"
                                       "OVER: redux.sync.add.u32 %r1, %t, -1;"},
                  TRAP_DIVERGENT_BARRIER, "bar.sync");
}

/* ---- bar.warp.sync ------------------------------------------------------------------------------------- */

static void test_warp_sync(void **state) {
    (void)state;
    static const char *const ways[] = {"", "setp.ge.u32 %p9, %t, 28; @%p9 bra END;\n"};
    for (size_t w = 0; w < 2; w++) {
        Text body = {0};
        text_print(&body,
                   "mov.u32 %%r0, 0; setp.lt.u32 %%p0, %%t, 4; setp.lt.u32 %%p1, %%t, 12; %s"
                   "@%%p0 bra A; @%%p1 bra B;\n"
                   "bar.warp.sync -1; ld.volatile.shared.u32 %%r0, [word]; bar.warp.sync -1; bra MEET;\n"
                   "A: mov.u32 %%r1, 0; L: add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p2, %%r1, 50; @%%p2 bra L;\n"
                   "st.volatile.shared.u32 [word], 9; bar.warp.sync -1; bar.warp.sync -1; bra MEET;\n"
                   "B: bar.warp.sync -1; bar.warp.sync -1; ld.volatile.shared.u32 %%r0, [word];\n"
                   "MEET: st.global.u32 [%%out], %%r0;\nEND:",
                   ways[w]);
        CoreRun run =
            core_run_well((CoreKernel){.body = text_string(&body), .module = ".shared .u32 word;\n"});
        for (int lane = 0; lane < (w ? 28 : 32); lane++) assert_int_equal(run.out[lane], lane < 4 ? 0 : 9);
        core_done(&run);
        text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_sum_and_shuffle),
        cmocka_unit_test(test_guarded_places),
        cmocka_unit_test(test_loops_that_lanes_leave),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_tiles_go_on_alone),
        cmocka_unit_test(test_others_do_not_meet),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_warp_sync),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
