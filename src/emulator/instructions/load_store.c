/* ld, ldu, st: move values between registers and memory. */
#include "emulator/instructions/access_execute.h"

/* ---- loads ------------------------------------------------------------------------------------------ */

#ifdef __clang__
#define LANES_UNROLLED _Pragma("clang loop unroll_count(8)")
#else
#define LANES_UNROLLED _Pragma("GCC unroll 8")
#endif

#define LANES(HOST)                                                                                          \
    if (access->mask == ALL_LANES) {                                                                         \
        LANES_UNROLLED for (int l = 0; l < WARP_LANES; l++) {                                                \
            HOST;                                                                                            \
        }                                                                                                    \
    } else {                                                                                                 \
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {                                         \
            int l = __builtin_ctz(rest);                                                                     \
            HOST;                                                                                            \
        }                                                                                                    \
    }

/* Runs BODY for each lane: at a line of host addresses, or at one offset per lane. */
#define EACH_HOST(BODY)                                                                                      \
    if (access->host_line) {                                                                                 \
        uint64_t first = access->host_first + (uint64_t)at;                                                  \
        int64_t stride = access->host_stride;                                                                \
        LANES(uint8_t *host = access->bytes + (first + (uint64_t)(l * stride)); BODY)                        \
    } else {                                                                                                 \
        const uint64_t *offset = access->offset;                                                             \
        LANES(uint8_t *host = access->bytes + (offset[l] + (uint64_t)at); BODY)                              \
    }

#define LOADER(NAME, MEMORY_TYPE, REGISTER_TYPE)                                                             \
    static void NAME(const Access *access, void *to, int at) {                                               \
        REGISTER_TYPE *d = to;                                                                               \
        EACH_HOST(MEMORY_TYPE value; memcpy(&value, host, sizeof value); d[l] = (REGISTER_TYPE)value)        \
    }
#define STORER(NAME, MEMORY_TYPE, REGISTER_TYPE)                                                             \
    static void NAME(const Access *access, const void *from, int at) {                                       \
        const REGISTER_TYPE *s = from;                                                                       \
        EACH_HOST(MEMORY_TYPE value = (MEMORY_TYPE)s[l]; memcpy(host, &value, sizeof value))                 \
    }

LOADER(load_u8_16, uint8_t, uint16_t)
LOADER(load_s8_16, int8_t, uint16_t)
LOADER(load_u16_16, uint16_t, uint16_t)
LOADER(load_u8_32, uint8_t, uint32_t)
LOADER(load_s8_32, int8_t, uint32_t)
LOADER(load_u16_32, uint16_t, uint32_t)
LOADER(load_s16_32, int16_t, uint32_t)
LOADER(load_u32_32, uint32_t, uint32_t)
LOADER(load_u8_64, uint8_t, uint64_t)
LOADER(load_s8_64, int8_t, uint64_t)
LOADER(load_u16_64, uint16_t, uint64_t)
LOADER(load_s16_64, int16_t, uint64_t)
LOADER(load_u32_64, uint32_t, uint64_t)
LOADER(load_s32_64, int32_t, uint64_t)
LOADER(load_u64_64, uint64_t, uint64_t)
STORER(store_8_16, uint8_t, uint16_t)
STORER(store_16_16, uint16_t, uint16_t)
STORER(store_8_32, uint8_t, uint32_t)
STORER(store_16_32, uint16_t, uint32_t)
STORER(store_32_32, uint32_t, uint32_t)
STORER(store_8_64, uint8_t, uint64_t)
STORER(store_16_64, uint16_t, uint64_t)
STORER(store_32_64, uint32_t, uint64_t)
STORER(store_64_64, uint64_t, uint64_t)

typedef void (*Loader)(const Access *access, void *to, int at);
typedef void (*Storer)(const Access *access, const void *from, int at);

/* [log2 of the element's bytes][log2 of the register's bytes - 1]; NULL: the register is too small. */
static const Loader loaders[2][4][3] = {{{load_u8_16, load_u8_32, load_u8_64},
                                         {load_u16_16, load_u16_32, load_u16_64},
                                         {NULL, load_u32_32, load_u32_64},
                                         {NULL, NULL, load_u64_64}},
                                        {{load_s8_16, load_s8_32, load_s8_64},
                                         {load_u16_16, load_s16_32, load_s16_64},
                                         {NULL, load_u32_32, load_s32_64},
                                         {NULL, NULL, load_u64_64}}};
static const Storer storers[4][3] = {{store_8_16, store_8_32, store_8_64},
                                     {store_16_16, store_16_32, store_16_64},
                                     {NULL, store_32_32, store_32_64},
                                     {NULL, NULL, store_64_64}};

static inline int log2_of(int bytes) {
    return __builtin_ctz((unsigned)bytes);
}

