#include "trace/warp_compare.h"

#include "ptx/opcodes.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct Sides {
    const WarpTimeline *timeline;
    const Trace *trace;
    bool *const *rounds;
    WarpComparison *out;
} Sides;

/* The launches of an entry share the sites of the first. */
static bool is_of_launch(const Sides *sides, const WarpSite *site, int launch) {
    const Trace *trace = sides->trace;
    return site->launch < trace->launch_count &&
           trace->launches[site->launch]->program->entry == trace->launches[launch]->program->entry;
}

static bool differs(const Sides *sides) {
    return sides->out->difference.length > 0;
}

/* "line 24 (barrier)" */
static void print_place(const Sides *sides, int launch, const WarpSite *site, int pc) {
    const PtxProgram *program = sides->trace->launches[launch]->program;
    int line = program->code[pc].line.line;
    text_print(&sides->out->difference, line ? "line %d" : "pc %d", line ? line : pc);
    if (site) text_print(&sides->out->difference, " (%s)", warp_state_name(site->state));
}

/* ---- order --------------------------------------------------------------------------------------------- */

typedef struct Sequence { /* pcs in order */
    int *pcs;
    int count, capacity;
} Sequence;

static void add(Sequence *sequence, int pc) {
    array_push(sequence->pcs, sequence->count, sequence->capacity, pc);
}

/* The trace has events of what waits there, and both sides execute it equally often. */
static bool is_ordered(const Sides *sides, int launch, const WarpSite *site) {
    const PtxInstruction *in = sides->trace->launches[launch]->program->code[site->pc].instruction;
    return site->load == PTX_NO_PC && site->state != WARP_WAITS_FENCE && site->state != WARP_PASSES_LINE &&
           in->opcode != PTX_mbarrier && in->opcode != PTX_griddepcontrol && !sides->rounds[launch][site->pc];
}

static const WarpSite *find_site(const Sides *sides, int launch, int pc) {
    for (int i = 0; i < sides->timeline->site_count; i++) {
        const WarpSite *site = &sides->timeline->sites[i];
        if (site->pc == pc && is_of_launch(sides, site, launch) && is_ordered(sides, launch, site))
            return site;
    }
    return NULL;
}

static bool is_event(TraceKind kind) {
    return kind == TRACE_BARRIER || kind == TRACE_NAMED_BARRIER || kind == TRACE_ASYNC_GROUP;
}

/* What lane `lane` waited for on the timeline; what it took part in, and where it was the lowest. */
static void list_lane(const Sides *sides, const WarpLine *line, const TraceBlock *block, int lane,
                      Sequence *found, Sequence *own, Sequence *lowest) {
    TraceEvent event;
    for (int i = 0; i < line->wait_count; i++) {
        const WarpSite *site = &sides->timeline->sites[line->waits[i].site];
        if (line->waits[i].lane == lane && is_ordered(sides, line->launch, site)) add(found, site->pc);
    }
    for (int i = 0; i < trace_block_event_count(block); i++) {
        trace_block_read_header(block, i, &event);
        if (event.warp != (int)line->warp || !(event.mask >> lane & 1) || !is_event(event.kind) ||
            !find_site(sides, line->launch, event.pc))
            continue;
        add(own, event.pc);
        if (__builtin_ctz(event.mask) == lane) add(lowest, event.pc);
    }
}

/* How many of `part` are in `all`, in this order. */
static int count_within(const Sequence *part, const Sequence *all) {
    int at = 0;
    for (int i = 0; i < all->count && at < part->count; i++) at += all->pcs[i] == part->pcs[at];
    return at;
}

static int count_same(const Sequence *a, const Sequence *b) {
    int same = 0;
    while (same < a->count && same < b->count && a->pcs[same] == b->pcs[same]) same++;
    return same;
}

static void print_side(const Sides *sides, int launch, const Sequence *of, int at) {
    if (at < of->count)
        print_place(sides, launch, find_site(sides, launch, of->pcs[at]), of->pcs[at]);
    else
        text_add(&sides->out->difference, "none");
}

static void print_order(const Sides *sides, const WarpLine *line, int lane, const Sequence *found,
                        const Sequence *lowest) {
    int at = count_same(found, lowest);
    Text *out = &sides->out->difference;
    if (sides->trace->launch_count > 1) text_print(out, "launch %d, ", line->launch + 1);
    text_print(out, "block %" PRIu64 ", warp %u, lane %d, wait %d: the machine waits at ", line->block,
               line->warp, lane, at + 1);
    print_side(sides, line->launch, found, at);
    text_add(out, ", the emulator at ");
    print_side(sides, line->launch, lowest, at);
}

