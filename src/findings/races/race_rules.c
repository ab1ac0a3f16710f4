/* The effect of each instruction on memory, and the words by which threads synchronize (race_detector.h). */
#include "findings/races/race_detector.h"

#include <stdlib.h>

static bool has(const PtxInstruction *in, PtxModifierKind kind) {
    return ptx_instruction_has(in, kind);
}

static Strength strength_of(const PtxInstruction *in, bool is_atomic) {
    if (is_atomic || has(in, PTX_MOD_RELAXED) || has(in, PTX_MOD_ACQUIRE) || has(in, PTX_MOD_RELEASE) ||
        has(in, PTX_MOD_MMIO))
        return ACCESS_STRONG;
    return has(in, PTX_MOD_VOLATILE) ? ACCESS_VOLATILE : ACCESS_WEAK;
}

/* Bytes of one access; a bulk copy is observed in pieces of 16. */
static int width_of(const PtxInstruction *in) {
    switch (ptx_asynchronous(in)) {
    case PTX_ASYNC_COPY:
        return in->operand_count > 2 ? (int)in->operands[2].integer : 0;
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return 16;
    default:
        return (in->type_count ? ptx_type_bytes(in->types[0]) : 0) * (in->vector > 1 ? in->vector : 1);
    }
}

/* All its operations are strong: a wait that finds its phase complete acquires, an arrival releases
 * ("mbarrier"). */
static PcRule mbarrier_rule(const PtxInstruction *in) {
    PcRule rule = {.is_access = true, .writes = true, .width = 8, .element_bytes = 8};
    rule.scope = has(in, PTX_MOD_CLUSTER) ? SCOPE_DEVICE : SCOPE_BLOCK; /* the default is .cta */
    if (has(in, PTX_MOD_INIT) || has(in, PTX_MOD_INVAL)) return rule;
    rule.reads = rule.is_atomic = rule.is_mbarrier = true;
    rule.strength = ACCESS_STRONG;
    bool waits = has(in, PTX_MOD_TEST_WAIT) || has(in, PTX_MOD_TRY_WAIT);
    bool arrives = in->opcode == PTX_mbarrier && (has(in, PTX_MOD_ARRIVE) || has(in, PTX_MOD_ARRIVE_DROP));
    rule.acquires = waits && !has(in, PTX_MOD_RELAXED);
    rule.releases = arrives && !has(in, PTX_MOD_RELAXED);
    if (waits) rule.writes = false;
    return rule;
}

static PcRule rule_of(const PtxInstruction *in) {
    TraceKind kind = trace_kind_of(in);
    if (kind == TRACE_MBARRIER) return mbarrier_rule(in);
    PcRule rule = {.scope = has(in, PTX_MOD_CTA) ? SCOPE_BLOCK : SCOPE_DEVICE};
    bool load = kind == TRACE_SHARED_LOAD || kind == TRACE_GLOBAL_LOAD || kind == TRACE_SHARED_BULK_READ ||
                kind == TRACE_GLOBAL_BULK_READ;
    bool store = kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE;
    rule.is_atomic = kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC;
    rule.is_relaxed_arrival = in->opcode == PTX_barrier && has(in, PTX_MOD_RELAXED);
    if (!load && !store && !rule.is_atomic) return rule;
    rule.is_access = true;
    rule.reads = !store;
    rule.writes = !load;
    rule.strength = strength_of(in, rule.is_atomic);
    bool both = has(in, PTX_MOD_ACQ_REL) || has(in, PTX_MOD_SC);
    rule.acquires = both || has(in, PTX_MOD_ACQUIRE);
    rule.releases = both || has(in, PTX_MOD_RELEASE);
    int bytes = in->type_count ? ptx_type_bytes(in->types[0]) : 4; /* a copy is observed in words */
    rule.width = (uint8_t)width_of(in);
    rule.element_bytes = (uint8_t)(bytes > 8 ? 8 : bytes);
    return rule;
}

PcRule *race_detector_written_rules(const PtxProgram *program) {
    PcRule *rules = memory_new((size_t)program->code_count * sizeof *rules);
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        if (trace_written_kind_of(in) == TRACE_NOT_RECORDED) continue;
        PcRule *rule = &rules[pc];
        *rule = rule_of(in);
        /* Each of its operations is relaxed.gpu. */
        rule->is_atomic = ptx_asynchronous(in) == PTX_ASYNC_BULK_REDUCE;
        rule->reads = rule->is_atomic;
        rule->writes = true;
        rule->strength = rule->is_atomic ? ACCESS_STRONG : ACCESS_WEAK;
    }
    return rules;
}

