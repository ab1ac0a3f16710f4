/* Elements: typed memory read, written and printed one element at a time; the names of types on the command
 * line. */
#include "plan/float16.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const struct {
    const char *name;
    PtxType type;
} TYPE_NAMES[] = {
    {"char", PTX_S8},  {"uchar", PTX_U8},    {"short", PTX_S16}, {"ushort", PTX_U16},
    {"int", PTX_S32},  {"uint", PTX_U32},    {"long", PTX_S64},  {"ulong", PTX_U64},
    {"half", PTX_F16}, {"bfloat", PTX_BF16}, {"float", PTX_F32}, {"double", PTX_F64},
};
enum { TYPE_NAME_COUNT = sizeof TYPE_NAMES / sizeof *TYPE_NAMES };

/* What people write for them: in C, CUDA, PTX, NumPy and Rust. */
static const struct {
    const char *words; /* each between two bars */
    PtxType type;
} OTHER_NAMES[] = {
    {"|int8|int8_t|i8|s8|signed char|", PTX_S8},
    {"|uint8|uint8_t|u8|unsigned char|bool|", PTX_U8},
    {"|int16|int16_t|i16|s16|short int|", PTX_S16},
    {"|uint16|uint16_t|u16|unsigned short|", PTX_U16},
    {"|int32|int32_t|i32|s32|signed|signed int|", PTX_S32},
    {"|uint32|uint32_t|u32|unsigned|unsigned int|", PTX_U32},
    {"|int64|int64_t|i64|s64|long int|long long|long long int|ptrdiff_t|", PTX_S64},
    {"|uint64|uint64_t|u64|unsigned long|unsigned long int|unsigned long long|size_t|", PTX_U64},
    {"|__half|f16|fp16|float16|", PTX_F16},
    {"|__nv_bfloat16|bf16|bfloat16|", PTX_BF16},
    {"|f32|fp32|float32|", PTX_F32},
    {"|f64|fp64|float64|", PTX_F64},
};

static bool parse_other_name(const char *name, PtxType *type) {
    char word[PLAN_TYPE_BYTES + 2];
    if (!*name || strchr(name, '|') || strlen(name) >= PLAN_TYPE_BYTES) return false;
    snprintf(word, sizeof word, "|%s|", name);
    for (size_t i = 0; i < sizeof OTHER_NAMES / sizeof *OTHER_NAMES; i++) {
        if (!strstr(OTHER_NAMES[i].words, word)) continue;
        *type = OTHER_NAMES[i].type;
        return true;
    }
    return false;
}

bool plan_type_parse(const char *name, PtxType *type) {
    for (int i = 0; i < TYPE_NAME_COUNT; i++) {
        if (strcmp(TYPE_NAMES[i].name, name) != 0) continue;
        *type = TYPE_NAMES[i].type;
        return true;
    }
    return parse_other_name(name, type);
}

const char *plan_type_name(PtxType type) {
    for (int i = 0; i < TYPE_NAME_COUNT; i++)
        if (TYPE_NAMES[i].type == type) return TYPE_NAMES[i].name;
    return ptx_type_text(type);
}

/* Reads element i as a value of a C type, whatever its alignment. */
#define READ(ctype) (memcpy(&as_##ctype, at, sizeof as_##ctype), as_##ctype)

double plan_element(PtxType type, const void *bytes, uint64_t i) {
    const uint8_t *at = (const uint8_t *)bytes + i * (uint64_t)ptx_type_bytes(type);
    int8_t as_int8_t;
    int16_t as_int16_t;
    uint16_t as_uint16_t;
    int32_t as_int32_t;
    uint32_t as_uint32_t;
    int64_t as_int64_t;
    uint64_t as_uint64_t;
    float as_float;
    double as_double;
    switch (type) {
    case PTX_S8:
        return READ(int8_t);
    case PTX_U8:
        return *at;
    case PTX_S16:
        return READ(int16_t);
    case PTX_U16:
        return READ(uint16_t);
    case PTX_S32:
        return READ(int32_t);
    case PTX_U32:
        return READ(uint32_t);
    case PTX_S64:
        return (double)READ(int64_t);
    case PTX_U64:
        return (double)READ(uint64_t);
    case PTX_F16:
        return float16_half_read(READ(uint16_t));
    case PTX_BF16:
        return float16_bfloat_read(READ(uint16_t));
    case PTX_F32:
        return (double)READ(float);
    case PTX_F64:
        return READ(double);
    default:
        return NAN;
    }
}

#undef READ

/* Truncation, defined for every double: too large values wrap, NaN and infinities become 0. */
static uint64_t wrap(double number) {
    if (fabs(number) < 0x1p63) return (uint64_t)(int64_t)number; /* nearly always */
    if (!isfinite(number)) return 0;
    double rest = fmod(trunc(number), 18446744073709551616.0);
    return rest < 0 ? -(uint64_t)-rest : (uint64_t)rest;
}

void plan_element_set(PtxType type, void *bytes, uint64_t i, double number) {
    int size = ptx_type_bytes(type);
    uint8_t *at = (uint8_t *)bytes + i * (uint64_t)size;
    float single = (float)number;
    uint16_t narrow;
    uint64_t integer;
    switch (type) {
    case PTX_F64:
        memcpy(at, &number, 8);
        break;
    case PTX_F32:
        memcpy(at, &single, 4);
        break;
    case PTX_F16:
        narrow = float16_half_write(number);
        memcpy(at, &narrow, 2);
        break;
    case PTX_BF16:
        narrow = float16_bfloat_write(number);
        memcpy(at, &narrow, 2);
        break;
    default:
        integer = wrap(number);
        for (int k = 0; k < size; k++) at[k] = (uint8_t)(integer >> (8 * k));
    }
}

/* Prints whole numbers in full, others as the shortest decimal that reads back as the same element. */
static void print_float(PtxType type, double value, Text *out) {
    char digits[40];
    if (isnan(value)) {
        text_add(out, "nan");
        return;
    }
    if (isinf(value)) {
        text_add(out, value < 0 ? "-inf" : "inf");
        return;
    }
    if (value == trunc(value) && fabs(value) <= 0x1p24) {
        text_print(out, "%.0f", value);
        return;
    }
    for (int precision = 1; precision <= 17; precision++) {
        uint8_t again[8];
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        plan_element_set(type, again, 0,
                         type == PTX_F32 ? (double)strtof(digits, NULL) : strtod(digits, NULL));
        if (plan_element(type, again, 0) == value) break;
    }
    text_add(out, digits);
}

void plan_element_print(PtxType type, const void *bytes, uint64_t i, Text *out) {
    int64_t as_signed;
    uint64_t as_unsigned;
    switch (type) {
    case PTX_S64:
        memcpy(&as_signed, (const uint8_t *)bytes + 8 * i, 8);
        text_print(out, "%" PRId64, as_signed);
        break;
    case PTX_U64:
        memcpy(&as_unsigned, (const uint8_t *)bytes + 8 * i, 8);
        text_print(out, "%" PRIu64, as_unsigned);
        break;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F32:
    case PTX_F64:
        print_float(type, plan_element(type, bytes, i), out);
        break;
    default:
        text_print(out, "%.0f", plan_element(type, bytes, i));
    }
}
