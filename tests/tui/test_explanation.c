/* Explanations: the sentences about a step, word for word, for each kind of event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/opcodes.h"
#include "tests/tui/sample.h"
#include "tui/panes/pane.h"
#include "tui/view/view.h"
#include <string.h>

typedef struct Shown {
    Sample *sample;
    View view;
    StepContext context;
} Shown;

/* The first step of this kind, `skip` later, of a block of 64 threads. */
static void show(Shown *shown, TraceKind kind, int skip) {
    *shown = (Shown){.sample = sample_new(64)};
    view_init(&shown->view);
    view_go_to_step(&shown->view, &shown->sample->scene, sample_step(shown->sample, kind, skip));
    assert_true(step_context_init(&shown->context, &shown->sample->scene, &shown->view));
}

/* The explanation ends like this; `whole`: and says nothing else. */
static void says(const Shown *shown, const char *expected, bool whole) {
    Text text = {0};
    explain_step(&shown->context, &text);
    const char *said = text_string(&text);
    size_t length = strlen(said), wanted = strlen(expected);
    if (length < wanted || (whole && length != wanted) || strcmp(said + length - wanted, expected) != 0)
        fail_msg("expected \"%s\", found \"%s\"", expected, said);
    text_done(&text);
}

/* ---- votes --------------------------------------------------------------------------------------------- */

static void votes_say_what_lanes_learn(void **state) {
    (void)state;
    static const struct {
        PtxOpcode opcode;
        const char *modifiers[2], *sentence;
    } cases[] = {
        {PTX_vote,
         {"ballot", "b32"},
         ". Each lane's predicate is one bit of the mask that every lane receives."},
        {PTX_vote,
         {"sync", "ballot"},
         ". Each lane's predicate is one bit of the mask that every lane receives."},
        {PTX_vote, {"any", "pred"}, ". Every lane learns whether the predicate is true in any lane."},
        {PTX_vote, {"sync", "all"}, ". Every lane learns whether the predicate is true in all lanes."},
        {PTX_vote, {"uni", "pred"}, ". Every lane learns whether the predicate is the same in all lanes."},
        {PTX_match, {"any", "b32"}, ". Every lane receives the mask of the lanes that hold the same value."},
        {PTX_elect, {"sync", "b32"}, ". One lane is elected to act for all of them."},
        {PTX_activemask,
         {"b32", "b32"},
         ". The mask shows which lanes execute together at this moment; they need not stay together."},
    };
    Shown shown;
    show(&shown, TRACE_VOTE, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PtxModifier modifiers[] = {{.text = cases[i].modifiers[0]}, {.text = cases[i].modifiers[1]}};
        PtxInstruction instruction = {.opcode = cases[i].opcode, .modifiers = modifiers, .modifier_count = 2};
        PtxCode code = {.instruction = &instruction};
        shown.context.code = &code;
        says(&shown, cases[i].sentence, false);
    }
    shown.context.code = &(PtxCode){.instruction = &(PtxInstruction){.opcode = PTX_OTHER}};
    says(&shown, "All 32 lanes of warp 0 vote. ", true);
    sample_free(shown.sample);
}

/* ---- accesses ------------------------------------------------------------------------------------------ */

static void constant_memory_is_read_at_some_addresses(void **state) {
    (void)state;
    Shown shown;
    show(&shown, TRACE_GLOBAL_LOAD, 0);
    TraceEvent *event = &shown.context.event;
    event->kind = TRACE_CONSTANT_LOAD;
    for (int lane = 0; lane < WARP_LANES; lane++) event->offset[lane] = 12;
    says(&shown, "All 32 lanes of warps 0, 1 load. All lanes read the same address of constant memory.",
         true);
    for (int lane = 0; lane < WARP_LANES; lane++) event->offset[lane] = (uint64_t)lane / 8 * 4;
    says(&shown, ". The lanes read 4 different addresses of constant memory.", false);
    sample_free(shown.sample);
}

