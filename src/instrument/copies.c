/* Asynchronous copies in instrumented kernels (copies.h). */
#include "instrument/copies.h"

#include "instrument/locate.h"
#include <string.h>

enum {
    WORD = 4,
    MOST_BYTES = 16,
    TAIL = MOST_BYTES / WORD /* element of VALUE: the bytes behind the last word */
};
enum { SOURCE, DESTINATION /* elements of ADDRESS */ };

static bool is_bulk(const InstrumentSite *site) {
    return ptx_asynchronous(site->instruction) != PTX_ASYNC_COPY;
}

static int bytes_of(const InstrumentSite *site) {
    return (int)site->instruction->operands[2].integer;
}

/* cp.async reads less where it has a fourth operand that is no cache policy. */
static const PtxOperand *option_of(const PtxInstruction *in) {
    int count = in->operand_count - (ptx_instruction_has(in, PTX_MOD_L2_CACHE_HINT) ? 1 : 0);
    return count > 3 ? &in->operands[3] : NULL;
}

static bool is_small(PtxSpace space) {
    return space == PTX_SPACE_SHARED || space == PTX_SPACE_SHARED_CLUSTER;
}

/* ---- planning --------------------------------------------------------------------------------------- */

static void add_field(InstrumentSite *site, InstrumentFieldKind kind, int element, bool wide) {
    site->fields[site->field_count++] = (InstrumentField){(uint8_t)kind, (uint8_t)element, wide};
    *(wide ? &site->wide_count : &site->narrow_count) += 1;
}

static bool plan_bulk(const PtxInstruction *in, InstrumentSite *site) {
    bool from_shared = site->kind == TRACE_SHARED_BULK_READ;
    add_field(site, INSTRUMENT_ADDRESS, SOURCE, !from_shared);
    add_field(site, INSTRUMENT_ADDRESS, DESTINATION, !is_small(in->space));
    add_field(site, INSTRUMENT_OPERAND, 0, false);
    site->element_bytes = WORD;
    site->element_count = 1;
    return true;
}

