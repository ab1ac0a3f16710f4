#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "waited.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TRACED_BLOCKS = 4 };

const WaitProbeOptions waited_options = {.kinds = WAIT_DEFAULT_KINDS, .room = 2048, .slots = 256};

PtxProgram *waited_link(const Waited *waited, PtxModule *module, const char *name) {
    Error error = {0};
    PtxFunction *entry = module ? ptx_module_find_entry(module, name, &error) : NULL;
    PtxProgram *program = entry ? ptx_program_link(module, entry, &error) : NULL;
    if (!program) fail_msg("%s: %d: %s", waited->name, error.line, error.message);
    return program;
}

/* All launches of the plan; those of one entry have a program each, as in a session. */
void waited_instrument(Waited *waited) {
    Error error = {0};
    const Plan *plan = &waited->plans[0];
    waited->options.full_warps = true;
    for (int i = 0; i < plan->launch_count; i++) {
        waited->programs[i] = waited_link(waited, waited->module, plan->launches[i].entry);
        waited->options.full_warps &= launch_volume(plan->launches[i].block) % 32 == 0;
    }
    if (!instrument_waits((const PtxProgram *const *)waited->programs, plan->launch_count, &waited->options,
                          &waited->text, &waited->sites, &error))
        fail_msg("%s: %s", waited->name, error.message);
    waited->probed_module =
        ptx_module_parse(text_string(&waited->text), waited->text.length, "waits.ptx", &error);
    if (!waited->probed_module) fail_msg("%s: %d: %s", waited->name, error.line, error.message);
    for (int i = 0; i < plan->launch_count; i++)
        waited->probed[i] = waited_link(waited, waited->probed_module, plan->launches[i].entry);
}

static void run(Waited *waited, int side, const PlanLaunch *planned, const PtxProgram *program) {
    Error error = {0};
    Launch launch = twin_bind(waited->emulators[side], planned, program, waited->name);
    Trace *trace = waited->traces[side];
    if (!emulator_run(waited->emulators[side], &launch, trace, &error))
        fail_msg("%s: %s", waited->name, error.message);
    if (trace->trap_count)
        fail_msg("%s%s: %s: pc %d: %s", waited->name, side ? ", with the probe" : "",
                 trap_kind_text(trace->traps[0].kind), trace->traps[0].pc, trace->traps[0].detail);
    launch_done(&launch);
}

void waited_run(Waited *waited) {
    for (int side = 0; side < 2; side++) {
        const Plan *plan = &waited->plans[side];
        EmulatorOptions settings = {.threads = 1,
                                    .trace_first = side ? 1 : 0,
                                    .trace_last = side ? 0 : TRACED_BLOCKS - 1,
                                    .multiprocessors = 1,
                                    .instruction_budget = 50000000};
        waited->emulators[side] = emulator_new(&settings);
        waited->traces[side] = trace_new("emulator");
        for (int i = 0; i < plan->buffer_count; i++)
            emulator_add_buffer(waited->emulators[side], plan->buffers[i].name, plan->buffers[i].bytes,
                                plan->buffers[i].count * (uint64_t)ptx_type_bytes(plan->buffers[i].type),
                                plan->buffers[i].type);
    }
    for (int i = 0; i < waited->plans[0].launch_count; i++) {
        run(waited, 0, &waited->plans[0].launches[i], waited->programs[i]);
        uint64_t bytes = wait_buffer_bytes(&waited->options);
        waited->buffers[i] = calloc(1, bytes);
        int buffer =
            emulator_add_buffer(waited->emulators[1], "redviz waits", waited->buffers[i], bytes, PTX_B8);
        uint64_t value = wait_parameter(emulator_buffer_address(waited->emulators[1], buffer), 0);
        plan_add_scalar(&waited->plans[1], &waited->plans[1].launches[i], &value, sizeof value);
        run(waited, 1, &waited->plans[1].launches[i], waited->probed[i]);
    }
    twin_expect_same_results(&waited->plans[0], &waited->plans[1], waited->name);
}

void waited_done(Waited *waited) {
    for (int i = 0; i < waited->plans[0].launch_count; i++) {
        ptx_program_free(waited->programs[i]);
        ptx_program_free(waited->probed[i]);
        free(waited->buffers[i]);
    }
    for (int side = 0; side < 2; side++) {
        emulator_free(waited->emulators[side]);
        trace_free(waited->traces[side]);
        plan_free(&waited->plans[side]);
    }
    ptx_module_free(waited->module);
    ptx_module_free(waited->probed_module);
    text_done(&waited->text);
    free(waited->sites.sites);
}

/* ---- records ------------------------------------------------------------------------------------------- */

uint32_t waited_wanted_slots(const Waited *waited, int launch) {
    uint32_t wanted;
    memcpy(&wanted, waited->buffers[launch], sizeof wanted);
    return wanted;
}

uint32_t waited_used_slots(const Waited *waited, int launch) {
    uint32_t wanted = waited_wanted_slots(waited, launch);
    return wanted < waited->options.slots ? wanted : waited->options.slots;
}

const WaitHeader *waited_header(const Waited *waited, int launch, uint32_t slot) {
    return (const void *)(waited->buffers[launch] + WAIT_COUNTER_BYTES + (size_t)WAIT_HEADER_BYTES * slot);
}

