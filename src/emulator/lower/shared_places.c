/* The layout of a block's variables in shared memory (lowered.h). */
#include "emulator/lower/lowered.h"

#include <stdlib.h>

/* Cooperative groups keep their barriers in the reserved shared memory (%reserved_smem_offset_1). */
static void mark_reserved(LoweredProgram *lowered, const PtxOperand *operand) {
    if (operand->kind != PTX_OPERAND_SPECIAL ||
        strncmp(operand->name, "%reserved_smem", strlen("%reserved_smem")) != 0)
        return;
    if (lowered->reserved_shared_bytes) return;
    SharedPlace place = {NULL, "reserved", 0, RESERVED_SHARED_BYTES};
    array_push(lowered->shared, lowered->shared_count, lowered->shared_capacity, place);
    lowered->reserved_shared_bytes = RESERVED_SHARED_BYTES;
}

static void mark_shared(LoweredProgram *lowered, const PtxOperand *operand) {
    for (int i = 0; i < operand->item_count; i++) mark_shared(lowered, &operand->items[i]);
    mark_reserved(lowered, operand);
    const PtxVariable *variable = operand->variable;
    if (!variable || (variable->space != PTX_SPACE_SHARED && variable->space != PTX_SPACE_SHARED_CLUSTER))
        return;
    for (int i = 0; i < lowered->shared_count; i++)
        if (lowered->shared[i].variable == variable) return;
    SharedPlace place = {variable, ptx_readable_name(lowered->program->module, variable->name), 0, 0};
    array_push(lowered->shared, lowered->shared_count, lowered->shared_capacity, place);
}

static int shared_rank(const LoweredProgram *lowered, const PtxVariable *variable) {
    if (!variable) return -1;             /* the reserved part */
    if (!variable->bytes) return 1 << 30; /* the dynamic part */
    const PtxModule *module = lowered->program->module;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i] == variable) return i;
    return 1 << 29; /* variables of a function: in order of first use */
}

void shared_places_find(LoweredProgram *lowered, uint32_t dynamic_bytes) {
    for (int pc = 0; pc < lowered->op_count; pc++) {
        const PtxInstruction *in = lowered->program->code[pc].instruction;
        for (int i = 0; i < in->operand_count; i++) mark_shared(lowered, &in->operands[i]);
    }
    for (int i = 1; i < lowered->shared_count; i++) { /* insertion sort is stable */
        SharedPlace place = lowered->shared[i];
        int j = i, rank = shared_rank(lowered, place.variable);
        for (; j > 0 && shared_rank(lowered, lowered->shared[j - 1].variable) > rank; j--)
            lowered->shared[j] = lowered->shared[j - 1];
        lowered->shared[j] = place;
    }
    uint64_t reserved = lowered->reserved_shared_bytes, at = reserved, end = reserved;
    for (int i = reserved != 0; i < lowered->shared_count; i++) {
        SharedPlace *place = &lowered->shared[i];
        uint64_t alignment = (uint64_t)(place->variable->alignment > 0 ? place->variable->alignment : 1);
        bool dynamic = !place->variable->bytes;
        if (dynamic && alignment < 16) alignment = 16;
        at = (at + alignment - 1) / alignment * alignment;
        place->offset = (uint32_t)at;
        place->bytes = dynamic ? dynamic_bytes : (uint32_t)place->variable->bytes;
        uint64_t place_end = at + (dynamic ? dynamic_bytes : place->variable->bytes);
        if (place_end > end) end = place_end;
        if (!dynamic) at = place_end, lowered->static_shared_bytes = (uint32_t)(at - reserved);
    }
    uint64_t with_dynamic = reserved + lowered->static_shared_bytes + dynamic_bytes;
    uint64_t all = end > with_dynamic ? end : with_dynamic;
    /* too much: the launch fails */
    lowered->shared_bytes = all > UINT32_MAX ? UINT32_MAX : (uint32_t)all;
}

static const TraceSymbol *find_symbol(const TraceLaunch *launch, const char *name) {
    for (int i = 0; i < launch->symbol_count; i++)
        if (launch->symbols[i].space == PTX_SPACE_SHARED && !strcmp(launch->symbols[i].name, name))
            return &launch->symbols[i];
    return NULL;
}

static int by_offset(const void *a, const void *b) {
    const SharedPlace *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

void shared_places_take_over(LoweredProgram *lowered, const TraceLaunch *like) {
    uint64_t first = UINT32_MAX, end = 0;
    for (int i = 0; i < lowered->shared_count; i++)
        if (!find_symbol(like, lowered->shared[i].name)) return;
    for (int i = 0; i < lowered->shared_count; i++) {
        SharedPlace *place = &lowered->shared[i];
        place->offset = (uint32_t)find_symbol(like, place->name)->window_offset;
        if (place->variable && place->offset < first) first = place->offset;
        if (place->offset + (uint64_t)place->bytes > end) end = place->offset + (uint64_t)place->bytes;
    }
    if (!end) return;
    qsort(lowered->shared, (size_t)lowered->shared_count, sizeof *lowered->shared, by_offset);
    lowered->shared_bytes = (uint32_t)end;
    if (first > lowered->reserved_shared_bytes) lowered->reserved_shared_bytes = (uint32_t)first;
}