static void local_memory_is_explained(void **state) {
    (void)state;
    static const TraceKind kinds[] = {TRACE_LOCAL_LOAD, TRACE_LOCAL_STORE};
    static const char *const sentences[] = {"All 32 lanes of warps 0, 1 load. Local memory: spilled "
                                            "registers, or an array that is indexed at run time.",
                                            "All 32 lanes of warps 0, 1 store. Local memory: spilled "
                                            "registers, or an array that is indexed at run time."};
    Shown shown;
    show(&shown, TRACE_GLOBAL_LOAD, 0);
    for (int i = 0; i < 2; i++) {
        shown.context.event.kind = kinds[i];
        says(&shown, sentences[i], true);
    }
    sample_free(shown.sample);
}

static void put_addresses(Shown *shown, uint32_t mask, int width, uint64_t stride) {
    TraceEvent *event = &shown->context.event;
    event->mask = mask;
    event->width = width;
    for (int lane = 0; lane < WARP_LANES; lane++) event->offset[lane] = (uint64_t)lane * stride;
}

static void global_accesses_count_their_sectors(void **state) {
    (void)state;
    static const struct {
        uint32_t mask;
        int width;
        uint64_t stride;
        const char *sentence;
    } cases[] = {
        {0xffffffff, 4, 4,
         ". w0: 32 accesses of 4 bytes touch 4 sectors of 32 bytes, the minimum: coalesced."},
        {0xffffffff, 4, 8,
         ". w0: 32 accesses of 4 bytes touch 8 sectors of 32 bytes, where 4 would suffice: 50% of the "
         "traffic is "
         "not used."},
        {0xffffffff, 4, 32,
         ". w0: 32 accesses of 4 bytes touch 32 sectors of 32 bytes, where 4 would suffice: 87% of the "
         "traffic is "
         "not used."},
        {1, 4, 4, ". w0: 1 access of 4 bytes touches 1 sector of 32 bytes, the minimum: coalesced."},
        {3, 1, 1, ". w0: 2 accesses of 1 byte touch 1 sector of 32 bytes, the minimum: coalesced."},
        {3, 8, 64,
         ". w0: 2 accesses of 8 bytes touch 2 sectors of 32 bytes, where 1 would suffice: 50% of the traffic "
         "is "
         "not used."},
    };
    Shown shown;
    show(&shown, TRACE_GLOBAL_LOAD, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_addresses(&shown, cases[i].mask, cases[i].width, cases[i].stride);
        says(&shown, cases[i].sentence, false);
    }
    sample_free(shown.sample);
}

static void atomics_count_their_collisions(void **state) {
    (void)state;
    static const struct {
        uint64_t divisor;
        const char *sentence, *in_shared;
    } cases[] = {
        {1, ". Each lane updates a different address.",
         " No two lanes share a bank: 1 wavefront, the ideal."},
        {8, ". w0: its lanes update 4 addresses, up to 8 lanes the same one.",
         " A bank serves its lanes one after another: 8 wavefronts instead of 1."},
        {32, ". w0: 32 lanes update the same address; every update counts, in whatever order.",
         " A bank serves its lanes one after another: 32 wavefronts instead of 1."},
    };
    Shown shown;
    show(&shown, TRACE_GLOBAL_LOAD, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t lane = 0; lane < WARP_LANES; lane++)
            shown.context.event.offset[lane] = lane / cases[i].divisor * 4;
        shown.context.event.kind = TRACE_GLOBAL_ATOMIC;
        says(&shown, cases[i].sentence, false);
        shown.context.event.kind = TRACE_SHARED_ATOMIC;
        shown.context.cost = access_atomic_cost(PTX_ATOMIC_LANES, 4, shown.context.event.mask,
                                                shown.context.event.offset, NULL);
        Text both = {0};
        text_print(&both, "%s%s", cases[i].sentence, cases[i].in_shared);
        says(&shown, text_string(&both), false);
        text_done(&both);
    }
    shown.context.event.kind = TRACE_GLOBAL_ATOMIC;
    shown.context.event.mask = 1;
    says(&shown, ". w0: one update of one address.", false);
    sample_free(shown.sample);
}

