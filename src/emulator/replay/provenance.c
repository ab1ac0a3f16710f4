/* Provenance of registers, parameters and memory (provenance.h). */
#include "emulator/replay/provenance.h"

#include <stdlib.h>

/* ---- frames ------------------------------------------------------------------------------------------- */

static size_t provenance_count(const FunctionLayout *layout) {
    return layout->register_bytes / 64 + (layout->parameter_bytes + 3) / 4 + 2;
}

size_t provenance_bytes(const FunctionLayout *layout) {
    return provenance_count(layout) * sizeof(Provenance);
}

void provenance_begin_frame(Frame *frame) {
    frame->provenance = memory_new(provenance_bytes(frame->layout));
    for (size_t i = 0; i < provenance_count(frame->layout); i++)
        for (int lane = 0; lane < WARP_LANES; lane++) frame->provenance[i].producer[lane] = -1;
}

void provenance_copy_frame(const Frame *to, const Frame *from) {
    memcpy(to->provenance, from->provenance, provenance_bytes(from->layout));
}

/* ---- lane instructions --------------------------------------------------------------------------------- */

enum { NOT_A_REGISTER = -1 };

typedef struct Rule { /* lists of provenance indices in ProvenanceRules.slots */
    int destination, destination_count;
    int source[OP_SOURCES], source_count[OP_SOURCES]; /* per operand: a vector has several */
    int operand_count;
} Rule;

struct ProvenanceRules {
    Rule *rules; /* [pc] */
    int32_t *slots;
    int slot_count, slot_capacity;
};

static int32_t slot_of(const FunctionLayout *layout, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_REGISTER || !operand->reg) return NOT_A_REGISTER;
    uint32_t offset = layout->register_offset[operand->reg->index];
    if (offset == UINT32_MAX || operand->reg->type == PTX_PRED)
        return NOT_A_REGISTER; /* a condition holds no input */
    int bytes = ptx_type_bytes(operand->reg->type),
        component = operand->component > 0 ? operand->component : 0;
    int each = (bytes == 1 ? 2 : bytes) * WARP_LANES;
    return (int32_t)((offset + (uint32_t)(component * each)) / 64);
}

/* Adds the registers of an operand or of its items to the slots; returns how many. */
static int add_slots(ProvenanceRules *rules, const FunctionLayout *layout, const PtxOperand *operand) {
    int32_t slot = slot_of(layout, operand);
    int count = 0;
    if (slot != NOT_A_REGISTER) {
        array_push(rules->slots, rules->slot_count, rules->slot_capacity, slot);
        count++;
    }
    for (int i = 0; i < operand->item_count; i++) count += add_slots(rules, layout, &operand->items[i]);
    return count;
}

static void make_rule(ProvenanceRules *rules, const FunctionLayout *layout, const Op *op, Rule *rule) {
    const PtxInstruction *in = op->instruction;
    if (!in->operand_count) return;
    rule->destination = rules->slot_count;
    rule->destination_count = add_slots(rules, layout, &in->operands[0]);
    for (int i = 1;
         i < in->operand_count && rule->operand_count < OP_SOURCES && op->provenance != WEIGHT_NONE; i++) {
        rule->source[rule->operand_count] = rules->slot_count;
        rule->source_count[rule->operand_count++] = add_slots(rules, layout, &in->operands[i]);
    }
}

ProvenanceRules *provenance_rules_new(const LoweredProgram *program) {
    ProvenanceRules *rules = memory_new(sizeof *rules);
    rules->rules = memory_new(((size_t)program->op_count + 1) * sizeof *rules->rules);
    for (int pc = 0; pc < program->op_count; pc++) {
        const Op *op = &program->ops[pc];
        const FunctionLayout *layout = &program->functions[program->program->code[pc].function];
        if (op->op_class == OP_LANES) make_rule(rules, layout, op, &rules->rules[pc]);
    }
    return rules;
}

void provenance_rules_free(ProvenanceRules *rules) {
    if (!rules) return;
    free(rules->rules);
    free(rules->slots);
    free(rules);
}

