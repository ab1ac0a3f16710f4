/* A function with its probes.
 *
 * At its start:
 *
 *     call (%redviz_region), redviz_enter;             0: the block is not traced
 *     setp.eq.u64 %redviz_off, %redviz_region, 0;
 *     @%redviz_off bra.uni $redviz_0;  record addresses of symbols;  $redviz_0:
 *
 * At a site, before or after the instruction:
 *
 *     @%redviz_off bra.uni $redviz_1;
 *     values into %redviz_w0.. (8 bytes) and %redviz_n0.. (4 bytes)
 *     @guard call redviz_record_W_N, (%redviz_region, site, extra, ...);
 *     $redviz_1:
 *
 * The jump is uniform, since a block is traced as a whole or not at all; the call is not (call, not
 * call.uni). Operands that the instruction overwrites are saved before it. */
#include "instrument/emit.h"

#include "base/memory.h"
#include "instrument/probe_copies.h"
#include "ptx/opcodes.h"
#include "trace/producer_rules.h"
#include <stdlib.h>

#define put(emitter, ...) text_print((emitter)->out, __VA_ARGS__)

/* ---- values in redviz's registers ------------------------------------------------------------------- */

typedef struct TextPosition { /* %redviz_w3, %redviz_n0, %redviz_x */
    char name[24];
    bool wide;
} TextPosition;

static void put_constant(Emitter *emitter, const TextPosition *to, uint64_t bits) {
    if (to->wide)
        put(emitter, "\tmov.u64 %s, 0x%llx;\n", to->name, (unsigned long long)bits);
    else
        put(emitter, "\tmov.u32 %s, 0x%x;\n", to->name, (unsigned)bits);
}

static uint64_t float_constant(const PtxOperand *operand, bool wide) {
    double number = operand->number;
    float single;
    uint32_t bits = (uint32_t)operand->float_bits;
    if (operand->float_bytes == 4) {
        if (!wide) return bits;
        memcpy(&single, &bits, sizeof single);
        number = (double)single;
    } else if (operand->float_bytes == 8) {
        memcpy(&number, &operand->float_bits, sizeof number);
    }
    uint64_t out = 0;
    single = (float)number;
    memcpy(&out, wide ? (const void *)&number : (const void *)&single, wide ? 8 : 4);
    return out;
}

static void put_register(Emitter *emitter, const TextPosition *to, const PtxOperand *operand, int half) {
    static const char *const components[] = {".x", ".y", ".z", ".w"};
    const char *from = operand->reg->name, *part = "";
    if (operand->component >= 0) part = components[operand->component & 3];
    switch (ptx_type_bytes(operand->reg->type)) {
    case 0:
        put(emitter, "\tselp.u32 %s, %d, %d, %s%s;\n", to->name, !operand->negated, operand->negated, from,
            part);
        break;
    case 1:
        put(emitter, "\tcvt.u32.u8 %s, %s%s;\n", to->name, from, part);
        break;
    case 2:
        put(emitter, "\tmov.b16 %%redviz_h, %s%s;\n\tcvt.u32.u16 %s, %%redviz_h;\n", from, part, to->name);
        break;
    case 4:
        if (to->wide)
            put(emitter, "\tmov.b32 %%redviz_s, %s%s;\n\tcvt.u64.u32 %s, %%redviz_s;\n", from, part,
                to->name);
        else
            put(emitter, "\tmov.b32 %s, %s%s;\n", to->name, from, part);
        break;
    case 8:
        if (to->wide)
            put(emitter, "\tmov.b64 %s, %s%s;\n", to->name, from, part);
        else
            put(emitter, "\tmov.b64 %%redviz_t, %s%s;\n\tcvt.u32.u64 %s, %%redviz_t;\n", from, part,
                to->name);
        break;
    default:
        put(emitter, half ? "\tmov.b128 {%%redviz_t, %s}, %s;\n" : "\tmov.b128 {%s, %%redviz_t}, %s;\n",
            to->name, from);
    }
}

