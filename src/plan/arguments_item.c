/* Items of --args: pointers, numbers, structures. A structure's members lie one after another, each at a
 * multiple of its size, as in C and in PTX. */
#include "plan/arguments.h"

#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- structures ---------------------------------------------------------------------------------------- */

typedef struct StructureLayout {
    uint8_t *bytes; /* [ARGUMENT_LARGEST_BYTES] */
    int end, alignment;
    PlanPointer *pointers;
    int pointer_count, pointer_capacity;
    ItemMember *members;
    int member_count, member_capacity;
    Text places; /* of the members, for messages: "0, 8, 12" */
} StructureLayout;

/* The place of `size` bytes at a multiple of `alignment`; -1 if there is no room. */
static int place(StructureLayout *layout, int size, int alignment) {
    int at = (layout->end + alignment - 1) / alignment * alignment;
    if (size > ARGUMENT_LARGEST_BYTES - at) return -1;
    layout->end = at + size;
    text_print(&layout->places, "%s%d", layout->places.length ? ", " : "", at);
    if (alignment > layout->alignment) layout->alignment = alignment;
    return at;
}

static void note_member(StructureLayout *layout, int at, int bytes, bool is_pointer, bool is_float) {
    ItemMember member = {at, bytes, is_pointer, is_float};
    array_push(layout->members, layout->member_count, layout->member_capacity, member);
}

/* An int where it fits one, a double unless a suffix or a cast says otherwise. */
static PtxType type_of(const Item *item) {
    const ExpressionValue *value = &item->value;
    if (item->cast != PTX_NO_TYPE) return item->cast;
    if (value->is_float) return value->bytes == 4 ? PTX_F32 : PTX_F64;
    if (value->bytes == 4) return PTX_U32;
    bool is_int = value->integer >= INT32_MIN && value->integer <= INT32_MAX;
    return value->bytes == 8 || !is_int ? PTX_S64 : PTX_S32;
}

static bool fits(const Item *item, PtxType type) {
    int bits = 8 * ptx_type_bytes(type);
    if (ptx_type_is_float(type) || item->value.is_float || bits == 64) return true;
    return item->value.integer < INT64_C(1) << bits && item->value.integer >= -(INT64_C(1) << (bits - 1));
}

static bool add_number(ArgumentReader *reader, Span span, const Item *item, StructureLayout *layout) {
    PtxType type = type_of(item);
    int size = ptx_type_bytes(type), at = place(layout, size, size);
    if (!fits(item, type))
        return argument_fail(reader, span, "'%.*s' does not fit %s", argument_shown(span), span.text,
                             plan_type_name(type));
    if (at < 0) return true; /* the caller reports a full structure */
    note_member(layout, at, size, false, ptx_type_is_float(type));
    if (item->value.is_float || ptx_type_is_float(type))
        plan_element_set(type, layout->bytes + at, 0, item->value.number);
    else
        for (int i = 0; i < size; i++)
            layout->bytes[at + i] = (uint8_t)((uint64_t)item->value.integer >> (8 * i));
    return true;
}

static void add_pointer(const Item *item, StructureLayout *layout) {
    int at = place(layout, 8, 8);
    if (at >= 0) note_member(layout, at, 8, true, false);
    PlanPointer pointer = {.at = at, .buffer = item->buffer, .offset = item->offset};
    if (at >= 0 && item->buffer >= 0)
        array_push(layout->pointers, layout->pointer_count, layout->pointer_capacity, pointer);
}

static void add_structure(const Item *item, StructureLayout *layout) {
    int at = place(layout, item->byte_count, item->alignment ? item->alignment : 1);
    if (at < 0) return;
    memcpy(layout->bytes + at, item->bytes, (size_t)item->byte_count);
    for (int i = 0; i < item->member_count; i++) {
        const ItemMember *member = &item->members[i];
        note_member(layout, at + member->at, member->bytes, member->is_pointer, member->is_float);
    }
    for (int i = 0; i < item->pointer_count; i++) {
        PlanPointer pointer = item->pointers[i];
        pointer.at += at;
        array_push(layout->pointers, layout->pointer_count, layout->pointer_capacity, pointer);
    }
}

