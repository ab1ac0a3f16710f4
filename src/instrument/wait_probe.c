/* The text of an entry with a copy that records waits (wait_probe.h):
 *
 *     %redviz_base = the lane's first record, %redviz_n = its records so far
 *     %redviz_a, %redviz_b = clocks before and after a wait */
#include "instrument/wait_probe.h"

#include "instrument/entry_probe.h"
#include "instrument/load_order.h"
#include "instrument/probe_plan.h"
#include "ptx/opcodes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PARAMETER "redviz_waits"
enum { ADDRESS_BITS = 48, SITE_SHIFT = 20 };
_Static_assert(sizeof(WaitRecord) == 8 && sizeof(WaitHeader) <= WAIT_HEADER_BYTES, "");

const uint8_t wait_floors[WARP_STATES] = {
    [WARP_WAITS_GLOBAL] = 4, [WARP_WAITS_ATOMIC] = 4, [WARP_WAITS_BARRIER] = 17, [WARP_WAITS_FENCE] = 16,
    [WARP_WAITS_COPY] = 16,  [WARP_WAITS_OTHERS] = 4, [WARP_WAITS_SHARED] = 4};

uint64_t wait_slot_bytes(const WaitProbeOptions *options) {
    return (uint64_t)options->room * WAIT_LANES * sizeof(WaitRecord);
}

uint64_t wait_front_bytes(const WaitProbeOptions *options) {
    return WAIT_COUNTER_BYTES + (uint64_t)WAIT_HEADER_BYTES * options->slots;
}

uint64_t wait_buffer_bytes(const WaitProbeOptions *options) {
    return wait_front_bytes(options) + wait_slot_bytes(options) * options->slots;
}

uint64_t wait_parameter(uint64_t buffer, int multiprocessor) {
    return buffer | (uint64_t)(multiprocessor + 1) << ADDRESS_BITS;
}

typedef struct TracedCopy { /* an entry being printed */
    const WaitProbeOptions *options;
    const PtxProgram *program;
    int number; /* of the program */
    int before; /* pc of the instruction printed last; -1: a label stands between */
    int *spins; /* [pc] the number of the loop that may wait for others, from 1; 0: none */
    WaitSites *sites;
    Text *out;
} TracedCopy;

/* ---- what waits ---------------------------------------------------------------------------------------- */

static bool wants(const TracedCopy *copy, WarpActivity kind) {
    return copy->options->kinds >> kind & 1;
}

static bool is_memory(const PtxInstruction *in) {
    return in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC;
}

static bool reads_global(const PtxInstruction *in) {
    bool is_load = in->opcode == PTX_ld || in->opcode == PTX_ldu;
    bool is_atomic =
        in->opcode == PTX_atom && in->operand_count && in->operands[0].kind == PTX_OPERAND_REGISTER;
    return (is_load || is_atomic) && is_memory(in);
}

static bool reads_shared_too(const PtxInstruction *in) {
    return reads_global(in) || in->opcode == PTX_shfl ||
           ((in->opcode == PTX_ld || in->opcode == PTX_atom) &&
            (in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER));
}

static WarpActivity kind_of_value(const TracedCopy *copy, int load) {
    const PtxInstruction *in = copy->program->code[load].instruction;
    if (!reads_global(in)) return WARP_WAITS_SHARED;
    if (copy->spins[load]) return WARP_WAITS_OTHERS;
    return in->opcode == PTX_atom ? WARP_WAITS_ATOMIC : WARP_WAITS_GLOBAL;
}

