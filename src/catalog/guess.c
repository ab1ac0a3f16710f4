#include "catalog/guess.h"

#include "base/memory.h"
#include "catalog/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 64 };

/* ---- the shape ----------------------------------------------------------------------------------------- */

static void look_at_operand(const PtxOperand *operand, KernelShape *shape) {
    static const char *const sizes[] = {"%tid", "%ntid", "%ctaid", "%nctaid"};
    if (operand->kind == PTX_OPERAND_SPECIAL && operand->name)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            size_t length = strlen(sizes[i]);
            if (strncmp(operand->name, sizes[i], length) != 0 || operand->name[length] != '.') continue;
            int dimensions = operand->name[length + 1] - 'x' + 1;
            if (dimensions > shape->dimensions && dimensions <= 3) shape->dimensions = dimensions;
        }
    const PtxVariable *variable = operand->variable;
    if (variable && variable->space == PTX_SPACE_SHARED && !variable->bytes) shape->has_dynamic_shared = true;
    for (int i = 0; i < operand->item_count; i++) look_at_operand(&operand->items[i], shape);
}

static bool has_unsized_array(const PtxModule *module) {
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == PTX_SPACE_SHARED && !module->variables[i]->bytes) return true;
    return false;
}

KernelShape guess_shape(const PtxModule *module, const PtxFunction *entry) {
    KernelShape shape = {.dimensions = 1};
    bool calls = false;
    for (int i = 0; i < module->variable_count; i++)
        if (module->variables[i]->space == PTX_SPACE_SHARED)
            shape.static_shared += module->variables[i]->bytes;
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxStatement *statement = &entry->statements[i];
        if (statement->variable && statement->variable->space == PTX_SPACE_SHARED)
            shape.static_shared += statement->variable->bytes;
        if (statement->kind != PTX_STATEMENT_INSTRUCTION) continue;
        calls |= !strcmp(statement->instruction->name, "call");
        for (int k = 0; k < statement->instruction->operand_count; k++)
            look_at_operand(&statement->instruction->operands[k], &shape);
    }
    shape.has_dynamic_shared |= calls && has_unsized_array(module);
    return shape;
}

/* ---- what happens to the parameters -------------------------------------------------------------------- */

typedef struct Use { /* of one parameter */
    bool is_named;   /* by any instruction */
    bool is_read, is_written;
    PtxType type; /* of the first load or store through it; NO_TYPE: none was seen */
} Use;

typedef struct Uses {
    const PtxFunction *entry;
    uint64_t *from; /* [register] the parameters that its value is computed from, a bit each */
    Use items[MOST_PARAMETERS];
    bool changed;
} Uses;

static uint64_t parameter_bit(const PtxFunction *entry, const PtxVariable *variable) {
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++)
        if (entry->parameters[i] == variable) return UINT64_C(1) << i;
    return 0;
}

static uint64_t sources_of(const Uses *uses, const PtxOperand *operand) {
    uint64_t bits = operand->reg ? uses->from[operand->reg->index] : 0;
    if (operand->variable) bits |= parameter_bit(uses->entry, operand->variable);
    for (int i = 0; i < operand->item_count; i++) bits |= sources_of(uses, &operand->items[i]);
    return bits;
}

static void add_sources(Uses *uses, const PtxOperand *operand, uint64_t bits) {
    if (operand->reg && operand->kind == PTX_OPERAND_REGISTER && (bits & ~uses->from[operand->reg->index])) {
        uses->from[operand->reg->index] |= bits;
        uses->changed = true;
    }
    for (int i = 0; i < operand->item_count; i++) add_sources(uses, &operand->items[i], bits);
}

