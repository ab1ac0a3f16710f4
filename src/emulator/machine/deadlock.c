/* Reports of lanes, warps and blocks that can never continue: where they wait, and why. */
#include "emulator/machine/machine_cluster.h"

#include "base/language.h"
#include "base/sentence.h"
#include "emulator/machine/mbarrier.h"

#include <inttypes.h>

static const Fragment *first_in_state(const Warp *warp, FragmentState state) {
    for (int i = 0; i < warp->fragment_count; i++)
        if (warp->fragments[i].state == state) return &warp->fragments[i];
    return NULL;
}

static void describe_place(const Block *block, int pc, Text *out) {
    const PtxCode *code = &block->grid->program->program->code[pc];
    text_print(out, "%s", code->instruction->name);
    for (int i = 0; i < code->instruction->modifier_count; i++)
        text_print(out, ".%s", code->instruction->modifiers[i].text);
    if (code->line.line) text_print(out, tr(" in line %d"), code->line.line);
}

/* Describes the live lanes that are not in `known`: they wait to reconverge. */
static void describe_joined(const Warp *warp, uint32_t known, Text *out) {
    uint32_t joined = warp->live & ~known;
    LanesText lanes;
    if (joined)
        text_print(out, tr("; %s took another path, up to the reconvergence point"),
                   lanes_text(joined, &lanes));
}

static void describe_lanes(uint32_t lanes, Text *out) {
    LanesText text;
    text_add(out, lanes_text(lanes, &text));
}

/* Describes the lanes that came with the others, but whose guard is false; returns all that came. */
static uint32_t describe_guarded(const Fragment *of, Text *out) {
    uint32_t lanes = of->mask & ~of->active;
    if (lanes) text_add(out, tr("; its guard is false in "));
    if (lanes) describe_lanes(lanes, out);
    return of->mask;
}

/* Describes where the warp's other live lanes are, those that do not wait with `of`. */
static void describe_others(const Block *block, const Warp *warp, const Fragment *of, Text *out) {
    uint32_t known = describe_guarded(of, out);
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        uint32_t lanes = other->mask & ~known;
        if (!lanes) continue;
        known |= lanes;
        LanesText text;
        text_print(out, tr("; at another place, %s: "), lanes_text(lanes, &text));
        describe_place(block, other->pc, out);
    }
    describe_joined(warp, known, out);
}

static void describe_count(const Block *block, int pc, uint32_t count, Text *out) {
    describe_place(block, pc, out);
    if (count)
        text_print(out, tr(" expects %u threads"), count);
    else
        text_add(out, tr(" expects all threads of the block"));
}

void raise_barrier_counts(Block *block, const Warp *warp, int pc, int number, uint32_t count) {
    const Barrier *barrier = &block->barriers[number];
    Text text = {0};
    text_print(&text, tr("the thread counts of barrier %d differ: "), number);
    describe_count(block, barrier->pc, barrier->expected, &text);
    text_add(&text, tr(", but "));
    describe_count(block, pc, count, &text);
    text_add(&text, tr("; all arrivals at a barrier must name the same number"));
    raise_trap(block, TRAP_TRAP_INSTRUCTION, warp, pc, warp->live, NULL, "%s", text_string(&text));
    text_done(&text);
}

void raise_divergent_barrier(Block *block, const Warp *warp) {
    const Fragment *at = first_in_state(warp, FRAGMENT_AT_ALIGNED);
    Text text = {0};
    describe_place(block, at->pc, &text);
    LanesText active, live;
    text_print(&text, tr(" is reached by %s of warp %d, but all its live %s must execute it together"),
               lanes_text(at->active, &active), warp->index, lanes_text(warp->live, &live));
    describe_others(block, warp, at, &text);
    raise_trap(block, TRAP_DIVERGENT_BARRIER, warp, at->pc, at->active, NULL, "%s", text_string(&text));
    text_done(&text);
}

