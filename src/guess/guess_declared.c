#include "guess/guess_declared.h"

#include "base/text.h"

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

static void add_number(Declared *declared, int *count, uint64_t value) {
    if (*count < GUESS_PARAMETERS)
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
    if (data.type == PTX_NO_TYPE || strncmp(type + type_length, ",1,", 3) != 0) return false;
    uint64_t bytes = (uint64_t)ptx_type_bytes(data.type), before[] = {0, 0, n, bytes}, behind[] = {n, bytes};
    for (int i = 0; i < 4; i++) add_number(declared, count, before[i]);
    if (*count < GUESS_PARAMETERS) declared[(*count)++] = data;
    for (int i = 0; i < 2; i++) add_number(declared, count, behind[i]);
    return true;
}

void declared_list(const PtxFunction *entry, uint64_t n, Declared *declared) {
    Text types = {0};
    int count = 0;
    if (ptx_readable_parameters(entry->name, &types))
        for (const char *line = text_string(&types); *line && count < GUESS_PARAMETERS;
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

Declared declared_of_source(const char *text) {
    static const char *const left_out[] = {"__restrict__", "__restrict", "restrict", "volatile", "struct"};
    Text words = {0};
    bool is_constant = false;
    int stars = 0;
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " \t\n*&");
        bool is_left_out = length == 0;
        for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
            is_left_out |= strlen(left_out[i]) == length && !memcmp(at, left_out[i], length);
        bool is_const = length == 5 && !memcmp(at, "const", 5);
        is_constant |= is_const && !stars; /* what is pointed to */
        if (!is_left_out && !is_const) text_print(&words, "%s%.*s", words.length ? " " : "", (int)length, at);
        stars += !length && *at == '*';
        at += length ? length : 1;
    }
    if (!strcmp(text_string(&words), "unsigned")) text_add(&words, " int");
    Declared declared = {.is_known = true, .is_pointer = stars > 0, .is_constant = is_constant};
    declared.type = type_of_word(text_string(&words), words.length, &declared.vector);
    if (stars > 1) declared.type = PTX_S64; /* pointers to pointers */
    text_done(&words);
    return declared;
}
