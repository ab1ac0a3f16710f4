/* Tensor maps: what the driver refuses, and their bytes (tensor_map.h).
 *
 * clang-format off
 *   byte  0  address                       32  sizes - 1, 4 bytes each
 *         8  rank - 1, type, interleave,   52  box - 1, a byte each
 *            swizzle, fill: 4 bits each    57  element strides - 1, a byte each
 *        12  strides / 16, 5 bytes each   62  mode
 *                                         64  corners, 2 bytes each: lower, upper
 *                                         76  pixels - 1, 2 bytes
 *                                        120  a mark
 * clang-format on */
#include "base/tensor_map.h"

#include <string.h>

#define MARK         UINT64_C(0x70616d2e72736e74) /* "tnsr.map" */
#define STRIDE_LIMIT (UINT64_C(1) << 40)
#define SIZE_MOST    (UINT64_C(1) << 32)

/* A box of 256 KB was refused; a block of sm_90 has at most 227 KB of shared memory to put it in. */
enum { BOX_BYTES_MOST = 227 * 1024, BOX_MOST = 256, PIXELS_MOST = 1024, STEP_MOST = 8, UNIT = 16 };

int tensor_type_bytes(uint32_t type) {
    static const uint8_t bytes[TENSOR_TYPE_COUNT] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type < TENSOR_TYPE_COUNT ? bytes[type] : 0;
}

static const char *box_refusal(const TensorMap *map) {
    uint64_t bytes = (uint64_t)tensor_type_bytes(map->type), inner = bytes * map->box[0];
    bool is_im2col = map->mode == TENSOR_IM2COL;
    for (uint32_t d = 0; d < map->rank; d++) {
        uint32_t box = d && is_im2col ? 1 : map->box[d];
        if (box < 1 || box > BOX_MOST) return "a box dimension outside of 1 to 256";
        if (map->step[d] < 1 || map->step[d] > STEP_MOST) return "an element stride outside of 1 to 8";
        bytes *= box;
    }
    if (is_im2col) bytes *= map->pixels;
    if (inner % UNIT) return "an inner box dimension that is not a multiple of 16 bytes";
    if (!map->interleave && map->swizzle && inner > (uint64_t)UNIT << map->swizzle)
        return "an inner box dimension of more bytes than its swizzle spans";
    return bytes > BOX_BYTES_MOST ? "a box of more than 227 KB" : NULL;
}

static const char *corner_refusal(const TensorMap *map) {
    if (map->rank < 3) return "a rank outside of 3 to 5";
    if (map->pixels < 1 || map->pixels > PIXELS_MOST) return "pixels per column outside of 1 to 1024";
    int32_t limit = 1 << (tensor_corner_bits(map) - 1);
    for (uint32_t side = 0; side < tensor_side_count(map); side++) {
        int32_t lower = map->lower[side], upper = map->upper[side];
        if (lower < -limit || lower >= limit || upper < -limit || upper >= limit)
            return "a corner outside of 16 bits (rank 4: 8; rank 5: 5)";
        if ((int64_t)map->size[side + 1] + upper <= lower) return "an empty bounding box";
    }
    return NULL;
}

const char *tensor_map_refusal(const TensorMap *map) {
    uint64_t unit = map->interleave == 2 ? 2 * UNIT : UNIT;
    if (map->rank < 1 || map->rank > TENSOR_RANK_MOST) return "a rank outside of 1 to 5";
    if (map->type >= TENSOR_TYPE_COUNT) return "an unknown data type";
    if (map->interleave > 2) return "an unknown interleave layout";
    if (map->interleave && map->rank < 3) return "an interleave layout, which needs a rank of at least 3";
    if (map->swizzle > 3) return "an unknown swizzle mode";
    if (map->fill > 1) return "an unknown fill mode";
    if (map->fill && map->type < TENSOR_F16) return "a NaN fill for integers";
    if (map->address % unit) return "a global address that is not aligned to 16 bytes (interleave 32B: 32)";
    for (uint32_t d = 0; d < map->rank; d++)
        if (map->size[d] < 1 || map->size[d] > SIZE_MOST) return "a dimension outside of 1 to 2^32";
    for (uint32_t d = 0; d + 1 < map->rank; d++)
        if (map->stride[d] % unit || map->stride[d] >= STRIDE_LIMIT)
            return "a stride that is not a multiple of 16 bytes (interleave 32B: 32) below 2^40";
    const char *refusal = map->mode == TENSOR_IM2COL ? corner_refusal(map) : NULL;
    return refusal ? refusal : box_refusal(map);
}

static bool replace_list(TensorMap *map, TensorField field, uint32_t d, uint64_t value) {
    bool fits;
    if (d + (field == TENSOR_FIELD_STRIDE) >= TENSOR_RANK_MOST) return false;
    switch (field) {
    case TENSOR_FIELD_BOX:
        fits = value >= 1 && value <= BOX_MOST;
        if (fits) map->box[d] = (uint32_t)value;
        return fits;
    case TENSOR_FIELD_STEP:
        fits = value >= 1 && value <= STEP_MOST;
        if (fits) map->step[d] = (uint32_t)value;
        return fits;
    case TENSOR_FIELD_STRIDE:
        fits = value % UNIT == 0 && value < STRIDE_LIMIT;
        if (fits) map->stride[d] = value;
        return fits;
    default:
        if (value >= 1) map->size[d] = value;
        return value >= 1;
    }
}

