#include "guess/uses.h"

#include "base/memory.h"
#include "ptx/approximate.h"

#include <stdlib.h>
#include <string.h>

typedef struct UseFlow {
    const PtxFunction *entry;
    Use *uses;
    uint64_t *from; /* [register] the parameters that an address in it is computed from, a bit each */
    uint64_t *held; /* [register] the parameters that values in it were loaded through */
    bool *is_time;  /* [register] made of what a clock shows */
    int *class;     /* [register] registers that hold the same value, as a union-find forest */
    PtxType *type;  /* [class] that arithmetic gives the value; NO_TYPE: none does */
    PtxType copied; /* of elements that are copied to shared memory asynchronously; NO_TYPE: not known */
    LinearValues linear;
    bool changed;
} UseFlow;

static bool is(const PtxInstruction *instruction, const char *name) {
    return !strcmp(instruction->name, name);
}

typedef void (*Visit)(UseFlow *flow, const PtxInstruction *instruction);

static void visit_all(UseFlow *flow, Visit visit) {
    for (int i = 0; i < flow->entry->statement_count; i++)
        if (flow->entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
            visit(flow, flow->entry->statements[i].instruction);
}

/* ---- types that only the flow of values shows ------------------------------------------------------------- */

static int find_class(UseFlow *flow, int reg) {
    while (flow->class[reg] != reg) reg = flow->class[reg] = flow->class[flow->class[reg]];
    return reg;
}

static void join(UseFlow *flow, const PtxOperand *a, const PtxOperand *b) {
    if (!a->reg || !b->reg || a->kind != PTX_OPERAND_REGISTER || b->kind != PTX_OPERAND_REGISTER) return;
    int x = find_class(flow, a->reg->index), y = find_class(flow, b->reg->index);
    flow->class[y] = x;
}

/* Moves, selections and shuffles hand on values as they are. */
static void join_moved(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    int count = instruction->operand_count;
    if (count < 2) return;
    if (is(instruction, "mov")) join(flow, &operands[0], &operands[1]);
    if (is(instruction, "selp") && count > 2)
        join(flow, &operands[0], &operands[1]), join(flow, &operands[0], &operands[2]);
    if (is(instruction, "shfl"))
        join(flow, operands[0].kind == PTX_OPERAND_PAIR ? &operands[0].items[0] : &operands[0], &operands[1]);
}

static PtxType single(PtxType type) {
    return type == PTX_F16X2 ? PTX_F16 : type == PTX_BF16X2 ? PTX_BF16 : type;
}

static void give_type(UseFlow *flow, const PtxOperand *operand, PtxType type) {
    if (!operand->reg || operand->kind != PTX_OPERAND_REGISTER) return;
    int class = find_class(flow, operand->reg->index);
    if (flow->type[class] != PTX_NO_TYPE || !ptx_type_is_float(type)) return;
    flow->type[class] = single(type);
    flow->changed = true;
}

/* Arithmetic on floats says that its operands are some; two halves moved out of a word say what the word holds. */
static void note_types(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    if (!instruction->operand_count) return;
    if (is(instruction, "mov") && instruction->operand_count > 1)
        for (int i = 0; i < 2; i++)
            for (int k = 0; k < operands[i].item_count; k++) {
                const PtxOperand *part = &operands[i].items[k];
                if (part->reg)
                    give_type(flow, &operands[1 - i], flow->type[find_class(flow, part->reg->index)]);
            }
    if (!instruction->type_count || is(instruction, "mov") || is(instruction, "ld") || is(instruction, "st"))
        return;
    PtxType to = instruction->types[0], from = instruction->types[instruction->type_count - 1];
    bool is_condition = is(instruction, "setp") || is(instruction, "st") || is(instruction, "red");
    if (!is_condition) give_type(flow, &operands[0], to);
    for (int i = is_condition ? 0 : 1; i < instruction->operand_count; i++)
        give_type(flow, &operands[i], from);
}

PtxType uses_element_type(PtxType type) {
    switch (type) {
    case PTX_B8:
        return PTX_U8;
    case PTX_B16:
        return PTX_U16;
    case PTX_B32:
    case PTX_U32:
        return PTX_S32; /* nvcc loads int as u32 */
    case PTX_B64:
        return PTX_S64;
    case PTX_F16X2:
    case PTX_BF16X2:
        return single(type);
    case PTX_U8:
    case PTX_U16:
    case PTX_U64:
    case PTX_S8:
    case PTX_S16:
    case PTX_S32:
    case PTX_S64:
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        return type;
    default:
        return PTX_NO_TYPE;
    }
}

/* The type of what is loaded into, or stored from, this operand. Bits (.b32) are what arithmetic takes them for. */
static PtxType value_type(UseFlow *flow, PtxType written, const PtxOperand *value) {
    if (value->kind == PTX_OPERAND_VECTOR && value->item_count) value = &value->items[0];
    bool is_bits = written == PTX_B16 || written == PTX_B32 || written == PTX_B64;
    PtxType flowed = value->reg ? flow->type[find_class(flow, value->reg->index)] : PTX_NO_TYPE;
    return is_bits && ptx_type_is_float(flowed) ? flowed : uses_element_type(written);
}

/* The one float type that all values of an element size have which instructions `name` move between registers and shared
 * memory; NO_TYPE: there is none, or another value among them. */
static PtxType type_in_shared(UseFlow *flow, const char *name, int bytes) {
    PtxType found = PTX_NO_TYPE;
    for (int i = 0; i < flow->entry->statement_count; i++) {
        const PtxInstruction *instruction = flow->entry->statements[i].instruction;
        if (flow->entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !is(instruction, name) ||
            instruction->space != PTX_SPACE_SHARED || instruction->operand_count < 2 ||
            !instruction->type_count || ptx_type_bytes(instruction->types[0]) != bytes)
            continue;
        PtxType type =
            value_type(flow, instruction->types[0], &instruction->operands[is(instruction, "st") ? 1 : 0]);
        if (!ptx_type_is_float(type) || (found != PTX_NO_TYPE && type != found)) return PTX_NO_TYPE;
        found = type;
    }
    return found;
}

/* What is stored in shared memory as floats alone is loaded as such, ldmatrix's words of 32 bits too. */
static void type_loads(UseFlow *flow, const PtxInstruction *instruction) {
    bool is_matrix = is(instruction, "ldmatrix");
    if ((!is(instruction, "ld") && !is_matrix) || instruction->space != PTX_SPACE_SHARED ||
        instruction->operand_count < 2 || !instruction->type_count)
        return;
    const PtxOperand *to = &instruction->operands[0];
    PtxType type = type_in_shared(flow, "st", is_matrix ? 4 : ptx_type_bytes(instruction->types[0]));
    if (type == PTX_NO_TYPE) return;
    give_type(flow, to, type);
    for (int i = 0; i < to->item_count; i++) give_type(flow, &to->items[i], type);
}

/* ---- where addresses come from ------------------------------------------------------------------------------ */

static uint64_t parameter_bit(const PtxFunction *entry, const PtxVariable *variable) {
    for (int i = 0; i < entry->parameter_count && i < USES_PARAMETERS; i++)
        if (entry->parameters[i] == variable) return UINT64_C(1) << i;
    return 0;
}

static uint64_t sources_of(const UseFlow *flow, const PtxOperand *operand) {
    uint64_t bits = operand->reg ? flow->from[operand->reg->index] : 0;
    if (operand->variable) bits |= parameter_bit(flow->entry, operand->variable);
    for (int i = 0; i < operand->item_count; i++) bits |= sources_of(flow, &operand->items[i]);
    return bits;
}

static void add_sources(UseFlow *flow, const PtxOperand *operand, uint64_t bits) {
    if (operand->reg && operand->kind == PTX_OPERAND_REGISTER && (bits & ~flow->from[operand->reg->index])) {
        flow->from[operand->reg->index] |= bits;
        flow->changed = true;
    }
    for (int i = 0; i < operand->item_count; i++) add_sources(flow, &operand->items[i], bits);
}

static bool is_address(const PtxRegister *reg) {
    return reg && ptx_type_bytes(reg->type) == 8 && !ptx_type_is_float(reg->type);
}

/* The operand that holds the address of an access, and the one that holds its value; -1: there is none. */
static int address_operand(const PtxInstruction *instruction, int *value) {
    int count = instruction->operand_count;
    bool is_load = !strncmp(instruction->name, "ld", 2) && strcmp(instruction->name, "ldmatrix") != 0;
    *value = is_load ? 0 : is(instruction, "atom") ? 2 : 1;
    bool copies = is(instruction, "cp") && ptx_instruction_has(instruction, PTX_MOD_ASYNC);
    if (copies && count > 2 && !ptx_instruction_has(instruction, PTX_MOD_BULK)) {
        *value = count;
        return 1;
    }
    if (instruction->space == PTX_SPACE_PARAM) return -1;
    if ((is_load || is(instruction, "atom")) && count > 1) return 1;
    return (is(instruction, "st") || is(instruction, "red")) && count > 1 ? 0 : -1;
}

/* Does operand `index` hold an address if the result does? A factor, or what is subtracted, does not: an index of 64 bits. */
static bool moves_pointer(const PtxInstruction *instruction, int index) {
    static const char *const products[] = {"mul", "shl", "shr", "neg", "div", "rem"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        if (is(instruction, products[i])) return false;
    return is(instruction, "mad") ? index == 3 : is(instruction, "sub") ? index == 1 : true;
}

/* Loads give other values than their address; everything else with a 64-bit result may move a pointer on. */
static void follow_addresses(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    int value;
    if (instruction->operand_count < 1 || address_operand(instruction, &value) >= 0 ||
        !is_address(operands[0].reg))
        return;
    uint64_t bits = 0;
    for (int i = 1; i < instruction->operand_count; i++)
        if (moves_pointer(instruction, i)) bits |= sources_of(flow, &operands[i]);
    add_sources(flow, &operands[0], bits);
}

static uint64_t held_by(const UseFlow *flow, const PtxOperand *operand) {
    uint64_t bits = operand->reg ? flow->held[operand->reg->index] : 0;
    for (int i = 0; i < operand->item_count; i++) bits |= held_by(flow, &operand->items[i]);
    return bits;
}

static void hold(UseFlow *flow, const PtxOperand *operand, uint64_t bits) {
    if (operand->reg && (bits & ~flow->held[operand->reg->index])) {
        flow->held[operand->reg->index] |= bits;
        flow->changed = true;
    }
    for (int i = 0; i < operand->item_count; i++) hold(flow, &operand->items[i], bits);
}

/* Floats are handed on as they are, or as whole numbers: what arithmetic makes of them is no index. */
static bool keeps_float(const PtxInstruction *instruction) {
    return is(instruction, "ld") || is(instruction, "mov") || is(instruction, "cvt");
}

/* Which values are in a register that was computed from loaded ones: an index may be. */
static void follow_values(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    int value, at = address_operand(instruction, &value);
    bool is_load = at == 1 && value == 0, is_float = false;
    for (int i = 0; i < instruction->type_count; i++) is_float |= ptx_type_is_float(instruction->types[i]);
    if (instruction->operand_count < 2 || (is_float && !keeps_float(instruction)) || (at >= 0 && !is_load) ||
        is(instruction, "setp"))
        return;
    uint64_t bits = 0;
    if (is_load && instruction->space == PTX_SPACE_SHARED) return;
    if (is_load) bits = sources_of(flow, &operands[1]);
    for (int i = 1; !is_load && i < instruction->operand_count; i++) bits |= held_by(flow, &operands[i]);
    hold(flow, &operands[0], bits);
}

static bool is_of_clock(const UseFlow *flow, const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_REGISTER && operand->reg && flow->is_time[operand->reg->index];
}

static void follow_times(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    int value;
    if (instruction->operand_count < 2 || address_operand(instruction, &value) >= 0 ||
        operands[0].kind != PTX_OPERAND_REGISTER || !operands[0].reg || is_of_clock(flow, &operands[0]))
        return;
    bool is_time = ptx_reads_machine(instruction);
    for (int i = 1; i < instruction->operand_count; i++) is_time |= is_of_clock(flow, &operands[i]);
    flow->is_time[operands[0].reg->index] = is_time;
    flow->changed |= is_time;
}

/* ---- accesses ----------------------------------------------------------------------------------------------- */

static void note_count(UseFlow *flow, Use *use, int index, const PtxInstruction *instruction,
                       const PtxOperand *address) {
    Linear place = linear_operand(&flow->linear, address), base = {.is_known = true, .count = 1};
    PtxType type = instruction->type_count ? instruction->types[instruction->type_count - 1] : PTX_NO_TYPE;
    int64_t bytes = ptx_type_bytes(type);
    base.terms[0] = (LinearTerm){1, {(uint8_t)(LINEAR_PARAMETER + index)}};
    place = linear_add(&place, &base, -1);
    UseCount count = USE_ANY;
    int64_t first = linear_coefficient(&place, 0, 0), blocks = linear_coefficient(&place, LINEAR_CTAID, 0);
    if (place.is_known && bytes && place.count == (first != 0) && first >= 0) count = USE_CONSTANT;
    if (place.is_known && bytes && place.count == 1 && blocks == bytes && instruction->vector == 1)
        count = USE_GRID;
    uint64_t reached = count == USE_CONSTANT ? (uint64_t)(first / bytes) + (uint64_t)instruction->vector : 0;
    if (reached > 64) count = USE_ANY;
    if (count > use->count) use->count = count;
    if (count == USE_CONSTANT && reached > use->elements) use->elements = reached;
}

static void note_update(UseFlow *flow, Use *use, const PtxInstruction *instruction) {
    const char *name = ptx_instruction_has(instruction, PTX_MOD_ADD)   ? "add"
                       : ptx_instruction_has(instruction, PTX_MOD_MIN) ? "min"
                       : ptx_instruction_has(instruction, PTX_MOD_MAX) ? "max"
                                                                       : "";
    bool compares = ptx_instruction_has(instruction, PTX_MOD_CAS);
    use->is_exchanged |= compares || ptx_instruction_has(instruction, PTX_MOD_EXCH);
    Linear with = compares ? linear_operand(&flow->linear, &instruction->operands[2]) : (Linear){0};
    use->is_lock |= with.is_known && !with.count;
    if (!use->is_updated || !use->update) use->update = use->is_updated ? NULL : name;
    if (use->update && strcmp(use->update, name) != 0) use->update = NULL;
    use->is_updated = true;
}

/* Only an address that comes from a single parameter is evidence about it: an index may be loaded through another. */
static void note_access(UseFlow *flow, const PtxInstruction *instruction) {
    int value, at = address_operand(instruction, &value);
    uint64_t bits = at < 0 ? 0 : sources_of(flow, &instruction->operands[at]);
    if (!bits || (bits & (bits - 1))) return;
    int index = 0;
    while (!(bits >> index & 1)) index++;
    Use *use = &flow->uses[index];
    bool is_atomic = is(instruction, "atom") || is(instruction, "red");
    if (is_atomic) note_update(flow, use, instruction);
    bool is_first = !use->is_written, is_store = is(instruction, "st") && value < instruction->operand_count;
    use->is_read |= !is(instruction, "st") && !is_atomic;
    if (is_store || is_atomic)
        use->gets_times =
            (is_first || use->gets_times) && is_store && is_of_clock(flow, &instruction->operands[value]);
    use->is_written |= is(instruction, "st") || is_atomic;
    note_count(flow, use, index, instruction, &instruction->operands[at]);
    if (use->type == PTX_NO_TYPE && instruction->type_count && value < instruction->operand_count)
        use->type =
            value_type(flow, instruction->types[instruction->type_count - 1], &instruction->operands[value]);
    if (use->type == PTX_NO_TYPE && value == instruction->operand_count) use->type = flow->copied;
}

/* How many elements of `bytes` the entry's shared arrays have; 0: not known. */
static uint64_t shared_elements(const UseFlow *flow, int bytes) {
    uint64_t all = 0;
    for (int i = 0; i < flow->entry->statement_count; i++) {
        const PtxVariable *variable = flow->entry->statements[i].variable;
        if (variable && variable->space == PTX_SPACE_SHARED && variable->bytes > all) all = variable->bytes;
    }
    return bytes ? all / (uint64_t)bytes : 0;
}

static void note_index(UseFlow *flow, const PtxInstruction *instruction) {
    int value, at = address_operand(instruction, &value);
    if (at < 0) return;
    uint64_t indices = held_by(flow, &instruction->operands[at]),
             through = sources_of(flow, &instruction->operands[at]);
    int target = -1;
    for (int i = 0; i < USES_PARAMETERS; i++)
        if (through >> i & 1 && !(indices >> i & 1)) target = i;
    if (target < 0 && through) return;
    for (int i = 0; i < USES_PARAMETERS; i++)
        if (indices >> i & 1 && !flow->uses[i].is_index) {
            flow->uses[i].is_index = true;
            flow->uses[i].indexed = target;
            flow->uses[i].most_indices =
                shared_elements(flow, instruction->type_count
                                          ? ptx_type_bytes(instruction->types[instruction->type_count - 1])
                                          : 0);
        }
}

/* An element minus 'a': letters, or another range of values, are counted. */
static void note_base(UseFlow *flow, const PtxInstruction *instruction) {
    bool adds = is(instruction, "add"), subtracts = is(instruction, "sub");
    if ((!adds && !subtracts) || instruction->operand_count < 3 ||
        instruction->operands[2].kind != PTX_OPERAND_INTEGER)
        return;
    int64_t base = adds ? -instruction->operands[2].integer : instruction->operands[2].integer;
    uint64_t bits = held_by(flow, &instruction->operands[1]);
    for (int i = 0; i < USES_PARAMETERS; i++)
        if (bits >> i & 1 && flow->uses[i].is_index && base >= ' ' && base <= '~')
            flow->uses[i].index_base = base;
}

static void note_compared(UseFlow *flow, const PtxInstruction *instruction) {
    if (!is(instruction, "setp") || instruction->operand_count < 3) return;
    uint64_t bits = held_by(flow, &instruction->operands[1]) | held_by(flow, &instruction->operands[2]);
    for (int i = 0; i < USES_PARAMETERS; i++) flow->uses[i].is_compared |= bits >> i & 1;
}

/* Two values that were loaded through the parameter are compared, or subtracted: where a row begins and ends. */
static bool compares_held(const UseFlow *flow, uint64_t bit) {
    for (int i = 0; i < flow->entry->statement_count; i++) {
        const PtxInstruction *instruction = flow->entry->statements[i].instruction;
        if (flow->entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || instruction->operand_count < 3 ||
            (!is(instruction, "setp") && !is(instruction, "sub")))
            continue;
        if (held_by(flow, &instruction->operands[1]) & held_by(flow, &instruction->operands[2]) & bit)
            return true;
    }
    return false;
}

/* p[row] and p[row + 1]: two loads an element apart, of what takes part in addresses. */
static void note_row_pointer(UseFlow *flow, const PtxInstruction *instruction) {
    const PtxOperand *address = &instruction->operands[1];
    int bytes = instruction->type_count ? ptx_type_bytes(instruction->types[0]) : 0;
    uint64_t bits = is(instruction, "ld") && instruction->space != PTX_SPACE_PARAM &&
                            instruction->space != PTX_SPACE_SHARED && address->reg
                        ? sources_of(flow, address)
                        : 0;
    if (!bits || (bits & (bits - 1))) return;
    int index = __builtin_ctzll(bits);
    Use *use = &flow->uses[index];
    if (!use->is_index || held_by(flow, address) || !compares_held(flow, bits)) return;
    for (int i = 0; i < flow->entry->statement_count && !use->is_row_pointer; i++) {
        const PtxInstruction *other = flow->entry->statements[i].instruction;
        if (flow->entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !is(other, "ld") ||
            other->operand_count < 2)
            continue;
        const PtxOperand *next = &other->operands[1];
        if (other->space == PTX_SPACE_PARAM || sources_of(flow, next) != bits) continue;
        Linear place = linear_operand(&flow->linear, address), behind = linear_operand(&flow->linear, next);
        Linear distance = linear_add(&behind, &place, -1);
        bool is_next = next->reg == address->reg && next->integer == address->integer + bytes;
        is_next |= distance.is_known && distance.count == 1 && linear_coefficient(&distance, 0, 0) == bytes;
        if (!is_next) continue;
        bool by_thread = linear_coefficient(&place, LINEAR_CTAID, LINEAR_NTID) == bytes,
             by_block = place.is_known && !linear_has(&place, LINEAR_TID);
        use->is_row_pointer = true;
        use->row_threads = by_thread ? 1 : by_block ? 0 : 32;
    }
}

static void note_names(UseFlow *flow, const PtxOperand *operand) {
    for (int i = 0; operand->variable && i < flow->entry->parameter_count && i < USES_PARAMETERS; i++)
        if (flow->entry->parameters[i] == operand->variable) flow->uses[i].is_named = true;
    for (int i = 0; i < operand->item_count; i++) note_names(flow, &operand->items[i]);
}

static void note_instruction_names(UseFlow *flow, const PtxInstruction *instruction) {
    for (int k = 0; k < instruction->operand_count; k++) note_names(flow, &instruction->operands[k]);
}

/* row * columns: an index times a parameter alone. */
static void note_stride(UseFlow *flow, const PtxInstruction *instruction) {
    if ((!is(instruction, "mul") && !is(instruction, "mad")) || instruction->operand_count < 3) return;
    for (int i = 1; i < 3; i++) {
        Linear factor = linear_operand(&flow->linear, &instruction->operands[i]);
        const PtxOperand *other = &instruction->operands[3 - i];
        if (!factor.is_known || factor.count != 1 || factor.terms[0].factors[0] < LINEAR_PARAMETER ||
            factor.terms[0].factors[1])
            continue;
        Linear index = linear_operand(&flow->linear, other);
        int number = factor.terms[0].factors[0] - LINEAR_PARAMETER;
        bool is_index =
            (other->kind == PTX_OPERAND_REGISTER || other->kind == PTX_OPERAND_SPECIAL) &&
            (!index.is_known || linear_has(&index, LINEAR_CTAID) || linear_has(&index, LINEAR_CTAID + 1) ||
             linear_has(&index, LINEAR_TID) || linear_has(&index, LINEAR_TID + 1));
        flow->uses[number].is_stride |= is_index;
        flow->uses[number].is_row_stride |=
            index.is_known && index.count == 1 && linear_coefficient(&index, LINEAR_CTAID, 0) == 1;
    }
}

void uses_find(const PtxFunction *entry, Use *uses) {
    size_t count = (size_t)entry->register_count + 1;
    UseFlow flow = {.entry = entry, .uses = uses, .copied = PTX_NO_TYPE, .changed = true};
    memset(uses, 0, USES_PARAMETERS * sizeof *uses);
    for (int i = 0; i < USES_PARAMETERS; i++) uses[i].type = PTX_NO_TYPE;
    flow.from = memory_new(count * sizeof *flow.from);
    flow.held = memory_new(count * sizeof *flow.held);
    flow.is_time = memory_new(count * sizeof *flow.is_time);
    flow.class = memory_new(count * sizeof *flow.class);
    flow.type = memory_new(count * sizeof *flow.type);
    flow.linear = linear_values(entry);
    for (size_t i = 0; i < count; i++) flow.class[i] = (int)i, flow.type[i] = PTX_NO_TYPE;
    visit_all(&flow, note_instruction_names);
    visit_all(&flow, join_moved);
    while (flow.changed) { /* around loops; sets only grow */
        flow.changed = false;
        visit_all(&flow, follow_addresses);
        visit_all(&flow, follow_values);
        visit_all(&flow, follow_times);
        visit_all(&flow, note_types);
        if (!flow.changed) visit_all(&flow, type_loads);
    }
    static const int sizes[] = {4, 2, 8};
    for (int i = 0; i < 3 && flow.copied == PTX_NO_TYPE; i++)
        flow.copied = type_in_shared(&flow, "ld", sizes[i]);
    visit_all(&flow, note_access);
    visit_all(&flow, note_index);
    visit_all(&flow, note_stride);
    visit_all(&flow, note_row_pointer);
    visit_all(&flow, note_compared);
    visit_all(&flow, note_base);
    linear_done(&flow.linear);
    free(flow.type);
    free(flow.class);
    free(flow.held);
    free(flow.is_time);
    free(flow.from);
}

/* ---- the operation ------------------------------------------------------------------------------------------- */

const char *uses_float_fold(const PtxFunction *entry) {
    static const char *const names[] = {"add", "min", "max"};
    const char *found = NULL;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !instruction->type_count ||
            !ptx_type_is_float(instruction->types[0]))
            continue;
        bool is_atomic = is(instruction, "atom") || is(instruction, "red");
        for (int k = 0; k < 3; k++)
            if (is_atomic ? !k && ptx_instruction_has(instruction, PTX_MOD_ADD) : is(instruction, names[k])) {
                if (found && found != names[k]) return NULL;
                found = names[k];
            }
    }
    return found;
}

