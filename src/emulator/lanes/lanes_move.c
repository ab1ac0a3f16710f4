/* mov: copies, and packs and unpacks vectors ("Data Movement and Conversion Instructions: mov"). */
#include "emulator/lanes/lanes.h"

UNARY(move_16, uint16_t, uint16_t, a[l])
UNARY(move_32, uint32_t, uint32_t, a[l])
UNARY(move_64, uint64_t, uint64_t, a[l])
SLOW_HANDLER(move_pred) {
    SET_PREDICATE(op->d, *(const uint32_t *)operand_at(warp, op->s[0]));
}
SLOW_HANDLER(move_128) {
    uint64_t *d = operand_at(warp, op->d);
    const uint64_t *a = operand_at(warp, op->s[0]);
    EACH_ACTIVE_LANE d[l] = a[l], d[WARP_LANES + l] = a[WARP_LANES + l];
}

/* Two elements are common (a double travels through shuffles as two words), so they are vectorized. */
BINARY(pack_2x16, uint32_t, uint16_t, a[l] | (uint32_t)b[l] << 16)
BINARY(pack_2x32, uint64_t, uint32_t, a[l] | (uint64_t)b[l] << 32)
#define UNPACK(NAME, T, S)                                                                                   \
    HANDLER(NAME) {                                                                                          \
        const S *a = operand_at(warp, op->s[0]);                                                             \
        if (op->has_d) {                                                                                     \
            T *d = operand_at(warp, op->d);                                                                  \
            EACH_LANE(T, a[l]);                                                                              \
        }                                                                                                    \
        if (op->has_p) {                                                                                     \
            T *d = operand_at(warp, op->p);                                                                  \
            EACH_LANE(T, a[l] >> 8 * sizeof(T));                                                             \
        }                                                                                                    \
    }
UNPACK(unpack_2x16, uint16_t, uint32_t)
UNPACK(unpack_2x32, uint32_t, uint64_t)

/* The other forms: a value of up to 128 bits as bytes of elements. */
enum { MAXIMUM_ELEMENTS = 4 };
typedef struct Elements {
    int count, bytes; /* of each element: 1, 2, 4, 8 */
    Operand items[MAXIMUM_ELEMENTS];
    bool present[MAXIMUM_ELEMENTS];
} Elements;

static uint64_t read_lane(const Warp *warp, Operand from, int bytes, uint32_t l) {
    const void *values = operand_at(warp, from);
    return bytes <= 2   ? ((const uint16_t *)values)[l]
           : bytes == 4 ? ((const uint32_t *)values)[l]
                        : ((const uint64_t *)values)[l];
}
static void write_lane(Warp *warp, Operand to, int bytes, uint32_t l, uint64_t value) {
    void *values = operand_at(warp, to);
    if (bytes <= 2)
        ((uint16_t *)values)[l] = bytes == 1 ? (uint8_t)value : (uint16_t)value;
    else if (bytes == 4)
        ((uint32_t *)values)[l] = (uint32_t)value;
    else
        ((uint64_t *)values)[l] = value;
}
/* Element i begins at byte i * bytes of the halves. */
SLOW_HANDLER(pack) {
    const Elements *elements = op->extra;
    EACH_ACTIVE_LANE {
        uint64_t halves[2] = {0, 0};
        for (int i = 0; i < elements->count; i++) {
            int place = i * elements->bytes;
            halves[place / 8] |= read_lane(warp, elements->items[i], elements->bytes, l) << 8 * (place % 8);
        }
        write_lane(warp, op->d, op->d_bytes < 8 ? op->d_bytes : 8, l, halves[0]);
        if (op->d_bytes == 16) ((uint64_t *)operand_at(warp, op->d))[WARP_LANES + l] = halves[1];
    }
}
SLOW_HANDLER(unpack) {
    const Elements *elements = op->extra;
    int width = op->number[0];
    EACH_ACTIVE_LANE {
        uint64_t halves[2] = {read_lane(warp, op->s[0], width < 8 ? width : 8, l), 0};
        if (width == 16) halves[1] = ((const uint64_t *)operand_at(warp, op->s[0]))[WARP_LANES + l];
        for (int i = 0; i < elements->count; i++) {
            int place = i * elements->bytes;
            if (elements->present[i])
                write_lane(warp, elements->items[i], elements->bytes, l,
                           halves[place / 8] >> 8 * (place % 8));
        }
    }
}