bool tensor_map_replace(TensorMap *map, TensorField field, uint32_t dimension, uint64_t value) {
    /* "Tensor-map object manipulation: tensormap.replace", .elemtype. Measured on an H200, 2026-11-29: u32,
     * s32, f16, f32, f32.ftz, tf32 and tf32.ftz give the map that cuTensorMapEncodeTiled() encodes. */
    static const uint8_t types[TENSOR_TYPE_COUNT] = {
        TENSOR_U8,  TENSOR_U16,     TENSOR_U32, TENSOR_S32,  TENSOR_U64,  TENSOR_S64,     TENSOR_F16,
        TENSOR_F32, TENSOR_F32_FTZ, TENSOR_F64, TENSOR_BF16, TENSOR_TF32, TENSOR_TF32_FTZ};
    uint32_t *mode = NULL, limit = 0, number = (uint32_t)value;
    switch (field) {
    case TENSOR_FIELD_ADDRESS:
        map->address = value;
        return true;
    case TENSOR_FIELD_RANK:
        mode = &map->rank, limit = TENSOR_RANK_MOST, number++;
        break;
    case TENSOR_FIELD_TYPE:
        mode = &map->type, limit = TENSOR_TYPE_COUNT, number = value < limit ? types[value] : 0;
        break;
    case TENSOR_FIELD_INTERLEAVE:
        mode = &map->interleave, limit = 3;
        break;
    case TENSOR_FIELD_SWIZZLE:
        mode = &map->swizzle, limit = 4;
        break;
    case TENSOR_FIELD_FILL:
        mode = &map->fill, limit = 2;
        break;
    default:
        return replace_list(map, field, dimension, value);
    }
    if (value < limit) *mode = number;
    return value < limit;
}

static void put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

void tensor_map_encode(const TensorMap *map, uint8_t bytes[TENSOR_MAP_BYTES]) {
    memset(bytes, 0, TENSOR_MAP_BYTES);
    put(bytes + TENSOR_MAP_ADDRESS_AT, map->address, 8);
    put(bytes + 8,
        (map->rank - 1) | map->type << 4 | map->interleave << 8 | map->swizzle << 12 | map->fill << 16, 4);
    for (uint32_t d = 0; d < map->rank; d++) {
        if (d + 1 < map->rank) put(bytes + 12 + 5 * d, map->stride[d] / UNIT, 5);
        put(bytes + 32 + 4 * d, map->size[d] - 1, 4);
        put(bytes + 52 + d, map->box[d] - 1, 1);
        put(bytes + 57 + d, map->step[d] - 1, 1);
    }
    if (map->mode == TENSOR_IM2COL) {
        put(bytes + 62, map->mode, 1);
        for (int side = 0; side < TENSOR_SIDES_MOST; side++) {
            put(bytes + 64 + 2 * side, (uint16_t)map->lower[side], 2);
            put(bytes + 70 + 2 * side, (uint16_t)map->upper[side], 2);
        }
        put(bytes + 76, map->pixels - 1, 2);
    }
    put(bytes + 120, MARK, 8);
}

bool tensor_map_decode(const uint8_t bytes[TENSOR_MAP_BYTES], TensorMap *map) {
    uint32_t modes = (uint32_t)get(bytes + 8, 4);
    *map = (TensorMap){.address = get(bytes + TENSOR_MAP_ADDRESS_AT, 8),
                       .rank = (modes & 15) + 1,
                       .type = modes >> 4 & 15,
                       .interleave = modes >> 8 & 15,
                       .swizzle = modes >> 12 & 15,
                       .fill = modes >> 16 & 15,
                       .mode = get(bytes + 62, 1) ? TENSOR_IM2COL : TENSOR_TILED};
    if (get(bytes + 120, 8) != MARK) return false;
    for (uint32_t d = 0; d < TENSOR_RANK_MOST; d++) {
        if (d + 1 < TENSOR_RANK_MOST) map->stride[d] = get(bytes + 12 + 5 * d, 5) * UNIT;
        map->size[d] = get(bytes + 32 + 4 * d, 4) + 1;
        map->box[d] = (uint32_t)get(bytes + 52 + d, 1) + 1;
        map->step[d] = (uint32_t)get(bytes + 57 + d, 1) + 1;
    }
    if (map->mode == TENSOR_TILED) return true;
    for (int side = 0; side < TENSOR_SIDES_MOST; side++) {
        map->lower[side] = (int16_t)get(bytes + 64 + 2 * side, 2);
        map->upper[side] = (int16_t)get(bytes + 70 + 2 * side, 2);
    }
    map->pixels = (uint32_t)get(bytes + 76, 2) + 1;
    return true;
}