/* What it waits for by itself; WARP_WORKS: nothing. */
static WarpActivity kind_of(const PtxInstruction *in) {
    switch (in->opcode) {
    case PTX_bar:
    case PTX_barrier:
        return ptx_instruction_has(in, PTX_MOD_WARP) || ptx_instruction_has(in, PTX_MOD_ARRIVE)
                   ? WARP_WORKS
                   : WARP_WAITS_BARRIER;
    case PTX_membar:
    case PTX_fence:
        return WARP_WAITS_FENCE;
    case PTX_griddepcontrol:
        return ptx_instruction_has(in, PTX_MOD_WAIT) ? WARP_WAITS_COPY : WARP_WORKS;
    case PTX_mbarrier:
        return ptx_instruction_has(in, PTX_MOD_TRY_WAIT) || ptx_instruction_has(in, PTX_MOD_TEST_WAIT)
                   ? WARP_WAITS_COPY
                   : WARP_WORKS;
    default:
        switch (ptx_asynchronous(in)) {
        case PTX_ASYNC_WAIT:
        case PTX_ASYNC_WAIT_ALL:
        case PTX_ASYNC_BULK_WAIT:
            return WARP_WAITS_COPY;
        default:
            return WARP_WORKS;
        }
    }
}

/* ---- text of probes ------------------------------------------------------------------------------------ */

static int add_site(const TracedCopy *copy, WarpActivity kind, int pc, int load) {
    WaitSites *sites = copy->sites;
    WarpSite site = {kind, copy->number, pc, load, 0};
    site.line = copy->program->code[warp_site_pc(&site)].line.line;
    array_push(sites->sites, sites->count, sites->capacity, site);
    return sites->count - 1;
}

static void put_registers(Text *out) {
    text_add(out,
             "\t.reg .b64 %redviz_base, %redviz_at, %redviz_t, %redviz_u, %redviz_start, %redviz_entered;\n"
             "\t.reg .b32 %redviz_n, %redviz_a, %redviz_b, %redviz_m, %redviz_l, %redviz_s, "
             "%redviz_last, %redviz_le, %redviz_eq;\n"
             "\t.reg .pred %redviz_p, %redviz_q;\n");
}

/* To `original` unless the block is on the chosen multiprocessor and the warp gets a slot. */
static void put_choice(const TracedCopy *copy, const char *original) {
    Text *out = copy->out;
    text_print(out,
               "\tld.param.u64 %%redviz_at, [" PARAMETER "];\n\tshr.u64 %%redviz_t, %%redviz_at, %d;\n"
               "\tcvt.u32.u64 %%redviz_m, %%redviz_t;\n\tmov.u32 %%redviz_n, %%smid;\n"
               "\tadd.u32 %%redviz_n, %%redviz_n, 1;\n\tsetp.ne.u32 %%redviz_p, %%redviz_n, %%redviz_m;\n"
               "\t@%%redviz_p bra %s;\n",
               ADDRESS_BITS, original);
    text_print(out,
               "\tmov.u64 %%redviz_entered, %%clock64;\n"
               "\tand.b64 %%redviz_at, %%redviz_at, 0x%llx;\n\tcvta.to.global.u64 %%redviz_at, %%redviz_at;\n"
               "\tactivemask.b32 %%redviz_m;\n\tmov.u32 %%redviz_l, %%laneid;\n"
               "\tsetp.eq.u32 %%redviz_q, %%redviz_l, 0;\n\tmov.u32 %%redviz_n, 0;\n"
               "\t@%%redviz_q atom.global.add.u32 %%redviz_n, [%%redviz_at], 1;\n"
               "\tshfl.sync.idx.b32 %%redviz_n, %%redviz_n, 0, 31, %%redviz_m;\n"
               "\tsetp.ge.u32 %%redviz_p, %%redviz_n, %u;\n\t@%%redviz_p bra %s;\n",
               (1ull << ADDRESS_BITS) - 1, copy->options->slots, original);
    text_print(
        out,
        "\tcvt.u64.u32 %%redviz_t, %%redviz_n;\n"
        "\tmad.lo.u64 %%redviz_base, %%redviz_t, %llu, %%redviz_at;\n"
        "\tmad.wide.u32 %%redviz_base, %%redviz_l, %llu, %%redviz_base;\n"
        "\tadd.u64 %%redviz_base, %%redviz_base, %llu;\n"
        "\tmad.lo.u64 %%redviz_at, %%redviz_t, %d, %%redviz_at;\n"
        "\tadd.u64 %%redviz_at, %%redviz_at, %d;\n"
        "\tmov.u32 %%redviz_le, %%lanemask_le;\n\tmov.u32 %%redviz_eq, %%lanemask_eq;\n"
        "\tmov.u32 %%redviz_n, 0;\n\tmov.u32 %%redviz_last, 0;\n\tmov.u64 %%redviz_start, %%clock64;\n",
        (unsigned long long)wait_slot_bytes(copy->options),
        (unsigned long long)sizeof(WaitRecord) * copy->options->room,
        (unsigned long long)wait_front_bytes(copy->options), WAIT_HEADER_BYTES, WAIT_COUNTER_BYTES);
}