static PtxType element_type(PtxType type) {
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

/* Only an address that comes from a single parameter is evidence about it: an index may be loaded through
 * another. */
static void note_access(Uses *uses, uint64_t bits, const PtxInstruction *instruction, bool reads,
                        bool writes) {
    if (!bits || (bits & (bits - 1))) return;
    int index = 0;
    while (!(bits >> index & 1)) index++;
    Use *use = &uses->items[index];
    use->is_read |= reads;
    use->is_written |= writes;
    if (use->type == PTX_NO_TYPE && instruction->type_count)
        use->type = element_type(instruction->types[instruction->type_count - 1]);
}

static bool is_address(const PtxRegister *reg) {
    return reg && ptx_type_bytes(reg->type) == 8 && !ptx_type_is_float(reg->type);
}

/* Loads give other values than their address; everything else with a 64-bit result may move a pointer on. */
static void look_at(Uses *uses, const PtxInstruction *instruction) {
    const PtxOperand *operands = instruction->operands;
    int count = instruction->operand_count;
    if (count < 1) return;
    bool is_parameter = instruction->space == PTX_SPACE_PARAM, is_load = !strncmp(instruction->name, "ld", 2);
    if (is_load && !is_parameter && count > 1) {
        note_access(uses, sources_of(uses, &operands[1]), instruction, true, false);
    } else if (!strcmp(instruction->name, "st") && !is_parameter) {
        note_access(uses, sources_of(uses, &operands[0]), instruction, false, true);
    } else if (!strcmp(instruction->name, "red")) {
        note_access(uses, sources_of(uses, &operands[0]), instruction, true, true);
    } else if (!strcmp(instruction->name, "atom") && count > 1) {
        note_access(uses, sources_of(uses, &operands[1]), instruction, true, true);
    } else if (is_address(operands[0].reg)) {
        uint64_t bits = 0;
        for (int i = 1; i < count; i++) bits |= sources_of(uses, &operands[i]);
        add_sources(uses, &operands[0], bits);
    }
}

static void note_names(Uses *uses, const PtxOperand *operand) {
    for (int i = 0; operand->variable && i < uses->entry->parameter_count && i < MOST_PARAMETERS; i++)
        if (uses->entry->parameters[i] == operand->variable) uses->items[i].is_named = true;
    for (int i = 0; i < operand->item_count; i++) note_names(uses, &operand->items[i]);
}

static void find_uses(Uses *uses, const PtxFunction *entry) {
    *uses = (Uses){.entry = entry, .changed = true};
    for (int i = 0; i < MOST_PARAMETERS; i++) uses->items[i].type = PTX_NO_TYPE;
    for (int i = 0; i < entry->statement_count; i++)
        if (entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
            for (int k = 0; k < entry->statements[i].instruction->operand_count; k++)
                note_names(uses, &entry->statements[i].instruction->operands[k]);
    uses->from = memory_new(((size_t)entry->register_count + 1) * sizeof *uses->from);
    while (uses->changed) { /* around loops; sets only grow */
        uses->changed = false;
        for (int i = 0; i < entry->statement_count; i++)
            if (entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION)
                look_at(uses, entry->statements[i].instruction);
    }
    free(uses->from);
}

/* ---- C++ parameters ------------------------------------------------------------------------------------ */

typedef struct Declared { /* "const float*" */
    bool is_known, is_pointer, is_constant;
    int vector;     /* float4: 4; else 1 */
    PtxType type;   /* pointed to, or the value's; NO_TYPE: a structure, an enumeration */
    uint64_t value; /* of a number that belongs to an array of Numba's */
    bool has_value;
} Declared;

static PtxType type_of_word(const char *word, size_t length, int *vector) {
    static const struct {
        const char *name;
        PtxType type;
    } words[] = {
        {"char", PTX_S8},           {"signed char", PTX_S8},     {"unsigned char", PTX_U8},
        {"bool", PTX_U8},           {"short", PTX_S16},          {"unsigned short", PTX_U16},
        {"int", PTX_S32},           {"unsigned int", PTX_U32},   {"long", PTX_S64},
        {"unsigned long", PTX_U64}, {"long long", PTX_S64},      {"unsigned long long", PTX_U64},
        {"float", PTX_F32},         {"double", PTX_F64},         {"__half", PTX_F16},
        {"half", PTX_F16},          {"__nv_bfloat16", PTX_BF16}, {"uint", PTX_U32},
        {"_Float16", PTX_F16},      {"uchar", PTX_U8},           {"ushort", PTX_U16},
        {"ulong", PTX_U64},         {"longlong", PTX_S64},       {"ulonglong", PTX_U64},
        {"__bf16", PTX_BF16},
    };
    for (int is_vector = 0; is_vector < 2 && length > 1; is_vector++, length--) { /* float4 */
        if (is_vector && (word[length] < '2' || word[length] > '4')) break;
        *vector = is_vector ? word[length] - '0' : 1;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (strlen(words[i].name) == length && !memcmp(words[i].name, word, length)) return words[i].type;
    }
    return PTX_NO_TYPE;
}

/* One line of ptx_readable_parameters(). */
static Declared read_declared(const char *text, size_t length) {
    Declared declared = {.is_known = length > 0, .type = PTX_NO_TYPE};
    if (length > 6 && !strncmp(text, "const ", 6)) {
        declared.is_constant = true;
        text += 6;
        length -= 6;
    }
    if (length && text[length - 1] == '*') {
        declared.is_pointer = true;
        length--;
    }
    if (length > 9 && !strncmp(text + length - 9, " volatile", 9)) length -= 9;
    declared.type = type_of_word(text, length, &declared.vector);
    return declared;
}

static void add_number(Declared *declared, int *count, uint64_t value) {
    if (*count < MOST_PARAMETERS)
        declared[(*count)++] =
            (Declared){.is_known = true, .type = PTX_NO_TYPE, .value = value, .has_value = true};
}

/* "Array<float,2,C,mutable,aligned>", as Numba passes it: the object and its parent (null for kernels), how
 * many elements, the size of one, the pointer, the size of each dimension, its stride in bytes. */
static bool add_numba_array(const char *text, size_t length, uint64_t n, Declared *declared, int *count) {
    static const char head[] = "Array<";
    if (length < sizeof head || strncmp(text, head, sizeof head - 1) != 0) return false;
    const char *type = text + sizeof head - 1;
    size_t type_length = strcspn(type, ",\n");
    Declared data = {.is_known = true, .is_pointer = true};
    data.type = type_of_word(type, type_length, &data.vector);
    int dimensions = type[type_length] == ',' ? atoi(type + type_length + 1) : 0;
    if (data.type == PTX_NO_TYPE || dimensions < 1 || dimensions > 3) return false;
    uint64_t side = guess_side(n, dimensions), bytes = (uint64_t)ptx_type_bytes(data.type), stride = bytes;
    uint64_t numbers[] = {0, 0, n, bytes};
    for (int i = 0; i < 4; i++) add_number(declared, count, numbers[i]);
    if (*count < MOST_PARAMETERS) declared[(*count)++] = data;
    for (int i = 0; i < dimensions; i++) add_number(declared, count, side);
    for (int i = 1; i < dimensions; i++) stride *= side;
    for (int i = 0; i < dimensions; i++, stride /= side) add_number(declared, count, stride);
    return true;
}

static void list_declared(const PtxFunction *entry, uint64_t n, Declared *declared) {
    Text types = {0};
    int count = 0;
    if (ptx_readable_parameters(entry->name, &types))
        for (const char *line = text_string(&types); *line && count < MOST_PARAMETERS;
             line += *line == '\n') {
            size_t length = strcspn(line, "\n");
            if (!add_numba_array(line, length, n, declared, &count))
                declared[count++] = read_declared(line, length);
            line += length;
        }
    if (count != entry->parameter_count)
        for (int i = 0; i < count; i++) declared[i] = (Declared){0};
    text_done(&types);
}

static bool is_marked(const PtxVariable *parameter) {
    return parameter->text && strstr(parameter->text, ".ptr") != NULL;
}

static bool may_be_pointer(const PtxVariable *parameter) {
    return parameter->bytes == 8 && (parameter->type == PTX_U64 || parameter->type == PTX_B64);
}

/* What the C++ name says; else .ptr, with which newer compilers mark pointers; else whether it is used as
 * one, where any is seen to be. */
static bool is_pointer(const Uses *uses, int index, const Declared *declared) {
    const PtxFunction *entry = uses->entry;
    bool any_marked = false, any_used = false;
    if (!may_be_pointer(entry->parameters[index])) return false;
    if (declared->is_known) return declared->is_pointer;
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++) {
        any_marked |= is_marked(entry->parameters[i]);
        any_used |= uses->items[i].is_read || uses->items[i].is_written;
    }
    if (any_marked) return is_marked(entry->parameters[index]);
    return !any_used || uses->items[index].is_read || uses->items[index].is_written;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

static void add_scalar(const PtxVariable *parameter, const Declared *declared, uint64_t n, uint64_t side,
                       Text *out) {
    if (declared->has_value && declared->value == n) text_add(out, "n");
    if (declared->has_value && declared->value != n) text_print(out, "%" PRIu64, declared->value);
    if (declared->has_value) return;
    bool is_float = ptx_type_is_float(parameter->type) || ptx_type_is_float(declared->type);
    uint64_t bytes = parameter->bytes, limit = bytes < 8 ? (UINT64_C(1) << (8 * bytes - 1)) - 1 : INT64_MAX;
    if (is_float)
        text_add(out, "1.0");
    else if (bytes > 1 && side <= limit && side == n)
        text_add(out, "n");
    else
        text_print(out, "%" PRIu64, bytes > 1 && side <= limit ? side : 1);
}

uint64_t guess_side(uint64_t n, int dimensions) {
    uint64_t side =
        dimensions == 1 ? n : (uint64_t)round(dimensions == 2 ? sqrt((double)n) : cbrt((double)n));
    while (side > 1 && dimensions > 1 && pow((double)side, dimensions) > (double)n) side--;
    return side;
}

void guess_arguments(const PtxFunction *entry, uint64_t n, uint64_t side, const char *fill, Text *out) {
    Declared declared[MOST_PARAMETERS] = {0};
    Uses uses;
    int inputs = 0, outputs = 0;
    list_declared(entry, n, declared);
    find_uses(&uses, entry);
    for (int i = 0; i < entry->parameter_count && i < MOST_PARAMETERS; i++) {
        const Use *use = &uses.items[i];
        text_add(out, i ? ", " : "");
        if (!is_pointer(&uses, i, &declared[i])) {
            add_scalar(entry->parameters[i], &declared[i], n, side, out);
            continue;
        }
        if (!use->is_named && !declared[i].is_known) {
            text_add(out, "0"); /* Triton's scratch memory, of a kernel that wants none */
            continue;
        }
        bool only_read = declared[i].is_constant || (use->is_read && !use->is_written),
             only_written = !use->is_read && use->is_written,
             is_input = only_read || (!only_written && !inputs && !outputs);
        int number = is_input ? ++inputs : ++outputs;
        PtxType type = declared[i].type != PTX_NO_TYPE ? declared[i].type
                       : use->type != PTX_NO_TYPE      ? use->type
                                                       : PTX_S32;
        text_add(out, is_input ? "in" : "out");
        if (number > 1) text_print(out, "%d", number);
        text_print(out, "=%s[n", plan_type_name(type));
        if (declared[i].vector > 1) text_print(out, "*%d", declared[i].vector);
        text_add(out, "]");
        if (is_input) text_print(out, ":%s", fill);
    }
}

/* ---- beside the file ---- */

bool guess_shared_beside(const char *ptx_path, uint32_t *bytes) {
    enum { LIMIT_BYTES = 1 << 20 };
    const char *dot = strrchr(ptx_path, '.'), *slash = strrchr(ptx_path, '/');
    Text path = {0};
    char *json = NULL;
    size_t length;
    text_add_bytes(&path, ptx_path, dot && dot > slash ? (size_t)(dot - ptx_path) : strlen(ptx_path));
    text_add(&path, ".json");
    bool found = text_read_file(text_string(&path), LIMIT_BYTES, &json, &length, NULL);
    text_done(&path);
    char *at = found ? strstr(json, "\"shared\":") : NULL, *end = at;
    unsigned long long value = at ? strtoull(at + strlen("\"shared\":"), &end, 10) : 0;
    found = at && end > at + strlen("\"shared\":") && value <= UINT32_MAX && strstr(json, "\"num_warps\"");
    if (found) *bytes = (uint32_t)value;
    free(json);
    return found;
}