/* `half`: for a 128-bit register. */
static void put_value(Emitter *emitter, const TextPosition *to, const PtxOperand *operand, int half) {
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        put_register(emitter, to, operand, half);
        break;
    case PTX_OPERAND_INTEGER:
        put_constant(emitter, to, (uint64_t)operand->integer);
        break;
    case PTX_OPERAND_FLOAT:
        put_constant(emitter, to, float_constant(operand, to->wide));
        break;
    case PTX_OPERAND_SPECIAL:
        put(emitter, to->wide ? "\tmov.u64 %s, %s;\n" : "\tmov.u32 %s, %s;\n", to->name, operand->name);
        break;
    case PTX_OPERAND_VARIABLE:
    case PTX_OPERAND_FUNCTION: {
        const char *name = operand->variable ? operand->variable->name : operand->function->name;
        put(emitter, "\tmov.u64 %%redviz_t, %s;\n", name);
        put(emitter, "\tadd.s64 %%redviz_t, %%redviz_t, %lld;\n",
            operand->variable ? (long long)operand->integer : 0);
        put(emitter, to->wide ? "\tmov.b64 %s, %%redviz_t;\n" : "\tcvt.u32.u64 %s, %%redviz_t;\n", to->name);
        break;
    }
    default: /* the sink */
        put_constant(emitter, to, 0);
    }
}

static void put_address(Emitter *emitter, const TextPosition *to, const PtxOperand *operand) {
    const char *bits = to->wide ? "64" : "32";
    if (!operand->reg && !operand->variable) {
        put_constant(emitter, to, (uint64_t)operand->integer);
        return;
    }
    if (operand->reg) {
        PtxOperand base = {.kind = PTX_OPERAND_REGISTER, .component = -1, .reg = operand->reg};
        put_register(emitter, to, &base, 0);
    } else {
        put(emitter, "\tmov.u64 %%redviz_t, %s;\n", operand->variable->name);
        put(emitter, to->wide ? "\tmov.b64 %s, %%redviz_t;\n" : "\tcvt.u32.u64 %s, %%redviz_t;\n", to->name);
    }
    if (operand->integer)
        put(emitter, "\tadd.s%s %s, %s, %lld;\n", bits, to->name, to->name, (long long)operand->integer);
}

/* Puts b and c of a shuffle, packed as by instrument_control(). */
static void put_control(Emitter *emitter, const TextPosition *to, const PtxInstruction *in) {
    TextPosition scratch = {"%redviz_s", false};
    put_value(emitter, &scratch, &in->operands[3], 0);
    put(emitter, "\tand.b32 %%redviz_s, %%redviz_s, 0x1f1f;\n\tshl.b32 %s, %%redviz_s, 8;\n", to->name);
    put_value(emitter, &scratch, &in->operands[2], 0);
    put(emitter, "\tand.b32 %%redviz_s, %%redviz_s, 31;\n\tor.b32 %s, %s, %%redviz_s;\n", to->name, to->name);
}

/* ---- a site ----------------------------------------------------------------------------------------- */

static bool overwrites(const PtxInstruction *in, const PtxOperand *operand) {
    return operand && operand->reg && probe_plan_writes(in, operand->reg);
}

/* True if the instruction overwrites the field's source. */
static bool is_overwritten(const InstrumentSite *site, const InstrumentField *field) {
    const PtxInstruction *in = site->instruction;
    PtxOperand component;
    if (field->kind == INSTRUMENT_VALUE || !site->is_behind) return false;
    if (field->kind == INSTRUMENT_CONTROL)
        return overwrites(in, &in->operands[2]) || overwrites(in, &in->operands[3]);
    return overwrites(in, probe_plan_operand(site, field, &component));
}

static TextPosition place_of(const InstrumentSite *site, int field) {
    TextPosition place = {"", site->fields[field].wide};
    int number = 0;
    for (int i = 0; i < field; i++) number += site->fields[i].wide == place.wide;
    snprintf(place.name, sizeof place.name, place.wide ? "%%redviz_w%d" : "%%redviz_n%d", number);
    return place;
}

