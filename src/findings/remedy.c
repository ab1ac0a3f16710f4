/* Finds where a barrier or a fence would order two accesses (remedy.h). */
#include "findings/remedy.h"

#include "metrics/metrics.h"
#include "ptx/opcodes.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_CODE = 20000, MOST_CUTS = 256 };

/* ---- paths --------------------------------------------------------------------------------------------- */

typedef struct CodeWalk { /* over the code of one function */
    const PtxProgram *program;
    int *stack;
    uint8_t *seen; /* [pc] */
    int depth;
} CodeWalk;

static void walk_to(CodeWalk *walk, int pc) {
    if (pc < 0 || pc >= walk->program->code_count || walk->seen[pc]) return;
    walk->seen[pc] = 1;
    walk->stack[walk->depth++] = pc;
}

static void walk_on(CodeWalk *walk, int pc) {
    const PtxCode *code = &walk->program->code[pc];
    PtxOpcode opcode = code->instruction->opcode;
    bool leaves = opcode == PTX_bra || opcode == PTX_brx || opcode == PTX_ret || opcode == PTX_exit ||
                  opcode == PTX_trap;
    if (opcode == PTX_bra) walk_to(walk, code->target);
    for (int i = 0; opcode == PTX_brx && i < code->target_count; i++) walk_to(walk, code->targets[i]);
    bool is_last =
        pc + 1 >= walk->program->code_count || walk->program->code[pc + 1].function != code->function;
    if ((!leaves || code->instruction->guard.kind != PTX_OPERAND_NONE) && !is_last) walk_to(walk, pc + 1);
}

static void walk_begin(CodeWalk *walk, int from) {
    memset(walk->seen, 0, (size_t)walk->program->code_count);
    walk->depth = 0;
    walk_on(walk, from);
}

/* True if control can flow from after `from` to `to` without passing the point before `without`. */
static bool reaches(CodeWalk *walk, int from, int to, int without) {
    walk_begin(walk, from);
    while (walk->depth) {
        int pc = walk->stack[--walk->depth];
        if (pc == without) continue;
        if (pc == to) return true;
        walk_on(walk, pc);
    }
    return false;
}

/* ---- updates ------------------------------------------------------------------------------------------- */

static const PtxOperand *address_of(const PtxInstruction *in) {
    for (int i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_MEMORY) return &in->operands[i];
    return NULL;
}

static bool has_one_address(const PtxInstruction *a, const PtxInstruction *b) {
    const PtxOperand *x = address_of(a), *y = address_of(b);
    return x && y && x->reg == y->reg && x->variable == y->variable && x->integer == y->integer;
}

typedef struct LastLoad { /* of one warp */
    TraceEvent event;
    bool is_known;
} LastLoad;

/* 1: every thread of the block stores where it has loaded last; -1: some do not; 0: none stores. */
static int stores_where_it_loads(const TraceBlock *block, int load, int store, LastLoad last[]) {
    TraceEvent event;
    int found = 0;
    for (int i = 0; i < trace_block_event_count(block) && found >= 0; i++) {
        trace_block_read_header(block, i, &event);
        if (event.pc == load) {
            trace_block_read_places(block, i, &last[event.warp].event);
            last[event.warp].is_known = true;
        }
        if (event.pc != store) continue;
        trace_block_read_places(block, i, &event);
        const LastLoad *from = &last[event.warp];
        found = from->is_known && !(event.mask & ~from->event.mask) ? 1 : -1;
        for (int lane = 0; lane < WARP_LANES; lane++)
            if (event.mask >> lane & 1 && (event.buffer[lane] != from->event.buffer[lane] ||
                                           event.offset[lane] != from->event.offset[lane]))
                found = -1;
    }
    return found;
}

/* As above, of all blocks whose events are known: code that is not optimized has an address in two
 * registers. */
static bool stores_back(const TraceLaunch *launch, int load, int store) {
    int warps = (int)((launch->block[0] * launch->block[1] * launch->block[2] + WARP_LANES - 1) / WARP_LANES);
    LastLoad *last = memory_new((size_t)warps * sizeof *last);
    int found = 0;
    for (int i = 0; i < launch->block_count && found >= 0; i++) {
        for (int warp = 0; warp < warps; warp++) last[warp].is_known = false;
        int now = stores_where_it_loads(launch->blocks[i], load, store, last);
        if (now) found = now;
    }
    free(last);
    return found > 0;
}