static bool is_same_text(const PtxInstruction *a, const PtxInstruction *b) {
    bool same = a->opcode == b->opcode && a->modifier_count == b->modifier_count;
    for (int i = 0; same && i < a->modifier_count; i++)
        same = !strcmp(a->modifiers[i].text, b->modifiers[i].text);
    return same;
}

void raise_missing_lanes(Block *block, const Warp *warp, const Fragment *at) {
    const PtxCode *code = block->grid->program->program->code;
    Text text = {0};
    uint32_t missing = at->awaited & warp->live;
    for (int i = 0; i < warp->fragment_count; i++) { /* those that came later */
        const Fragment *other = &warp->fragments[i];
        bool meets = other->state == FRAGMENT_AT_WARP_OP && other->named == at->named &&
                     is_same_text(code[other->pc].instruction, code[at->pc].instruction);
        if (meets) missing &= ~other->active;
    }
    LanesText lanes;
    text_print(&text, tr("%s of warp %d"), lanes_text(at->active, &lanes), warp->index);
    text_add(&text, at->active & (at->active - 1) ? tr(" wait at ") : tr(" waits at "));
    describe_place(block, at->pc, &text);
    text_print(&text, tr(": mask 0x%08x names "), at->named);
    if (!missing) missing = at->awaited;
    describe_lanes(missing, &text);
    text_add(&text, missing & (missing - 1) ? tr(", which never arrive") : tr(", which never arrives"));
    uint32_t known = describe_guarded(at, &text);
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        uint32_t lanes = other->mask & ~known;
        if (!lanes) continue;
        known |= lanes;
        text_add(&text, tr("; "));
        describe_lanes(lanes, &text);
        text_add(&text, lanes & (lanes - 1) ? tr(" wait at ") : tr(" waits at "));
        describe_place(block, other->pc, &text);
        if (other->state == FRAGMENT_AT_WARP_OP) text_print(&text, tr(", with mask 0x%08x"), other->named);
    }
    describe_joined(warp, known, &text);
    raise_trap(block, TRAP_MISSING_LANES, warp, at->pc, at->active, NULL, "%s", text_string(&text));
    text_done(&text);
}

/* " (`full`+8, phase 0: 1 of 256 arrivals and 128 bytes are missing)"; of the two, what is missing. */
static void describe_mbarrier(const Block *block, uint32_t place, Text *out) {
    const LoweredProgram *program = block->grid->program;
    const SharedPlace *variable = NULL;
    Mbarrier mbarrier = mbarrier_read(block, place);
    for (int i = 0; i < program->shared_count; i++)
        if (program->shared[i].offset <= place) variable = &program->shared[i];
    if (variable)
        text_print(out, tr(" (`%s`+%u"), variable->name, place - variable->offset);
    else
        text_print(out, tr(" (shared offset %u"), place);
    int64_t arrivals, bytes = mbarrier.bytes - copies_expected(block, place, &arrivals);
    bool only_bytes = bytes > 0 && !mbarrier.pending;
    text_print(out, tr(", phase %d: "), mbarrier.phase);
    if (!only_bytes)
        text_print(out, tr("%lld of %lld arrivals"), (long long)mbarrier.pending,
                   (long long)mbarrier.expected);
    if (bytes > 0) text_print(out, only_bytes ? tr("%lld bytes") : tr(" and %lld bytes"), (long long)bytes);
    text_add(out,
             bytes < 0 ? tr(" are missing, and more bytes arrive than are expected)") : tr(" are missing)"));
}

static void describe_barrier(const Block *block, int number, Text *out) {
    const Barrier *barrier = &block->barriers[number];
    if (number == CLUSTER_BARRIER) {
        uint32_t live, arrived;
        cluster_count_threads(block, &live, &arrived);
        text_print(out, tr(" (barrier of the cluster: %u of %u live threads have arrived)"), arrived, live);
        return;
    }
    text_print(out, tr(" (barrier %d: %u of "), number, barrier->arrived);
    if (barrier->expected)
        text_print(out, tr("%u threads have arrived)"), barrier->expected);
    else
        text_add(out, tr("all live threads have arrived)"));
}