bool copies_plan(const PtxInstruction *in, InstrumentSite *site) {
    if (in->operand_count < 3 || in->operands[0].kind != PTX_OPERAND_MEMORY ||
        in->operands[1].kind != PTX_OPERAND_MEMORY)
        return false;
    if (is_bulk(site)) return plan_bulk(in, site);
    if (in->operands[2].kind != PTX_OPERAND_INTEGER) return false;
    int bytes = bytes_of(site);
    if (bytes != 4 && bytes != 8 && bytes != MOST_BYTES) return false;
    site->element_bytes = WORD;
    site->element_count = (uint8_t)(bytes / WORD);
    add_field(site, INSTRUMENT_ADDRESS, SOURCE, true);
    add_field(site, INSTRUMENT_ADDRESS, DESTINATION, false);
    for (int w = 0; w < bytes / WORD; w++) add_field(site, INSTRUMENT_VALUE, w, false);
    if (!option_of(in)) return true;
    add_field(site, INSTRUMENT_OPERAND, 0, false);
    add_field(site, INSTRUMENT_VALUE, TAIL, false);
    if (bytes == MOST_BYTES)
        add_field(site, INSTRUMENT_VALUE, TAIL + 1, false); /* probes have 5 or 8 such columns */
    return true;
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* Which 4-byte register the field has. */
static int register_of(const InstrumentSite *site, InstrumentFieldKind kind, int element) {
    int number = 0, field = field_of(site, kind, element);
    for (int i = 0; i < field; i++) number += !site->fields[i].wide;
    return number;
}

static void put_size(const InstrumentSite *site, Text *out) {
    const PtxOperand *option = option_of(site->instruction);
    int size = register_of(site, INSTRUMENT_OPERAND, 0), bytes = bytes_of(site);
    if (option->kind == PTX_OPERAND_INTEGER)
        text_print(out, "\tmov.u32 %%redviz_n%d, %lld;\n", size, (long long)option->integer);
    else if (ptx_type_bytes(option->reg->type))
        text_print(out, "\tmov.b32 %%redviz_n%d, %s;\n", size, option->reg->name);
    else
        text_print(out, "\tselp.u32 %%redviz_n%d, %d, %d, %s;\n", size, option->negated ? bytes : 0,
                   option->negated ? 0 : bytes, option->reg->name);
}

/* %redviz_g: the guard, and `least` bytes at least are read. */
static void put_condition(const InstrumentSite *site, const char *guard, const char *size, int least,
                          Text *out) {
    if (!option_of(site->instruction)) {
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

/* The bytes behind the last whole word, the first in the lowest bits. */
static void put_tail(const InstrumentSite *site, const char *guard, const char *size, Text *out) {
    int tail = register_of(site, INSTRUMENT_VALUE, TAIL);
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
    if (is_bulk(site)) return;
    char size[24] = "";
    bool has_option = option_of(site->instruction) != NULL;
    if (has_option) {
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
    if (!has_option) return;
    put_tail(site, guard, size, out);
    if (bytes_of(site) == MOST_BYTES)
        text_print(out, "\tmov.u32 %%redviz_n%d, 0;\n", register_of(site, INSTRUMENT_VALUE, TAIL + 1));
}

/* ---- parts ------------------------------------------------------------------------------------------ */

int copies_part_count(const InstrumentSite *site) {
    if (trace_written_kind_of(site->instruction) == TRACE_NOT_RECORDED) return 0;
    bool may_be_less = !is_bulk(site) && option_of(site->instruction);
    return may_be_less ? 1 + bytes_of(site) / WORD + (WORD - 1) + 1 : 2;
}

static bool is_destination(const InstrumentSite *site, int part) {
    return part == copies_part_count(site) - 1;
}

TraceKind copies_part_kind(const InstrumentSite *site, int part) {
    return is_destination(site, part) ? trace_written_kind_of(site->instruction) : site->kind;
}

PtxSpace copies_part_space(const InstrumentSite *site, int part) {
    return trace_kind_is_shared(copies_part_kind(site, part)) ? PTX_SPACE_SHARED : PTX_SPACE_GLOBAL;
}

static const InstrumentSite *site_of(const PartialEvents *partial_events, const PartialEvent *partial) {
    return partial_events->records->records[partial->record].site;
}

/* How many bytes the lane reads. */
static uint32_t size_of(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    if (field_of(site, INSTRUMENT_OPERAND, 0) < 0) return (uint32_t)bytes_of(site);
    return (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
}

/* The word or the byte behind the words that a part of a lane that reads less is; -1: another part. */
static int word_of(const InstrumentSite *site, int part) {
    return part >= 1 && part <= bytes_of(site) / WORD && !is_destination(site, part) ? part - 1 : -1;
}
static int byte_of(const InstrumentSite *site, int part) {
    return part > bytes_of(site) / WORD && !is_destination(site, part) ? part - 1 - bytes_of(site) / WORD
                                                                       : -1;
}

static bool has_part(const InstrumentSite *site, int part, uint32_t size) {
    bool all = size == (uint32_t)bytes_of(site);
    if (is_destination(site, part)) return true;
    if (part == 0) return all;
    if (word_of(site, part) >= 0) return !all && size >= (uint32_t)(word_of(site, part) + 1) * WORD;
    return !all && size % WORD > (uint32_t)byte_of(site, part);
}

uint32_t copies_part_lanes(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint32_t lanes = 0;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        uint32_t size = size_of(partial_events, partial, __builtin_ctz(rest));
        if (is_bulk(site) ? size != 0 : has_part(site, partial->matrix, size)) lanes |= rest & (0 - rest);
    }
    return lanes;
}

uint64_t copies_part_address(const PartialEvents *partial_events, const PartialEvent *partial, int lane) {
    const InstrumentSite *site = site_of(partial_events, partial);
    int part = partial->matrix, element = is_destination(site, part) ? DESTINATION : SOURCE;
    uint64_t address = partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, element, lane);
    if (is_bulk(site) || is_destination(site, part) || part == 0) return address;
    if (word_of(site, part) >= 0) return address + (uint64_t)(word_of(site, part) * WORD);
    return address + size_of(partial_events, partial, lane) / WORD * WORD + (uint64_t)byte_of(site, part);
}

/* ---- events ----------------------------------------------------------------------------------------- */

/* Bytes of an element, where all lanes of the execution read all: as the buffer has them. */
static int element_bytes(const PartialEvents *partial_events, const PartialEvent *partial) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint32_t all = partial_events->records->records[partial->record].all;
    for (uint32_t rest = all; rest; rest &= rest - 1)
        if (size_of(partial_events, partial, __builtin_ctz(rest)) != (uint32_t)bytes_of(site)) return WORD;
    uint64_t address =
        partial_event_value(partial_events, partial, INSTRUMENT_ADDRESS, SOURCE, __builtin_ctz(all));
    int bytes = locator_element_bytes(partial_events->locator, address);
    return bytes == 2 || (bytes == 8 && bytes_of(site) >= 8) ? bytes : WORD;
}

/* What the lane reads, and zeros behind it. */
static void bytes_of_lane(const PartialEvents *partial_events, const PartialEvent *partial, int lane,
                          uint8_t bytes[MOST_BYTES]) {
    const InstrumentSite *site = site_of(partial_events, partial);
    uint32_t size = size_of(partial_events, partial, lane);
    memset(bytes, 0, MOST_BYTES);
    for (int w = 0; w < bytes_of(site) / WORD; w++) {
        uint32_t word = (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_VALUE, w, lane);
        if (size >= (uint32_t)(w + 1) * WORD) memcpy(bytes + w * WORD, &word, WORD);
    }
    if (size == (uint32_t)bytes_of(site) || !(size % WORD)) return;
    uint32_t tail = (uint32_t)partial_event_value(partial_events, partial, INSTRUMENT_VALUE, TAIL, lane);
    memcpy(bytes + size / WORD * WORD, &tail, size % WORD);
}

static void fill_bulk(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    event->element_bytes = WORD;
    event->element_count = 1;
    event->width = MOST_BYTES;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        event->operand[lane] = partial_event_value(partial_events, partial, INSTRUMENT_OPERAND, 0, lane);
    }
}

void copies_fill(const PartialEvents *partial_events, const PartialEvent *partial, TraceEvent *event) {
    const InstrumentSite *site = site_of(partial_events, partial);
    int part = partial->matrix;
    bool written = is_destination(site, part);
    event->is_load = !written;
    event->has_result = !is_bulk(site);
    if (is_bulk(site)) {
        fill_bulk(partial_events, partial, event);
        return;
    }
    bool whole = written || part == 0;
    event->width = whole ? bytes_of(site) : word_of(site, part) >= 0 ? WORD : 1;
    event->element_bytes = whole ? element_bytes(partial_events, partial) : event->width;
    event->element_count = event->width / event->element_bytes;
    for (uint32_t rest = partial->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint8_t bytes[MOST_BYTES];
        bytes_of_lane(partial_events, partial, lane, bytes);
        int at = whole ? 0
                 : word_of(site, part) >= 0
                     ? word_of(site, part) * WORD
                     : (int)(size_of(partial_events, partial, lane) / WORD * WORD) + byte_of(site, part);
        for (int e = 0; e < event->element_count; e++)
            memcpy(&event->value[e][lane], bytes + at + e * event->element_bytes,
                   (size_t)event->element_bytes);
    }
}