static void shared_accesses_name_their_conflicts(void **state) {
    (void)state;
    static const struct {
        int64_t stride;
        int width, wavefronts, ideal, phases;
        const char *sentence;
    } cases[] = {
        {4, 4, 1, 1, 1, ". No two words share a bank: one wavefront, no conflict."},
        {0, 4, 1, 1, 1, ". All lanes access the same word (broadcast): one wavefront."},
        {8, 4, 2, 1, 1, ". Words 2 apart fall into 16 of 32 banks: w0 needs 2 wavefronts instead of 1."},
        {-128, 4, 32, 1, 1, ". Words 32 apart fall into 1 of 32 banks: w0 needs 32 wavefronts instead of 1."},
        {132, 4, 2, 1, 1, ". Words 33 apart fall into 32 of 32 banks: w0 needs 2 wavefronts instead of 1."},
        {4, 4, 2, 1, 1, ". Different words fall into the same bank: w0 needs 2 wavefronts instead of 1."},
        {6, 4, 3, 1, 1, ". Different words fall into the same bank: w0 needs 3 wavefronts instead of 1."},
        {2, 2, 1, 1, 1, ". No two words share a bank: one wavefront, no conflict."},
        {8, 8, 2, 2, 2,
         ". 8 bytes per lane are served in 2 phases, each without a conflict: 2 wavefronts, the ideal."},
    };
    Shown shown;
    show(&shown, TRACE_SHARED_STORE, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shown.context.event.width = cases[i].width;
        shown.context.cost = (SharedCost){
            .wavefronts = cases[i].wavefronts, .ideal = cases[i].ideal, .phases = cases[i].phases};
        for (int lane = 0; lane < WARP_LANES; lane++)
            shown.context.address[lane] = (uint64_t)(8192 + lane * cases[i].stride);
        says(&shown, cases[i].sentence, false);
    }
    shown.context.cost = (SharedCost){.wavefronts = 2, .ideal = 1, .phases = 1};
    for (int lane = 0; lane < WARP_LANES; lane++) shown.context.address[lane] = (uint64_t)lane * 8;
    shown.context.address[31] = 0; /* except for the last lane */
    says(&shown, ". Different words fall into the same bank: w0 needs 2 wavefronts instead of 1.", false);
    sample_free(shown.sample);
}

/* ---- shuffles ------------------------------------------------------------------------------------------ */

/* Lanes of the mask take from lane + `delta`, or keep their own value if that is outside their segment of
 * `width`; lane `inactive` has no value to take. */
static void put_sources(Shown *shown, int delta, int width, int inactive) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int source = lane + delta;
        if (source < 0 || source / width != lane / width) source = lane;
        shown->context.event.source[lane] = (int8_t)(source == inactive ? -1 : source);
    }
}

static void shuffles_say_who_takes_and_who_keeps(void **state) {
    (void)state;
    static const struct {
        int delta, width, inactive;
        const char *sentence;
    } cases[] = {
        {16, 32, -1,
         "All 32 lanes of warp 0 shuffle. Delta 16: each lane reads the value of the lane 16 above it, "
         "register to "
         "register. Source outside the segment: lanes 16-31 keep their own values."},
        {-1, 32, -1,
         "All 32 lanes of warp 0 shuffle. Delta 1: each lane reads the value of the lane 1 below it, "
         "register to "
         "register. Source outside the segment: lane 0 keeps its own value."},
        {1, 32, 31,
         "All 32 lanes of warp 0 shuffle. Delta 1: each lane reads the value of the lane 1 above it, "
         "register to "
         "register. Undefined value, a bug: the source lane of lanes 30, 31 is inactive."},
        {0, 32, -1,
         "All 32 lanes of warp 0 shuffle. Source outside the segment: all 32 lanes keep their own values."},
        {31, 32, 31,
         "All 32 lanes of warp 0 shuffle. Source outside the segment: lanes 1-30 keep their own values. "
         "Undefined "
         "value, a bug: the source lane of lanes 0, 31 is inactive."},
    };
    Shown shown;
    show(&shown, TRACE_SHUFFLE, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_sources(&shown, cases[i].delta, cases[i].width, cases[i].inactive);
        says(&shown, cases[i].sentence, true);
    }
    for (int lane = 0; lane < WARP_LANES; lane++) shown.context.event.source[lane] = (int8_t)(lane ^ 1);
    says(&shown,
         "All 32 lanes of warp 0 shuffle. Lanes exchange values from register to register, without shared "
         "memory.",
         true);
    for (int lane = 0; lane < WARP_LANES; lane++) shown.context.event.source[lane] = -1;
    says(&shown,
         "All 32 lanes of warp 0 shuffle. Undefined value, a bug: the source lane of all 32 lanes is "
         "inactive.",
         true);
    sample_free(shown.sample);
}

