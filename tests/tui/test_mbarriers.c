/* Mbarriers of a block: their phases, arrivals and bytes after each event, what each warp waits for, and the
 * picture of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stage.h"
#include "tui/scene/mbarrier_state.h"

#include <stdlib.h>
#include <string.h>

typedef struct Opened {
    Session *session;
    Scene *scene;
    View view;
    const TraceLaunch *launch;
    const TraceBlock *block;
    MbarrierState state;
} Opened;

static void open_session(Opened *opened, Session *session) {
    opened->session = session;
    opened->scene = scene_new(session);
    view_init(&opened->view);
    StepContext context;
    assert_true(step_context_init(&context, opened->scene, &opened->view));
    opened->launch = context.launch;
    opened->block = context.steps->block;
}

static void open_kernel(Opened *opened, const char *kernel) {
    Error error = {0};
    RunSpec spec = {.kernel = kernel,
                    .catalog = {.n = 8192, .block = 128, .grid = 1},
                    .threads = 1,
                    .backend = BACKEND_EMULATOR};
    Session *session = session_open(&spec, &error);
    if (!session) fail_msg("%s", error.message);
    open_session(opened, session);
}

/* One block of PTX with the registers p, r and q, `tile` and `gate`. */
static void open_ptx(Opened *opened, const char *body, uint32_t threads) {
    char text[4096];
    snprintf(text, sizeof text,
             ".reg .pred %%p<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%q<4>;\n.shared .align 128 .b8 tile[128];\n"
             ".shared .align 8 .b64 gate;\nld.param.u64 %%q0, [in];\nmov.u32 %%r0, %%tid.x;\n"
             "setp.eq.u32 %%p0, %%r0, 0;\nmov.u32 %%r1, tile;\nmov.u32 %%r2, gate;\n%s\nret;",
             body);
    open_session(opened, stage_session_of_ptx(".param .u64 in", text, "in=int[32]:iota", threads));
}

static void close_session(Opened *opened) {
    scene_free(opened->scene);
    session_free(opened->session);
}

static void go_to_event(Opened *opened, int event) {
    opened->state = *scene_mbarriers(opened->scene, opened->view.place.block, event);
}

static void go_to_end(Opened *opened) {
    go_to_event(opened, trace_block_event_count(opened->block) - 1);
}

/* Goes to the n-th event of this kind, from 0. */
static int go_to_kind(Opened *opened, TraceKind kind, int n) {
    TraceEvent event;
    for (int i = 0; i < trace_block_event_count(opened->block); i++) {
        trace_block_read_header(opened->block, i, &event);
        if (event.kind != kind || n--) continue;
        go_to_event(opened, i);
        return i;
    }
    fail_msg("there is no such event");
    return 0;
}

static int find(const Opened *opened, const char *name) {
    char found[80];
    for (int i = 0; i < opened->state.count; i++) {
        mbarrier_print_name(opened->launch, &opened->state, i, found, sizeof found);
        if (!strcmp(found, name)) return i;
    }
    fail_msg("there is no mbarrier %s", name);
    return 0;
}

static const TracedMbarrier *of(const Opened *opened, const char *name) {
    return &opened->state.mbarriers[find(opened, name)];
}

/* ---- bookkeeping --------------------------------------------------------------------------------------- */

/* 8,192 ints in stages of 384 are 22 copies; each is a phase of a full[] and of an empty[]. */
static void a_ring_turns_once_for_each_copy(void **state) {
    (void)state;
    Opened opened = {0};
    open_kernel(&opened, "specialised_sum");
    go_to_end(&opened);
    uint64_t full = 0, empty = 0;
    assert_int_equal(opened.state.count, 8);
    assert_false(opened.state.has_unknown_copies);
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "full[%d]", i);
        full += of(&opened, name)->phase;
        assert_true(mbarrier_is_between_phases(of(&opened, name)));
        assert_true(of(&opened, name)->is_copied_to);
        snprintf(name, sizeof name, "empty[%d]", i);
        empty += of(&opened, name)->phase;
        assert_false(of(&opened, name)->is_copied_to);
    }
    assert_int_equal(full, 22);
    assert_int_equal(empty, 22);
    close_session(&opened);
}

/* The state of an event is kept, and does not depend on the events that were looked at before. */
static void a_kept_state_is_that_of_its_event(void **state) {
    (void)state;
    Opened kept = {0};
    open_kernel(&kept, "specialised_sum");
    int count = trace_block_event_count(kept.block), moves = 0;
    for (int i = 0; i < count; i++) {
        Opened fresh = {0};
        int event = i * 37 % count; /* forwards and back */
        if (i % 40) continue;
        open_kernel(&fresh, "specialised_sum");
        go_to_event(&fresh, event);
        const MbarrierState *seen = scene_mbarriers(kept.scene, kept.view.place.block, event);
        assert_int_equal(seen->count, fresh.state.count);
        for (int m = 0; m < seen->count; m++) {
            assert_int_equal(seen->mbarriers[m].phase, fresh.state.mbarriers[m].phase);
            assert_int_equal(seen->mbarriers[m].pending, fresh.state.mbarriers[m].pending);
            assert_int_equal(seen->mbarriers[m].arrived, fresh.state.mbarriers[m].arrived);
        }
        for (int w = 0; w < seen->warp_count; w++)
            assert_int_equal(seen->warps[w].activity, fresh.state.warps[w].activity);
        close_session(&fresh);
        moves++;
    }
    assert_true(moves > 5);
    close_session(&kept);
}

