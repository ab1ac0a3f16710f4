#include "guess/guess_parameters.h"

#include "plan/plan.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the PTX, where no name says more ------------------------------------------------------------------ */

/* The first type of the entry's floats of so many bytes; NO_TYPE: it has none. */
static PtxType float_of(const PtxFunction *entry, int bytes) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        for (int k = 0; entry->statements[i].kind == PTX_STATEMENT_INSTRUCTION && k < instruction->type_count;
             k++)
            if (ptx_type_is_float(instruction->types[k]) && ptx_type_bytes(instruction->types[k]) == bytes)
                return instruction->types[k];
    }
    return PTX_NO_TYPE;
}

PtxType guess_element_type(const PtxFunction *entry, PtxType type) {
    bool is_bits = type == PTX_B16 || type == PTX_B32 || type == PTX_B64;
    PtxType found = is_bits ? float_of(entry, ptx_type_bytes(type)) : PTX_NO_TYPE;
    if (found != PTX_NO_TYPE) type = found;
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
        return PTX_F16;
    case PTX_BF16X2:
        return PTX_BF16;
    default:
        return type;
    }
}

/* What the entry first loads from global memory; what it first stores or adds there; NO_TYPE: nothing. */
static PtxType accessed_type(const PtxFunction *entry, bool is_load) {
    for (int i = 0; i < entry->statement_count; i++) {
        const PtxInstruction *instruction = entry->statements[i].instruction;
        if (entry->statements[i].kind != PTX_STATEMENT_INSTRUCTION || !instruction->type_count) continue;
        bool is_of_shared = instruction->space != PTX_SPACE_GLOBAL && instruction->space != PTX_SPACE_GENERIC;
        bool loads = !strcmp(instruction->name, "ld");
        bool stores = !strcmp(instruction->name, "st") || !strcmp(instruction->name, "red") ||
                      !strcmp(instruction->name, "atom");
        if (!is_of_shared && (is_load ? loads : stores))
            return guess_element_type(entry, instruction->types[instruction->type_count - 1]);
    }
    return PTX_NO_TYPE;
}

static bool is_marked(const PtxVariable *parameter) {
    return parameter->text && strstr(parameter->text, ".ptr") != NULL;
}

/* By .ptr, with which newer compilers mark pointers; else every word of 64 bits. */
static bool may_be_pointer(const PtxFunction *entry, int index) {
    const PtxVariable *parameter = entry->parameters[index];
    bool any_marked = false;
    for (int i = 0; i < entry->parameter_count; i++) any_marked |= is_marked(entry->parameters[i]);
    bool has_size = parameter->bytes == 8 && (parameter->type == PTX_U64 || parameter->type == PTX_B64);
    return has_size && (!any_marked || is_marked(parameter));
}

/* ---- names and literals -------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *words, size_t count) {
    char lower[32] = "";
    for (size_t i = 0; name[i] && i + 1 < sizeof lower; i++) lower[i] = (char)tolower((unsigned char)name[i]);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(lower, words[i])) return true;
    return false;
}

static bool names_n(const char *name) {
    static const char *const words[] = {"n",   "size",  "len",   "length",  "count",
                                        "num", "numel", "total", "elements"};
    return is_among(name, words, sizeof words / sizeof *words);
}

static bool may_be_named(const GuessParameter *parameters, int index, const char *name) {
    static const char *const taken[] = {"n", "block", "grid", "null", "inf", "nan"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(name, taken[i])) return false;
    for (int i = 0; i < index; i++)
        if (parameters[i].name && !strcmp(name, parameters[i].name)) return false;
    return true;
}

static bool is_null(const char *text) {
    return !strcmp(text, "nullptr") || !strcmp(text, "NULL") || !strcmp(text, "0");
}

/* What the launch says of a parameter. */
static void read_argument(const GuessSource *source, GuessParameter *parameters, int index) {
    GuessParameter *parameter = &parameters[index];
    if (!source->launch || index >= source->launch->item_count) return;
    parameter->text = source->launch->items[index];
    if (!parameter->is_pointer) {
        parameter->is_literal |= host_code_number(source->code, parameter->text, NULL, &parameter->value);
        return;
    }
    for (int i = 0; i < index && parameter->same_as < 0; i++)
        if (parameters[i].is_pointer && parameters[i].text && !strcmp(parameters[i].text, parameter->text))
            parameter->same_as = i;
    parameter->is_null = is_null(parameter->text);
    parameter->count = host_code_length(source->code, parameter->text);
    parameter->is_literal = parameter->is_null || parameter->count ||
                            (parameter->same_as >= 0 && parameters[parameter->same_as].is_literal);
}

static void read_source(const PtxFunction *entry, const GuessSource *source, int index, Arena *arena,
                        GuessParameter *parameters, Declared *declared) {
    Text type = {0}, name = {0};
    if (source->code &&
        host_code_parameter(source->code, source->kernel, index, entry->parameter_count, &type, &name)) {
        if (!declared->is_known) *declared = declared_of_source(text_string(&type));
        parameters[index].name = arena_copy_text(arena, text_string(&name), name.length);
    }
    text_done(&type);
    text_done(&name);
}

static void describe(const PtxFunction *entry, int index, const Declared *declared,
                     GuessParameter *parameter) {
    const PtxVariable *variable = entry->parameters[index];
    bool fits = variable->bytes == 8 && !ptx_type_is_float(variable->type);
    parameter->same_as = -1;
    parameter->is_pointer = declared->is_known ? declared->is_pointer && fits : may_be_pointer(entry, index);
    parameter->is_constant = declared->is_constant;
    parameter->vector = declared->vector > 1 ? declared->vector : 1;
    parameter->type = declared->type;
    if (!parameter->is_pointer && parameter->type == PTX_NO_TYPE) parameter->type = variable->type;
    if (declared->has_value) parameter->value = expression_integer((int64_t)declared->value);
    parameter->is_literal = declared->has_value;
}