bool remedy_is_update(const TraceLaunch *launch, int pc, int other_pc) {
    const PtxProgram *program = launch->program;
    const PtxInstruction *a = program->code[pc].instruction, *b = program->code[other_pc].instruction;
    bool is_store = a->opcode == PTX_st,
         both = is_store ? b->opcode == PTX_ld : a->opcode == PTX_ld && b->opcode == PTX_st;
    if (!both || program->code[pc].line.line != program->code[other_pc].line.line) return false;
    return has_one_address(a, b) || stores_back(launch, is_store ? other_pc : pc, is_store ? pc : other_pc);
}

/* ---- places for barriers ------------------------------------------------------------------------------- */

typedef struct Cut { /* a place, and what a barrier there orders */
    RemedyPoint point;
    uint64_t pairs; /* a bit for each pair that it orders */
    uint64_t ways;  /* sum of its distances from the first accesses */
} Cut;

typedef struct BarrierPlan {
    const TraceLaunch *launch;
    CodeWalk walk;
    FindingPair pairs[64];
    bool of_block[64];  /* whether it orders different warps */
    uint32_t lanes[64]; /* that make the two accesses, as far as known */
    bool is_update[64]; /* x += 1 */
    bool is_relaxed;    /* only accesses in different iterations of a loop may conflict */
    int pair_count;
    Cut cuts[MOST_CUTS];
    int cut_count;
} BarrierPlan;

static bool is_memory(const PtxInstruction *in) {
    return in->opcode == PTX_ld || in->opcode == PTX_st || in->opcode == PTX_atom || in->opcode == PTX_red;
}

static bool begins_line(const PtxProgram *program, int pc) {
    const PtxCode *code = &program->code[pc];
    if (code->block_begin || pc == 0) return true;
    PtxSourceLine own = metrics_line_of(program, pc), before = metrics_line_of(program, pc - 1);
    return own.line != before.line || own.file != before.file;
}

/* All threads of all blocks arrive here together, according to the counters. */
static bool is_for_all(const TraceLaunch *launch, int pc) {
    const TraceCounter *count = &launch->counters[pc];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    return count->executions && count->executions % warps == 0 &&
           count->lanes * warps == count->executions * threads;
}

/* The lanes that execute `pc`, if they are always the same; 0: they vary, or are not known. */
static uint32_t lanes_at(const TraceLaunch *launch, int pc) {
    const TraceCounter *count = &launch->counters[pc];
    if (count->executions && count->lanes == count->executions * WARP_LANES) return UINT32_MAX;
    uint32_t lanes = 0;
    TraceEvent event;
    for (int b = 0; b < launch->block_count; b++)
        for (int i = 0; i < trace_block_event_count(launch->blocks[b]); i++) {
            trace_block_read_header(launch->blocks[b], i, &event);
            if (event.pc != pc) continue;
            if (lanes && event.mask != lanes) return 0;
            lanes = event.mask;
        }
    return lanes;
}

/* As above, for an instruction that may not be recorded: takes the next recorded one on the path. */
static uint32_t lanes_before(const TraceLaunch *launch, int pc) {
    const PtxProgram *program = launch->program;
    for (int at = pc; at < program->code_count && (at == pc || !program->code[at].block_begin); at++)
        if (is_memory(program->code[at].instruction)) return lanes_at(launch, at);
    return launch->counters[pc].lanes == launch->counters[pc].executions * WARP_LANES ? UINT32_MAX : 0;
}

/* A barrier in the middle of x += 1 would let all threads load before any of them stores. */
static bool is_within_update(const BarrierPlan *plan, int index, int pc) {
    FindingPair pair = plan->pairs[index];
    return pair.other_pc < pc && pc <= pair.pc && plan->is_update[index];
}

/* True if a barrier before `pc` orders the two accesses. */
static bool parts(BarrierPlan *plan, int index, int pc) {
    CodeWalk *walk = &plan->walk;
    FindingPair pair = plan->pairs[index];
    int from = pair.other_pc;
    if (is_within_update(plan, index, pc)) return false;
    /* One instruction of several threads: there is no other execution to order it with. */
    if (pair.pc == from && !reaches(walk, from, from, PTX_NO_PC)) return false;
    if (!reaches(walk, from, pair.pc, pc)) return true;
    return plan->is_relaxed && reaches(walk, from, from, PTX_NO_PC) && !reaches(walk, from, from, pc);
}

