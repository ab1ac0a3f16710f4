#include "guess/guess_declared.h"

#include "guess/guess_arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

uint64_t guess_side(uint64_t n, int dimensions) {
    uint64_t side =
        dimensions == 1 ? n : (uint64_t)round(dimensions == 2 ? sqrt((double)n) : cbrt((double)n));
    while (side > 1 && dimensions > 1 && pow((double)side, dimensions) > (double)n) side--;
    return side;
}

static void add_number(Declared *declared, int *count, uint64_t value) {
    if (*count < USES_PARAMETERS)
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
    if (*count < USES_PARAMETERS) declared[(*count)++] = data;
    for (int i = 0; i < dimensions; i++) add_number(declared, count, side);
    for (int i = 1; i < dimensions; i++) stride *= side;
    for (int i = 0; i < dimensions; i++, stride /= side) add_number(declared, count, stride);
    return true;
}

void declared_list(const PtxFunction *entry, uint64_t n, Declared *declared) {
    Text types = {0};
    int count = 0;
    if (ptx_readable_parameters(entry->name, &types))
        for (const char *line = text_string(&types); *line && count < USES_PARAMETERS;
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