/* op->extra: the elements of the source and the destination, possibly the same registers in another order. */
SLOW_HANDLER(move_vector) {
    Elements *const *both = op->extra;
    const Elements *from = both[0], *to = both[1];
    EACH_ACTIVE_LANE {
        uint64_t values[MAXIMUM_ELEMENTS] = {0}; /* both have the same count: lowering checks it */
        for (int i = 0; i < from->count; i++) values[i] = read_lane(warp, from->items[i], from->bytes, l);
        for (int i = 0; i < to->count; i++)
            if (to->present[i]) write_lane(warp, to->items[i], to->bytes, l, values[i]);
    }
}

static PtxType bits_type(int bytes) {
    return bytes == 1   ? PTX_B8
           : bytes == 2 ? PTX_B16
           : bytes == 4 ? PTX_B32
           : bytes == 8 ? PTX_B64
                        : PTX_NO_TYPE;
}

/* True for an operand with elements: {a, b}, a vector register v, or %tid. */
static bool is_vector(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_VECTOR ||
           (operand->kind == PTX_OPERAND_REGISTER && operand->reg->vector > 1 && operand->component < 0);
}
static int element_count(const PtxOperand *operand) {
    return operand->kind == PTX_OPERAND_VECTOR     ? operand->item_count
           : operand->kind == PTX_OPERAND_REGISTER ? operand->reg->vector
                                                   : MAXIMUM_ELEMENTS;
}
static PtxOperand element_of(Lowering *low, const PtxOperand *operand, int i) {
    if (operand->kind == PTX_OPERAND_VECTOR) return operand->items[i];
    PtxOperand element = *operand;
    element.component = (int8_t)i;
    if (operand->kind == PTX_OPERAND_SPECIAL) {
        size_t length = strlen(operand->name);
        char *name = lowering_allocate(low, length + 3);
        memcpy(name, operand->name, length);
        name[length] = '.', name[length + 1] = "xyzw"[i], name[length + 2] = '\0';
        element.name = name;
    }
    return element;
}

/* Allocates the elements of a vector; each is an equal part of `width` bytes. */
static Elements *new_elements(Lowering *low, const PtxInstruction *in, Op *op, const PtxOperand *vector,
                              int width) {
    int count = element_count(vector);
    if ((count != 2 && count != 4) || width < count || bits_type(width / count) == PTX_NO_TYPE) {
        lowering_reject(low, op, "%s.%s of %d elements", in->name, ptx_type_text(lanes_type(in, 0)), count);
        return NULL;
    }
    Elements *elements = lowering_allocate(low, sizeof *elements);
    elements->count = count;
    elements->bytes = width / count;
    return elements;
}

static bool source_elements(Lowering *low, Op *op, const PtxOperand *vector, Elements *elements) {
    for (int i = 0; i < elements->count; i++) {
        uint8_t bytes;
        PtxOperand element = element_of(low, vector, i);
        if (!lowering_value(low, op, &element, bits_type(elements->bytes), &elements->items[i], &bytes))
            return false;
        op->s[i] = elements->items[i];
    }
    op->source_count = elements->count;
    return true;
}

static bool destination_elements(Lowering *low, Op *op, const PtxOperand *vector, Elements *elements) {
    for (int i = 0; i < elements->count; i++) {
        uint8_t bytes;
        PtxOperand element = element_of(low, vector, i);
        if (!lowering_destination(low, op, &element, &elements->items[i], &bytes, &elements->present[i]))
            return false;
        if (elements->present[i] && bytes != (elements->bytes == 1 ? 2 : elements->bytes))
            return lowering_reject(low, op, "element %d of mov has the wrong size", i + 1);
    }
    op->d = elements->items[0], op->has_d = elements->present[0], op->d_bytes = (uint8_t)elements->bytes;
    op->p = elements->items[1], op->has_p = elements->present[1];
    return true;
}