/* `dropped`: the last waits of a lane may be missing. */
static bool compare_lane(const Sides *sides, const WarpLine *line, const TraceBlock *block, int lane,
                         bool *is_split) {
    Sequence found = {0}, own = {0}, lowest = {0};
    list_lane(sides, line, block, lane, &found, &own, &lowest);
    int same = count_same(&found, &lowest);
    bool is_cut = sides->timeline->dropped > 0;
    bool is_same = same == found.count && (same == lowest.count || is_cut);
    bool is_possible = count_within(&found, &own) == found.count &&
                       (is_cut || count_within(&lowest, &found) == lowest.count);
    if (!is_same && !is_possible && !differs(sides)) print_order(sides, line, lane, &found, &lowest);
    *is_split |= !is_same;
    free(found.pcs);
    free(own.pcs);
    free(lowest.pcs);
    return is_same || is_possible;
}

static void compare_order(const Sides *sides, const WarpLine *line) {
    const TraceBlock *block =
        trace_launch_find_block(sides->trace->launches[line->launch], (uint32_t)line->block);
    bool agrees = true, is_split = false;
    if (!block) return;
    for (int lane = 0; lane < WARP_LANES; lane++) agrees &= compare_lane(sides, line, block, lane, &is_split);
    sides->out->warps++;
    sides->out->agree += agrees;
    sides->out->split += agrees && is_split;
}

/* ---- counts -------------------------------------------------------------------------------------------- */

static bool has_all_warps(const Sides *sides, int launch) {
    const TraceLaunch *of = sides->trace->launches[launch];
    uint64_t count = 0, warps = (launch_volume(of->block) + WARP_LANES - 1) / WARP_LANES;
    for (int i = 0; i < sides->timeline->line_count; i++) count += sides->timeline->lines[i].launch == launch;
    return count == warps * launch_volume(of->grid) && !sides->timeline->dropped;
}

/* How often a warp asks an mbarrier, and passes the lines around that, is the machine's. */
static bool is_asked_again(const PtxProgram *program, const WarpSite *site) {
    bool asks = program->code[site->pc].instruction->opcode == PTX_mbarrier;
    for (int pc = 0; pc < program->code_count && site->state == WARP_PASSES_LINE; pc++)
        asks |= ptx_instruction_has(program->code[pc].instruction, PTX_MOD_TRY_WAIT) ||
                ptx_instruction_has(program->code[pc].instruction, PTX_MOD_TEST_WAIT);
    return asks;
}

static void compare_count(const Sides *sides, int launch, const WarpSite *site, uint64_t found,
                          bool has_all) {
    const TraceLaunch *of = sides->trace->launches[launch];
    const TraceCounter *counter = &of->counters[site->pc];
    if (is_asked_again(of->program, site)) return;
    /* A wait for a value is recorded wherever its instruction is reached; the others, where a guard is true
     * (of fences, the emulator does not count that). */
    bool is_guarded =
        site->load == PTX_NO_PC && site->state != WARP_WAITS_FENCE && site->state != WARP_PASSES_LINE;
    uint64_t expected = is_guarded ? counter->requests : counter->executions;
    bool is_round = sides->rounds[launch][warp_site_pc(site)]; /* of a loop's rounds, the latest is kept */
    bool is_exact = has_all && !is_round ? found == expected : found <= expected;
    bool is_wrong = found > expected * WARP_LANES || (!is_exact && (!found || !expected));
    sides->out->other_counts += !is_exact && !is_wrong;
    if (!is_wrong || differs(sides)) return;
    Text *out = &sides->out->difference;
    if (sides->trace->launch_count > 1) text_print(out, "launch %d, ", launch + 1);
    print_place(sides, launch, site, warp_site_pc(site));
    text_print(out, ": the machine waits %" PRIu64 " times, the emulator %" PRIu64, found, expected);
}

static void compare_counts(const Sides *sides, int launch) {
    const WarpTimeline *timeline = sides->timeline;
    uint64_t *found = memory_new((size_t)timeline->site_count * sizeof *found + 1);
    bool has_all = has_all_warps(sides, launch);
    for (int i = 0; i < timeline->line_count; i++)
        for (int k = 0; timeline->lines[i].launch == launch && k < timeline->lines[i].wait_count; k++)
            found[timeline->lines[i].waits[k].site]++;
    for (int i = 0; i < timeline->site_count; i++)
        if (is_of_launch(sides, &timeline->sites[i], launch))
            compare_count(sides, launch, &timeline->sites[i], found[i], has_all);
    sides->out->has_counts |= has_all;
    free(found);
}

void warp_compare(const WarpTimeline *timeline, const Trace *trace, bool *const *rounds,
                  WarpComparison *out) {
    Sides sides = {timeline, trace, rounds, out};
    *out = (WarpComparison){.warps = 0};
    for (int i = 0; i < timeline->line_count; i++)
        if (timeline->lines[i].launch < trace->launch_count) compare_order(&sides, &timeline->lines[i]);
    for (int i = 0; i < trace->launch_count; i++) compare_counts(&sides, i);
}

void warp_comparison_done(WarpComparison *comparison) {
    text_done(&comparison->difference);
}
