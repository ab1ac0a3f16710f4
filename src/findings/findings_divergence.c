/* Divergence: what branches that split warps cost, by the branch's line.
 *
 * The *region* of a branch is what its paths execute until they reconverge. An instruction of the region with
 * fewer active lanes than the branch had is charged to it: executions * (lanes of the branch - lanes of the
 * instruction) / 32 warp instructions. In nested regions the outer branch is charged up to the lanes that the
 * inner branch had, the inner one the rest. Lanes are averages over the executions of an instruction. */
#include "base/language.h"
#include "base/sentence.h"
#include "findings/findings_sentences.h"
#include "metrics/totals.h"
#include "ptx/link.h"
#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

typedef struct BranchRegion {
    int pc;            /* the branch */
    bool *has;         /* [code_count] */
    int size;          /* instructions */
    double lanes;      /* active before the branch */
    double lost;       /* warp instructions charged */
    bool is_of_leader; /* find_leader() */
} BranchRegion;

typedef struct DivergentLine {
    PtxSourceLine at;
    int launch;
    bool *has; /* [code_count] the regions of its branches; NULL: of no branch of this launch */
    uint64_t executions, active; /* of all instructions of the regions, each once; lanes are summed */
    double lost;
    bool is_of_leaders; /* all its branches are a leader's */
} DivergentLine;

static double mean_lanes(const TraceLaunch *launch, int pc) {
    const TraceCounter *counter = pc >= 0 ? &launch->counters[pc] : NULL;
    return counter && counter->executions ? (double)counter->lanes / (double)counter->executions : 0;
}

/* ---- regions ---------------------------------------------------------------------------------------- */

static bool falls_through(const PtxCode *code) {
    const PtxInstruction *in = code->instruction;
    bool jumps = in->opcode == PTX_bra || in->opcode == PTX_brx || ptx_flow_ends(in);
    return in->guard.kind != PTX_OPERAND_NONE || !jumps;
}

/* Marks what is reached from `pc` without passing `end`; true: `end` is reached. */
static bool reach(const PtxProgram *program, int pc, int end, bool *has, int *stack) {
    int depth = 0;
    bool found = false;
    stack[depth++] = pc;
    while (depth) {
        int at = stack[--depth];
        if (at == end) found = true;
        if (at < 0 || at == end || at >= program->code_count || has[at]) continue;
        const PtxCode *code = &program->code[at];
        has[at] = true;
        if (falls_through(code)) stack[depth++] = at + 1;
        if (code->target >= 0 && code->instruction->opcode == PTX_bra) stack[depth++] = code->target;
        for (int i = 0; i < code->target_count && code->instruction->opcode == PTX_brx; i++)
            stack[depth++] = code->targets[i];
    }
    return found;
}

/* Where one path leaves the kernel, the lanes of the other one stay alone to the end. */
static void find_region(const TraceLaunch *launch, BranchRegion *region, int *stack) {
    const PtxProgram *program = launch->program;
    const PtxCode *code = &program->code[region->pc];
    int end = code->reconvergence, count = program->code_count;
    region->has = memory_new((size_t)count * sizeof *region->has);
    bool is_direct = code->target >= 0 && code->instruction->opcode == PTX_bra;
    int other = is_direct && code->target == end ? region->pc + 1 : is_direct ? code->target : PTX_NO_PC;
    bool skips = is_direct && end >= 0 && (code->target == end || end == region->pc + 1);
    if (skips && !reach(program, other, end, region->has, stack)) {
        memset(region->has, 0, (size_t)count * sizeof *region->has);
        reach(program, end, PTX_NO_PC, region->has, stack);
    } else if (!skips) {
        if (falls_through(code)) reach(program, region->pc + 1, end, region->has, stack);
        if (is_direct) reach(program, code->target, end, region->has, stack);
        for (int i = 0; i < code->target_count; i++)
            reach(program, code->targets[i], end, region->has, stack);
    }
    for (int pc = 0; pc < count; pc++) region->size += region->has[pc];
    region->lanes = mean_lanes(launch, region->pc);
    /* The lanes of a loop's branch decrease with its iterations: all are together again behind it. */
    if (mean_lanes(launch, end) > region->lanes) region->lanes = mean_lanes(launch, end);
}

/* A leader's branch: `if (lane == 0)` before a store or an atomic. One lane of a warp enters it, and there is
 * no loop in it: nothing is gained by other lanes. */
static bool find_leader(const TraceLaunch *launch, const BranchRegion *region) {
    const PtxProgram *program = launch->program;
    bool any = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const TraceCounter *counter = &launch->counters[pc];
        const PtxCode *code = &program->code[pc];
        bool loops = code->instruction->opcode == PTX_bra && code->target >= 0 && code->target <= pc;
        if (!region->has[pc] || !counter->executions || mean_lanes(launch, pc) >= region->lanes) continue;
        if (loops || counter->lanes != counter->executions) return false;
        any = true;
    }
    return any;
}

static int compare_size(const void *a, const void *b) {
    const BranchRegion *x = a, *y = b;
    return x->size != y->size ? x->size - y->size : x->pc - y->pc;
}

static void charge(const TraceLaunch *launch, BranchRegion *regions, int count, int pc) {
    const TraceCounter *counter = &launch->counters[pc];
    double lanes = mean_lanes(launch, pc), executions = (double)counter->executions;
    for (int i = 0; i < count; i++) { /* from the innermost */
        BranchRegion *region = &regions[i];
        if (!region->has[pc]) continue;
        if (region->lanes <= lanes) continue;
        region->lost += executions * (region->lanes - lanes) / WARP_LANES;
        lanes = region->lanes;
    }
}