/* If the text discards a result (`_`), %redviz_d receives it. */
static bool is_unseen(const InstrumentSite *site, const PtxOperand *operand) {
    const PtxInstruction *in = site->instruction;
    bool is_word = site->kind == TRACE_SHUFFLE || site->kind == TRACE_REDUX || in->opcode == PTX_match ||
                   in->opcode == PTX_elect;
    return is_word && operand && operand->kind == PTX_OPERAND_SINK;
}

static void put_field(Emitter *emitter, const InstrumentSite *site, int index) {
    const InstrumentField *field = &site->fields[index];
    TextPosition place = place_of(site, index);
    PtxOperand component;
    if (field->kind == INSTRUMENT_CONTROL) {
        put_control(emitter, &place, site->instruction);
        return;
    }
    const PtxOperand *operand = probe_plan_operand(site, field, &component);
    if (field->kind == INSTRUMENT_ADDRESS)
        put_address(emitter, &place, operand);
    else if (field->kind == INSTRUMENT_VALUE && is_unseen(site, operand))
        put(emitter, "\tmov.b32 %s, %%redviz_d;\n", place.name);
    else if (operand)
        put_value(emitter, &place, operand, field->element & 1);
    else
        put_constant(emitter, &place, 0);
}

static void put_extra(Emitter *emitter, const InstrumentSite *site) {
    static const TextPosition place = {"%redviz_x", false};
    uint32_t constant;
    const PtxOperand *extra = probe_plan_extra(site, &constant);
    if (extra)
        put_value(emitter, &place, extra, 0);
    else
        put_constant(emitter, &place, constant);
}

static void save(Emitter *emitter, const InstrumentSite *site) {
    const PtxInstruction *in = site->instruction;
    uint32_t constant;
    for (int i = 0; i < site->field_count; i++)
        if (is_overwritten(site, &site->fields[i])) put_field(emitter, site, i);
    if (overwrites(in, probe_plan_extra(site, &constant))) put_extra(emitter, site);
    if (overwrites(in, &in->guard)) put(emitter, "\tmov.pred %%redviz_g, %s;\n", in->guard.reg->name);
}

/* Prints "@%p " or nothing. */
static void put_guard(Emitter *emitter, const InstrumentSite *site) {
    const PtxOperand *guard = &site->instruction->guard;
    if (guard->kind == PTX_OPERAND_NONE || site->kind == TRACE_BRANCH) return;
    bool saved = site->is_behind && overwrites(site->instruction, guard);
    put(emitter, "@%s%s ", guard->negated ? "!" : "", saved ? "%redviz_g" : guard->reg->name);
}

/* Prints the name of the probe and its arguments other than values. */
static void begin_call(Emitter *emitter, const InstrumentSite *site, int number) {
    put_guard(emitter, site);
    if (site->kind == TRACE_BRANCH) {
        emitter->uses_branch[site->narrow_count] = true;
        put(emitter, "call redviz_branch_%d, (%%redviz_region, %d, %%redviz_x", site->narrow_count, number);
        return;
    }
    emitter->uses_record[site->wide_count][site->narrow_count] = true;
    put(emitter, "call redviz_record_%d_%d, (%%redviz_region, %d, %%redviz_x", site->wide_count,
        site->narrow_count, number);
}

static void put_call(Emitter *emitter, const InstrumentSite *site, int number) {
    begin_call(emitter, site, number);
    for (int i = 0; i < site->wide_count; i++) put(emitter, ", %%redviz_w%d", i);
    for (int i = 0; i < site->narrow_count; i++) put(emitter, ", %%redviz_n%d", i);
    put(emitter, ");\n");
}

static void put_copied_values(Emitter *emitter, const InstrumentSite *site) {
    const PtxOperand *guard = &site->instruction->guard;
    char text[80] = "";
    if (guard->kind != PTX_OPERAND_NONE)
        snprintf(text, sizeof text, "%s%s", guard->negated ? "!" : "", guard->reg->name);
    copies_put_values(site, text, emitter->out);
}

/* The registers of D are defined behind a wait: this one ends the group of the instruction before it goes on,
 * and the fence orders these reads before the next product. */
