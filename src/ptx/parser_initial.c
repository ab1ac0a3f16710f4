/* Initial values of variables ("Initializers").
 *
 *   initial = element | list            list = "{" [(element | list) {"," (element | list)}] "}"
 *   element = constant | address | mask "(" address ")"
 *   address = (name | "generic" "(" name [("+"|"-") constant] ")") [("+"|"-") constant]
 *
 * A nested list fills one row of the array (or one vector); missing elements are zero. A mask such as 0xFF00
 * picks one byte of an address for arrays of .b8. */
#include "ptx/parser.h"

#include <assert.h>
#include <stdlib.h>

typedef struct Filling {
    PtxVariable *variable;
    uint64_t rows[20]; /* elements of one sub-list at each level; [levels - 1] is 1 */
    int levels;
    bool grows; /* x[] = {...}: the list determines the first dimension */
    uint8_t *bytes;
    size_t used, capacity; /* bytes */
    PtxRelocation *relocations;
    size_t relocation_count, relocation_capacity;
} Filling;

static bool place(PtxParser *parser, Filling *to, uint64_t index, const void *value, int bytes) {
    uint64_t offset = index * (uint64_t)bytes, end = offset + (uint64_t)bytes;
    if (parser->initial_bytes + end > PTX_INITIAL_LIMIT)
        return ptx_fail(parser, &parser->previous, "initial values of more than 256 MB are not read");
    if (end > to->used) {
        array_reserve(to->bytes, end, to->capacity);
        memset(to->bytes + to->used, 0, end - to->used);
        to->used = end;
    }
    assert(to->bytes);
    memcpy(to->bytes + offset, value, (size_t)bytes);
    return true;
}

static bool constant_element(PtxParser *parser, Filling *to, uint64_t index) {
    PtxToken at = parser->token;
    PtxConstant value;
    if (!ptx_constant(parser, &value)) return false;
    PtxType type = to->variable->type;
    uint64_t bits[2] = {value.integer, !value.is_unsigned && (int64_t)value.integer < 0 ? UINT64_MAX : 0};
    double number = value.is_float      ? value.number
                    : value.is_unsigned ? (double)value.integer
                                        : (double)(int64_t)value.integer;
    if (type == PTX_F64) memcpy(bits, &number, sizeof number);
    if (type == PTX_F64 && value.bits_bytes == 8) bits[0] = value.bits;
    if (type == PTX_F32) {
        float single = (float)number;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        bits[0] = value.bits_bytes == 4 ? value.bits : word;
    }
    if (ptx_type_is_float(type) && type != PTX_F32 && type != PTX_F64)
        return ptx_fail(parser, &at, "variables of type .%s have no initial values; use .b16 or .b32 bits",
                        ptx_type_text(type));
    if (value.is_float && type != PTX_F32 && type != PTX_F64)
        return ptx_fail(parser, &at, "a float cannot initialise a variable of type .%s", ptx_type_text(type));
    return place(parser, to, index, bits, ptx_type_bytes(type)); /* little-endian, like the host */
}

static bool addend(PtxParser *parser, int64_t *out) {
    while (parser->token.kind == '+' || parser->token.kind == '-') {
        bool minus = parser->token.kind == '-';
        ptx_advance(parser);
        int64_t value;
        PtxConstant constant;
        PtxToken at = parser->token;
        if (!ptx_constant(parser, &constant)) return false;
        if (constant.is_float) return ptx_fail(parser, &at, "an offset must be an integer");
        value = (int64_t)constant.integer;
        *out = (int64_t)(minus ? (uint64_t)*out - (uint64_t)value : (uint64_t)*out + (uint64_t)value);
    }
    return true;
}

static bool address(PtxParser *parser, PtxRelocation *out) {
    PtxToken at = parser->token;
    if (!ptx_expect(parser, PTX_TOKEN_NAME, "an initial value")) return false;
    out->generic = ptx_token_is(&at, "generic") && ptx_accept(parser, '(');
    if (out->generic) {
        at = parser->token;
        if (!ptx_expect(parser, PTX_TOKEN_NAME, "a variable's name") || !addend(parser, &out->addend) ||
            !ptx_expect(parser, ')', "')'"))
            return false;
    }
    PtxName *name = ptx_token_name(parser, &at);
    out->symbol = name->text;
    PtxSymbolUse use = {name, at};
    array_push(parser->uses, parser->use_count, parser->use_capacity, use);
    return addend(parser, &out->addend);
}

static bool add_address(PtxParser *parser, Filling *to, uint64_t index, const PtxToken *at,
                        PtxRelocation *relocation) {
    static const uint8_t zero[16];
    int bytes = ptx_type_bytes(to->variable->type);
    relocation->offset = index * (uint64_t)bytes;
    if (relocation->bytes != 1) relocation->bytes = bytes;
    if (relocation->bytes != bytes || (bytes != 1 && bytes != 4 && bytes != 8) ||
        ptx_type_is_float(to->variable->type))
        return ptx_fail(parser, at, "an address does not fit an element of type .%s",
                        ptx_type_text(to->variable->type));
    array_push(to->relocations, to->relocation_count, to->relocation_capacity, *relocation);
    return place(parser, to, index, zero, bytes);
}