/* ---- branches and barriers ----------------------------------------------------------------------------- */

static void branches_without_a_split_say_so(void **state) {
    (void)state;
    Shown shown;
    show(&shown, TRACE_BRANCH, 0);
    TraceEvent *event = &shown.context.event;
    event->taken = 0;
    says(&shown, ". In every warp all lanes take the same path: no divergence.", false);
    event->taken = event->mask;
    says(&shown, ". In every warp all lanes take the same path: no divergence.", false);
    sample_free(shown.sample);
}

static void another_warp_may_diverge(void **state) {
    (void)state;
    Shown shown;
    int skip = 0;
    bool found = false;
    do {
        show(&shown, TRACE_BRANCH, skip++);
        found = shown.context.step_index->step[shown.view.place.step].diverges;
        if (!found) sample_free(shown.sample);
    } while (!found);
    says(&shown,
         ". w0 splits: 16 lanes enter the if, 16 skip it; the paths execute one after another. (Its body is "
         "short: ptxas may predicate it.)",
         false);
    shown.view.selection.warp = 1;
    assert_true(step_context_init(&shown.context, &shown.sample->scene, &shown.view));
    says(&shown, "All 32 lanes of warps 0, 1 evaluate the branch. w1 does not split, but another warp does.",
         true);
    sample_free(shown.sample);
}

static void the_other_kinds(void **state) {
    (void)state;
    static const struct {
        TraceKind kind;
        const char *sentence;
    } cases[] = {
        {TRACE_REDUX,
         "All 32 lanes of warp 0 reduce. One instruction reduces the values of all its lanes; every lane "
         "receives the result."},
        {TRACE_WARP_SYNC, "Lanes 0-7 of warp 0 arrive, 24 idle. These lanes synchronize: each sees what the "
                          "others wrote before."},
        {TRACE_NAMED_BARRIER,
         "All 32 lanes of warp 0 arrive. A named barrier: it waits only for the threads it counts."},
        {TRACE_BARRIER,
         "All 32 lanes of warps 0, 1 arrive. All have arrived: from here on every thread sees what "
         "the others wrote before."},
    };
    Shown shown;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        show(&shown, cases[i].kind, 0);
        says(&shown, cases[i].sentence, true);
        sample_free(shown.sample);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(votes_say_what_lanes_learn),
        cmocka_unit_test(constant_memory_is_read_at_some_addresses),
        cmocka_unit_test(local_memory_is_explained),
        cmocka_unit_test(global_accesses_count_their_sectors),
        cmocka_unit_test(atomics_count_their_collisions),
        cmocka_unit_test(shared_accesses_name_their_conflicts),
        cmocka_unit_test(shuffles_say_who_takes_and_who_keeps),
        cmocka_unit_test(branches_without_a_split_say_so),
        cmocka_unit_test(another_warp_may_diverge),
        cmocka_unit_test(the_other_kinds),
    };
    return cmocka_run_group_tests_name("explanations", tests, NULL, NULL);
}