PcRule *race_detector_rules(const PtxProgram *program) {
    PcRule *rules = memory_new((size_t)program->code_count * sizeof *rules);
    for (int pc = 0; pc < program->code_count; pc++) rules[pc] = rule_of(program->code[pc].instruction);
    return rules;
}

/* ---- polling ---------------------------------------------------------------------------------------- */

enum { MOST_TRACKED = 32, MOST_STEPS = 128 };

typedef struct Tracked { /* registers that depend on a load */
    const PtxRegister *registers[MOST_TRACKED];
    int count;
} Tracked;

static bool mentions(const Tracked *tracked, const PtxOperand *operand) {
    for (int i = 0; i < tracked->count; i++)
        if (operand->reg && operand->reg == tracked->registers[i]) return true;
    for (int i = 0; i < operand->item_count; i++)
        if (mentions(tracked, &operand->items[i])) return true;
    return false;
}

static void track(Tracked *tracked, const PtxOperand *operand) {
    if (operand->reg && tracked->count < MOST_TRACKED) tracked->registers[tracked->count++] = operand->reg;
    for (int i = 0; i < operand->item_count; i++) track(tracked, &operand->items[i]);
}

/* A branch after the load depends on the loaded value and goes back to the load, or past another branch that
 * does. */
bool race_detector_is_polled(const PtxProgram *program, int pc) {
    Tracked tracked = {0};
    bool may_leave = false;
    if (program->code[pc].instruction->operand_count)
        track(&tracked, &program->code[pc].instruction->operands[0]);
    for (int at = pc + 1; at < program->code_count && at < pc + MOST_STEPS; at++) {
        const PtxCode *code = &program->code[at];
        const PtxInstruction *in = code->instruction;
        if (code->function != program->code[pc].function) return false;
        bool depends = mentions(&tracked, &in->guard);
        if (in->opcode == PTX_bra) {
            if (code->target != PTX_NO_PC && code->target <= pc && (depends || may_leave)) return true;
            may_leave |= depends;
            continue;
        }
        for (int i = 1; i < in->operand_count; i++) depends |= mentions(&tracked, &in->operands[i]);
        if (depends && in->operand_count && in->opcode != PTX_st) track(&tracked, &in->operands[0]);
    }
    return false;
}

/* ---- synchronizing words: an open hash table that never shrinks ------------------------------------- */

typedef struct SyncEntry {
    uint64_t offset;
    int buffer;
    bool used;
    SyncWord word;
} SyncEntry;

static SyncEntry *entry_of(const SyncTable *table, int buffer, uint64_t offset) {
    uint64_t hash = (offset ^ (uint64_t)(buffer + 1) << 40) * 0x9e3779b97f4a7c15u;
    for (int i = (int)(hash >> 40) & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        SyncEntry *entry = &table->entries[i];
        if (!entry->used || (entry->offset == offset && entry->buffer == buffer)) return entry;
    }
}

static void grow(SyncTable *table) {
    SyncTable bigger = {.count = table->count, .capacity = table->capacity ? table->capacity * 2 : 16};
    bigger.entries = memory_new((size_t)bigger.capacity * sizeof *bigger.entries);
    for (int i = 0; i < table->capacity; i++)
        if (table->entries[i].used)
            *entry_of(&bigger, table->entries[i].buffer, table->entries[i].offset) = table->entries[i];
    free(table->entries);
    *table = bigger;
}

SyncWord *sync_table_find(SyncTable *table, int buffer, uint64_t offset, bool make) {
    if (table->count * 2 >= table->capacity) {
        if (!make && !table->count) return NULL;
        grow(table);
    }
    SyncEntry *entry = entry_of(table, buffer, offset);
    if (!entry->used) {
        if (!make) return NULL;
        *entry = (SyncEntry){.offset = offset, .buffer = buffer, .used = true};
        table->count++;
    }
    return &entry->word;
}

void sync_table_done(SyncTable *table) {
    for (int i = 0; i < table->capacity; i++)
        if (table->entries[i].used) sync_word_done(&table->entries[i].word);
    free(table->entries);
    *table = (SyncTable){0};
}
