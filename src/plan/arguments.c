/* --args: the arguments of a kernel that is in no catalogue, written by hand or guessed (guess.h): each item
 * becomes what its parameter is. The grammar is in plan.h. */
#include "plan/arguments.h"

#include <inttypes.h>

static bool fits(int64_t integer, uint64_t bytes) {
    if (bytes >= 8) return true;
    int64_t limit = (int64_t)1 << (8 * bytes);
    return integer < limit && integer >= -(limit / 2);
}

/* Converts to the parameter's type. A float for a parameter declared as bits (.b32, .b8 x[2]) becomes a float
 * of that size. */
static bool add_scalar(ArgumentReader *reader, Span span, const PtxVariable *parameter,
                       ExpressionValue value) {
    uint8_t bytes[16] = {0};
    int size = parameter->bytes > sizeof bytes ? 0 : (int)parameter->bytes,
        number = reader->launch->argument_count + 1;
    bool is_float = ptx_type_is_float(parameter->type);
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return argument_fail(
            reader, span,
            "parameter %d of the kernel is a structure of %" PRIu64
            " bytes; give its members, {in=float[n], n, 3.5f}, or file:PATH, a file that holds them%s",
            number, parameter->bytes,
            parameter->bytes == TENSOR_MAP_BYTES ? "; a tensor map is tensor(in, {64, 32}, {8, 8}, 128)"
                                                 : "");
    if (is_float || (value.is_float && size > 1)) {
        PtxType type = parameter->type == PTX_BF16 ? PTX_BF16
                       : size == 2                 ? PTX_F16
                       : size == 4                 ? PTX_F32
                                                   : PTX_F64;
        bool wants_integer =
            !is_float && (ptx_type_is_signed(parameter->type) || parameter->type == PTX_U16 ||
                          parameter->type == PTX_U32 || parameter->type == PTX_U64);
        if (wants_integer)
            return argument_fail(reader, span,
                                 "'%.*s' is not a whole number, but parameter %d of the kernel is",
                                 argument_shown(span), span.text, number);
        plan_element_set(type, bytes, 0, value.number);
    } else {
        if (value.is_float || !fits(value.integer, parameter->bytes))
            return argument_fail(reader, span,
                                 "'%.*s' does not fit the %d bytes of parameter %d of the kernel",
                                 argument_shown(span), span.text, size, number);
        for (int i = 0; i < size; i++) bytes[i] = (uint8_t)((uint64_t)value.integer >> (8 * i));
    }
    plan_add_scalar(reader->plan, reader->launch, bytes, size);
    return true;
}

static bool add_bytes(ArgumentReader *reader, Span span, const PtxVariable *parameter, const Item *item) {
    int number = reader->launch->argument_count + 1;
    const char *plural = item->byte_count == 1 ? "" : "s";
    if ((uint64_t)item->byte_count != parameter->bytes && item->alignment)
        return argument_fail(
            reader, span,
            "the structure has %d byte%s (members at %.200s), and parameter %d of the kernel "
            "has %" PRIu64,
            item->byte_count, plural, item->places, number, parameter->bytes);
    if ((uint64_t)item->byte_count != parameter->bytes)
        return argument_fail(reader, span, "%.*s has %d byte%s, and parameter %d of the kernel has %" PRIu64,
                             argument_shown(span), span.text, item->byte_count, plural, number,
                             parameter->bytes);
    if (item->alignment > parameter->alignment)
        return argument_fail(reader, span,
                             "the structure is aligned to %d bytes, and parameter %d of the kernel to %d",
                             item->alignment, number, parameter->alignment);
    if (item->alignment && !argument_check_members(reader, span, parameter, item)) return false;
    plan_add_structure(reader->plan, reader->launch, item->bytes, item->byte_count, item->pointers,
                       item->pointer_count);
    return true;
}

static bool add_pointer(ArgumentReader *reader, Span span, const PtxVariable *parameter, const Item *item) {
    static const uint8_t null[8];
    if (parameter->bytes != sizeof null)
        return argument_fail(reader, span,
                             "a pointer has 8 bytes, and parameter %d of the kernel has %" PRIu64 "%s",
                             reader->launch->argument_count + 1, parameter->bytes,
                             parameter->bytes > sizeof null ? "; a structure is {in=float[n], n}" : "");
    if (item->buffer < 0) {
        plan_add_scalar(reader->plan, reader->launch, null, sizeof null);
        return true;
    }
    plan_add_pointer(reader->plan, reader->launch, item->buffer);
    reader->launch->arguments[reader->launch->argument_count - 1].offset = item->offset;
    return true;
}