static void put_group_probe(Emitter *emitter, const InstrumentSite *site, int number) {
    const PtxOperand *d = &site->instruction->operands[0];
    int label = emitter->labels++, count;
    put(emitter, "\t@%%redviz_off bra.uni $redviz_%d;\n", label);
    put(emitter, "\twgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;\n");
    for (int first = 0; first < site->group_registers; first += count) {
        count = trace_warpgroup_registers(site->group_registers, first);
        for (int r = 0; r < site->element_count; r++) {
            TextPosition place = place_of(site, r);
            if (r < count)
                put_value(emitter, &place, &d->items[first + r], 0);
            else
                put_constant(emitter, &place, 0);
        }
        put_constant(emitter, &(TextPosition){"%redviz_x", false}, (uint64_t)first);
        put(emitter, "\t");
        put_call(emitter, site, number);
    }
    put(emitter, "\twgmma.fence.sync.aligned;\n$redviz_%d:\n", label);
}

static void put_probe(Emitter *emitter, const InstrumentSite *site, int number) {
    const PtxInstruction *in = site->instruction;
    uint32_t constant;
    if (site->group_registers) {
        put_group_probe(emitter, site, number);
        return;
    }
    int label = emitter->labels++;
    put(emitter, "\t@%%redviz_off bra.uni $redviz_%d;\n", label);
    bool copies = copies_part_count(site) != 0;
    for (int i = 0; i < site->field_count; i++)
        if (!is_overwritten(site, &site->fields[i]) && !(copies && site->fields[i].kind == INSTRUMENT_VALUE))
            put_field(emitter, site, i);
    if (copies) put_copied_values(emitter, site);
    if (site->kind == TRACE_BRANCH) {
        TextPosition taken = {"%redviz_x", false};
        if (in->guard.kind == PTX_OPERAND_NONE)
            put_constant(emitter, &taken, 1);
        else
            put_register(emitter, &taken, &in->guard, 0);
    } else if (!site->is_behind || !overwrites(in, probe_plan_extra(site, &constant))) {
        put_extra(emitter, site);
    }
    put(emitter, "\t");
    put_call(emitter, site, number);
    put(emitter, "$redviz_%d:\n", label);
}

static void put_instruction(Emitter *emitter, const InstrumentSite *site) {
    static PtxRegister taker = {.name = "%redviz_d", .type = PTX_B32, .vector = 1};
    const PtxOperand as_taken = {.kind = PTX_OPERAND_REGISTER, .component = -1, .reg = &taker};
    PtxInstruction copy = *site->instruction;
    PtxOperand operands[8], pair[2];
    const PtxOperand *d = copy.operand_count ? &copy.operands[0] : NULL;
    bool in_pair = d && d->kind == PTX_OPERAND_PAIR && d->item_count == 2;
    if (d && is_unseen(site, in_pair ? &d->items[0] : d) && copy.operand_count <= 8) {
        memcpy(operands, copy.operands, (size_t)copy.operand_count * sizeof *operands);
        copy.operands = operands;
        if (in_pair) {
            memcpy(pair, operands[0].items, sizeof pair);
            operands[0].items = pair;
            pair[0] = as_taken;
        } else {
            operands[0] = as_taken;
        }
    }
    put(emitter, "\t");
    ptx_instruction_print(&copy, emitter->out);
    put(emitter, "\n");
}

static void emit_site(Emitter *emitter, int number) {
    const InstrumentSite *site = &emitter->sites->sites[number];
    if (!site->is_behind) {
        put_probe(emitter, site, number);
        put_instruction(emitter, site);
        return;
    }
    save(emitter, site);
    put_instruction(emitter, site);
    put_probe(emitter, site, number);
}

/* ---- a function ------------------------------------------------------------------------------------- */

static void put_symbol(Emitter *emitter, int index) {
    const InstrumentSymbol *symbol = &emitter->sites->symbols[index];
    put(emitter,
        symbol->is_mapped ? "\tmapa.shared::cluster.u64 %%redviz_t, %s, 0;\n" : "\tmov.u64 %%redviz_t, %s;\n",
        symbol->variable->name);
    if (symbol->is_generic) put(emitter, "\tcvta.const.u64 %%redviz_t, %%redviz_t;\n");
    put(emitter, "\tcall redviz_symbol, (%%redviz_region, %d, %%redviz_t);\n", index);
    emitter->uses_symbol = true;
}