static void move_in(Access *access) {
    const MemoryOp *memory = access->memory;
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        if (!value->present) continue;
        Loader load = loaders[memory->is_signed][log2_of(memory->element_bytes)][log2_of(value->bytes) - 1];
        load(access, operand_at(access->warp, value->place), e * memory->element_bytes);
    }
}

static void move_out(Access *access) {
    const MemoryOp *memory = access->memory;
    for (int e = 0; e < memory->count; e++) {
        const MemoryValue *value = &memory->values[e];
        Storer store = storers[log2_of(memory->element_bytes)][log2_of(value->bytes) - 1];
        store(access, operand_at(access->warp, value->place), e * memory->element_bytes);
    }
}

void access_load(Access *access) {
    move_in(access);
    access_record(access, access->memory->values, access->memory->count, NULL, false);
}

void access_store(Access *access) {
    move_out(access);
    access_record(access, access->memory->values, access->memory->count, NULL, true);
}

static Outcome execute_load(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    return access_execute(block, warp, op, mask, access_load);
}

static int load_together(Block *block, const Op *op, const Gang *gang) {
    return ((const MemoryOp *)op->extra)->together(block, op, gang, access_load);
}

static int store_together(Block *block, const Op *op, const Gang *gang) {
    return ((const MemoryOp *)op->extra)->together(block, op, gang, access_store);
}

static Outcome execute_store(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    return access_execute(block, warp, op, mask, access_store);
}

/* ---- the entry's parameters: constants of the launch ------------------------------------------------ */

typedef struct ParameterCopy {
    int count;
    struct {
        Operand from, to;
        uint8_t bytes;
    } items[TRACE_MAX_ELEMENTS];
} ParameterCopy;

OP_FUNCTION(run_copy) {
    const ParameterCopy *copy = op->extra;
    for (int i = 0; i < copy->count; i++) {
        const void *from = operand_at(warp, copy->items[i].from);
        void *to = operand_at(warp, copy->items[i].to);
        int bytes = copy->items[i].bytes;
        if (mask == ALL_LANES && bytes >= 4) {
            if (bytes == 8)
                memcpy(to, from, 8 * WARP_LANES); /* sizes known at compile time */
            else
                memcpy(to, from, 4 * WARP_LANES);
            continue;
        }
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int lane = __builtin_ctz(rest);
            memcpy((uint8_t *)to + lane * bytes, (const uint8_t *)from + lane * bytes, (size_t)bytes);
        }
    }
}

static uint64_t sign_extended(uint64_t value, int bytes) {
    int unused = 64 - 8 * bytes;
    return (uint64_t)((int64_t)(value << unused) >> unused);
}

static bool is_entry_parameter(const Lowering *low, const PtxOperand *operand) {
    const PtxFunction *function = low->layout->function;
    if (!function->is_entry || operand->reg || !operand->variable) return false;
    for (int i = 0; i < function->parameter_count; i++)
        if (function->parameters[i] == operand->variable) return true;
    return false;
}

static bool lower_parameter_load(Lowering *low, Op *op, const MemoryOp *memory, const PtxOperand *operand) {
    ParameterCopy *copy = lowering_allocate(low, sizeof *copy);
    uint64_t offset = lowering_parameter_place(low, operand->variable) + (uint64_t)operand->integer;
    for (int e = 0; e < memory->count; e++, offset += memory->element_bytes) {
        const MemoryValue *value = &memory->values[e];
        if (offset + memory->element_bytes > low->launch->parameter_bytes)
            return lowering_reject(low, op, "ld.param reads past the %zu bytes of parameters",
                                   low->launch->parameter_bytes);
        if (!value->present) continue;
        uint64_t bits = bytes_read(low->launch->parameters + offset, memory->element_bytes);
        if (memory->is_signed) bits = sign_extended(bits, memory->element_bytes);
        copy->items[copy->count].from = lowering_constant(low, bits, value->bytes);
        copy->items[copy->count].to = value->place;
        copy->items[copy->count++].bytes = value->bytes;
    }
    if (copy->count == 1) op->d = copy->items[0].to, op->d_bytes = copy->items[0].bytes, op->has_d = true;
    op->op_class = OP_LANES;
    op->provenance = WEIGHT_NONE;
    op->run = run_copy;
    op->extra = copy;
    return true;
}

/* ---- lowering --------------------------------------------------------------------------------------- */

/* A register, an item of {a, b}, or a component of a vector register. */
bool access_lower_value(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int element) {
    MemoryValue *value = &memory->values[element];
    int bytes = memory->element_bytes;
    if (memory->is_store) {
        value->present = true;
        PtxType type = bytes == 1 ? PTX_B8 : bytes == 2 ? PTX_B16 : bytes == 4 ? PTX_B32 : PTX_B64;
        if (ptx_type_is_float(memory->type) && operand->kind == PTX_OPERAND_FLOAT) type = memory->type;
        if (!lowering_value(low, op, operand, type, &value->place, &value->bytes)) return false;
        return value->bytes <= 8 ||
               lowering_reject(low, op, "%s: a 128-bit register needs type .b128", low->instruction->name);
    }
    if (!lowering_destination(low, op, operand, &value->place, &value->bytes, &value->present)) return false;
    if (value->present && value->bytes < (bytes == 1 ? 2 : bytes))
        return lowering_reject(low, op, "%s: register %s is too small", low->instruction->name,
                               operand->reg->name);
    if (value->bytes > 8)
        return lowering_reject(low, op, "%s: a 128-bit register needs type .b128", low->instruction->name);
    return true;
}

