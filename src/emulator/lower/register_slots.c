/* Slot sharing for registers that are never live at the same time. PTX uses a new register for nearly every
 * value; a register file with all of them would not fit the cache and would be slow to clear.
 *
 * Liveness is computed per thread. Lanes of a warp may be at different pcs, but each uses its own part of a
 * slot, because registers that share a slot have the same layout: predicates (one bit per lane) share with
 * predicates. */
#include "emulator/lower/lowered.h"
#include "ptx/opcodes.h"

#include <stdlib.h>

enum { MOST_BITS = 1 << 26 }; /* of liveness; registers of a larger function share no slots */

typedef struct Interval { /* pcs at which a register is live; first > last: nowhere */
    int first, last, reg;
} Interval;

typedef struct Section { /* a basic block */
    int begin, end;
    /* one bit per register; read: before it is written; written: in all lanes */
    uint64_t *live_in, *live_out, *read, *written;
} Section;

typedef struct Allocation {
    const PtxProgram *program;
    LoweredProgram *lowered;
    FunctionLayout *layout;
    const Mention *mentions;
    int *first_mention; /* [pc - begin] index; one extra at the end */
    int register_count, words;
    Section *sections;
    int section_count;
    int *section_of; /* [pc - begin] */
    uint64_t *bits;
    Interval *intervals;
} Allocation;

