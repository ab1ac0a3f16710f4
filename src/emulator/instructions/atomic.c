/* atom and red: an indivisible read, computation and write ("Parallel Synchronization and Communication
 * Instructions: atom, red").
 *
 * The lanes of a warp execute in lane order, so every run gives the same results. The elements of a vector
 * execute one by one; a 128-bit element (exch and cas only) is a pair of 64-bit halves. Those of .sys scope
 * are atomic operations of this machine: threads of a program may update the same memory meanwhile. */
#include "emulator/instructions/access_execute.h"
#include "emulator/lanes/lanes.h"
#include "emulator/machine/shadow.h"
#include "ptx/opcodes.h"

typedef struct AtomicRule {
    PtxModifierKind operation;
    PtxType type;
    bool wide;      /* 128 bits */
    bool is_system; /* .sys scope */
} AtomicRule;

/* ---- one element ------------------------------------------------------------------------------------ */

static uint64_t add_half(uint64_t a, uint64_t b, bool bfloat) {
    uint32_t wide_a = bfloat ? widen_bf16((uint32_t)a) : widen_f16((uint32_t)a);
    uint32_t wide_b = bfloat ? widen_bf16((uint32_t)b) : widen_f16((uint32_t)b);
    if (is_nan32(wide_a) || is_nan32(wide_b)) return NAN_F16;
    /* exact, or rounded far below the last bit */
    double sum = (double)float_of(wide_a) + (double)float_of(wide_b);
    if (sum != sum) return NAN_F16;
    uint32_t odd = float_odd(sum);
    return bfloat ? narrow_bf16(odd) : narrow_f16(odd);
}

static uint64_t add_float(uint64_t a, uint64_t b, bool flushes) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    if (flushes) x = flush32(x), y = flush32(y);
    uint32_t sum = canonical32(bits_of(float_of(x) + float_of(y)));
    return flushes ? flush32(sum) : sum;
}

static uint64_t add_double(uint64_t a, uint64_t b) {
    uint64_t sum = bits_of_double(double_of(a) + double_of(b));
    return is_nan64(sum) ? NAN_F64 : sum;
}

/* The smaller or larger of two floats as PTX min and max: a NaN loses, -0 < +0. `shift` widens magnitudes to
 * 64 bits. */
static uint64_t order_float(uint64_t a, uint64_t b, int bytes, uint64_t infinity, uint64_t nan, bool least) {
    uint64_t sign = UINT64_C(1) << (8 * bytes - 1), magnitude = sign - 1;
    bool nan_a = (a & magnitude) > infinity, nan_b = (b & magnitude) > infinity;
    if (nan_a || nan_b) return nan_a && nan_b ? nan : nan_a ? b : a;
    int64_t x = a & sign ? -(int64_t)(a & magnitude) - 1 : (int64_t)(a & magnitude);
    int64_t y = b & sign ? -(int64_t)(b & magnitude) - 1 : (int64_t)(b & magnitude);
    return (x < y) == least ? a : b;
}

static uint64_t order_element(PtxType type, uint64_t a, uint64_t b, bool least) {
    switch (type) {
    case PTX_F16:
        return order_float(a, b, 2, 0x7c00, NAN_F16, least);
    case PTX_BF16:
        return order_float(a, b, 2, 0x7f80, NAN_F16, least);
    case PTX_F32:
        return order_float(a, b, 4, 0x7f800000, NAN_F32, least);
    case PTX_F64:
        return order_float(a, b, 8, UINT64_C(0x7ff0000000000000), NAN_F64, least);
    case PTX_S32:
        return ((int32_t)a < (int32_t)b) == least ? a : b;
    case PTX_S64:
        return ((int64_t)a < (int64_t)b) == least ? a : b;
    default:
        return (a < b) == least ? a : b;
    }
}

static uint64_t add_element(PtxType type, uint64_t a, uint64_t b, bool flushes) {
    switch (type) {
    case PTX_F16:
        return add_half(a, b, false);
    case PTX_BF16:
        return add_half(a, b, true);
    case PTX_F32:
        return add_float(a, b, flushes);
    case PTX_F64:
        return add_double(a, b);
    default:
        return a + b;
    }
}

