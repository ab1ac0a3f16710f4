/* An item of --args that is a tensor map: tensor(NAME, {SIZE, ...}, {BOX, ...}, SPAN). */
#include "plan/arguments.h"

#include <inttypes.h>

enum { SPAN_MOST = 128 };

/* What comes before the next comma; *list is what comes behind. */
static Span next_part(Span *list) {
    size_t end = argument_end(*list);
    Span part = argument_cut(*list, 0, end);
    *list = end < list->length ? argument_cut(*list, end + 1, list->length) : (Span){list->text, 0};
    return part;
}

static bool read_number(ArgumentReader *reader, Span span, uint64_t most, uint64_t *number) {
    ExpressionValue value;
    if (!argument_evaluate(reader, span, &value)) return false;
    bool fits = !value.is_float && value.integer >= 0 && (uint64_t)value.integer <= most;
    *number = fits ? (uint64_t)value.integer : 0;
    return fits || argument_fail(reader, span, "'%.*s' is not a whole number from 0 to %" PRIu64,
                                 argument_shown(span), span.text, most);
}

/* "{64, 32}". -1 with the error. */
static int read_list(ArgumentReader *reader, Span span, uint64_t most, uint64_t *numbers) {
    int count = 0;
    if (span.length < 2 || span.text[0] != '{' || span.text[span.length - 1] != '}') {
        argument_fail(reader, span, "a list of a tensor is {64, 32}, the innermost dimension first");
        return -1;
    }
    for (Span list = argument_cut(span, 1, span.length - 1); list.length; count++) {
        Span part = next_part(&list);
        if (count == TENSOR_RANK_MOST) {
            argument_fail(reader, part, "a tensor has at most %d dimensions", TENSOR_RANK_MOST);
            return -1;
        }
        if (!read_number(reader, part, most, &numbers[count])) return -1;
    }
    return count;
}

static bool set_type(PtxType type, TensorMap *map) {
    static const uint8_t types[][2] = {{PTX_U8, TENSOR_U8},   {PTX_S8, TENSOR_U8},     {PTX_U16, TENSOR_U16},
                                       {PTX_S16, TENSOR_U16}, {PTX_U32, TENSOR_U32},   {PTX_S32, TENSOR_S32},
                                       {PTX_U64, TENSOR_U64}, {PTX_S64, TENSOR_S64},   {PTX_F16, TENSOR_F16},
                                       {PTX_F32, TENSOR_F32}, {PTX_BF16, TENSOR_BF16}, {PTX_F64, TENSOR_F64}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i][0] == type) {
            map->type = types[i][1];
            return true;
        }
    return false;
}

static bool read_span(ArgumentReader *reader, Span span, TensorMap *map) {
    uint64_t bytes = 0;
    if (span.length && !read_number(reader, span, SPAN_MOST, &bytes)) return false;
    while (map->swizzle < 3 && bytes && bytes != UINT64_C(16) << map->swizzle) map->swizzle++;
    return !bytes || bytes == UINT64_C(16) << map->swizzle ||
           argument_fail(reader, span, "a tensor's swizzle has a span of 0, 32, 64 or 128 bytes");
}

/* Rows lie one behind another: the stride of a dimension is the size of those within it. */
static bool read_map(ArgumentReader *reader, Span list, int buffer, TensorMap *map) {
    uint64_t box[TENSOR_RANK_MOST] = {0};
    Span sizes = next_part(&list), boxes = next_part(&list);
    if (!set_type(reader->plan->buffers[buffer].type, map))
        return argument_fail(reader, sizes, "a tensor has no elements of this type");
    int rank = read_list(reader, sizes, UINT64_C(1) << 32, map->size),
        box_rank = rank < 0 ? -1 : read_list(reader, boxes, 256, box);
    if (box_rank < 0) return false;
    if (rank != box_rank || rank < 1)
        return argument_fail(reader, boxes, "the box of a tensor has as many dimensions as the tensor");
    map->rank = (uint32_t)rank;
    uint64_t bytes = (uint64_t)tensor_type_bytes(map->type);
    for (int d = 0; d < rank; d++) {
        map->box[d] = (uint32_t)box[d];
        map->step[d] = 1;
        bytes =
            bytes && map->size[d] > UINT64_MAX / bytes ? UINT64_MAX : bytes * map->size[d]; /* no stride */
        if (d + 1 < rank) map->stride[d] = bytes;
    }
    return read_span(reader, list, map);
}

bool argument_tensor(ArgumentReader *reader, Span span, Span list, int buffer, Item *item) {
    TensorMap map = {0};
    if (!read_map(reader, list, buffer, &map)) return false;
    map.address = PLAN_ALIGNMENT; /* any aligned one: the backend has the buffer's */
    const char *refusal = tensor_map_refusal(&map);
    if (refusal) return argument_fail(reader, span, "the tensor map has %s", refusal);
    Arena *arena = &reader->plan->arena;
    uint8_t bytes[TENSOR_MAP_BYTES];
    PlanPointer pointer = {.at = TENSOR_MAP_ADDRESS_AT, .buffer = buffer};
    tensor_map_encode(&map, bytes);
    *item = (Item){.kind = ITEM_BYTES,
                   .bytes = arena_copy(arena, bytes, sizeof bytes),
                   .byte_count = TENSOR_MAP_BYTES,
                   .pointers = arena_copy(arena, &pointer, sizeof pointer),
                   .pointer_count = 1};
    return true;
}