/* ---- lines ------------------------------------------------------------------------------------------ */

typedef struct DivergentLines {
    DivergentLine *items;
    int count, capacity;
} DivergentLines;

static DivergentLine *line_of(DivergentLines *lines, PtxSourceLine at, int launch) {
    for (int i = 0; i < lines->count; i++) {
        const PtxSourceLine *own = &lines->items[i].at;
        bool same = own->file == at.file || (own->file && at.file && !strcmp(own->file, at.file));
        if (own->line == at.line && same) return &lines->items[i];
    }
    DivergentLine line = {.at = at, .launch = launch, .is_of_leaders = true};
    array_push(lines->items, lines->count, lines->capacity, line);
    return &lines->items[lines->count - 1];
}

/* Regions of one line overlap, as those of a loop and its condition do: an instruction counts once. */
static void add_region(DivergentLine *line, const TraceLaunch *launch, const BranchRegion *region) {
    size_t count = (size_t)launch->program->code_count;
    if (!line->has) line->has = memory_new(count * sizeof *line->has);
    for (size_t pc = 0; pc < count; pc++) {
        if (!region->has[pc] || line->has[pc]) continue;
        line->has[pc] = true;
        line->executions += launch->counters[pc].executions;
        line->active += launch->counters[pc].lanes;
    }
    line->lost += region->lost;
    line->is_of_leaders &= region->is_of_leader;
}

static int most_edges(const PtxProgram *program) {
    int count = 4;
    for (int pc = 0; pc < program->code_count; pc++) count += 2 + program->code[pc].target_count;
    return count;
}

static void add_launch(const Trace *trace, int index, DivergentLines *lines) {
    const TraceLaunch *launch = trace->launches[index];
    const PtxProgram *program = launch->program;
    int *stack = memory_new((size_t)most_edges(program) * sizeof *stack);
    BranchRegion *regions = NULL;
    int count = 0, capacity = 0;
    for (int pc = 0; pc < program->code_count; pc++) {
        if (!launch->counters[pc].divergent) continue;
        BranchRegion region = {.pc = pc};
        find_region(launch, &region, stack);
        region.is_of_leader = find_leader(launch, &region);
        array_push(regions, count, capacity, region);
    }
    if (count) qsort(regions, (size_t)count, sizeof *regions, compare_size);
    for (int pc = 0; count && pc < program->code_count; pc++) charge(launch, regions, count, pc);
    for (int i = 0; i < count; i++) {
        DivergentLine *line = line_of(lines, metrics_line_of(program, regions[i].pc), index);
        add_region(line, launch, &regions[i]);
        free(regions[i].has);
    }
    for (int i = 0; i < lines->count; i++) {
        free(lines->items[i].has);
        lines->items[i].has = NULL;
    }
    free(regions);
    free(stack);
}

/* ---- findings --------------------------------------------------------------------------------------- */

static const DivergentLine *find_line(const DivergentLines *lines, const LineMetrics *line) {
    for (int i = 0; i < lines->count; i++) {
        const PtxSourceLine *at = &lines->items[i].at;
        bool same = at->file == line->file || (at->file && line->file && !strcmp(at->file, line->file));
        if (at->line == line->line && same) return &lines->items[i];
    }
    return NULL;
}

/* Of events alone the lanes of a region are not known: a divergent branch then costs one more pass, as the
 * second path takes at least one instruction. */
static void add_line(FindingsBuilder *builder, const LineMetrics *line, const DivergentLine *divergent,
                     const Totals *run) {
    const Totals *t = &line->totals;
    bool has_lanes = divergent && divergent->executions && run->warp_instructions;
    double lost = has_lanes ? divergent->lost : (double)t->divergent_branches;
    if (has_lanes && divergent->is_of_leaders) return;
    Finding *finding = findings_add_slow(builder, FINDING_IDLE_LANES, line, lost);
    if (!finding) return;
    CountText some, all;
    Text text = {0};
    finding->is_rare = t->divergent_branches * 200 <= t->branches;
    if (divergent) finding->launch = divergent->launch;
    finding_begin_place(&finding->access, &text);
    if (t->divergent_branches == t->branches)
        text_add(&text, tr("every branch diverges"));
    else if (finding->is_rare)
        text_add(&text, tr("few branches diverge"));
    else
        text_print(&text, tr("%.0f %% of branches diverge"),
                   100.0 * (double)t->divergent_branches / (double)t->branches);
    if (has_lanes) {
        uint64_t most = divergent->executions;
        finding->cost = most;
        finding->ideal = lost < (double)most ? most - (uint64_t)(lost + 0.5) : 0;
        text_print(&text, tr(", %.1f of 32 lanes busy"), (double)divergent->active / (double)most);
        text_print(&text, tr(" in %.0f %% of all instructions (%s of %s branches)."),
                   100.0 * (double)most / (double)run->warp_instructions,
                   count_text(t->divergent_branches, &some), count_text(t->branches, &all));
    } else {
        finding->cost = t->branches + t->divergent_branches;
        finding->ideal = t->branches;
        text_print(&text, tr(" (%s of %s)."), count_text(t->divergent_branches, &some),
                   count_text(t->branches, &all));
    }
    finding->sentence = findings_keep(builder->list, &text);
}

void findings_add_divergence(FindingsBuilder *builder, const LineMetrics *lines, int count,
                             const Totals *run) {
    DivergentLines divergent = {0};
    for (int i = 0; i < builder->trace->launch_count; i++) add_launch(builder->trace, i, &divergent);
    for (int i = 0; i < count; i++)
        if (lines[i].totals.divergent_branches)
            add_line(builder, &lines[i], find_line(&divergent, &lines[i]), run);
    free(divergent.items);
}