/* The parts of a vector belong to one value: the largest weight counts. */
static Provenance operand_provenance(const Frame *frame, const int32_t *slots, int count) {
    Provenance all;
    for (int l = 0; l < WARP_LANES; l++) all.weight[l] = 0, all.producer[l] = -1;
    for (int i = 0; i < count; i++) {
        const Provenance *one = &frame->provenance[slots[i]];
        for (int l = 0; l < WARP_LANES; l++) {
            all.weight[l] = one->weight[l] > all.weight[l] ? one->weight[l] : all.weight[l];
            all.producer[l] = one->producer[l] > all.producer[l] ? one->producer[l] : all.producer[l];
        }
    }
    return all;
}

static void combine(Provenance *into, const Provenance *operand, bool take_larger) {
    for (int l = 0; l < WARP_LANES; l++) {
        uint32_t larger = operand->weight[l] > into->weight[l] ? operand->weight[l] : into->weight[l];
        into->weight[l] = take_larger ? larger : weight_sum(into->weight[l], operand->weight[l]);
        into->producer[l] =
            operand->producer[l] > into->producer[l] ? operand->producer[l] : into->producer[l];
    }
}

uint32_t provenance_lanes(const ProvenanceRules *rules, const Frame *frame, const Op *op, uint32_t mask) {
    const Rule *rule = &rules->rules[op->pc];
    Provenance result = operand_provenance(frame, NULL, 0);
    for (int i = 0; i < rule->operand_count; i++) {
        Provenance operand = operand_provenance(frame, rules->slots + rule->source[i], rule->source_count[i]);
        combine(&result, &operand, op->provenance == WEIGHT_PRODUCT && i == 1);
    }
    uint32_t largest = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t weight = result.weight[__builtin_ctz(rest)];
        if (weight > largest) largest = weight;
    }
    for (int i = 0; i < rule->destination_count; i++) {
        Provenance *to = &frame->provenance[rules->slots[rule->destination + i]];
        for (int l = 0; l < WARP_LANES; l++) {
            to->weight[l] = mask & lane_bit[l] ? result.weight[l] : to->weight[l];
            to->producer[l] = mask & lane_bit[l] ? result.producer[l] : to->producer[l];
        }
    }
    return rule->destination_count ? largest : 0;
}

int provenance_operand_count(const ProvenanceRules *rules, const Op *op) {
    return rules->rules[op->pc].operand_count;
}

void provenance_read_operand(const ProvenanceRules *rules, const Frame *frame, const Op *op, int operand,
                             Provenance *out) {
    const Rule *rule = &rules->rules[op->pc];
    *out = operand_provenance(frame, rules->slots + rule->source[operand], rule->source_count[operand]);
}

int provenance_part_count(const ProvenanceRules *rules, const Op *op, int operand) {
    return rules->rules[op->pc].source_count[operand];
}

const Provenance *provenance_part(const ProvenanceRules *rules, const Frame *frame, const Op *op, int operand,
                                  int part) {
    return &frame->provenance[rules->slots[rules->rules[op->pc].source[operand] + part]];
}

void provenance_set_producers(const ProvenanceRules *rules, const Frame *frame, const Op *op, uint32_t mask,
                              const int32_t producer[WARP_LANES]) {
    const Rule *rule = &rules->rules[op->pc];
    for (int i = 0; i < rule->destination_count; i++) {
        Provenance *to = &frame->provenance[rules->slots[rule->destination + i]];
        for (int l = 0; l < WARP_LANES; l++)
            to->producer[l] = mask & lane_bit[l] ? producer[l] : to->producer[l];
    }
}

/* ---- calls -------------------------------------------------------------------------------------------- */

static Provenance read_value_provenance(const Frame *frame, const CallValue *value, uint32_t offset,
                                        uint32_t bytes) {
    Provenance all = operand_provenance(frame, NULL, 0);
    if (!value->in_memory) {
        for (uint32_t at = 0; at < bytes; at += 4) {
            const Provenance *provenance = provenance_of(frame, call_value_part(value, offset + at));
            if (provenance) combine(&all, provenance, true);
        }
        return all;
    }
    for (uint32_t at = 0; at < bytes; at += 4)
        combine(&all, provenance_of_parameter(frame, value->offset + offset + at), true);
    return all;
}

static void write_provenance(Provenance *to, const Provenance *from, uint32_t mask) {
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        to->weight[lane] = from->weight[lane];
        to->producer[lane] = from->producer[lane];
    }
}