bool uses_communicate(const PtxFunction *entry) {
    static const char *const names[] = {"shfl", "red", "atom", "redux",  "vote",
                                        "wmma", "mma", "bar",  "barrier"};
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        if (instruction->space == PTX_SPACE_SHARED) return true;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (is(instruction, names[k])) return true;
    }
    return false;
}

/* Arithmetic that makes other values of the elements than folding does. */
static bool changes_values(const PtxInstruction *instruction, bool of_floats) {
    static const char *const
        always[] = {"sqrt", "rsqrt", "ex2", "lg2", "rcp", "div", "xor", "and", "popc", "abs", "vote", "slct"},
        *const floats[] = {"mul", "fma", "mad", "sub", "neg"}, *const integers[] = {"selp", "rem", "set"};
    bool is_float = instruction->type_count && ptx_type_is_float(instruction->types[0]);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (is(instruction, always[i]) && is_float == of_floats) return true;
    for (size_t i = 0; of_floats && is_float && i < sizeof floats / sizeof *floats; i++)
        if (is(instruction, floats[i])) return true;
    for (size_t i = 0; !of_floats && i < sizeof integers / sizeof *integers; i++)
        if (is(instruction, integers[i])) return true;
    return false;
}

const char *uses_only_fold(const PtxFunction *entry) {
    Use uses[USES_PARAMETERS];
    uses_find(entry, uses);
    bool of_floats = false, has_extremes = false, compares = false;
    const char *update = NULL, *fold;
    for (int i = 0; i < entry->parameter_count && i < USES_PARAMETERS; i++) {
        of_floats |= ptx_type_is_float(uses[i].type);
        if (uses[i].is_index || uses[i].is_exchanged) return NULL;
        if (uses[i].is_updated && uses[i].update && *uses[i].update) update = uses[i].update;
    }
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION) continue;
        if (is(instruction, "call") || changes_values(instruction, of_floats)) return NULL;
        has_extremes |= is(instruction, "min") || is(instruction, "max");
        compares |= is(instruction, "setp") && ptx_type_is_float(instruction->types[0]);
    }
    if (!uses_communicate(entry)) return NULL;
    fold = of_floats ? uses_float_fold(entry) : NULL;
    if (of_floats) return fold && compares && !strcmp(fold, "add") ? NULL : fold; /* it may count */
    return update ? (has_extremes && !strcmp(update, "add") ? NULL : update) : has_extremes ? NULL : "add";
}