static bool add_member(ArgumentReader *reader, Span span, StructureLayout *layout) {
    Item item;
    int end = layout->end;
    if (!argument_item(reader, span, &item)) return false;
    if (item.kind == ITEM_NUMBER && !add_number(reader, span, &item, layout)) return false;
    if (item.kind == ITEM_POINTER) add_pointer(&item, layout);
    if (item.kind == ITEM_BYTES) add_structure(&item, layout);
    bool is_empty = item.kind == ITEM_BYTES && !item.byte_count;
    return layout->end > end || is_empty ||
           argument_fail(reader, span, "a structure has at most %d bytes", ARGUMENT_LARGEST_BYTES);
}

/* A structure without members has one byte, as in C++. */
static void finish(ArgumentReader *reader, StructureLayout *layout, Item *item) {
    if (!layout->end) layout->end = 1;
    int whole = (layout->end + layout->alignment - 1) / layout->alignment * layout->alignment;
    Arena *arena = &reader->plan->arena;
    size_t pointer_bytes = (size_t)layout->pointer_count * sizeof *layout->pointers;
    *item = (Item){.kind = ITEM_BYTES,
                   .byte_count = whole,
                   .alignment = layout->alignment,
                   .pointer_count = layout->pointer_count,
                   .member_count = layout->member_count};
    if (layout->member_count)
        item->members =
            arena_copy(arena, layout->members, (size_t)layout->member_count * sizeof *layout->members);
    item->bytes = arena_copy(arena, layout->bytes, (size_t)whole);
    item->places = arena_copy_text(arena, text_string(&layout->places), layout->places.length);
    if (layout->pointer_count) item->pointers = arena_copy(arena, layout->pointers, pointer_bytes);
}

static bool read_structure(ArgumentReader *reader, Span span, Item *item) {
    if (span.text[span.length - 1] != '}' || span.length < 2)
        return argument_fail(reader, span, "'}' is missing in '%.*s'", argument_shown(span), span.text);
    if (reader->depth == ARGUMENT_DEPTH)
        return argument_fail(reader, span, "structures are nested more than %d deep", ARGUMENT_DEPTH);
    StructureLayout layout = {.bytes = memory_new(ARGUMENT_LARGEST_BYTES + 16), .alignment = 1};
    Span list = argument_cut(span, 1, span.length - 1);
    bool good = true;
    reader->depth++;
    while (good && list.length) {
        size_t comma = argument_end(list);
        good = add_member(reader, argument_cut(list, 0, comma), &layout);
        bool is_last = comma == list.length;
        list = is_last ? (Span){list.text, 0} : argument_cut(list, comma + 1, list.length);
        if (good && !is_last && !list.length) good = argument_fail(reader, list, "an item is empty");
    }
    reader->depth--;
    if (good) finish(reader, &layout, item);
    free(layout.bytes);
    free(layout.pointers);
    free(layout.members);
    text_done(&layout.places);
    return good;
}

/* ---- items --------------------------------------------------------------------------------------------- */

/* NAME or NAME[ELEMENT], after the & of a pointer. */
static bool read_pointer(ArgumentReader *reader, Span span, Item *item) {
    size_t bracket = argument_find(span, '[');
    Span name = argument_cut(span, 0, bracket);
    ExpressionValue element = expression_integer(0);
    item->kind = ITEM_POINTER;
    item->buffer = argument_buffer(reader, name);
    if (item->buffer < 0)
        return argument_fail(reader, name, "there is no buffer '%.*s'; a new one is %.*s=float[n]",
                             argument_shown(name), name.text, argument_shown(name), name.text);
    if (bracket == span.length) return true;
    if (span.text[span.length - 1] != ']')
        return argument_fail(reader, argument_cut(span, span.length, span.length), "']' is missing in '%.*s'",
                             argument_shown(span), span.text);
    Span index = argument_cut(span, bracket + 1, span.length - 1);
    const PlanBuffer *buffer = &reader->plan->buffers[item->buffer];
    if (!argument_evaluate(reader, index, &element)) return false;
    if (element.is_float || element.integer < 0 || (uint64_t)element.integer > buffer->count)
        return argument_fail(reader, index, "%s has elements 0 to %" PRIu64, buffer->name, buffer->count - 1);
    item->offset = (uint64_t)element.integer * (uint64_t)ptx_type_bytes(buffer->type);
    return true;
}