static void put_windows(Emitter *emitter) {
    put(emitter, "\tmov.u64 %%redviz_t, 0;\n"
                 "\tcvta.shared.u64 %%redviz_w0, %%redviz_t;\n"
                 "\tcvta.local.u64 %%redviz_w1, %%redviz_t;\n"
                 "\tcall redviz_windows, (%%redviz_region, %%redviz_w0, %%redviz_w1);\n");
    emitter->uses_windows = true;
}

static void put_symbols(Emitter *emitter, const EmittedSymbols *symbols) {
    for (int i = 0; i < symbols->count; i++) put_symbol(emitter, symbols->index[i]);
}

static void put_prologue(Emitter *emitter, const PtxFunction *function, const EmittedSymbols *symbols) {
    put(emitter, "\t.reg .b64 %%redviz_region, %%redviz_t, %%redviz_w<%d>;\n", EMIT_MOST_WIDE);
    put(emitter, "\t.reg .b32 %%redviz_x, %%redviz_d, %%redviz_s, %%redviz_n<%d>;\n", EMIT_MOST_NARROW);
    put(emitter, "\t.reg .b16 %%redviz_h;\n\t.reg .pred %%redviz_off, %%redviz_g;\n");
    put(emitter, "\tcall (%%redviz_region), redviz_enter;\n"
                 "\tsetp.eq.u64 %%redviz_off, %%redviz_region, 0;\n");
    emitter->uses_enter = true;
    if (!symbols->count && !function->is_entry) return;
    int label = emitter->labels++;
    put(emitter, "\t@%%redviz_off bra.uni $redviz_%d;\n", label);
    if (function->is_entry) put_windows(emitter);
    put_symbols(emitter, symbols);
    put(emitter, "$redviz_%d:\n", label);
}

static bool begins(const PtxStatement *statement) {
    return statement->kind == PTX_STATEMENT_INSTRUCTION || statement->kind == PTX_STATEMENT_LABEL ||
           statement->kind == PTX_STATEMENT_OPEN;
}

/* Declares a variable of the body, which is known from here on. */
static void declare(Emitter *emitter, const PtxVariable *variable, bool begun, EmittedSymbols *pending) {
    const InstrumentSites *sites = emitter->sites;
    for (int i = 0; i < sites->symbol_count; i++) {
        if (sites->symbols[i].variable != variable) continue;
        if (!begun) {
            pending->index[pending->count++] = i;
            continue;
        }
        int label = emitter->labels++;
        put(emitter, "\t@%%redviz_off bra.uni $redviz_%d;\n", label);
        put_symbol(emitter, i);
        put(emitter, "$redviz_%d:\n", label);
    }
}

void emit_function(Emitter *emitter, const PtxItem *item, const EmittedSymbols *symbols, bool is_plain) {
    const PtxFunction *function = item->function;
    EmittedSymbols pending = {memory_new(((size_t)emitter->sites->symbol_count + 1) * sizeof(int)), 0};
    for (int i = 0; i < symbols->count; i++) pending.index[pending.count++] = symbols->index[i];
    put(emitter, "\n%s\n{\n", item->text);
    bool begun = false;
    int place = 0;
    for (int i = 0; i < function->statement_count; i++) {
        const PtxStatement *statement = &function->statements[i];
        if (statement->kind == PTX_STATEMENT_LOC) continue;
        if (!begun && !is_plain && begins(statement)) {
            put_prologue(emitter, function, &pending);
            begun = true;
        }
        int site = -1;
        if (statement->kind == PTX_STATEMENT_INSTRUCTION) site = emitter->site_of[place++];
        if (site >= 0)
            emit_site(emitter, site);
        else
            ptx_statement_print(function, statement, emitter->out);
        if (statement->kind == PTX_STATEMENT_VARIABLE && !is_plain)
            declare(emitter, statement->variable, begun, &pending);
    }
    put(emitter, "}\n");
    free(pending.index);
}
