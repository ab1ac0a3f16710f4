#include "instrument/load_order.h"

#include "instrument/probe_plan.h"
#include "ptx/approximate.h"
#include "ptx/opcodes.h"

#include <stdlib.h>
#include <string.h>

/* ---- registers of an instruction ----------------------------------------------------------------------- */

typedef void (*RegisterVisit)(void *context, const PtxRegister *reg);

static void visit_operand(const PtxOperand *operand, RegisterVisit visit, void *context) {
    for (int i = 0; i < operand->item_count; i++) visit_operand(&operand->items[i], visit, context);
    if (operand->reg) visit(context, operand->reg);
}

/* A guarded instruction keeps the old value where the guard is false, so it reads what it writes. */
static void visit_read(const PtxInstruction *in, RegisterVisit visit, void *context) {
    bool is_guarded = in->guard.kind == PTX_OPERAND_REGISTER;
    if (is_guarded) visit(context, in->guard.reg);
    for (int i = 0; i < in->operand_count; i++) {
        const PtxOperand *operand = &in->operands[i];
        bool is_written = i == 0 && operand->kind != PTX_OPERAND_MEMORY && probe_plan_writes_first(in);
        if (!is_written || is_guarded) visit_operand(operand, visit, context);
    }
}

static void visit_written(const PtxInstruction *in, RegisterVisit visit, void *context) {
    if (in->operand_count && in->operands[0].kind != PTX_OPERAND_MEMORY && probe_plan_writes_first(in))
        visit_operand(&in->operands[0], visit, context);
}

/* ---- order --------------------------------------------------------------------------------------------- */

/* Plain arithmetic, and loads that no other thread can disturb: instructions that may change places. A
 * kernel's own reads of a clock may not: it measures what stands between them. */
static bool may_move(const PtxInstruction *in) {
    switch (in->opcode) {
    case PTX_ld:
    case PTX_ldu:
        return !ptx_instruction_is_ordered(in);
    case PTX_add:
    case PTX_sub:
    case PTX_mul:
    case PTX_mad:
    case PTX_fma:
    case PTX_min:
    case PTX_max:
    case PTX_abs:
    case PTX_neg:
    case PTX_and:
    case PTX_or:
    case PTX_xor:
    case PTX_not:
    case PTX_shl:
    case PTX_shr:
    case PTX_shf:
    case PTX_bfe:
    case PTX_bfi:
    case PTX_lop3:
    case PTX_prmt:
    case PTX_selp:
    case PTX_setp:
    case PTX_set:
    case PTX_cvt:
    case PTX_cvta:
    case PTX_mov:
    case PTX_div:
    case PTX_rem:
    case PTX_rcp:
    case PTX_sqrt:
    case PTX_rsqrt:
    case PTX_ex2:
    case PTX_lg2:
        return !ptx_instruction_has(in, PTX_MOD_CC) && !ptx_reads_machine(in);
    default:
        return false;
    }
}

typedef struct Depths {
    int *written, *read; /* [register] the deepest instruction so far that does so; -1: none */
    int depth;           /* of this instruction: loads on the longest chain before it */
    int *load;           /* [register] depth of the load that writes it; -1: not one */
} Depths;

static void after_write(void *context, const PtxRegister *reg) {
    Depths *depths = context;
    int least = depths->written[reg->index];
    if (depths->load[reg->index] >= 0) least = depths->load[reg->index] + 1;
    if (least > depths->depth) depths->depth = least;
}

static void after_all(void *context, const PtxRegister *reg) {
    Depths *depths = context;
    after_write(context, reg);
    if (depths->read[reg->index] > depths->depth) depths->depth = depths->read[reg->index];
}

static void note_read(void *context, const PtxRegister *reg) {
    Depths *depths = context;
    if (depths->read[reg->index] < depths->depth) depths->read[reg->index] = depths->depth;
}

static void note_write(void *context, const PtxRegister *reg) {
    Depths *depths = context;
    depths->written[reg->index] = depths->depth;
    depths->load[reg->index] = -1;
}

static void note_load(void *context, const PtxRegister *reg) {
    Depths *depths = context;
    depths->load[reg->index] = depths->depth;
}

/* Sorts the instructions [begin, end) by depth; those of one depth stay in order. Whatever needs a register
 * comes at least as deep as what wrote or read it before. */