/* A structure may be padded to the parameter's alignment, where a declaration asks for more than its members
 * need. */
static void pad_to_alignment(const PtxVariable *parameter, Item *item, Arena *arena) {
    uint64_t alignment = parameter->alignment > 0 ? (uint64_t)parameter->alignment : 1,
             whole = ((uint64_t)item->byte_count + alignment - 1) / alignment * alignment;
    if (!item->alignment || whole != parameter->bytes || whole > ARGUMENT_LARGEST_BYTES) return;
    uint8_t *bytes = arena_new(arena, (size_t)whole);
    memcpy(bytes, item->bytes, (size_t)item->byte_count);
    item->bytes = bytes;
    item->byte_count = (int)whole;
}

/* An unknown name for a pointer parameter makes a new buffer. */
static Span complete(const ArgumentReader *reader, Span span, const char *standard, Text *whole) {
    bool is_new = standard && argument_is_name(span) && !argument_equals(span, "null") &&
                  argument_buffer(reader, span) < 0 && strchr(standard, '[');
    for (int i = 0; i < reader->name_count; i++) is_new &= !argument_equals(span, reader->names[i].name);
    if (!is_new) return span;
    text_print(whole, "%.*s=%s", (int)span.length, span.text, standard);
    return (Span){text_string(whole), whole->length};
}

static bool add_item(ArgumentReader *reader, Span span) {
    int number = reader->launch->argument_count;
    const PtxVariable *parameter = reader->entry->parameters[number];
    const char *const *defaults = reader->source.defaults;
    Text whole = {0};
    Item item;
    Span completed = complete(reader, span, defaults ? defaults[number] : NULL, &whole);
    if (reader->source.completed)
        text_print(reader->source.completed, "%s%.*s", number ? ", " : "", (int)completed.length,
                   completed.text);
    bool good = argument_item(reader, completed, &item);
    text_done(&whole);
    if (!good) return false;
    if (item.kind == ITEM_POINTER) return add_pointer(reader, span, parameter, &item);
    if (item.kind == ITEM_NUMBER) return add_scalar(reader, span, parameter, item.value);
    pad_to_alignment(parameter, &item, &reader->plan->arena);
    return add_bytes(reader, span, parameter, &item);
}

static int count_items(Span list) {
    int count = list.length > 0;
    for (size_t end; (end = argument_end(list)) < list.length; count++)
        list = (Span){list.text + end + 1, list.length - end - 1};
    return count;
}

/* A missing ']' is named before the number of items, which may follow from it. */
static bool check_brackets(const ArgumentReader *reader, Span list) {
    for (size_t end; list.length; list = argument_cut(list, end, list.length)) {
        Span item = argument_cut(list, 0, argument_end(list));
        if (argument_find(item, '[') < item.length && argument_find(item, ']') == item.length)
            return argument_fail(reader, argument_cut(item, item.length, item.length),
                                 "']' is missing in '%.*s'", argument_shown(item), item.text);
        end = argument_end(list);
        end += end < list.length;
    }
    return true;
}

static bool add_items(ArgumentReader *reader, Span list) {
    int count = count_items(list);
    if (count != reader->entry->parameter_count)
        return check_brackets(reader, list) &&
               argument_fail(reader, list, "the kernel takes %d arguments, not %d",
                             reader->entry->parameter_count, count);
    for (int i = 0; i < count; i++) {
        size_t comma = argument_end(list);
        if (!add_item(reader, argument_cut(list, 0, comma))) return false;
        list = comma < list.length ? argument_cut(list, comma + 1, list.length) : (Span){list.text, 0};
    }
    return true;
}

bool plan_parse_typed(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const PlanTyped *typed,
                      const PlanVariables *variables, Error *error) {
    ArgumentReader reader = {
        .plan = plan, .launch = launch, .entry = entry, .source = *typed, .error = error, .name_count = 3};
    reader.names[0] = (ExpressionName){"n", expression_integer((int64_t)variables->n)};
    reader.names[1] = (ExpressionName){"block", expression_integer((int64_t)variables->block)};
    reader.names[2] = (ExpressionName){"grid", expression_integer((int64_t)variables->grid)};
    return add_items(&reader, argument_trim((Span){typed->text + typed->begin, typed->length}));
}

bool plan_parse_arguments(Plan *plan, PlanLaunch *launch, const PtxFunction *entry, const char *args,
                          const PlanVariables *variables, Error *error) {
    PlanTyped typed = {.option = "--args", .text = args, .length = strlen(args)};
    return plan_parse_typed(plan, launch, entry, &typed, variables, error);
}