/* file:PATH */
static bool read_bytes(ArgumentReader *reader, Span path, Item *item) {
    char *bytes;
    size_t length;
    Error inner = {0};
    const char *copy = arena_copy_text(&reader->plan->arena, path.text, path.length);
    if (!text_read_file(copy, ARGUMENT_LARGEST_BYTES, &bytes, &length, &inner))
        return argument_fail(reader, path, "%s", inner.message);
    *item = (Item){.kind = ITEM_BYTES, .byte_count = (int)length, .buffer = -1};
    item->bytes = arena_copy(&reader->plan->arena, bytes, length);
    free(bytes);
    return true;
}

static bool read_number(ArgumentReader *reader, Span name, Span span, Item *item) {
    item->kind = ITEM_NUMBER;
    if (span.length && span.text[0] == '(') { /* (TYPE)EXPRESSION */
        char type[PLAN_TYPE_BYTES] = "";
        size_t close = argument_find(span, ')');
        Span inside = argument_cut(span, 1, close);
        if (inside.length < sizeof type) memcpy(type, inside.text, inside.length);
        if (close < span.length && plan_type_parse(type, &item->cast))
            span = argument_cut(span, close + 1, span.length);
    }
    if (!argument_evaluate(reader, span, &item->value)) return false;
    if (!name.length) return true;
    if (reader->name_count == ARGUMENT_NAMES)
        return argument_fail(reader, name, "more than %d names", ARGUMENT_NAMES);
    char *copy = arena_copy_text(&reader->plan->arena, name.text, name.length);
    reader->names[reader->name_count++] = (ExpressionName){copy, item->value};
    return true;
}

static bool read_named(ArgumentReader *reader, Span name, Span value, Item *item) {
    size_t bracket = argument_find(value, '[');
    bool is_file = value.length && value.text[0] == '@';
    if (!argument_is_name(name))
        return argument_fail(reader, name, "'%.*s' is not a name", argument_shown(name), name.text);
    if (!is_file && bracket == value.length) return read_number(reader, name, value, item);
    item->kind = ITEM_POINTER;
    item->buffer = is_file ? argument_array_file(reader, name, argument_cut(value, 1, value.length))
                           : argument_new_buffer(reader, name, value, bracket);
    return item->buffer >= 0;
}

/* tensor(ITEM, ...), where ITEM points to the begin of an array. */
static bool read_tensor(ArgumentReader *reader, Span span, Item *item) {
    Item of;
    Span list = argument_cut(span, argument_find(span, '(') + 1, span.length - 1);
    size_t comma = argument_end(list);
    Span array = argument_cut(list, 0, comma);
    if (span.text[span.length - 1] != ')')
        return argument_fail(reader, span, "')' is missing in '%.*s'", argument_shown(span), span.text);
    if (!argument_item(reader, array, &of)) return false;
    if (of.kind != ITEM_POINTER || of.buffer < 0 || of.offset)
        return argument_fail(reader, array, "a tensor is of an array: tensor(in, {64, 32}, {8, 8})");
    list = argument_cut(list, comma < list.length ? comma + 1 : comma, list.length);
    return argument_tensor(reader, span, list, of.buffer, item);
}

bool argument_item(ArgumentReader *reader, Span span, Item *item) {
    *item = (Item){.cast = PTX_NO_TYPE, .buffer = -1};
    if (!span.length) return argument_fail(reader, span, "an item is empty");
    if (span.text[0] == '{') return read_structure(reader, span, item);
    if (span.text[0] == '&') return read_pointer(reader, argument_cut(span, 1, span.length), item);
    if (argument_begins(span, "tensor(")) return read_tensor(reader, span, item);
    size_t equal = argument_find(span, '=');
    if (equal < span.length)
        return read_named(reader, argument_cut(span, 0, equal), argument_cut(span, equal + 1, span.length),
                          item);
    if (argument_find(span, '[') < span.length)
        return argument_fail(reader, span, "the buffer '%.*s' has no name; write NAME=%.*s",
                             argument_shown(span), span.text, argument_shown(span), span.text);
    if (argument_begins(span, "file:") && span.length > 5)
        return read_bytes(reader, argument_cut(span, 5, span.length), item);
    if (argument_buffer(reader, span) >= 0) return read_pointer(reader, span, item);
    if (!argument_equals(span, "null")) return read_number(reader, (Span){span.text, 0}, span, item);
    item->kind = ITEM_POINTER;
    return true;
}