enum { MOST_LISTED = 4 };

/* Lists waiting warps of the block, at most `most`; returns how many it listed. `names_block`: also names the
 * block by its rank. */
static int describe_waiting(const Block *block, int most, bool is_first, bool names_block, Text *out) {
    int listed = 0;
    for (int w = 0; w < block->warp_count && listed < most; w++) {
        const Warp *warp = &block->warps[w];
        for (int i = 0; i < warp->fragment_count && listed < most; i++) {
            const Fragment *fragment = &warp->fragments[i];
            text_add(out, is_first && !listed ? "" : tr("; "));
            if (names_block) text_print(out, tr("block %u of the cluster, "), block->rank);
            text_print(out, tr("warp %d waits at "), w);
            listed++;
            describe_place(block, fragment->pc, out);
            if (fragment->state == FRAGMENT_AT_MBARRIER && fragment->awaited != AWAITS_WARPGROUP)
                describe_mbarrier(block, fragment->awaited, out);
            if (fragment->state == FRAGMENT_IN_BARRIER) describe_barrier(block, fragment->barrier, out);
        }
    }
    return listed;
}

/* The pc of the first waiting warp. */
static int first_place(const Block *block) {
    for (int w = 0; w < block->warp_count; w++)
        if (block->warps[w].fragment_count) return block->warps[w].fragments[0].pc;
    return PTX_NO_PC;
}

void raise_deadlock(Block *block) {
    Text text = {0};
    const Cluster *cluster = cluster_waits(block) ? block->cluster : NULL;
    int ranks = cluster ? cluster->block_count : 1, listed = 0;
    uint32_t waiting = 0;
    int place = PTX_NO_PC;
    text_add(&text, cluster ? tr("no warp of the cluster can make progress: ")
                            : tr("no warp of the block can make progress: "));
    for (int rank = 0; rank < ranks; rank++) {
        const Block *of = cluster ? cluster->blocks[rank] : block;
        if (!of) continue;
        for (int w = 0; w < of->warp_count; w++) waiting += of->warps[w].live != 0;
        if (place == PTX_NO_PC) place = first_place(of);
        int most = cluster && MOST_LISTED - listed > 1 ? 1 : MOST_LISTED - listed; /* one warp per block */
        listed += describe_waiting(of, most, !listed, cluster != NULL, &text);
    }
    if (waiting > MOST_LISTED) text_print(&text, tr("; %u warps in all"), waiting);
    raise_trap(block, TRAP_DEADLOCK, NULL, place, 0, NULL, "%s", text_string(&text));
    text_done(&text);
}

void raise_spinning_blocks(Block *const *blocks, int count, uint64_t waiting) {
    Text text = {0};
    int listed = 0, place = PTX_NO_PC;
    text_print(&text,
               tr("no block can make progress: %d block%s only wait%s for memory that no thread changes"),
               count, count == 1 ? "" : "s", count == 1 ? "s" : "");
    if (waiting)
        text_print(&text, tr(", and %llu more are not resident: they start once one of them ends"),
                   (unsigned long long)waiting);
    for (int b = 0; b < count && listed < 4; b++) {
        const Warp *warps = blocks[b]->warps;
        for (int w = 0; w < blocks[b]->warp_count && listed < 4; w++) {
            const Fragment *fragment = warps[w].live && warps[w].current != NO_FRAGMENT
                                           ? &warps[w].fragments[warps[w].current]
                                           : NULL;
            if (!fragment || fragment->state != FRAGMENT_READY) continue;
            text_print(&text, tr("; block %llu warp %d spins at "), (unsigned long long)blocks[b]->linear, w);
            describe_place(blocks[b], fragment->pc, &text);
            if (!listed++) place = fragment->pc;
        }
    }
    raise_trap(blocks[0], TRAP_DEADLOCK, NULL, place, 0, NULL, "%s", text_string(&text));
    text_done(&text);
}