static void sort_run(const PtxProgram *program, int begin, int end,
                     bool (*is_awaited)(const PtxInstruction *), int *placed) {
    int registers = program->functions[0].function->register_count, deepest = 0, at = begin;
    size_t bytes = ((size_t)registers + 1) * sizeof(int);
    int *depth = memory_new((size_t)(end - begin) * sizeof *depth + 1);
    Depths depths = {.written = memory_new(bytes), .read = memory_new(bytes), .load = memory_new(bytes)};
    memset(depths.load, 0xff, bytes);
    for (int pc = begin; pc < end; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        depths.depth = 0;
        visit_read(in, after_write, &depths);
        visit_written(in, after_all, &depths);
        visit_read(in, note_read, &depths);
        visit_written(in, note_write, &depths);
        if (is_awaited(in)) visit_written(in, note_load, &depths);
        depth[pc - begin] = depths.depth;
        if (depths.depth > deepest) deepest = depths.depth;
    }
    for (int level = 0; level <= deepest; level++)
        for (int pc = begin; pc < end; pc++)
            if (depth[pc - begin] == level) placed[at++] = pc;
    free(depth);
    free(depths.written);
    free(depths.read);
    free(depths.load);
}

static void sort_all(const PtxProgram *program, const bool *has_break,
                     bool (*is_awaited)(const PtxInstruction *), LoadOrder *order) {
    for (int pc = 0; pc < order->count;) {
        int end = pc;
        while (end < order->count && may_move(program->code[end].instruction) &&
               (end == pc || !has_break[end]))
            end++;
        if (end > pc + 1) sort_run(program, pc, end, is_awaited, order->placed);
        pc = end > pc ? end : pc + 1;
    }
}

/* Labels and braces stay where they are. */
static bool *find_breaks(const PtxFunction *function, int count) {
    bool *breaks = memory_new((size_t)count + 1);
    int pc = 0;
    for (int i = 0; i < function->statement_count; i++) {
        PtxStatementKind kind = function->statements[i].kind;
        if (kind == PTX_STATEMENT_INSTRUCTION)
            pc++;
        else if (kind != PTX_STATEMENT_LOC)
            breaks[pc] = true;
    }
    return breaks;
}

/* ---- first uses ---------------------------------------------------------------------------------------- */

/* A set of registers whose values may still be on their way, for each instruction that begins a basic
 * block. */
typedef struct LoadFlow {
    const PtxProgram *program;
    LoadOrder *order;
    bool (*is_awaited)(const PtxInstruction *in);
    bool **pending; /* [pc] NULL: not a beginning */
    bool *now;      /* [register] */
    int *origin;    /* [register] a load that writes it */
    const PtxRegister *needed[16];
    int needed_count;
    bool has_changed;
} LoadFlow;

static void note_need(void *context, const PtxRegister *reg) {
    LoadFlow *flow = context;
    if (!flow->now[reg->index]) return;
    for (int i = 0; i < flow->needed_count; i++)
        if (flow->needed[i] == reg) return;
    if (flow->needed_count < 15) flow->needed[flow->needed_count++] = reg;
}

static void forget(void *context, const PtxRegister *reg) {
    ((LoadFlow *)context)->now[reg->index] = false;
}

static void await(void *context, const PtxRegister *reg) {
    ((LoadFlow *)context)->now[reg->index] = true;
}

/* What has arrived with this register: the whole vector. */
static void take(LoadFlow *flow, const PtxRegister *reg) {
    int origin = flow->origin[reg->index];
    forget(flow, reg);
    if (origin >= 0) visit_written(flow->program->code[origin].instruction, forget, flow);
}

static void pass_on(LoadFlow *flow, int pc) {
    int count = flow->program->functions[0].function->register_count;
    if (pc < 0 || pc >= flow->order->count || !flow->pending[pc]) return;
    for (int i = 0; i < count; i++) {
        if (!flow->now[i] || flow->pending[pc][i]) continue;
        flow->pending[pc][i] = flow->has_changed = true;
    }
}

/* Behind the instruction in place `at`, the last of its block. One that does not fall through is never
 * moved. */
