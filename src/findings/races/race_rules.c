/* The effect of each instruction on memory, and the words by which threads synchronize (race_detector.h). */
#include "findings/races/race_detector.h"
#include "ptx/opcodes.h"

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

/* Bytes of one access; a bulk copy is observed in pieces, and what wgmma reads in pieces of 16. */
static int width_of(const PtxInstruction *in) {
    if (in->opcode == PTX_wgmma) return 16;
    switch (ptx_asynchronous(in)) {
    case PTX_ASYNC_COPY:
        return in->operand_count > 2 ? (int)in->operands[2].integer : 0;
    case PTX_ASYNC_BULK_COPY:
    case PTX_ASYNC_BULK_REDUCE:
        return trace_bulk_piece(in);
    default:
        return (in->type_count ? ptx_type_bytes(in->types[0]) : 0) * (in->vector > 1 ? in->vector : 1);
    }
}

/* All its operations are strong: a wait that finds its phase complete acquires, an arrival releases
 * ("mbarrier"). */
static PcRule mbarrier_rule(const PtxInstruction *in) {
    PcRule rule = {.is_access = true, .writes = true, .width = 8, .element_bytes = 8};
    rule.scope = has(in, PTX_MOD_CLUSTER) ? SCOPE_DEVICE : SCOPE_BLOCK; /* the default is .cta */
    rule.is_end = has(in, PTX_MOD_INVAL);
    if (has(in, PTX_MOD_INIT) || rule.is_end) return rule;
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
    load |= in->opcode == PTX_suld; /* the bytes that tex reads follow from the texture, not from PTX */
    bool store = kind == TRACE_SHARED_STORE || kind == TRACE_GLOBAL_STORE || in->opcode == PTX_sust;
    rule.is_atomic = kind == TRACE_SHARED_ATOMIC || kind == TRACE_GLOBAL_ATOMIC;
    bool is_product = in->opcode == PTX_wgmma && kind == TRACE_MATRIX; /* it reads shared memory */
    load |= is_product;
    rule.is_relaxed_arrival = in->opcode == PTX_barrier && has(in, PTX_MOD_RELAXED);
    if (!load && !store && !rule.is_atomic) return rule;
    rule.is_access = true;
    rule.reads = !store;
    rule.writes = !load;
    rule.strength = strength_of(in, rule.is_atomic);
    bool both = has(in, PTX_MOD_ACQ_REL) || has(in, PTX_MOD_SC);
    rule.acquires = both || has(in, PTX_MOD_ACQUIRE);
    rule.releases = both || has(in, PTX_MOD_RELEASE);
    rule.is_read_only = load && has(in, PTX_MOD_NC);
    rule.is_async_proxy = is_product || ptx_asynchronous(in) == PTX_ASYNC_BULK_COPY ||
                          ptx_asynchronous(in) == PTX_ASYNC_BULK_REDUCE;
    rule.is_cached = (kind == TRACE_GLOBAL_LOAD) && rule.strength == ACCESS_WEAK && !has(in, PTX_MOD_CG) &&
                     !has(in, PTX_MOD_CV);
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
        rule->is_in_shared = trace_kind_is_shared(trace_written_kind_of(in));
        /* Each of its operations is relaxed.gpu. */
        rule->is_atomic = ptx_asynchronous(in) == PTX_ASYNC_BULK_REDUCE;
        rule->reads = rule->is_atomic;
        rule->writes = true;
        rule->is_async_proxy = true;
        rule->strength = rule->is_atomic ? ACCESS_STRONG : ACCESS_WEAK;
    }
    return rules;
}

/* ---- sets of registers --------------------------------------------------------------------------------- */

enum { MOST_REGISTERS = 256, MOST_STEPS = 128 };

typedef struct RegisterSet {
    const PtxRegister *registers[MOST_REGISTERS];
    int count;
} RegisterSet;

static bool is_in_set(const RegisterSet *set, const PtxOperand *operand) {
    for (int i = 0; operand->reg && i < set->count; i++)
        if (set->registers[i] == operand->reg) return true;
    for (int i = 0; i < operand->item_count; i++)
        if (is_in_set(set, &operand->items[i])) return true;
    return false;
}