const WaitRecord *waited_records(const Waited *waited, int launch, uint32_t slot, int lane) {
    const void *first = waited->buffers[launch] + wait_front_bytes(&waited->options) +
                        wait_slot_bytes(&waited->options) * slot;
    return (const WaitRecord *)first + (size_t)lane * waited->options.room;
}

/* Each warp is there once, its records follow each other, and lie within its life. */
static void check_slots(const Waited *waited, int launch) {
    const PlanLaunch *planned = &waited->plans[0].launches[launch];
    uint64_t warps = (launch_volume(planned->block) + 31) / 32, blocks = launch_volume(planned->grid);
    assert_int_equal(waited_wanted_slots(waited, launch), warps * blocks);
    bool *seen = memory_new((size_t)(warps * blocks));
    for (uint32_t slot = 0; slot < waited_used_slots(waited, launch); slot++) {
        const WaitHeader *header = waited_header(waited, launch, slot);
        assert_true(header->block < blocks && header->warp < warps);
        assert_int_equal(header->warp_slot, header->warp); /* as the emulator numbers %warpid */
        assert_false(seen[header->block * warps + header->warp]);
        seen[header->block * warps + header->warp] = true;
        if (header->entered > header->start || header->start > header->end)
            fail_msg("%s: entered %" PRIu64 ", started %" PRIu64 ", ended %" PRIu64, waited->name,
                     header->entered, header->start, header->end);
        for (int lane = 0; lane < WAIT_LANES; lane++) {
            const WaitRecord *records = waited_records(waited, launch, slot, lane);
            uint32_t before = (uint32_t)header->start;
            if (header->counts[lane] > waited->options.room)
                fail_msg("%s: a lane has %u records", waited->name, header->counts[lane]);
            for (uint32_t i = 0; i < header->counts[lane]; i++) {
                assert_true(records[i].end - (records[i].duration & WAIT_LONGEST) >= before);
                assert_true(records[i].end <= (uint32_t)header->end);
                before = records[i].end;
            }
        }
    }
    free(seen);
}

/* ---- against the emulator ------------------------------------------------------------------------------ */

/* The waits of each lane one behind another, without lengths. */
static void take_line(const Waited *waited, int launch, uint32_t slot, WarpTimeline *timeline) {
    const WaitHeader *header = waited_header(waited, launch, slot);
    WarpLine *line = &timeline->lines[timeline->line_count++];
    int count = 0;
    for (int lane = 0; lane < WAIT_LANES; lane++) count += (int)header->counts[lane];
    *line = (WarpLine){.launch = launch, .block = header->block, .warp = header->warp};
    line->waits = arena_new(&timeline->arena, (size_t)count * sizeof *line->waits + 1);
    for (int lane = 0; lane < WAIT_LANES; lane++)
        for (uint32_t i = 0; i < header->counts[lane]; i++) {
            uint32_t site = waited_records(waited, launch, slot, lane)[i].duration >> 20;
            assert_true(site < (uint32_t)waited->sites.count);
            line->waits[line->wait_count++] = (WarpWait){.site = (uint16_t)site, .lane = (uint8_t)lane};
        }
}

WarpTimeline *waited_timeline(const Waited *waited) {
    int launches = waited->plans[0].launch_count, lines = 0;
    for (int i = 0; i < launches; i++) lines += (int)waited_used_slots(waited, i);
    WarpTimeline *timeline = warp_timeline_new(launches, waited->sites.count, lines);
    memcpy(timeline->sites, waited->sites.sites, (size_t)waited->sites.count * sizeof *timeline->sites);
    timeline->line_count = 0;
    for (int i = 0; i < launches; i++)
        for (uint32_t slot = 0; slot < waited_used_slots(waited, i); slot++)
            take_line(waited, i, slot, timeline);
    return timeline;
}

void waited_compare(const Waited *waited, const WarpTimeline *timeline, WarpComparison *comparison) {
    bool *rounds[PLAN_LAUNCHES];
    for (int i = 0; i < waited->plans[0].launch_count; i++) {
        rounds[i] = memory_new((size_t)waited->programs[i]->code_count + 1);
        instrument_find_waiting(waited->programs[i], rounds[i]);
    }
    warp_compare(timeline, waited->traces[0], rounds, comparison);
    for (int i = 0; i < waited->plans[0].launch_count; i++) free(rounds[i]);
}

/* The emulator on both sides: no warp is split otherwise. */
void waited_check(const Waited *waited) {
    WarpComparison comparison;
    WarpTimeline *timeline = waited_timeline(waited);
    bool has_all = true;
    for (int i = 0; i < waited->plans[0].launch_count; i++) {
        check_slots(waited, i);
        has_all &= waited_wanted_slots(waited, i) <= waited->options.slots;
    }
    waited_compare(waited, timeline, &comparison);
    if (comparison.difference.length) fail_msg("%s: %s", waited->name, text_string(&comparison.difference));
    assert_int_equal(comparison.agree, comparison.warps);
    assert_int_equal(comparison.split, 0);
    /* So many probes change where parts of a warp join again. */
    if (!(waited->options.kinds >> WARP_PASSES_LINE & 1)) assert_int_equal(comparison.other_counts, 0);
    assert_true(comparison.warps > 0 && (comparison.has_counts || !has_all));
    warp_comparison_done(&comparison);
    warp_timeline_free(timeline);
}