/* A launch whose pointers are all null is there for the instance of a template: nothing is known of them. */
static void forget_nulls(GuessParameter *parameters, int count) {
    bool all = true;
    for (int i = 0; i < count; i++) all &= !parameters[i].is_pointer || parameters[i].is_null;
    for (int i = 0; i < count && all; i++) {
        if (!parameters[i].is_pointer) continue;
        parameters[i].is_null = parameters[i].is_literal = false;
        parameters[i].same_as = -1;
    }
}

/* Inputs, and n. */
static void choose_roles(const PtxFunction *entry, GuessParameter *parameters, int count) {
    int constants = 0, first = -1, n = -1;
    for (int i = 0; i < count; i++) {
        constants += parameters[i].is_pointer && parameters[i].is_constant;
        if (parameters[i].is_pointer && first < 0) first = i;
    }
    for (int i = 0; i < count; i++) {
        GuessParameter *parameter = &parameters[i];
        parameter->is_input = parameter->is_pointer && (constants ? parameter->is_constant : i == first);
        if (!parameter->is_pointer || parameter->type != PTX_NO_TYPE) continue;
        parameter->type = accessed_type(entry, parameter->is_input);
        if (parameter->type == PTX_NO_TYPE) parameter->type = accessed_type(entry, !parameter->is_input);
        if (parameter->type == PTX_NO_TYPE) parameter->type = PTX_S32;
    }
    bool is_named = false;
    for (int i = 0; i < count; i++) {
        bool is_size = !parameters[i].is_pointer && !ptx_type_is_float(parameters[i].type) &&
                       entry->parameters[i]->bytes >= 4 && entry->parameters[i]->bytes <= 8;
        bool names = parameters[i].name && names_n(parameters[i].name);
        if (!is_size || is_named) continue;
        n = i;
        is_named = names;
    }
    if (n >= 0 && (is_named || !parameters[n].is_literal)) parameters[n].is_n = true;
}

void guess_parameters(const PtxFunction *entry, const GuessSource *source, uint64_t n, Arena *arena,
                      GuessParameter *parameters) {
    Declared declared[GUESS_PARAMETERS] = {0};
    int count = entry->parameter_count < GUESS_PARAMETERS ? entry->parameter_count : GUESS_PARAMETERS;
    declared_list(entry, n, declared);
    for (int i = 0; i < count; i++) {
        parameters[i] = (GuessParameter){0};
        read_source(entry, source, i, arena, parameters, &declared[i]);
        describe(entry, i, &declared[i], &parameters[i]);
        read_argument(source, parameters, i);
    }
    forget_nulls(parameters, count);
    choose_roles(entry, parameters, count);
    for (int i = 0; i < count; i++)
        if (parameters[i].name && parameters[i].is_pointer &&
            !may_be_named(parameters, i, parameters[i].name))
            parameters[i].name = NULL;
}

/* ---- the text ------------------------------------------------------------------------------------------ */

static void print_whole(uint64_t number, uint64_t n, Text *out) {
    if (number == n)
        text_add(out, "n");
    else
        text_print(out, "%" PRIu64, number);
}

static void print_number(const GuessParameter *parameter, uint64_t n, Text *out) {
    const ExpressionValue *value = &parameter->value;
    bool is_float = ptx_type_is_float(parameter->type);
    if (parameter->is_n)
        text_add(out, "n");
    else if (!parameter->is_literal)
        text_add(out, is_float ? "1.0" : "1");
    else if (!is_float && value->number < 0)
        text_print(out, "%.0f", trunc(value->number));
    else if (!is_float)
        print_whole((uint64_t)value->number, n, out);
    else
        text_print(out,
                   value->number == trunc(value->number) && fabs(value->number) < 1e15 ? "%.1f" : "%.17g",
                   value->number);
}

void guess_print_buffer(const GuessParameter *parameter, uint64_t n, const char *fill, Text *out) {
    text_print(out, "%s[", plan_type_name(parameter->type));
    print_whole(parameter->count ? parameter->count : n, n, out);
    if (parameter->vector > 1) text_print(out, "*%d", parameter->vector);
    text_add(out, "]");
    if (parameter->is_input) text_print(out, ":%s", fill);
}

/* in, in2, ...; out, out2, ... */
static void print_name(const GuessParameter *parameters, int index, Text *out) {
    int number = 1;
    for (int i = 0; i < index; i++)
        number += parameters[i].is_pointer && !parameters[i].is_null && parameters[i].same_as < 0 &&
                  parameters[i].is_input == parameters[index].is_input;
    if (parameters[index].name) {
        text_add(out, parameters[index].name);
        return;
    }
    text_add(out, parameters[index].is_input ? "in" : "out");
    if (number > 1) text_print(out, "%d", number);
}

void guess_print_parameters(const GuessParameter *parameters, int count, uint64_t n, const char *fill,
                            Text *out) {
    for (int i = 0; i < count; i++) {
        const GuessParameter *parameter = &parameters[i];
        text_add(out, i ? ", " : "");
        if (!parameter->is_pointer) {
            print_number(parameter, n, out);
        } else if (parameter->is_null) {
            text_add(out, "null");
        } else if (parameter->same_as >= 0) {
            print_name(parameters, parameter->same_as, out);
        } else {
            print_name(parameters, i, out);
            text_add(out, "=");
            guess_print_buffer(parameter, n, fill, out);
        }
    }
}