static void leave(LoadFlow *flow, int at) {
    const PtxCode *code = &flow->program->code[flow->order->placed[at]];
    PtxOpcode opcode = code->instruction->opcode;
    bool is_end = opcode == PTX_ret || opcode == PTX_exit || opcode == PTX_brx ||
                  (opcode == PTX_bra && code->instruction->guard.kind != PTX_OPERAND_REGISTER);
    if (opcode == PTX_bra) pass_on(flow, code->target);
    for (int i = 0; opcode == PTX_brx && i < code->target_count; i++) pass_on(flow, code->targets[i]);
    if (!is_end || (opcode != PTX_bra && code->instruction->guard.kind == PTX_OPERAND_REGISTER))
        pass_on(flow, at + 1);
}

/* One pass over all blocks; `keep`: notes the uses. */
static void pass(LoadFlow *flow, bool keep) {
    LoadOrder *order = flow->order;
    int registers = flow->program->functions[0].function->register_count;
    for (int at = 0; at < order->count; at++) {
        int pc = order->placed[at];
        const PtxInstruction *in = flow->program->code[pc].instruction;
        if (flow->pending[at]) memcpy(flow->now, flow->pending[at], (size_t)registers);
        flow->needed_count = 0;
        visit_read(in, note_need, flow);
        if (flow->needed_count && keep) {
            order->load[at] = flow->origin[flow->needed[0]->index];
            flow->needed[flow->needed_count] = NULL;
            order->awaited[at] = arena_copy(&order->arena, flow->needed,
                                            ((size_t)flow->needed_count + 1) * sizeof *flow->needed);
        }
        for (int i = 0; i < flow->needed_count; i++) take(flow, flow->needed[i]);
        visit_written(in, forget, flow);
        if (flow->is_awaited(in)) visit_written(in, await, flow);
        if (at + 1 == order->count || flow->pending[at + 1]) leave(flow, at);
    }
}

typedef struct Origin {
    int *of, pc;
} Origin;

static void note_origin(void *context, const PtxRegister *reg) {
    const Origin *origin = context;
    origin->of[reg->index] = origin->pc;
}

static void find_uses(const PtxProgram *program, const bool *breaks,
                      bool (*is_awaited)(const PtxInstruction *), LoadOrder *order) {
    int registers = program->functions[0].function->register_count;
    LoadFlow flow = {.program = program, .order = order, .is_awaited = is_awaited};
    flow.pending = memory_new((size_t)order->count * sizeof *flow.pending + 1);
    flow.now = memory_new((size_t)registers + 1);
    flow.origin = memory_new(((size_t)registers + 1) * sizeof *flow.origin);
    memset(flow.origin, 0xff, (size_t)registers * sizeof *flow.origin);
    for (int pc = 0; pc < order->count; pc++) {
        Origin origin = {flow.origin, pc};
        bool begins = breaks[pc] || program->code[pc].block_begin || pc == 0;
        if (begins) flow.pending[pc] = memory_new((size_t)registers + 1);
        if (is_awaited(program->code[pc].instruction))
            visit_written(program->code[pc].instruction, note_origin, &origin);
    }
    do {
        flow.has_changed = false;
        pass(&flow, false);
    } while (flow.has_changed);
    pass(&flow, true);
    for (int pc = 0; pc < order->count; pc++) free(flow.pending[pc]);
    free(flow.pending);
    free(flow.now);
    free(flow.origin);
}

/* ---- entry points -------------------------------------------------------------------------------------- */

void load_order_find(const PtxProgram *program, bool (*is_awaited)(const PtxInstruction *in), bool keep_order,
                     LoadOrder *order) {
    *order = (LoadOrder){.count = program->functions[0].end};
    size_t count = (size_t)order->count + 1;
    order->placed = arena_new(&order->arena, count * sizeof *order->placed);
    order->load = arena_new(&order->arena, count * sizeof *order->load);
    order->awaited = arena_new(&order->arena, count * sizeof *order->awaited);
    memset(order->load, 0xff, count * sizeof *order->load);
    for (int pc = 0; pc < order->count; pc++) order->placed[pc] = pc;
    bool *breaks = find_breaks(program->functions[0].function, order->count);
    for (int pc = 0; pc < order->count; pc++) breaks[pc] |= program->code[pc].block_begin;
    if (!keep_order) sort_all(program, breaks, is_awaited, order);
    find_uses(program, breaks, is_awaited, order);
    free(breaks);
}

void load_order_done(LoadOrder *order) {
    arena_done(&order->arena);
    *order = (LoadOrder){.count = 0};
}