void provenance_pass(const Frame *from, const CallValue *source, const Frame *to,
                     const CallValue *destination, uint32_t mask) {
    uint32_t bytes = source->bytes < destination->bytes ? source->bytes : destination->bytes;
    if (!source->present || !destination->present) return;
    uint32_t part = destination->part_bytes;
    for (uint32_t at = 0; !destination->in_memory && at < bytes; at += part) {
        Provenance provenance =
            read_value_provenance(from, source, at, bytes - at < part ? bytes - at : part);
        write_provenance(provenance_of(to, call_value_part(destination, at)), &provenance, mask);
    }
    if (!destination->in_memory) return;
    for (uint32_t at = 0; at < bytes; at += 4) {
        Provenance provenance = read_value_provenance(from, source, at, 4);
        write_provenance(provenance_of_parameter(to, destination->offset + at), &provenance, mask);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------- */

enum { WIDEST = 8 };

typedef struct Stored {
    uint64_t key; /* + 1; 0: free */
    uint32_t weight;
    int32_t producer;
    uint8_t bytes; /* 0: overwritten by a neighbour */
} Stored;

struct ProvenanceMemory { /* open hash table */
    Stored *places;
    size_t size, used;
    unsigned sizes; /* of the stored elements, as a set: 1 | 2 | 4 | 8 */
};

static size_t hash(uint64_t key) {
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 20);
}

static Stored *find(const ProvenanceMemory *memory, uint64_t key) {
    size_t at = hash(key);
    for (;; at++) {
        Stored *place = &memory->places[at & (memory->size - 1)];
        if (place->key == key + 1 || !place->key) return place;
    }
}

static void grow(ProvenanceMemory *memory) {
    ProvenanceMemory old = *memory;
    memory->size = old.size * 2;
    memory->places = memory_new(memory->size * sizeof *memory->places);
    for (size_t i = 0; i < old.size; i++)
        if (old.places[i].key) *find(memory, old.places[i].key - 1) = old.places[i];
    free(old.places);
}

ProvenanceMemory *provenance_memory_new(void) {
    ProvenanceMemory *memory = memory_new(sizeof *memory);
    memory->size = 1024;
    memory->places = memory_new(memory->size * sizeof *memory->places);
    return memory;
}

void provenance_memory_free(ProvenanceMemory *memory) {
    if (!memory) return;
    free(memory->places);
    free(memory);
}

/* The element that covers the byte `key`; NULL: none. */
static const Stored *covering(const ProvenanceMemory *memory, uint64_t key) {
    for (uint64_t back = 0; back < WIDEST && back <= key; back++) {
        const Stored *place = find(memory, key - back);
        if (place->key && place->bytes > back) return place;
    }
    return NULL;
}

bool provenance_memory_read(const ProvenanceMemory *memory, uint64_t key, int bytes, uint32_t *weight,
                            int32_t *producer) {
    const Stored *place = find(memory, key);
    *weight = 0;
    *producer = -1;
    /* and aligned: no element covers a part of another */
    bool all_alike = !(memory->sizes & ~(unsigned)bytes);
    if (!place->key && all_alike) return false;
    if (!place->key || place->bytes < bytes) { /* not as it was stored: several elements, or part of one */
        const Stored *last = NULL;
        for (int i = 0; i < bytes; i++) {
            const Stored *part = covering(memory, key + (uint64_t)i);
            if (!part || part == last) continue;
            last = part;
            *weight = weight_sum(*weight, part->weight);
            if (part->producer > *producer) *producer = part->producer;
        }
        return last != NULL;
    }
    *weight = place->weight;
    *producer = place->producer;
    return true;
}

void provenance_memory_write(ProvenanceMemory *memory, uint64_t key, int bytes, uint32_t weight,
                             int32_t producer) {
    if (memory->used * 4 >= memory->size * 3) grow(memory);
    memory->sizes |= (unsigned)bytes;
    if (memory->sizes & (memory->sizes - 1)) { /* elements of different sizes may overlap */
        for (uint64_t back = 1; back < WIDEST && back <= key; back++) {
            Stored *before = find(memory, key - back);
            if (before->key && before->bytes > back) before->bytes = (uint8_t)back;
        }
        for (uint64_t inside = 1; inside < (uint64_t)bytes; inside++) {
            Stored *part = find(memory, key + inside);
            if (part->key) part->bytes = 0;
        }
    }
    Stored *place = find(memory, key);
    memory->used += !place->key;
    *place = (Stored){key + 1, weight, producer, (uint8_t)bytes};
}