static void add_cut(BarrierPlan *plan, int pc, RemedyKind kind) {
    Cut cut = {.point = {pc, kind, UINT32_MAX}};
    if (plan->cut_count == MOST_CUTS) return;
    if (kind == REMEDY_WARP_BARRIER) cut.point.lanes = lanes_before(plan->launch, pc);
    for (int i = 0; cut.point.lanes && i < plan->pair_count; i++) {
        FindingPair pair = plan->pairs[i];
        if (kind == REMEDY_WARP_BARRIER && (plan->of_block[i] || plan->lanes[i] & ~cut.point.lanes)) continue;
        if (!parts(plan, i, pc)) continue;
        cut.pairs |= UINT64_C(1) << i;
        cut.ways +=
            (uint64_t)(pc > pair.other_pc ? pc - pair.other_pc : pc + plan->launch->program->code_count);
    }
    if (cut.pairs) plan->cuts[plan->cut_count++] = cut;
}

static bool is_second_access(const BarrierPlan *plan, int pc) {
    for (int i = 0; i < plan->pair_count; i++)
        if (plan->pairs[i].pc == pc) return true;
    return false;
}

static void find_cuts(BarrierPlan *plan, RemedyKind kind) {
    const PtxProgram *program = plan->launch->program;
    int first = program->code_count, last = 0;
    for (int i = 0; i < plan->pair_count; i++) {
        FindingPair pair = plan->pairs[i];
        if (pair.pc < first) first = pair.pc;
        if (pair.other_pc < first) first = pair.other_pc;
        if (pair.pc > last) last = pair.pc;
        if (pair.other_pc > last) last = pair.other_pc;
    }
    for (int pc = first; pc < program->code_count && pc <= last + 64; pc++) {
        if (program->code[pc].function != program->code[first].function) break;
        if (!begins_line(program, pc) && !is_second_access(plan, pc)) continue;
        if (kind == REMEDY_BLOCK_BARRIER && !is_for_all(plan->launch, pc)) continue;
        add_cut(plan, pc, kind);
    }
}

static int bits(uint64_t word) {
    return __builtin_popcountll(word);
}

/* If both order as many pairs: prefers one between lines, then the one nearest to the first accesses. */
static bool is_better(const BarrierPlan *plan, const Cut *a, const Cut *b, uint64_t left) {
    int p = bits(a->pairs & left), q = bits(b->pairs & left);
    if (p != q) return p > q;
    bool x = begins_line(plan->launch->program, a->point.pc),
         y = begins_line(plan->launch->program, b->point.pc);
    return x != y ? x : a->ways < b->ways;
}

static int compare_points(const void *a, const void *b) {
    return ((const RemedyPoint *)a)->pc - ((const RemedyPoint *)b)->pc;
}

/* Chooses places until all pairs are ordered; false: some pairs cannot be ordered. */
static bool cover(const BarrierPlan *plan, Remedy *remedy) {
    const Cut *taken[REMEDY_MOST_POINTS];
    int count = 0;
    uint64_t all = plan->pair_count == 64 ? UINT64_MAX : (UINT64_C(1) << plan->pair_count) - 1, left = all;
    while (left && count < REMEDY_MOST_POINTS) {
        const Cut *best = NULL;
        for (int i = 0; i < plan->cut_count; i++)
            if (plan->cuts[i].pairs & left && (!best || is_better(plan, &plan->cuts[i], best, left)))
                best = &plan->cuts[i];
        if (!best) return false;
        taken[count++] = best;
        left &= ~best->pairs;
    }
    remedy->count = 0;
    for (int i = 0; i < count; i++) { /* drops the pairs that the other places order */
        uint64_t others = 0;
        for (int k = 0; k < count; k++)
            if (k != i && taken[k]) others |= taken[k]->pairs;
        if (others == all)
            taken[i] = NULL;
        else
            remedy->points[remedy->count++] = taken[i]->point;
    }
    qsort(remedy->points, (size_t)remedy->count, sizeof *remedy->points, compare_points);
    return !left;
}

static bool find_barriers(BarrierPlan *plan, int attempt, Remedy *remedy) {
    bool any_of_block = false;
    for (int i = 0; i < plan->pair_count; i++) any_of_block |= plan->of_block[i];
    /* The second attempt also uses block barriers within a warp, or warp barriers beside block barriers. */
    bool is_second = attempt % 2;
    plan->is_relaxed = attempt / 2;
    if (any_of_block || is_second) find_cuts(plan, REMEDY_BLOCK_BARRIER);
    if (any_of_block == is_second) find_cuts(plan, REMEDY_WARP_BARRIER);
    return cover(plan, remedy);
}

/* ---- places for fences --------------------------------------------------------------------------------- */

static bool is_strong(const PtxInstruction *in, bool writes) {
    if (in->space != PTX_SPACE_GLOBAL && in->space != PTX_SPACE_GENERIC) return false;
    if (in->opcode == PTX_atom || (in->opcode == PTX_red && writes)) return true;
    return in->opcode == (writes ? PTX_st : PTX_ld) && ptx_instruction_is_ordered(in);
}

