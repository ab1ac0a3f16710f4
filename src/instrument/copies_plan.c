/* The parts of an asynchronous copy, and the contents of its record (probe_copies.h). */
#include "instrument/probe_copies.h"
#include "instrument/probe_tensor.h"

#include <string.h>

enum { WORD = 4, MOST_BYTES = 16 };

static bool is_bulk(const InstrumentSite *site) {
    return ptx_asynchronous(site->instruction) != PTX_ASYNC_COPY;
}

static int bytes_of(const InstrumentSite *site) {
    const PtxInstruction *in = site->instruction;
    return in->operand_count > 2 ? (int)in->operands[2].integer : 0;
}

/* cp.async reads fewer bytes if its fourth operand is not a cache policy. */
static bool has_option(const PtxInstruction *in) {
    return in->operand_count - (ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT) ? 1 : 0) > 3;
}

static bool is_small(PtxSpace space) {
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER;
}

/* ---- planning --------------------------------------------------------------------------------------- */

static bool plan_bulk(const PtxInstruction *in, InstrumentSite *site) {
    bool from_shared = site->kind == TRACE_SHARED_BULK_READ;
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, COPY_SOURCE, !from_shared);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, COPY_DESTINATION, !is_small(in->space));
    probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    site->element_bytes = WORD;
    site->element_count = 1;
    return true;
}

bool copies_plan(const PtxInstruction *in, InstrumentSite *site) {
    if (tensor_copy_is_site(site)) return tensor_copy_plan(site);
    if (in->operand_count < 3 || in->operands[0].kind != PTX_OPERAND_MEMORY ||
        in->operands[1].kind != PTX_OPERAND_MEMORY)
        return false;
    if (is_bulk(site)) return plan_bulk(in, site);
    if (in->operands[2].kind != PTX_OPERAND_INTEGER) return false;
    int bytes = bytes_of(site);
    if (bytes != 4 && bytes != 8 && bytes != MOST_BYTES) return false;
    site->element_bytes = WORD;
    site->element_count = (uint8_t)(bytes / WORD);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, COPY_SOURCE, true);
    probe_plan_add_field(site, INSTRUMENT_ADDRESS, COPY_DESTINATION, false);
    for (int w = 0; w < bytes / WORD; w++) probe_plan_add_field(site, INSTRUMENT_VALUE, w, false);
    if (!has_option(in)) return true;
    probe_plan_add_field(site, INSTRUMENT_OPERAND, 0, false);
    probe_plan_add_field(site, INSTRUMENT_VALUE, COPY_TAIL, false);
    if (bytes == MOST_BYTES)
        probe_plan_add_field(site, INSTRUMENT_VALUE, COPY_TAIL + 1,
                             false); /* probes have 5 or 8 such columns */
    return true;
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* The 4-byte register of the field. */
static int register_of(const InstrumentSite *site, InstrumentFieldKind kind, int element) {
    int number = 0;
    for (int i = 0; site->fields[i].kind != kind || site->fields[i].element != element; i++)
        number += !site->fields[i].wide;
    return number;
}

static void put_size(const InstrumentSite *site, Text *out) {
    const PtxOperand *option = &site->instruction->operands[3];
    int size = register_of(site, INSTRUMENT_OPERAND, 0), bytes = bytes_of(site);
    if (option->kind == PTX_OPERAND_INTEGER)
        text_print(out, "\tmov.u32 %%redviz_n%d, %lld;\n", size, (long long)option->integer);
    else if (ptx_type_bytes(option->reg->type))
        text_print(out, "\tmov.b32 %%redviz_n%d, %s;\n", size, option->reg->name);
    else
        text_print(out, "\tselp.u32 %%redviz_n%d, %d, %d, %s;\n", size, option->negated ? bytes : 0,
                   option->negated ? 0 : bytes, option->reg->name);
}

/* %redviz_g: the guard holds and at least `least` bytes are read. */
static void put_condition(const InstrumentSite *site, const char *guard, const char *size, int least,
                          Text *out) {
    if (!has_option(site->instruction)) {
        text_add(out, "\tsetp.eq.u32 %redviz_g, 0, 0;\n");
    } else {
        text_print(out, "\tsetp.ge.u32 %%redviz_g, %s, %d;\n", size, least);
    }
    if (!*guard) return;
    bool negated = *guard == '!';
    if (negated) /* g and not p */
        text_print(out, "\t@%s setp.ne.u32 %%redviz_g, 0, 0;\n", guard + 1);
    else
        text_print(out, "\t@!%s setp.ne.u32 %%redviz_g, 0, 0;\n", guard);
}

