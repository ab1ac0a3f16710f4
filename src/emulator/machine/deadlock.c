/* Reports of lanes, warps and blocks that can never continue: where they wait, and why. */
#include "emulator/machine/machine_cluster.h"
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
    if (code->line.line) text_print(out, " in line %d", code->line.line);
}

/* Describes where the warp's other live lanes are, those that do not wait with `of`. */
static void describe_others(const Block *block, const Warp *warp, const Fragment *of, Text *out) {
    uint32_t known = of->active;
    for (int i = 0; i < warp->fragment_count; i++) {
        const Fragment *other = &warp->fragments[i];
        uint32_t lanes = other->mask & ~known;
        if (!lanes) continue;
        known |= lanes;
        text_print(out, "; lanes 0x%08" PRIx32 " are at ", lanes);
        describe_place(block, other->pc, out);
    }
    uint32_t joined = warp->live & ~known;
    if (joined)
        text_print(out,
                   "; lanes 0x%08" PRIx32 " took another path and wait for these at the reconvergence point",
                   joined);
}

void raise_divergent_barrier(Block *block, const Warp *warp) {
    const Fragment *at = first_in_state(warp, FRAGMENT_AT_ALIGNED);
    Text text = {0};
    describe_place(block, at->pc, &text);
    text_print(&text,
               " is reached by lanes 0x%08" PRIx32 " of warp %d, but all its live lanes (0x%08" PRIx32
               ") must execute it together",
               at->active, warp->index, warp->live);
    describe_others(block, warp, at, &text);
    raise_trap(block, TRAP_DIVERGENT_BARRIER, warp, at->pc, at->active, NULL, "%s", text_string(&text));
    text_done(&text);
}

void raise_missing_lanes(Block *block, const Warp *warp) {
    const Fragment *at = first_in_state(warp, FRAGMENT_AT_WARP_OP);
    Text text = {0};
    text_print(&text, "lanes 0x%08" PRIx32 " of warp %d wait at ", at->active, warp->index);
    describe_place(block, at->pc, &text);
    text_add(&text, " for lanes of its mask that never arrive");
    describe_others(block, warp, at, &text);
    raise_trap(block, TRAP_MISSING_LANES, warp, at->pc, at->active, NULL, "%s", text_string(&text));
    text_done(&text);
}

/* " (`full`+8, phase 0: 1 of 256 arrivals and 128 bytes are missing)". */
static void describe_mbarrier(const Block *block, uint32_t place, Text *out) {
    const LoweredProgram *program = block->grid->program;
    const SharedPlace *variable = NULL;
    Mbarrier mbarrier = mbarrier_read(block, place);
    for (int i = 0; i < program->shared_count; i++)
        if (program->shared[i].offset <= place) variable = &program->shared[i];
    if (variable)
        text_print(out, " (`%s`+%" PRIu32, variable->name, place - variable->offset);
    else
        text_print(out, " (shared offset %" PRIu32, place);
    text_print(out, ", phase %d: %" PRId64 " of %" PRId64 " arrivals", mbarrier.phase, mbarrier.pending,
               mbarrier.expected);
    int64_t arrivals, bytes = mbarrier.bytes - copies_expected(block, place, &arrivals);
    if (bytes > 0) text_print(out, " and %" PRId64 " bytes", bytes);
    text_add(out, bytes < 0 ? " are missing, and more bytes arrive than are expected)" : " are missing)");
}

static void describe_barrier(const Block *block, int number, Text *out) {
    const Barrier *barrier = &block->barriers[number];
    if (number == CLUSTER_BARRIER) {
        uint32_t live, arrived;
        cluster_count_threads(block, &live, &arrived);
        text_print(out, " (barrier of the cluster: %" PRIu32 " of %" PRIu32 " live threads have arrived)",
                   arrived, live);
        return;
    }
    text_print(out, " (barrier %d: %" PRIu32 " of ", number, barrier->arrived);
    if (barrier->expected)
        text_print(out, "%" PRIu32 " threads have arrived)", barrier->expected);
    else
        text_add(out, "all live threads have arrived)");
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
            text_add(out, is_first && !listed ? "" : "; ");
            if (names_block) text_print(out, "block %" PRIu32 " of the cluster, ", block->rank);
            text_print(out, "warp %d waits at ", w);
            listed++;
            describe_place(block, fragment->pc, out);
            if (fragment->state == FRAGMENT_AT_MBARRIER) describe_mbarrier(block, fragment->awaited, out);
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
    text_print(&text, "no warp of the %s can make progress: ", cluster ? "cluster" : "block");
    for (int rank = 0; rank < ranks; rank++) {
        const Block *of = cluster ? cluster->blocks[rank] : block;
        if (!of) continue;
        for (int w = 0; w < of->warp_count; w++) waiting += of->warps[w].live != 0;
        if (place == PTX_NO_PC) place = first_place(of);
        int most = cluster && MOST_LISTED - listed > 1 ? 1 : MOST_LISTED - listed; /* one warp per block */
        listed += describe_waiting(of, most, !listed, cluster != NULL, &text);
    }
    if (waiting > MOST_LISTED) text_print(&text, "; %" PRIu32 " warps in all", waiting);
    raise_trap(block, TRAP_DEADLOCK, NULL, place, 0, NULL, "%s", text_string(&text));
    text_done(&text);
}

void raise_spinning_blocks(Block *const *blocks, int count, uint64_t waiting) {
    Text text = {0};
    int listed = 0, place = PTX_NO_PC;
    text_print(&text, "no block can make progress: %d block%s only wait%s for memory that no thread changes",
               count, count == 1 ? "" : "s", count == 1 ? "s" : "");
    if (waiting) text_print(&text, ", and %" PRIu64 " more can only start once one of them ends", waiting);
    for (int b = 0; b < count && listed < 4; b++) {
        const Warp *warps = blocks[b]->warps;
        for (int w = 0; w < blocks[b]->warp_count && listed < 4; w++) {
            const Fragment *fragment = warps[w].live && warps[w].current != NO_FRAGMENT
                                           ? &warps[w].fragments[warps[w].current]
                                           : NULL;
            if (!fragment || fragment->state != FRAGMENT_READY) continue;
            text_print(&text, "; block %" PRIu64 " warp %d spins at ", blocks[b]->linear, w);
            describe_place(blocks[b], fragment->pc, &text);
            if (!listed++) place = fragment->pc;
        }
    }
    raise_trap(blocks[0], TRAP_DEADLOCK, NULL, place, 0, NULL, "%s", text_string(&text));
    text_done(&text);
}