/* The header, by a lane that leaves: %redviz_p. */
static void put_header(Text *out) {
    text_add(out, "\tmov.u32 %redviz_a, %tid.z;\n\tmov.u32 %redviz_b, %ntid.y;\n"
                  "\tmov.u32 %redviz_m, %tid.y;\n\tmad.lo.u32 %redviz_a, %redviz_a, %redviz_b, %redviz_m;\n"
                  "\tmov.u32 %redviz_b, %ntid.x;\n\tmov.u32 %redviz_m, %tid.x;\n"
                  "\tmad.lo.u32 %redviz_a, %redviz_a, %redviz_b, %redviz_m;\n"
                  "\tshr.u32 %redviz_a, %redviz_a, 5;\n\tmov.u32 %redviz_b, %warpid;\n");
    text_print(out,
               "\t@%%redviz_p st.global.v2.u32 [%%redviz_at+%zu], {%%redviz_a, %%redviz_b};\n"
               "\t@%%redviz_p st.global.u64 [%%redviz_at+%zu], %%redviz_start;\n"
               "\t@%%redviz_p st.global.u64 [%%redviz_at+%zu], %%redviz_entered;\n",
               offsetof(WaitHeader, warp), offsetof(WaitHeader, start), offsetof(WaitHeader, entered));
    text_add(out, "\tmov.u32 %redviz_a, %ctaid.z;\n\tmov.u32 %redviz_b, %nctaid.y;\n"
                  "\tmul.wide.u32 %redviz_t, %redviz_a, %redviz_b;\n\tmov.u32 %redviz_a, %ctaid.y;\n"
                  "\tcvt.u64.u32 %redviz_u, %redviz_a;\n\tadd.u64 %redviz_t, %redviz_t, %redviz_u;\n"
                  "\tmov.u32 %redviz_a, %nctaid.x;\n\tcvt.u64.u32 %redviz_u, %redviz_a;\n"
                  "\tmul.lo.u64 %redviz_t, %redviz_t, %redviz_u;\n\tmov.u32 %redviz_a, %ctaid.x;\n"
                  "\tcvt.u64.u32 %redviz_u, %redviz_a;\n\tadd.u64 %redviz_t, %redviz_t, %redviz_u;\n"
                  "\t@%redviz_p st.global.u64 [%redviz_at], %redviz_t;\n");
}

/* %redviz_p = this is the lowest of the lanes that are active, and whose guard is true. */
static void put_election(const PtxInstruction *in, Text *out) {
    text_add(out, "\tmov.u32 %redviz_m, 0;\n\t");
    if (in && in->guard.kind == PTX_OPERAND_REGISTER)
        text_print(out, "@%s%s ", in->guard.negated ? "!" : "", in->guard.reg->name);
    text_add(out, "activemask.b32 %redviz_m;\n\tand.b32 %redviz_m, %redviz_m, %redviz_le;\n"
                  "\tsetp.eq.u32 %redviz_p, %redviz_m, %redviz_eq;\n");
}

/* `spin`: the rounds of such a loop are one wait: the latest record is replaced, wherever in the loop it was
 * made. */