/* The bytes after the last whole word, the first in the lowest bits. */
static void put_tail(const InstrumentSite *site, const char *guard, const char *size, Text *out) {
    int tail = register_of(site, INSTRUMENT_VALUE, COPY_TAIL);
    text_print(out, "\tmov.u32 %%redviz_n%d, 0;\n", tail);
    for (int b = 0; b < WORD - 1; b++) {
        text_print(out, "\tand.b32 %%redviz_s, %s, 3;\n", size);
        put_condition(site, guard, "%redviz_s", b + 1, out);
        text_print(out, "\tand.b32 %%redviz_s, %s, 28;\n\tcvt.u64.u32 %%redviz_t, %%redviz_s;\n", size);
        text_add(out, "\tadd.u64 %redviz_t, %redviz_t, %redviz_w0;\n\tmov.u32 %redviz_s, 0;\n");
        text_print(out, "\t@%%redviz_g ld.global.u8 %%redviz_s, [%%redviz_t+%d];\n", b);
        text_print(
            out, "\tshl.b32 %%redviz_s, %%redviz_s, %d;\n\tor.b32 %%redviz_n%d, %%redviz_n%d, %%redviz_s;\n",
            8 * b, tail, tail);
    }
}

void copies_put_values(const InstrumentSite *site, const char *guard, Text *out) {
    if (tensor_copy_is_site(site)) tensor_copy_put_digest(site, guard, out);
    if (is_bulk(site)) return;
    char size[24] = "";
    bool is_shorter = has_option(site->instruction);
    if (is_shorter) {
        put_size(site, out);
        snprintf(size, sizeof size, "%%redviz_n%d", register_of(site, INSTRUMENT_OPERAND, 0));
    }
    for (int w = 0; w < bytes_of(site) / WORD; w++) {
        int number = register_of(site, INSTRUMENT_VALUE, w);
        put_condition(site, guard, size, (w + 1) * WORD, out);
        text_print(
            out, "\tmov.u32 %%redviz_n%d, 0;\n\t@%%redviz_g ld.global.u32 %%redviz_n%d, [%%redviz_w0+%d];\n",
            number, number, w * WORD);
    }
    if (!is_shorter) return;
    put_tail(site, guard, size, out);
    if (bytes_of(site) == MOST_BYTES)
        text_print(out, "\tmov.u32 %%redviz_n%d, 0;\n", register_of(site, INSTRUMENT_VALUE, COPY_TAIL + 1));
}

/* ---- parts ------------------------------------------------------------------------------------------ */

int copies_part_count(const InstrumentSite *site) {
    if (trace_written_kind_of(site->instruction) == TRACE_NOT_RECORDED) return 0;
    if (tensor_copy_is_site(site)) return tensor_copy_part_count(site);
    bool may_be_less = !is_bulk(site) && has_option(site->instruction);
    return may_be_less ? 1 + bytes_of(site) / WORD + (WORD - 1) + 1 : 2;
}

static bool is_destination(const InstrumentSite *site, int part) {
    return tensor_copy_is_site(site) ? part > 0 : part == copies_part_count(site) - 1;
}

TraceKind copies_part_kind(const InstrumentSite *site, int part) {
    return is_destination(site, part) ? trace_written_kind_of(site->instruction) : site->kind;
}

PtxSpace copies_part_space(const InstrumentSite *site, int part) {
    return trace_kind_is_shared(copies_part_kind(site, part)) ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
}

uint32_t copies_whole_bytes(const InstrumentSite *site) {
    return (uint32_t)bytes_of(site);
}

bool copies_reads_less(const InstrumentSite *site) {
    return !is_bulk(site) && has_option(site->instruction);
}

CopyPart copies_part(const InstrumentSite *site, int part, uint32_t size) {
    CopyPart at = {.address = is_destination(site, part) ? COPY_DESTINATION : COPY_SOURCE,
                   .is_whole = true,
                   .exists = true};
    if (is_bulk(site)) {
        at.exists = size != 0;
        return at;
    }
    int words = bytes_of(site) / WORD;
    bool all = size == (uint32_t)bytes_of(site);
    at.bytes = bytes_of(site);
    if (is_destination(site, part)) return at;
    at.exists = all == (part == 0);
    if (part == 0) return at;
    at.is_whole = false;
    at.bytes = part <= words ? WORD : 1;
    at.offset =
        part <= words ? (uint32_t)(part - 1) * WORD : size / WORD * WORD + (uint32_t)(part - 1 - words);
    at.exists = at.exists && at.offset + (uint32_t)at.bytes <= size;
    return at;
}