/* The registers of the operand; false: they are all in the set, or it is full. */
static bool add_to_set(RegisterSet *set, const PtxOperand *operand) {
    bool grows = false;
    if (operand->reg && set->count < MOST_REGISTERS) {
        grows = true;
        for (int i = 0; i < set->count && grows; i++) grows = set->registers[i] != operand->reg;
        if (grows) set->registers[set->count++] = operand->reg;
    }
    for (int i = 0; i < operand->item_count; i++) grows |= add_to_set(set, &operand->items[i]);
    return grows;
}

/* ---- guesses of a compare-and-swap ------------------------------------------------------------------ */

typedef struct GuessUse {
    const PtxInstruction *load;
    RegisterSet copies;    /* the loaded value */
    RegisterSet computed;  /* it, and what is computed from it */
    RegisterSet found;     /* what the compare-and-swaps return */
    RegisterSet confirmed; /* predicates: a compare-and-swap found the guess, or did not */
    bool is_swapped, is_tried_again;
} GuessUse;

static bool is_same_address(const PtxOperand *a, const PtxOperand *b) {
    return a->reg == b->reg && a->variable == b->variable && a->integer == b->integer;
}

static bool is_swap_of(const GuessUse *use, const PtxInstruction *in) {
    return in->opcode == PTX_atom && has(in, PTX_MOD_CAS) && in->operand_count > 3 && in->type_count &&
           ptx_type_bytes(in->types[0]) == ptx_type_bytes(use->load->types[0]) &&
           is_same_address(&in->operands[1], &use->load->operands[1]);
}

static bool uses(const RegisterSet *set, const PtxInstruction *in) {
    bool does = false;
    for (int i = 1; i < in->operand_count; i++) does |= is_in_set(set, &in->operands[i]);
    return does;
}

static bool is_confirming(const GuessUse *use, const PtxInstruction *in) {
    return in->opcode == PTX_setp && (has(in, PTX_MOD_EQ) || has(in, PTX_MOD_NE)) && uses(&use->copies, in) &&
           uses(&use->found, in);
}

/* Adds what the instruction makes of the guess. False: it does more with it than to compute. */
static bool follow_guess(GuessUse *use, const PtxInstruction *in, bool *grows) {
    if (is_swap_of(use, in)) {
        bool is_compared = is_in_set(&use->copies, &in->operands[2]);
        use->is_swapped |= is_compared;
        if (is_compared) *grows |= add_to_set(&use->found, &in->operands[0]);
        return is_compared || !uses(&use->computed, in);
    }
    if (!uses(&use->computed, in) || in == use->load) return true;
    if (is_confirming(use, in)) {
        *grows |= add_to_set(&use->confirmed, &in->operands[0]);
        return true;
    }
    if (trace_kind_of(in) != TRACE_NOT_RECORDED || in->opcode == PTX_call) return false;
    if (in->opcode == PTX_mov && uses(&use->copies, in)) *grows |= add_to_set(&use->copies, &in->operands[0]);
    *grows |= add_to_set(&use->computed, &in->operands[0]);
    return true;
}

/* Whether a plain load only guesses what a compare-and-swap of its word then checks, in a loop that ends when
 * it was right: whatever it finds, the update is whole. */
static bool is_guess(const PtxProgram *program, int pc) {
    const PtxInstruction *load = program->code[pc].instruction;
    GuessUse use = {.load = load};
    if (load->opcode != PTX_ld || load->operand_count < 2 || !load->type_count) return false;
    add_to_set(&use.copies, &load->operands[0]);
    add_to_set(&use.computed, &load->operands[0]);
    for (bool grows = true; grows;) {
        grows = false;
        for (int at = 0; at < program->code_count; at++)
            if (program->code[at].function == program->code[pc].function &&
                !follow_guess(&use, program->code[at].instruction, &grows))
                return false;
    }
    if (!use.is_swapped || use.computed.count == MOST_REGISTERS) return false;
    for (int at = 0; at < program->code_count; at++) {
        const PtxInstruction *in = program->code[at].instruction;
        bool is_known = is_in_set(&use.confirmed, &in->guard);
        if (program->code[at].function != program->code[pc].function) continue;
        if (is_in_set(&use.computed, &in->guard) && !is_known) return false;
        use.is_tried_again |= in->opcode == PTX_bra && is_known && program->code[at].target != PTX_NO_PC &&
                              program->code[at].target <= at;
    }
    return use.is_tried_again;
}