static void put_record(const TracedCopy *copy, const PtxInstruction *in, int site, int spin) {
    Text *out = copy->out;
    put_election(in, out);
    if (spin)
        text_print(out,
                   "\tsetp.eq.and.u32 %%redviz_q, %%redviz_last, %d, %%redviz_p;\n"
                   "\t@%%redviz_q mov.u32 %%redviz_a, %%redviz_s;\n"
                   "\t@%%redviz_q sub.u32 %%redviz_n, %%redviz_n, 1;\n"
                   "\t@%%redviz_p mov.u32 %%redviz_s, %%redviz_a;\n",
                   spin);
    text_print(out,
               "\tsub.u32 %%redviz_l, %%redviz_b, %%redviz_a;\n\tmin.u32 %%redviz_l, %%redviz_l, %d;\n"
               "\tor.b32 %%redviz_l, %%redviz_l, %u;\n"
               "\tsetp.lt.and.u32 %%redviz_q, %%redviz_n, %u, %%redviz_p;\n"
               "\tmad.wide.u32 %%redviz_t, %%redviz_n, %d, %%redviz_base;\n"
               "\t@%%redviz_q st.global.v2.u32 [%%redviz_t], {%%redviz_b, %%redviz_l};\n"
               "\t@%%redviz_p add.u32 %%redviz_n, %%redviz_n, 1;\n"
               "\t@%%redviz_p mov.u32 %%redviz_last, %d;\n",
               WAIT_LONGEST, (unsigned)site << SITE_SHIFT, copy->options->room, (int)sizeof(WaitRecord),
               spin);
}

static void put_before(Text *out) {
    text_add(out, "\tmov.u32 %redviz_a, %clock;\n");
}

/* %redviz_b = the clock once %redviz_q is known. */
static void put_clock_of(const char *predicate, Text *out) {
    text_print(out, "\t@%s mov.u32 %%redviz_b, %%clock;\n\t@!%s mov.u32 %%redviz_b, %%clock;\n", predicate,
               predicate);
}

/* All threads of a warp execute it together ("bar" is short for barrier.aligned). */
static bool is_aligned(const PtxInstruction *in) {
    return in->opcode == PTX_bar || (in->opcode == PTX_barrier && ptx_instruction_has(in, PTX_MOD_ALIGNED));
}

static void put_after(const TracedCopy *copy, const PtxInstruction *in, int pc) {
    Text *out = copy->out;
    WarpActivity kind = kind_of(in);
    const PtxOperand *first = in->operands; /* of an mbarrier, which has some */
    bool has_predicate =
        kind == WARP_WAITS_COPY && in->opcode == PTX_mbarrier && first->kind == PTX_OPERAND_REGISTER;
    if (copy->options->plain_barrier_clock) {
        text_add(out, "\tmov.u32 %redviz_b, %clock;\n");
    } else if (has_predicate) {
        put_clock_of(first->reg->name, out);
    } else if (copy->options->full_warps && is_aligned(in)) {
        text_add(out, "\tbar.warp.sync 0xffffffff;\n\tmov.u32 %redviz_b, %clock;\n");
    } else {
        text_add(out, "\tactivemask.b32 %redviz_m;\n\tsetp.ne.u32 %redviz_q, %redviz_m, 0;\n");
        put_clock_of("%redviz_q", out);
    }
    put_record(copy, in, add_site(copy, kind, pc, PTX_NO_PC), copy->spins[pc]);
}

/* Before the first instruction that needs the registers. */
static void put_use(const TracedCopy *copy, const PtxRegister *const *awaited, int pc, int load) {
    Text *out = copy->out;
    int conditions = 0;
    put_before(out);
    for (int i = 0; awaited[i]; i++) {
        int bits = ptx_type_bytes(awaited[i]->type) * 8;
        if (bits != 16 && bits != 32 && bits != 64) continue;
        text_print(out, "\tsetp.ne%s.b%d %%redviz_q, %s, 0x%s%s;\n", conditions ? ".and" : "", bits,
                   awaited[i]->name,
                   bits == 64   ? "5555555555555555"
                   : bits == 32 ? "55555555"
                                : "5555",
                   conditions ? ", %redviz_q" : "");
        conditions++;
    }
    if (!conditions) return;
    if (copy->options->plain_load_clock)
        text_add(out, "\tmov.u32 %redviz_b, %clock;\n");
    else
        put_clock_of("%redviz_q", out);
    put_record(copy, NULL, add_site(copy, kind_of_value(copy, load), pc, load), copy->spins[load]);
}