static bool has(const uint64_t *set, int reg) {
    return set[reg / 64] >> (reg % 64) & 1;
}
static void add(uint64_t *set, int reg) {
    set[reg / 64] |= UINT64_C(1) << (reg % 64);
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

int register_type_bytes(PtxType type) {
    int bytes = ptx_type_bytes(type);
    return bytes == 1 ? 2 : bytes;
}

int register_lane_bytes(const PtxRegister *reg) {
    return register_type_bytes(reg->type);
}

uint32_t register_slot_bytes(const PtxRegister *reg) {
    int bytes = register_type_bytes(reg->type);
    return (uint32_t)(bytes ? bytes * WARP_LANES : REGISTER_SLOT_ALIGNMENT) *
           (uint32_t)(reg->vector > 1 ? reg->vector : 1);
}

/* ---- liveness --------------------------------------------------------------------------------------- */

/* True if a write ends the old value: it writes all lanes and components. */
static bool ends_value(const Allocation *a, int pc, const Mention *mention) {
    const PtxRegister *reg = a->layout->function->registers[mention->reg];
    return mention->defines && reg->vector <= 1 && !a->lowered->ops[pc].guarded;
}

static void make_sections(Allocation *a) {
    int begin = a->layout->begin, count = a->layout->end - begin;
    a->section_of = memory_new(((size_t)count + 1) * sizeof *a->section_of);
    for (int i = 0; i < count; i++) a->section_count += i == 0 || a->program->code[begin + i].block_begin;
    a->sections = memory_new(((size_t)a->section_count + 1) * sizeof *a->sections);
    size_t words = (size_t)a->words;
    a->bits = memory_new(((size_t)a->section_count * 4 * words + 1) * sizeof *a->bits);
    int section = -1;
    for (int i = 0; i < count; i++) {
        if (i == 0 || a->program->code[begin + i].block_begin) {
            uint64_t *bits = a->bits + (size_t)++section * 4 * words;
            a->sections[section] =
                (Section){begin + i, begin + i, bits, bits + words, bits + 2 * words, bits + 3 * words};
        }
        a->sections[section].end = begin + i + 1;
        a->section_of[i] = section;
    }
}

static void read_section(const Allocation *a, Section *section) {
    for (int pc = section->begin; pc < section->end; pc++) {
        int from = a->first_mention[pc - a->layout->begin], to = a->first_mention[pc - a->layout->begin + 1];
        for (int i = from; i < to; i++)
            if (!a->mentions[i].defines && !has(section->written, a->mentions[i].reg))
                add(section->read, a->mentions[i].reg);
        for (int i = from; i < to; i++)
            if (ends_value(a, pc, &a->mentions[i])) add(section->written, a->mentions[i].reg);
    }
}

static bool flow_from(const Allocation *a, Section *section, int pc) {
    if (pc < a->layout->begin || pc >= a->layout->end) return false;
    const Section *next = &a->sections[a->section_of[pc - a->layout->begin]];
    bool changed = false;
    for (int w = 0; w < a->words; w++) {
        uint64_t more = next->live_in[w] & ~section->live_out[w];
        section->live_out[w] |= more;
        changed |= more != 0;
    }
    return changed;
}

static bool flow(const Allocation *a, Section *section) {
    const PtxCode *last = &a->program->code[section->end - 1];
    PtxOpcode opcode = last->instruction->opcode;
    bool guarded = a->lowered->ops[section->end - 1].guarded, changed = false;
    bool leaves = opcode == PTX_ret || opcode == PTX_exit || opcode == PTX_trap;
    bool branches = opcode == PTX_bra || opcode == PTX_brx;
    if (guarded || (!leaves && !branches)) changed |= flow_from(a, section, section->end);
    if (opcode == PTX_bra) changed |= flow_from(a, section, last->target);
    for (int i = 0; opcode == PTX_brx && i < last->target_count; i++)
        changed |= flow_from(a, section, last->targets[i]);
    for (int w = 0; w < a->words; w++) {
        uint64_t in = section->read[w] | (section->live_out[w] & ~section->written[w]);
        changed |= in != section->live_in[w];
        section->live_in[w] = in;
    }
    return changed;
}

/* ---- intervals -------------------------------------------------------------------------------------- */

static void extend(Interval *interval, int pc) {
    if (interval->first > interval->last) interval->first = interval->last = pc;
    if (pc < interval->first) interval->first = pc;
    if (pc > interval->last) interval->last = pc;
}

static void make_intervals(Allocation *a) {
    a->intervals = memory_new(((size_t)a->register_count + 1) * sizeof *a->intervals);
    for (int r = 0; r < a->register_count; r++) a->intervals[r] = (Interval){1, 0, r};
    for (int s = 0; s < a->section_count; s++) {
        const Section *section = &a->sections[s];
        for (int r = 0; r < a->register_count; r++) {
            if (has(section->live_in, r)) extend(&a->intervals[r], section->begin);
            if (has(section->live_out, r)) extend(&a->intervals[r], section->end);
        }
    }
    for (int pc = a->layout->begin; pc < a->layout->end; pc++) {
        int i = a->first_mention[pc - a->layout->begin], end = a->first_mention[pc - a->layout->begin + 1];
        for (; i < end; i++) extend(&a->intervals[a->mentions[i].reg], pc);
    }
}

static int by_first(const void *one, const void *two) {
    const Interval *a = one, *b = two;
    return a->first != b->first ? (a->first > b->first) - (a->first < b->first)
                                : (a->reg > b->reg) - (a->reg < b->reg);
}

/* ---- slots ------------------------------------------------------------------------------------------ */

typedef struct SharedSlot {
    uint32_t offset, bytes;
    int lane_bytes; /* 0: one bit per lane */
    int free_after; /* pc */
} SharedSlot;

static void place_registers(Allocation *a) {
    FunctionLayout *layout = a->layout;
    SharedSlot *slots = NULL;
    int count = 0, capacity = 0;
    layout->register_bytes = 0;
    qsort(a->intervals, (size_t)a->register_count, sizeof *a->intervals, by_first);
    for (int i = 0; i < a->register_count; i++) {
        const Interval *interval = &a->intervals[i];
        if (interval->first > interval->last) continue; /* never mentioned */
        const PtxRegister *reg = layout->function->registers[interval->reg];
        uint32_t bytes = register_slot_bytes(reg);
        int s = 0, lane_bytes = register_lane_bytes(reg);
        while (s < count && (slots[s].bytes != bytes || slots[s].lane_bytes != lane_bytes ||
                             slots[s].free_after >= interval->first))
            s++;
        if (s == count) {
            SharedSlot slot = {layout->register_bytes, bytes, lane_bytes, -1};
            array_push(slots, count, capacity, slot);
            layout->register_bytes += bytes;
        }
        slots[s].free_after = interval->last;
        layout->register_offset[interval->reg] = slots[s].offset;
    }
    free(slots);
}

/* Registers that may be read before they are written start as 0. */
static void list_cleared(const Allocation *a) {
    for (int r = 0; r < a->register_count && a->section_count; r++) {
        if (!has(a->sections[0].live_in, r)) continue;
        const PtxRegister *reg = a->layout->function->registers[r];
        ClearedSlot slot = {a->layout->register_offset[r], register_slot_bytes(reg),
                            register_lane_bytes(reg)};
        array_push(a->layout->cleared, a->layout->cleared_count, a->layout->cleared_capacity, slot);
    }
}

bool register_slots_allocate(LoweredProgram *lowered, int function, const Mention *mentions,
                             int mention_count) {
    FunctionLayout *layout = &lowered->functions[function];
    Allocation a = {.program = lowered->program, .lowered = lowered, .layout = layout, .mentions = mentions};
    a.register_count = layout->function->register_count;
    a.words = (a.register_count + 63) / 64;
    int count = layout->end - layout->begin;
    if (layout->has_pinned || (uint64_t)count * (uint64_t)a.register_count > MOST_BITS) return false;
    a.first_mention = memory_new(((size_t)count + 2) * sizeof *a.first_mention);
    for (int pc = 0, i = 0; pc <= count; pc++) {
        a.first_mention[pc] = i;
        while (i < mention_count && mentions[i].pc == layout->begin + pc) i++;
    }
    make_sections(&a);
    for (int s = 0; s < a.section_count; s++) read_section(&a, &a.sections[s]);
    for (bool again = true; again;) {
        again = false;
        for (int s = a.section_count - 1; s >= 0; s--) again |= flow(&a, &a.sections[s]);
    }
    make_intervals(&a);
    place_registers(&a);
    list_cleared(&a);
    free(a.first_mention);
    free(a.section_of);
    free(a.sections);
    free(a.bits);
    free(a.intervals);
    return true;
}