PcRule *race_detector_rules(const PtxProgram *program) {
    PcRule *rules = memory_new((size_t)program->code_count * sizeof *rules);
    bool swaps = false;
    for (int pc = 0; pc < program->code_count; pc++) {
        const PtxInstruction *in = program->code[pc].instruction;
        rules[pc] = rule_of(in);
        swaps |= in->opcode == PTX_atom && has(in, PTX_MOD_CAS);
    }
    for (int pc = 0; swaps && pc < program->code_count; pc++)
        rules[pc].is_guess = rules[pc].is_access && !rules[pc].writes && is_guess(program, pc);
    return rules;
}

/* ---- polling ---------------------------------------------------------------------------------------- */

/* A branch after the load depends on the loaded value and goes back to the load, or past another branch that
 * does. */
bool race_detector_is_polled(const PtxProgram *program, int pc) {
    RegisterSet tracked = {0};
    bool may_leave = false;
    if (program->code[pc].instruction->operand_count)
        add_to_set(&tracked, &program->code[pc].instruction->operands[0]);
    for (int at = pc + 1; at < program->code_count && at < pc + MOST_STEPS; at++) {
        const PtxCode *code = &program->code[at];
        const PtxInstruction *in = code->instruction;
        if (code->function != program->code[pc].function) return false;
        bool depends = is_in_set(&tracked, &in->guard);
        if (in->opcode == PTX_bra) {
            if (code->target != PTX_NO_PC && code->target <= pc && (depends || may_leave)) return true;
            may_leave |= depends;
            continue;
        }
        for (int i = 1; i < in->operand_count; i++) depends |= is_in_set(&tracked, &in->operands[i]);
        if (depends && in->operand_count && in->opcode != PTX_st) add_to_set(&tracked, &in->operands[0]);
    }
    return false;
}

/* ---- values that come through shuffles --------------------------------------------------------------- */

/* Adds what the slice is computed from, without memory. */
static void complete_slice(const PtxProgram *program, int pc, RegisterSet *slice) {
    for (bool grows = true; grows;) {
        grows = false;
        for (int at = 0; at < program->code_count; at++) {
            const PtxInstruction *in = program->code[at].instruction;
            if (program->code[at].function != program->code[pc].function || in->operand_count < 2 ||
                in->opcode == PTX_ld || in->opcode == PTX_st || !is_in_set(slice, &in->operands[0]))
                continue;
            for (int i = 1; i < in->operand_count; i++) grows |= add_to_set(slice, &in->operands[i]);
        }
    }
}

/* The lanes, relative to that of the result, whose values the shuffle may bring: a set of bits that are
 * added, or of those that are changed. A distance in a register: of a loop that goes through all. */
static uint32_t reach_of_shuffle(const PtxInstruction *in) {
    const PtxOperand *distance = in->operand_count > 2 ? &in->operands[2] : NULL;
    return !distance || distance->reg ? WARP_LANES - 1 : (uint32_t)distance->integer & (WARP_LANES - 1);
}

bool race_detector_value_comes_from(const PtxProgram *program, int store, int to, int load, int from) {
    const PtxInstruction *stored = program->code[store].instruction,
                         *loaded = program->code[load].instruction;
    if (stored->opcode != PTX_st || loaded->opcode != PTX_ld || stored->operand_count < 2 ||
        program->code[store].function != program->code[load].function)
        return false;
    RegisterSet value = {0};
    uint32_t changed = 0, added = 0;
    bool is_of_all = false, is_from_load = false;
    add_to_set(&value, &stored->operands[1]);
    complete_slice(program, store, &value);
    for (int at = 0; at < program->code_count; at++) {
        const PtxInstruction *in = program->code[at].instruction;
        bool is_shuffle = in->opcode == PTX_shfl, is_reduction = in->opcode == PTX_redux;
        if ((!is_shuffle && !is_reduction) || !is_in_set(&value, &in->operands[0])) continue;
        RegisterSet source = {0};
        add_to_set(&source, &in->operands[1]);
        complete_slice(program, at, &source);
        if (!is_in_set(&source, &loaded->operands[0])) continue;
        is_from_load = true;
        is_of_all |= is_reduction;
        if (is_shuffle && has(in, PTX_MOD_BFLY)) changed |= reach_of_shuffle(in);
        if (is_shuffle && has(in, PTX_MOD_DOWN)) added |= reach_of_shuffle(in);
    }
    bool by_exchange = !((uint32_t)(to ^ from) & ~changed),
         by_steps = from > to && !((uint32_t)(from - to) & ~added);
    return is_from_load && (is_of_all || by_exchange || by_steps);
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