static bool begins_line(const TracedCopy *copy, int pc) {
    const PtxCode *code = copy->program->code;
    if (!wants(copy, WARP_PASSES_LINE) || !code[pc].line.line || copy->spins[pc]) return false;
    return copy->before < 0 || code[copy->before].line.line != code[pc].line.line ||
           code[copy->before].line.file != code[pc].line.file;
}

static void put_line(const TracedCopy *copy, int pc) {
    put_before(copy->out);
    text_add(copy->out, "\tadd.u32 %redviz_b, %redviz_a, 1;\n");
    put_record(copy, NULL, add_site(copy, WARP_PASSES_LINE, pc, PTX_NO_PC), 0);
}

/* The clock first: what follows is no part of the warp's life. */
static void put_end(const PtxInstruction *in, Text *out) {
    const PtxOperand *guard = in && in->guard.kind == PTX_OPERAND_REGISTER ? &in->guard : NULL;
    text_add(out, "\tmov.u64 %redviz_u, %clock64;\n");
    put_election(in, out);
    text_print(out,
               "\t@%%redviz_p red.global.max.u64 [%%redviz_at+%zu], %%redviz_u;\n"
               "\tmov.u32 %%redviz_m, %%laneid;\n\tmad.wide.u32 %%redviz_t, %%redviz_m, 4, %%redviz_at;\n\t",
               offsetof(WaitHeader, end));
    if (guard) text_print(out, "@%s%s ", guard->negated ? "!" : "", guard->reg->name);
    text_print(out, "st.global.u32 [%%redviz_t+%zu], %%redviz_n;\n", offsetof(WaitHeader, counts));
    put_header(out);
}

/* ---- an entry ------------------------------------------------------------------------------------------ */

/* Declarations of the outermost scope belong to both copies. */
static bool is_common(const PtxStatement *statement, int depth) {
    return depth == 0 &&
           (statement->kind == PTX_STATEMENT_REGISTERS || statement->kind == PTX_STATEMENT_VARIABLE);
}

static int depth_after(const PtxStatement *statement, int depth) {
    return depth + (statement->kind == PTX_STATEMENT_OPEN) - (statement->kind == PTX_STATEMENT_CLOSE);
}

static bool check_inner_scopes(const PtxFunction *function, Error *error) {
    int depth = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        depth = depth_after(statement, depth);
        if (depth && statement->kind == PTX_STATEMENT_VARIABLE &&
            statement->variable->space == PTX_SPACE_SHARED)
            return error_set(error, "%s declares shared memory in an inner scope", function->name);
    }
    return true;
}

static void put_common(const PtxFunction *function, Text *out) {
    int depth = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        if (is_common(statement, depth)) ptx_statement_print(function, statement, out);
        depth = depth_after(statement, depth);
    }
}

static void put_original(const PtxFunction *function, Text *out) {
    int depth = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        if (statement->kind != PTX_STATEMENT_LOC && !is_common(statement, depth))
            ptx_statement_print(function, statement, out);
        depth = depth_after(statement, depth);
    }
}

static void put_instruction(TracedCopy *copy, const LoadOrder *order, int at,
                            const PtxStatement *const *statements) {
    int pc = order->placed[at];
    const PtxStatement *statement = statements[pc];
    const PtxInstruction *in = statement->instruction;
    WarpActivity kind = kind_of(in);
    bool leaves = in->opcode == PTX_ret || in->opcode == PTX_exit;
    bool waits = kind != WARP_WORKS && wants(copy, kind);
    if (begins_line(copy, pc)) put_line(copy, pc);
    copy->before = pc;
    if (order->load[at] != PTX_NO_PC && wants(copy, kind_of_value(copy, order->load[at])))
        put_use(copy, order->awaited[at], pc, order->load[at]);
    if (leaves) put_end(in, copy->out);
    if (waits) put_before(copy->out);
    ptx_statement_print(copy->program->functions[0].function, statement, copy->out);
    if (waits) put_after(copy, in, pc);
}

