/* Probes of tensor copies (probe_tensor.h). */
#include "instrument/probe_tensor.h"

#include "ptx/opcodes.h"
#include <string.h>

enum {
    MOST_RANKS = 16,  /* blocks of a cluster that a multicast may name */
    MOST_OPERANDS = 7 /* that a record holds beside the address */
};

static const uint64_t digest_factor = UINT64_C(0x9e3779b97f4a7c15);

uint64_t instrument_tensor_digest(const uint8_t bytes[TENSOR_MAP_BYTES]) {
    uint64_t digest = 0, word;
    for (int at = 0; at < TENSOR_MAP_BYTES; at += 8) {
        memcpy(&word, bytes + at, sizeof word);
        digest = digest * digest_factor + word;
    }
    return digest;
}

/* ---- planning --------------------------------------------------------------------------------------- */

bool tensor_copy_is_site(const InstrumentSite *site) {
    const PtxInstruction *in = site->instruction;
    return in->opcode == PTX_cp && ptx_instruction_has(in, PTX_MOD_TENSOR) &&
           trace_written_kind_of(in) != TRACE_NOT_RECORDED;
}

bool tensor_copy_is_load(const InstrumentSite *site) {
    return site->instruction->space != PTX_SPACE_GLOBAL;
}

bool tensor_copy_is_multicast(const InstrumentSite *site) {
    return ptx_instruction_has(site->instruction, PTX_MOD_MULTICAST_CLUSTER);
}

/* "[map, {c0, c1}]" */
static const PtxOperand *tensor_of(const InstrumentSite *site) {
    return &site->instruction->operands[tensor_copy_is_load(site)];
}

int tensor_copy_rank(const InstrumentSite *site) {
    return tensor_of(site)->items[1].item_count;
}

/* "{w, h}"; NULL: it has none. */
static const PtxOperand *offsets_of(const InstrumentSite *site) {
    const PtxInstruction *in = site->instruction;
    bool has_offsets = ptx_instruction_has(in, PTX_MOD_IM2COL) && in->operand_count > 3;
    return has_offsets && in->operands[3].kind == PTX_OPERAND_VECTOR ? &in->operands[3] : NULL;
}

int tensor_copy_offsets(const InstrumentSite *site) {
    const PtxOperand *offsets = offsets_of(site);
    return offsets ? offsets->item_count : 0;
}

bool tensor_copy_plan(InstrumentSite *site) {
    const PtxInstruction *in = site->instruction;
    if (trace_tile_shape(in) == TILE_ROWS) return false; /* no GPU has recorded one */
    if (in->operand_count < 2 + tensor_copy_is_load(site) + tensor_copy_is_multicast(site)) return false;
    const PtxOperand *tensor = tensor_of(site);
    if (tensor->kind != PTX_OPERAND_OTHER || tensor->item_count != 2 ||
        tensor->items[1].kind != PTX_OPERAND_VECTOR || tensor->items[1].item_count > TENSOR_RANK_MOST)
        return false;
    int operands = tensor_copy_rank(site) + tensor_copy_offsets(site) + tensor_copy_is_multicast(site);
    if (operands > MOST_OPERANDS) return false; /* a load in im2col mode of rank 5 */
    probe_plan_add_field(site, INSTRUMENT_VALUE, 0, true);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, 0, false);
    if (operands > 4) operands = MOST_OPERANDS; /* probes have 5 or 8 columns of 4 bytes */
    for (int i = 0; i < operands; i++) probe_plan_add_field(site, INSTRUMENT_OPERAND, i, false);
    site->element_bytes = 8;
    site->element_count = TRACE_MAX_ELEMENTS;
    return true;
}

const PtxOperand *tensor_copy_address(const InstrumentSite *site) {
    return &site->instruction->operands[!tensor_copy_is_load(site)];
}

const PtxOperand *tensor_copy_operand(const InstrumentSite *site, int element) {
    int rank = tensor_copy_rank(site), offsets = tensor_copy_offsets(site), mask = rank + offsets;
    if (element < rank) return &tensor_of(site)->items[1].items[element];
    if (element < mask) return &offsets_of(site)->items[element - rank];
    bool is_mask = element == mask && tensor_copy_is_multicast(site);
    return is_mask ? &site->instruction->operands[offsets ? 4 : 3] : NULL;
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* The lane may have no map at the address if the guard does not hold. */
void tensor_copy_put_digest(const InstrumentSite *site, const char *guard, Text *out) {
    const PtxOperand *map = &tensor_of(site)->items[0];
    const char *base = map->reg ? map->reg->name : map->variable->name;
    const char *at = *guard ? "@" : "";
    text_print(out, "\tmov.u64 %%redviz_w1, %s;\n\tmov.u64 %%redviz_w0, 0;\n", base);
    for (int i = 0; i < TENSOR_MAP_BYTES; i += 8) {
        text_print(out, "\t%s%s ld.u64 %%redviz_t, [%%redviz_w1+%lld];\n", at, guard,
                   (long long)map->integer + i);
        text_print(out, "\t%s%s mad.lo.u64 %%redviz_w0, %%redviz_w0, 0x%llx, %%redviz_t;\n", at, guard,
                   (unsigned long long)digest_factor);
    }
}

int tensor_copy_part_count(const InstrumentSite *site) {
    return tensor_copy_is_multicast(site) ? 1 + MOST_RANKS : 2;
}