static void one_warp_produces_and_the_others_consume(void **state) {
    (void)state;
    Opened opened = {0};
    open_kernel(&opened, "specialised_sum");
    go_to_event(&opened, 0);
    assert_int_equal(opened.state.warp_count, 4);
    for (int w = 0; w < 4; w++) {
        const MbarrierWarp *warp = &opened.state.warps[w];
        assert_int_equal(warp->orders_copies, w == 0);
        assert_int_equal(warp->waits_for_copies && warp->loads_copied, w > 0);
    }
    close_session(&opened);
}

/* Once a consumer has arrived at the empty[] that the producer waits for, the other two are missing. */
static void other_phases_tell_which_warps_are_missing(void **state) {
    (void)state;
    Opened opened = {0};
    open_kernel(&opened, "specialised_sum");
    for (int i = 0; i < trace_block_event_count(opened.block); i++) {
        go_to_event(&opened, i);
        const MbarrierWarp *producer = &opened.state.warps[0];
        if (producer->activity != WARP_WAITS) continue;
        const TracedMbarrier *mbarrier = &opened.state.mbarriers[producer->mbarrier];
        if (mbarrier->arrived != 1u << 1) continue;
        assert_int_equal(mbarrier->count, 3);
        assert_int_equal(mbarrier->pending, 2);
        assert_int_equal(mbarrier_missing_warps(mbarrier), 1u << 2 | 1u << 3);
        close_session(&opened);
        return;
    }
    fail_msg("the producer never waits for two consumers");
}

static void bytes_are_expected_then_ordered_then_complete(void **state) {
    (void)state;
    Opened opened = {0};
    open_kernel(&opened, "bulk_copy");
    int copy = go_to_kind(&opened, TRACE_SHARED_BULK_WRITE, 0);
    assert_int_equal(of(&opened, "full[0]")->ordered, 2048);
    assert_true(of(&opened, "full[0]")->is_here);
    go_to_event(&opened, copy - 1);
    assert_int_equal(of(&opened, "full[0]")->expected, 2048);
    assert_int_equal(of(&opened, "full[0]")->ordered, 0);
    assert_int_equal(of(&opened, "full[0]")->pending, 0);
    assert_int_equal(of(&opened, "full[0]")->phase, 0);
    go_to_end(&opened);
    assert_int_equal(of(&opened, "full[0]")->phase + of(&opened, "full[1]")->phase, 16);
    assert_true(opened.state.warps[0].orders_copies && opened.state.warps[0].loads_copied);
    assert_false(opened.state.warps[1].orders_copies);
    close_session(&opened);
}

static void counts_drops_and_states_are_followed(void **state) {
    (void)state;
    Opened opened = {0};
    open_ptx(&opened,
             "mbarrier.init.shared::cta.b64 [%r2], 3;\n"
             "mbarrier.arrive.shared::cta.b64 %q1, [%r2], 2;\n"
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 64;\n"
             "mbarrier.arrive_drop.shared::cta.b64 %q1, [%r2];\n"
             "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r2], 64;\n"
             "mbarrier.test_wait.shared::cta.b64 %p1, [%r2], %q1;\n",
             1);
    static const struct {
        uint64_t phase;
        int64_t count, pending, expected;
    } after[] = {{0, 3, 3, 0}, {0, 3, 1, 0}, {0, 3, 1, 64}, {0, 2, 0, 64}, {1, 2, 2, 0}, {1, 2, 2, 0}};
    for (int i = 0; i < 6; i++) {
        go_to_event(&opened, i);
        const TracedMbarrier *gate = of(&opened, "gate");
        if (gate->phase != after[i].phase) fail_msg("event %d: phase %d", i, (int)gate->phase);
        assert_int_equal(gate->count, after[i].count);
        assert_int_equal(gate->pending, after[i].pending);
        assert_int_equal(gate->expected, after[i].expected);
    }
    close_session(&opened);
}