static void put_copy(TracedCopy *copy) {
    const PtxFunction *function = copy->program->functions[0].function;
    const PtxStatement **statements =
        memory_new((size_t)copy->program->functions[0].end * sizeof *statements + 8);
    LoadOrder order;
    int depth = 0, pc = 0;
    bool has_left = false;
    load_order_find(copy->program, wants(copy, WARP_WAITS_SHARED) ? reads_shared_too : reads_global,
                    copy->options->keep_order || wants(copy, WARP_PASSES_LINE), &order);
    copy->before = -1;
    for (int i = 0; i < function->statement_count; i++)
        if (function->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
            statements[pc++] = &function->statements[i];
    pc = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        const PtxInstruction *in = statement->instruction;
        if (statement->kind == PTX_STATEMENT_INSTRUCTION) {
            put_instruction(copy, &order, pc++, statements);
            has_left =
                (in->opcode == PTX_ret || in->opcode == PTX_exit) && in->guard.kind != PTX_OPERAND_REGISTER;
        } else if (statement->kind != PTX_STATEMENT_LOC && !is_common(statement, depth)) {
            ptx_statement_print(function, statement, copy->out);
        }
        if (statement->kind == PTX_STATEMENT_LABEL) copy->before = -1;
        depth = depth_after(statement, depth);
    }
    if (!has_left) {
        put_end(NULL, copy->out);
        text_add(copy->out, "\tret;\n");
    }
    load_order_done(&order);
    free(statements);
}

typedef struct Waits { /* the programs being printed */
    const PtxProgram *const *programs;
    int count;
    const WaitProbeOptions *options;
    WaitSites *sites;
} Waits;

/* [pc] the number of its loop that may wait for others. */
static int *number_spins(const PtxProgram *program) {
    bool *waits = memory_new((size_t)program->code_count * sizeof *waits + 1);
    int *spins = memory_new((size_t)program->code_count * sizeof *spins + 1), count = 0;
    instrument_find_waiting(program, waits);
    for (int pc = 0; pc < program->code_count; pc++)
        if (waits[pc]) spins[pc] = pc && waits[pc - 1] ? count : ++count;
    free(waits);
    return spins;
}

static void put_body(void *context, const PtxFunction *function, Text *out) {
    const Waits *waits = context;
    TracedCopy copy = {.options = waits->options, .sites = waits->sites, .out = out};
    for (int i = waits->count - 1; i >= 0; i--)
        if (waits->programs[i]->entry == function) copy.number = i;
    copy.program = waits->programs[copy.number];
    copy.spins = number_spins(copy.program);
    put_registers(out);
    put_common(function, out);
    put_choice(&copy, "redviz_original");
    text_add(out, "\t{\n");
    put_copy(&copy);
    text_add(out, "\t}\nredviz_original:\n\t{\n");
    put_original(function, out);
    text_add(out, "\t}\n");
    free(copy.spins);
}

static const char *why_not_called(const PtxInstruction *in) {
    return in->opcode == PTX_exit ? "exits, which the probe would not see" : NULL;
}

static bool print_header(const PtxItem *item, Text *out, Error *error) {
    return entry_probe_add_parameter(item, PARAMETER, out, error);
}

bool instrument_waits(const PtxProgram *const *programs, int count, const WaitProbeOptions *options,
                      Text *out, WaitSites *sites, Error *error) {
    Waits waits = {programs, count, options, sites};
    EntryProbe probe = {.print_header = print_header,
                        .print_body = put_body,
                        .context = &waits,
                        .why_not_called = why_not_called};
    if (programs[0]->module->address_bytes != 8)
        return error_set(error, "PTX with 32-bit addresses cannot have a probe; compile it for 64 bits");
    for (int i = 0; i < count; i++)
        if (!check_inner_scopes(programs[i]->functions[0].function, error)) return false;
    if (!entry_probe_print(&probe, programs, count, out, error)) return false;
    if (sites->count <= WAIT_SITES) return true;
    return error_set(error, "%d places that may wait; at most %d are recorded", sites->count, WAIT_SITES);
}