/* Treats packed halves as two elements. */
static uint64_t apply_packed(const AtomicRule *rule, PtxType half, uint64_t a, uint64_t b) {
    uint64_t result = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        uint64_t x = a >> shift & 0xffff, y = b >> shift & 0xffff;
        uint64_t part = rule->operation == PTX_MOD_ADD
                            ? add_element(half, x, y, false)
                            : order_element(half, x, y, rule->operation == PTX_MOD_MIN);
        result |= (part & 0xffff) << shift;
    }
    return result;
}

static uint64_t apply(const AtomicRule *rule, uint64_t old, uint64_t b, uint64_t c, bool flushes) {
    switch (rule->operation) {
    case PTX_MOD_AND:
        return old & b;
    case PTX_MOD_OR:
        return old | b;
    case PTX_MOD_XOR:
        return old ^ b;
    case PTX_MOD_EXCH:
        return b;
    case PTX_MOD_CAS:
        return old == b ? c : old;
    case PTX_MOD_INC:
        return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case PTX_MOD_DEC:
        return (uint32_t)old == 0 || (uint32_t)old > (uint32_t)b ? b : old - 1;
    default:
        break;
    }
    if (rule->type == PTX_F16X2 || rule->type == PTX_BF16X2)
        return apply_packed(rule, rule->type == PTX_F16X2 ? PTX_F16 : PTX_BF16, old, b);
    if (rule->operation == PTX_MOD_ADD) return add_element(rule->type, old, b, flushes);
    return order_element(rule->type, old, b, rule->operation == PTX_MOD_MIN);
}

/* ---- all lanes -------------------------------------------------------------------------------------- */

static inline uint64_t element_read(const uint8_t *host, int bytes) {
    uint16_t half;
    uint32_t word;
    uint64_t wide;
    switch (bytes) {
    case 2:
        memcpy(&half, host, sizeof half);
        return half;
    case 4:
        memcpy(&word, host, sizeof word);
        return word;
    default:
        memcpy(&wide, host, sizeof wide);
        return wide;
    }
}

static inline bool is_same(uint64_t a, uint64_t b, int bytes) {
    return (a ^ b) << (64 - 8 * bytes) == 0;
}

static inline void element_write(uint8_t *host, int bytes, uint64_t new) {
    uint16_t half = (uint16_t) new;
    uint32_t word = (uint32_t) new;
    switch (bytes) {
    case 2:
        memcpy(host, &half, sizeof half);
        break;
    case 4:
        memcpy(host, &word, sizeof word);
        break;
    default:
        memcpy(host, &new, sizeof new);
        break;
    }
}

/* Updates it together with the program's threads: its memory is mapped at the addresses' own alignment. */
static inline bool swaps(const AtomicRule *rule, const uint8_t *host, int bytes) {
    return rule->is_system && (uintptr_t)host % (unsigned)bytes == 0;
}