static void add_point(Remedy *remedy, int pc) {
    for (int i = 0; i < remedy->count; i++)
        if (remedy->points[i].pc == pc) return;
    if (remedy->count < REMEDY_MOST_POINTS)
        remedy->points[remedy->count++] = (RemedyPoint){pc, REMEDY_FENCE, 0};
}

/* Before the next strong writes, which announce the access to other threads. */
static void fence_writer(BarrierPlan *plan, int from, Remedy *remedy) {
    CodeWalk *walk = &plan->walk;
    walk_begin(walk, from);
    while (walk->depth) {
        int pc = walk->stack[--walk->depth];
        if (is_strong(plan->launch->program->code[pc].instruction, true))
            add_point(remedy, pc);
        else
            walk_on(walk, pc);
    }
}

/* After the strong read of the announcement: the last one on the way to the access. */
static void fence_reader(BarrierPlan *plan, int to, Remedy *remedy) {
    const PtxProgram *program = plan->launch->program;
    int function = program->code[to].function;
    for (int pc = program->functions[function].begin; pc < program->functions[function].end; pc++) {
        if (!is_strong(program->code[pc].instruction, false)) continue;
        bool is_nearest = false;
        walk_begin(&plan->walk, pc);
        while (plan->walk.depth && !is_nearest) {
            int at = plan->walk.stack[--plan->walk.depth];
            is_nearest = at == to;
            if (!is_strong(program->code[at].instruction, false)) walk_on(&plan->walk, at);
        }
        if (!is_nearest) continue;
        int behind = pc + 1;
        while (behind < program->functions[function].end - 1 && !begins_line(program, behind)) behind++;
        if (reaches(&plan->walk, pc, to, behind)) behind = pc + 1;
        add_point(remedy, behind);
    }
}

static bool find_fences(BarrierPlan *plan, int attempt, Remedy *remedy) {
    if (attempt > 2) return false;
    for (int i = 0; i < plan->pair_count; i++) {
        if (attempt != 1) fence_writer(plan, plan->pairs[i].other_pc, remedy);
        if (attempt != 0) fence_reader(plan, plan->pairs[i].pc, remedy);
    }
    qsort(remedy->points, (size_t)remedy->count, sizeof *remedy->points, compare_points);
    return remedy->count;
}

/* ---- both ---------------------------------------------------------------------------------------------- */

/* False: the code is too long, or the accesses are in different functions. */
static bool gather(const Findings *list, int cause, BarrierPlan *plan) {
    const PtxProgram *program = plan->launch->program;
    int function = -1;
    for (int i = 0; i < list->error_count; i++) {
        const Finding *finding = &list->items[i];
        for (int k = 0; finding->cause == cause && k < finding->pair_count; k++) {
            FindingPair pair = finding->pairs[k];
            if (plan->pair_count == 64) return false;
            if (function < 0) function = program->code[pair.pc].function;
            if (program->code[pair.pc].function != function ||
                program->code[pair.other_pc].function != function)
                return false;
            plan->of_block[plan->pair_count] =
                finding->kind != FINDING_WARP_RACE && finding->access.warp != finding->other.warp;
            plan->lanes[plan->pair_count] =
                lanes_at(plan->launch, pair.pc) | lanes_at(plan->launch, pair.other_pc);
            plan->is_update[plan->pair_count] = remedy_is_update(plan->launch, pair.pc, pair.other_pc);
            plan->pairs[plan->pair_count++] = pair;
        }
    }
    return plan->pair_count && program->code_count <= MOST_CODE;
}

bool remedy_find(const Findings *list, int cause, const TraceLaunch *launch, int attempt, Remedy *remedy) {
    const Finding *lead = &list->items[list->causes[cause].lead];
    RemedyClass class = remedy_class(lead);
    if (class == REMEDY_BY_NOTHING) return false;
    BarrierPlan *plan = memory_new(sizeof *plan);
    plan->launch = launch;
    *remedy = (Remedy){.launch = plan->launch};
    bool found = gather(list, cause, plan);
    if (found) {
        size_t count = (size_t)plan->launch->program->code_count;
        plan->walk = (CodeWalk){.program = plan->launch->program,
                                .stack = memory_new((count + 1) * sizeof(int)),
                                .seen = memory_new(count + 1)};
        found = class == REMEDY_BY_BARRIER ? find_barriers(plan, attempt, remedy)
                                           : find_fences(plan, attempt, remedy);
        free(plan->walk.stack);
        free(plan->walk.seen);
    }
    free(plan);
    return found;
}