/* A 128-bit element is two of 64 bits, whose halves lie one after the other in the register. */
static bool add_wide_value(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int element) {
    MemoryValue *value = &memory->values[element];
    value->present = true;
    if (operand->kind == PTX_OPERAND_SINK) {
        value->present = false;
    } else if (!lowering_register(low, operand, &value->place, &value->bytes) || value->bytes != 16) {
        return lowering_reject(low, op, "%s: .b128 takes a 128-bit register", low->instruction->name);
    }
    value->bytes = 8;
    value[1] = *value;
    value[1].place.offset += 8 * WARP_LANES;
    return true;
}

static bool add_values(Lowering *low, Op *op, MemoryOp *memory, const PtxOperand *operand, int vector,
                       bool wide) {
    if (vector > 1 && operand->kind == PTX_OPERAND_VECTOR && operand->item_count != vector)
        return lowering_reject(low, op, "%s: %d elements for .v%d", low->instruction->name,
                               operand->item_count, vector);
    for (int i = 0; i < vector; i++) {
        PtxOperand component = *operand;
        const PtxOperand *item = operand;
        if (operand->kind == PTX_OPERAND_VECTOR) {
            if (i >= operand->item_count)
                return lowering_reject(low, op, "%s: malformed vector", low->instruction->name);
            item = &operand->items[i];
        } else if (vector > 1) {
            component.component = (int8_t)i;
            item = &component;
        }
        if (wide ? !add_wide_value(low, op, memory, item, 2 * i)
                 : !access_lower_value(low, op, memory, item, i))
            return false;
    }
    return true;
}

static bool lower_transfer(Lowering *low, const PtxInstruction *in, Op *op, bool is_store) {
    if (ptx_instruction_has(in, PTX_MOD_BULK))
        return lowering_reject(low, op, "%s.bulk is not emulated", in->name);
    if (in->operand_count < 2 || in->type_count < 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    MemoryOp *memory = lowering_allocate(low, sizeof *memory);
    PtxType type = in->types[0];
    bool wide = ptx_type_bytes(type) == 16;
    int bytes = wide ? 8 : ptx_type_bytes(type), vector = in->vector > 1 ? in->vector : 1;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        return lowering_reject(low, op, "%s has no form for type .%s", in->name, ptx_type_text(type));
    if (bytes * (wide ? 2 : 1) * vector > 32)
        return lowering_reject(low, op, "%s of more than 32 bytes", in->name);
    memory->core.execute = is_store ? execute_store : execute_load;
    memory->core.execute_together = is_store ? store_together : load_together;
    memory->core.form = CORE_TRANSFER;
    memory->move = is_store ? move_out : move_in;
    memory->together = access_together();
    memory->space = in->space;
    memory->kind = trace_kind_of(in);
    memory->type = type;
    memory->is_store = is_store;
    memory->is_load = !is_store;
    memory->may_drop = true;
    memory->ordered = ptx_instruction_is_ordered(in);
    memory->is_signed = ptx_type_is_signed(type);
    memory->element_bytes = (uint8_t)bytes;
    memory->count = (uint8_t)(vector * (wide ? 2 : 1));
    memory->width = (uint8_t)(memory->element_bytes * memory->count);
    op->op_class = OP_MEMORY;
    op->extra = memory;
    const PtxOperand *place = &in->operands[is_store ? 0 : 1], *value = &in->operands[is_store ? 1 : 0];
    if (place->kind != PTX_OPERAND_MEMORY) return lowering_reject(low, op, "%s: malformed address", in->name);
    if (!add_values(low, op, memory, value, vector, wide)) return false;
    memory->is_plain =
        memory->count == 1 && bytes >= 4 && memory->values[0].present && memory->values[0].bytes == bytes;
    if (is_store && in->space == PTX_SPACE_CONST)
        return lowering_reject(low, op, "constant memory cannot be stored to");
    if (!is_store && in->space == PTX_SPACE_PARAM && is_entry_parameter(low, place))
        return lower_parameter_load(low, op, memory, place);
    bool may_be_global = in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC;
    if (memory->ordered && may_be_global) low->lowered->lets_blocks_communicate = true;
    return access_lower_address(low, op, memory, place);
}

OPCODE_LOWER(ld) {
    return lower_transfer(low, in, op, false);
}
OPCODE_LOWER(ldu) {
    return lower_transfer(low, in, op, false);
}
bool access_lower_store(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_transfer(low, in, op, true);
}