/* The parity of a phase comes again two phases later: a wait that has succeeded waits no more. */
static void a_wait_ends_with_its_phase(void **state) {
    (void)state;
    Opened opened = {0};
    open_ptx(&opened,
             "@%p0 mbarrier.init.shared::cta.b64 [%r2], 1;\nbar.sync 0;\nsetp.ge.u32 %p1, %r0, 32;\n"
             "@%p1 bra W;\nsetp.ne.u32 %p2, %r0, 0;\n@%p2 bra E;\nmov.u32 %r3, 0;\n"
             "mbarrier.arrive.shared::cta.b64 %q1, [%r2];\n"
             "L: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, 20;\n@%p3 bra L;\n"
             "mbarrier.arrive.shared::cta.b64 %q1, [%r2];\nbra E;\n"
             "W: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\nE:",
             64);
    go_to_end(&opened);
    assert_int_equal(of(&opened, "gate")->phase, 2);
    assert_int_equal(opened.state.warps[1].activity, WARP_HAS_ENDED);
    close_session(&opened);
}

/* ---- a transaction count that is too large ------------------------------------------------------------- */

static const char too_large[] =
    "@%p0 mbarrier.init.shared::cta.b64 [%r2], 1;\nbar.sync 0;\n"
    "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;\n"
    "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%q0], 128, [%r2];\n"
    "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;\n@!%p1 bra W;\nld.shared.u32 %r3, [%r1];";

static void a_deadlock_shows_the_bytes_that_nobody_ordered(void **state) {
    (void)state;
    Opened opened = {0};
    open_ptx(&opened, too_large, 64);
    go_to_end(&opened);
    const TracedMbarrier *gate = of(&opened, "gate");
    assert_int_equal(gate->phase, 0);
    assert_int_equal(gate->pending, 0);
    assert_int_equal(gate->expected, 256);
    assert_int_equal(gate->ordered, 128);
    go_to_event(&opened, trace_block_event_count(opened.block) - 3); /* the second warp's wait */
    for (int w = 0; w < 2; w++) {
        assert_int_equal(opened.state.warps[w].activity, WARP_WAITS);
        assert_int_equal(opened.state.warps[w].phase, 0);
    }
    close_session(&opened);
}

/* The pane at the last step whose event is of this kind. */
static void expect_picture(Opened *opened, TraceKind kind, const char *const *parts, int count) {
    Text text = {0};
    for (int step = 0;; step++) {
        StepContext context;
        view_go_to_step(&opened->view, opened->scene, step);
        assert_true(step_context_init(&context, opened->scene, &opened->view));
        if (step >= context.steps->step_count) break;
        if (context.event.kind != kind) continue;
        Canvas *canvas = canvas_new(80, 8, true);
        text_clear(&text);
        pane_async.draw(&context, canvas, (Rectangle){0, 0, 80, 8});
        canvas_to_text(canvas, &text);
        canvas_free(canvas);
    }
    for (int i = 0; i < count; i++)
        if (!strstr(text_string(&text), parts[i]))
            fail_msg("no \"%s\" in:\n%s", parts[i], text_string(&text));
    text_done(&text);
}

static void the_picture_shows_who_waits_for_what(void **state) {
    (void)state;
    Opened opened = {0};
    static const char *const at_wait[] = {
        "gate+0: lane 0 asks for the phase of parity 0: not complete",
        ">gate phase 0, parity 0: 1 of 1 arrived, 128 of 256 bytes requested", "waits for gate, phase 0"};
    static const char *const at_copy[] = {
        "lane 0  128 bytes  in+0", ">gate phase 0, parity 0: 1 of 1 arrived, 128 of 256 bytes requested",
        "warp 0     producer  "};
    open_ptx(&opened, too_large, 64);
    expect_picture(&opened, TRACE_MBARRIER, at_wait, 3);
    expect_picture(&opened, TRACE_SHARED_BULK_WRITE, at_copy, 3);
    close_session(&opened);
}

/* Of more mbarriers than fit, those around the step's are shown. */
static void the_mbarrier_of_the_step_is_on_the_screen(void **state) {
    (void)state;
    Opened opened = {0};
    static const char *const parts[] = {">ring[63] phase 0 (0) 0/1"};
    open_ptx(&opened,
             ".shared .align 8 .b64 ring[64];\nmov.u32 %r2, ring;\nadd.u32 %r3, %r2, 512;\n"
             "A: mbarrier.init.shared::cta.b64 [%r2], 1;\nadd.u32 %r2, %r2, 8;\nsetp.lt.u32 %p1, %r2, %r3;\n"
             "@%p1 bra A;",
             1);
    expect_picture(&opened, TRACE_MBARRIER, parts, 1);
    close_session(&opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_turns_once_for_each_copy),
        cmocka_unit_test(a_kept_state_is_that_of_its_event),
        cmocka_unit_test(one_warp_produces_and_the_others_consume),
        cmocka_unit_test(other_phases_tell_which_warps_are_missing),
        cmocka_unit_test(bytes_are_expected_then_ordered_then_complete),
        cmocka_unit_test(counts_drops_and_states_are_followed),
        cmocka_unit_test(a_wait_ends_with_its_phase),
        cmocka_unit_test(a_deadlock_shows_the_bytes_that_nobody_ordered),
        cmocka_unit_test(the_picture_shows_who_waits_for_what),
        cmocka_unit_test(the_mbarrier_of_the_step_is_on_the_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