/* Writes it if memory still has `*old`; else reads this again, and is false. */
static bool element_swap(uint8_t *host, int bytes, uint64_t *old, uint64_t new) {
    void *place = host;
    uint16_t half = (uint16_t)*old;
    uint32_t word = (uint32_t)*old;
    bool swapped = false;
    switch (bytes) {
    case 2:
        swapped = __atomic_compare_exchange_n((uint16_t *)place, &half, (uint16_t) new, false,
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        *old = half;
        return swapped;
    case 4:
        swapped = __atomic_compare_exchange_n((uint32_t *)place, &word, (uint32_t) new, false,
                                              __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        *old = word;
        return swapped;
    default:
        return __atomic_compare_exchange_n((uint64_t *)place, old, new, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
    }
}

/* The same for 128 bits, by the instruction of x86-64: for it, compilers call a function that may be missing.
 * Other machines write without comparing. */
static bool wide_swap(uint8_t *host, uint64_t old[2], const uint64_t new[2]) {
#ifdef __x86_64__
    void *place = host;
    uint64_t low = old[0], high = old[1];
    unsigned char swapped;
    __asm__ volatile("lock cmpxchg16b (%3)\n\tsetz %0"
                     : "=q"(swapped), "+a"(low), "+d"(high)
                     : "r"(place), "b"(new[0]), "c"(new[1])
                     : "cc", "memory");
    old[0] = low;
    old[1] = high;
    return swapped;
#else
    (void)old;
    memcpy(host, new, 16);
    return true;
#endif
}

/* 128 bits: both halves together. */
static bool apply_wide(const MemoryOp *memory, const AtomicRule *rule, Warp *warp, int lane, uint8_t *host,
                       uint64_t old[2]) {
    uint64_t b[2], new[2];
    memcpy(old, host, 16);
    for (int half = 0; half < 2; half++) b[half] = register_read(warp, memory->values[half].place, 8, lane);
    do {
        memcpy(new, b, sizeof new);
        bool same = old[0] == b[0] && old[1] == b[1];
        for (int half = 0; rule->operation == PTX_MOD_CAS && half < 2; half++) {
            Operand place = memory->third.place;
            place.offset += (uint32_t)(half * 8 * WARP_LANES);
            new[half] = same ? register_read(warp, place, 8, lane) : old[half];
        }
    } while (swaps(rule, host, 16) && !wide_swap(host, old, new));
    if (!swaps(rule, host, 16)) memcpy(host, new, 16);
    return memcmp(old, new, 16) != 0;
}

/* Sums of words at one address: each lane finds what the lanes before it left. */
static bool is_plain_sum(const Access *access) {
    const MemoryOp *memory = access->memory;
    bool word = memory->type == PTX_U32 || memory->type == PTX_S32;
    return word && memory->rule->operation == PTX_MOD_ADD && !memory->rule->is_system && memory->count == 1 &&
           access->host_line && access->host_stride == 0 && !access->block->recorder;
}

static void add_words(Access *access) {
    const MemoryOp *memory = access->memory;
    const uint32_t *b = operand_at(access->warp, memory->values[0].place);
    uint32_t unused[WARP_LANES], sum, any = 0;
    uint32_t *d = memory->results[0].present ? operand_at(access->warp, memory->results[0].place) : unused;
    uint8_t *host = access->bytes + access->host_first;
    memcpy(&sum, host, sizeof sum);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint32_t value = b[lane];
        d[lane] = sum;
        sum += value;
        any |= value;
    }
    memcpy(host, &sum, sizeof sum);
    bool has_result = access->op->instruction->opcode == PTX_atom;
    access_record(access, memory->results, has_result, NULL, any != 0);
}

static void move_atomic(Access *access) {
    if (is_plain_sum(access)) {
        add_words(access);
        return;
    }
    const MemoryOp *memory = access->memory;
    const AtomicRule *rule = memory->rule;
    Warp *warp = access->warp;
    int bytes = memory->element_bytes;
    bool changed = false, is_global = access->space == PTX_SPACE_GLOBAL;
    bool is_extreme = rule->operation == PTX_MOD_MIN || rule->operation == PTX_MOD_MAX;
    uint64_t operand[WARP_LANES] = {0};
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        uint8_t *host = access_host(access, lane);
        uint64_t old[TRACE_MAX_ELEMENTS];
        bool loses = false;
        operand[lane] = register_read(warp, memory->values[0].place, memory->values[0].bytes, lane);
        if (rule->wide) {
            changed |= apply_wide(memory, rule, warp, lane, host, old);
        } else {
            for (int e = 0; e < memory->count; e++) {
                old[e] = element_read(host + e * bytes, bytes);
                uint64_t b = register_read(warp, memory->values[e].place, memory->values[e].bytes, lane),
                         c = 0;
                if (rule->operation == PTX_MOD_CAS)
                    c = register_read(warp, memory->third.place, memory->third.bytes, lane);
                if (bytes == 2) b &= 0xffff;
                uint64_t new = apply(rule, old[e], b, c, is_global);
                bool swap = swaps(rule, host + e * bytes, bytes);
                while (swap && !element_swap(host + e * bytes, bytes, &old[e], new))
                    new = apply(rule, old[e], b, c, is_global);
                loses |= new == old[e] && new != b;
                if (access->block->grid->shadow)
                    shadow_atomic(access, lane, e, host + e * bytes, old[e], new);
                if (!swap) element_write(host + e * bytes, bytes, new);
                changed |= !is_same(old[e], new, bytes);
            }
        }
        access->block->worker->outdone |= is_extreme && is_global && loses;
        for (int e = 0; e < memory->count; e++)
            if (memory->results[e].present)
                register_write(warp, memory->results[e].place, memory->results[e].bytes, lane, old[e]);
    }
    bool has_result = access->op->instruction->opcode == PTX_atom;
    access_record(access, memory->results, has_result ? memory->count : 0, operand, changed);
}

struct AtomicRule *atomic_rule(Lowering *low, PtxModifierKind operation, PtxType type) {
    AtomicRule *rule = lowering_allocate(low, sizeof *rule);
    *rule = (AtomicRule){.operation = operation, .type = type};
    return rule;
}

uint64_t atomic_apply(PtxModifierKind operation, PtxType type, uint64_t old, uint64_t operand) {
    AtomicRule rule = {.operation = operation, .type = type};
    return apply(&rule, old, operand, 0, false);
}

PtxModifierKind atomic_operation(const MemoryOp *memory) {
    return memory->rule->operation;
}

static Outcome execute_atomic(Block *block, Warp *warp, const Op *op, uint32_t mask) {
    return access_execute(block, warp, op, mask, move_atomic);
}

/* ---- lowering --------------------------------------------------------------------------------------- */

PtxModifierKind atomic_operation_of(const PtxInstruction *in) {
    static const PtxModifierKind kinds[] = {PTX_MOD_ADD, PTX_MOD_INC, PTX_MOD_DEC, PTX_MOD_MIN,  PTX_MOD_MAX,
                                            PTX_MOD_AND, PTX_MOD_OR,  PTX_MOD_XOR, PTX_MOD_EXCH, PTX_MOD_CAS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ptx_instruction_has(in, kinds[i])) return kinds[i];
    return PTX_MODIFIER_NONE;
}

/* True if the type has this operation. */
static bool is_possible(PtxModifierKind operation, PtxType type) {
    int bytes = ptx_type_bytes(type);
    bool is_float = ptx_type_is_float(type);
    switch (operation) {
    case PTX_MOD_ADD:
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return (is_float && type != PTX_TF32 && bytes >= 2) || bytes == 4 || bytes == 8;
    case PTX_MOD_INC:
    case PTX_MOD_DEC:
        return bytes == 4 && !is_float;
    case PTX_MOD_AND:
    case PTX_MOD_OR:
    case PTX_MOD_XOR:
        return (bytes == 4 || bytes == 8) && !is_float;
    case PTX_MOD_EXCH:
        return bytes >= 4;
    case PTX_MOD_CAS:
        return bytes >= 2;
    default:
        return false;
    }
}

static bool register_of(Lowering *low, Op *op, const PtxOperand *operand, int bytes, bool source,
                        PtxType type, MemoryValue *out) {
    out->present = true;
    if (source) {
        if (operand->kind != PTX_OPERAND_REGISTER || bytes != 16) {
            if (!lowering_value(low, op, operand, type, &out->place, &out->bytes)) return false;
        } else if (!lowering_register(low, operand, &out->place, &out->bytes)) {
            return lowering_reject(low, op, "%s: malformed operand", low->instruction->name);
        }
    } else if (!lowering_destination(low, op, operand, &out->place, &out->bytes, &out->present)) {
        return false;
    }
    if (out->present && out->bytes != bytes)
        return lowering_reject(low, op, "%s: an operand has the wrong size", low->instruction->name);
    return true;
}

/* Fills values[0..], splitting 128 bits into halves. */
static bool registers_of(Lowering *low, Op *op, const MemoryOp *memory, const PtxOperand *operand,
                         bool source, MemoryValue *out) {
    if (memory->rule->wide) {
        if (!register_of(low, op, operand, 16, source, PTX_B128, &out[0])) return false;
        out[0].bytes = 8;
        out[1] = out[0];
        out[1].place.offset += 8 * WARP_LANES;
        return true;
    }
    for (int e = 0; e < memory->count; e++) {
        const PtxOperand *item = operand;
        if (operand->kind == PTX_OPERAND_VECTOR) {
            if (operand->item_count != memory->count)
                return lowering_reject(low, op, "%s: malformed vector", low->instruction->name);
            item = &operand->items[e];
        } else if (memory->count > 1) {
            return lowering_reject(low, op, "%s: a vector is needed", low->instruction->name);
        }
        if (!register_of(low, op, item, memory->element_bytes, source, memory->type, &out[e])) return false;
    }
    return true;
}

static bool lower_atomic(Lowering *low, const PtxInstruction *in, Op *op, bool has_result) {
    int place = has_result ? 1 : 0;
    if (in->operand_count < place + 2 || in->type_count < 1)
        return lowering_reject(low, op, "%s: malformed", in->name);
    MemoryOp *memory = lowering_allocate(low, sizeof *memory);
    AtomicRule *rule = lowering_allocate(low, sizeof *rule);
    int bytes = ptx_type_bytes(in->types[0]), vector = in->vector > 1 ? in->vector : 1;
    rule->operation = atomic_operation_of(in);
    rule->type = in->types[0];
    rule->wide = bytes == 16;
    rule->is_system = ptx_instruction_has(in, PTX_MOD_SYS);
    memory->core.execute = execute_atomic;
    memory->space = in->space;
    memory->kind = trace_kind_of(in);
    memory->type = in->types[0];
    memory->rule = rule;
    const PtxCode *code = &low->lowered->program->code[low->pc];
    memory->form = code->atomic_form;
    memory->overwrites = code->drops_result && ptx_instruction_has(code->instruction, PTX_MOD_EXCH);
    memory->is_atomic = memory->ordered = memory->may_drop = true;
    memory->element_bytes = (uint8_t)(rule->wide ? 8 : bytes);
    memory->count = (uint8_t)(rule->wide ? 2 : vector);
    if (!is_possible(rule->operation, rule->type) || bytes * vector > 16)
        return lowering_reject(low, op, "%s has no such form for .%s", in->name, ptx_type_text(in->types[0]));
    memory->width = (uint8_t)(memory->element_bytes * memory->count);
    op->op_class = OP_MEMORY;
    op->extra = memory;
    if (in->space != PTX_SPACE_SHARED && in->space != PTX_SPACE_SHARED_CLUSTER)
        low->lowered->lets_blocks_communicate = true;
    if (in->space == PTX_SPACE_CONST || in->space == PTX_SPACE_PARAM || in->space == PTX_SPACE_LOCAL)
        return lowering_reject(low, op, "%s works on global and shared memory", in->name);
    if (has_result && !registers_of(low, op, memory, &in->operands[0], false, memory->results)) return false;
    if (!registers_of(low, op, memory, &in->operands[place + 1], true, memory->values)) return false;
    if (rule->operation == PTX_MOD_CAS) {
        if (in->operand_count < place + 3)
            return lowering_reject(low, op, "%s.cas takes two operands", in->name);
        if (!register_of(low, op, &in->operands[place + 2], bytes, true, in->types[0], &memory->third))
            return false;
    }
    return access_lower_address(low, op, memory, &in->operands[place]);
}

OPCODE_LOWER(atom) {
    return lower_atomic(low, in, op, true);
}
bool atomic_lower_red(Lowering *low, const PtxInstruction *in, Op *op) {
    return lower_atomic(low, in, op, false);
}