static bool lower_pack(Lowering *low, const PtxInstruction *in, Op *op, PtxType type) {
    const PtxOperand *vector = &in->operands[1];
    Elements *elements = new_elements(low, in, op, vector, ptx_type_bytes(type));
    bool present;
    if (!elements || !lowering_destination(low, op, &in->operands[0], &op->d, &op->d_bytes, &present))
        return false;
    if (!present || op->d_bytes != ptx_type_bytes(type))
        return lowering_reject(low, op, "the destination of mov.%s has the wrong size", ptx_type_text(type));
    op->has_d = true;
    bool two = elements->count == 2 && elements->bytes > 1 && elements->bytes < 8;
    if (!two) op->extra = elements;
    return source_elements(low, op, vector, elements) && lanes_use(low, in, op,
                                                                   two && elements->bytes == 2   ? &pack_2x16
                                                                   : two && elements->bytes == 4 ? &pack_2x32
                                                                                                 : &pack,
                                                                   WEIGHT_PRODUCT);
}

static bool lower_unpack(Lowering *low, const PtxInstruction *in, Op *op, PtxType type) {
    const PtxOperand *vector = &in->operands[0];
    Elements *elements = new_elements(low, in, op, vector, ptx_type_bytes(type));
    if (!elements || !lowering_source(low, op, 1, type, &op->s[0])) return false;
    op->source_count = 1;
    op->number[0] = ptx_type_bytes(type);
    bool two = elements->count == 2 && elements->bytes > 1 && elements->bytes < 8;
    if (!two) op->extra = elements;
    return destination_elements(low, op, vector, elements) &&
           lanes_use(low, in, op,
                     two && elements->bytes == 2   ? &unpack_2x16
                     : two && elements->bytes == 4 ? &unpack_2x32
                                                   : &unpack,
                     WEIGHT_SUM);
}

/* mov.v2, mov.v4: element by element. */
static bool lower_vector_move(Lowering *low, const PtxInstruction *in, Op *op, PtxType type) {
    int width = ptx_type_bytes(type) * in->vector;
    const PtxOperand *to = &in->operands[0], *from = &in->operands[1];
    bool valid = is_vector(to) && (is_vector(from) || from->kind == PTX_OPERAND_SPECIAL);
    if (!valid || element_count(to) != in->vector || element_count(from) != in->vector)
        return lowering_reject(low, op, "mov.v%d takes vectors of %d elements", in->vector, in->vector);
    Elements *destinations = new_elements(low, in, op, to, width),
             *sources = new_elements(low, in, op, from, width);
    if (!destinations || !sources || !source_elements(low, op, from, sources) ||
        !destination_elements(low, op, to, destinations))
        return false;
    Elements *both[] = {sources, destinations};
    op->extra = memcpy(lowering_allocate(low, sizeof both), both, sizeof both);
    return lanes_use(low, in, op, &move_vector, WEIGHT_SUM);
}

OPCODE_LOWER(mov) {
    PtxType type = lanes_type(in, 0);
    if (!lanes_accept(low, in, op, PTX_MOD_V2, PTX_MOD_V4, PTX_MODIFIER_NONE) ||
        !lanes_expect_operands(low, in, op, 2, 2))
        return false;
    if (in->vector > 1) return lower_vector_move(low, in, op, type);
    if (is_vector(&in->operands[0])) return lower_unpack(low, in, op, type);
    if (is_vector(&in->operands[1])) return lower_pack(low, in, op, type);
    const LaneHandler *handler = NULL;
    switch (ptx_type_bytes(type)) {
    case 0:
        handler = type == PTX_PRED ? &move_pred : NULL;
        break;
    case 2:
        handler = &move_16;
        break;
    case 4:
        handler = &move_32;
        break;
    case 8:
        handler = &move_64;
        break;
    case 16:
        handler = &move_128;
        break;
    default:
        break;
    }
    return lanes_simple(low, in, op, type, 1, handler, WEIGHT_SUM);
}