static bool masked_address(PtxParser *parser, Filling *to, uint64_t index) { /* 0xFF00(symbol) */
    PtxToken at = parser->token;
    PtxConstant mask = {0};
    mask.integer = strtoull(at.begin, NULL, 0);
    PtxRelocation relocation = {.bytes = 1};
    while (relocation.shift < 64 && mask.integer != (uint64_t)0xff << relocation.shift) relocation.shift += 8;
    if (relocation.shift == 64) return ptx_fail(parser, &at, "a mask must pick one byte, as 0xFF or 0xFF00");
    ptx_advance(parser);
    return ptx_expect(parser, '(', "'('") && address(parser, &relocation) && ptx_expect(parser, ')', "')'") &&
           add_address(parser, to, index, &at, &relocation);
}

static bool number_then_parenthesis(const PtxParser *parser) {
    if (parser->token.kind != PTX_TOKEN_NUMBER) return false;
    PtxLexer ahead = parser->lexer;
    return ptx_lexer_next(&ahead).kind == '(';
}

static bool element(PtxParser *parser, Filling *to, uint64_t index) {
    if (number_then_parenthesis(parser)) return masked_address(parser, to, index);
    if (ptx_constant_begins(parser)) return constant_element(parser, to, index);
    PtxToken at = parser->token;
    PtxRelocation relocation = {0};
    return address(parser, &relocation) && add_address(parser, to, index, &at, &relocation);
}

/* Fills from element `index` on; `room` is where this list must end. Returns the index after the last
 * element. */
static bool list(PtxParser *parser, Filling *to, int level, uint64_t index, uint64_t room) {
    if (!ptx_expect(parser, '{', "'{'")) return false;
    uint64_t row = to->rows[level];
    while (parser->token.kind != '}') {
        if (index >= room)
            return ptx_fail(parser, &parser->token, "more initial values than the variable has elements");
        if (parser->token.kind == '{') {
            if (level + 1 >= to->levels)
                return ptx_fail(parser, &parser->token, "this list of initial values is nested too deeply");
            if (!list(parser, to, level + 1, index, index + row)) return false;
            index += row;
        } else {
            if (!element(parser, to, index)) return false;
            index++;
        }
        if (!ptx_accept(parser, ',')) break;
        if (level + 1 < to->levels && parser->token.kind == '{') index = (index + row - 1) / row * row;
    }
    return ptx_expect(parser, '}', "'}'");
}

static void keep(PtxParser *parser, Filling *from) {
    PtxVariable *variable = from->variable;
    uint64_t element_bytes = (uint64_t)ptx_type_bytes(variable->type) * (uint64_t)variable->vector;
    if (from->grows) {
        uint64_t row = from->rows[0] * (uint64_t)ptx_type_bytes(variable->type);
        variable->bytes = (from->used + row - 1) / row * row;
        variable->count = variable->bytes / element_bytes;
    }
    uint8_t *bytes = arena_new(&parser->module->arena, variable->bytes);
    if (from->used) memcpy(bytes, from->bytes, from->used);
    variable->initial = bytes;
    variable->relocations =
        ptx_keep(parser->module, from->relocations, from->relocation_count, sizeof *from->relocations);
    variable->relocation_count = (int)from->relocation_count;
    parser->initial_bytes += variable->bytes;
    from->relocations = NULL;
}

bool ptx_parse_initial(PtxParser *parser, PtxVariable *variable, const uint64_t *dimensions,
                       int dimension_count) {
    Filling to = {.variable = variable, .grows = dimension_count && !dimensions[0]};
    PtxToken at = parser->token;
    uint64_t row = 1;
    if (variable->vector > 1) to.rows[to.levels++] = 1;
    if (variable->vector > 1) row = (uint64_t)variable->vector;
    for (int i = dimension_count - 1; i >= 0; i--) { /* innermost first; reversed below */
        to.rows[to.levels++] = row;
        if (i && row > PTX_VARIABLE_LIMIT / dimensions[i])
            return ptx_fail(parser, &at, "this variable is too large");
        row *= dimensions[i];
    }
    if (!to.levels) to.rows[to.levels++] = 1;
    for (int i = 0; i < to.levels / 2; i++) {
        uint64_t swap = to.rows[i];
        to.rows[i] = to.rows[to.levels - 1 - i];
        to.rows[to.levels - 1 - i] = swap;
    }
    uint64_t room = to.grows ? UINT64_MAX / 256 : variable->count * (uint64_t)variable->vector;
    bool good = parser->token.kind == '{' ? list(parser, &to, 0, 0, room) : element(parser, &to, 0);
    uint64_t total = to.grows ? to.used + to.rows[0] * 16 : variable->bytes;
    if (good && total + parser->initial_bytes > PTX_INITIAL_LIMIT)
        good = ptx_fail(parser, &at, "initial values of more than 256 MB are not read");
    if (good) keep(parser, &to);
    free(to.bytes);
    free(to.relocations);
    return good;
}
