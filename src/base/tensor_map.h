/* Tensor maps: the 128 bytes of a CUtensorMap. They describe a tensor in global memory and what one tensor
 * copy moves: a box, or the pixels of a bounding box ("Tensors" in the PTX ISA; cuTensorMapEncodeTiled and
 * cuTensorMapEncodeIm2col in the CUDA driver API).
 *
 * NVIDIA's encoding is not documented and no public kernel reads it, so redviz has its own. The CUDA library
 * of `--run` writes it, the emulator reads it. What is refused was measured on an H200 (driver
 * 580.159.04). */
#ifndef BASE_TENSOR_MAP_H
#define BASE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    TENSOR_MAP_BYTES = 128,
    TENSOR_RANK_MOST = 5,
    TENSOR_SIDES_MOST = 3,    /* of an image: W, H, D; dimensions 1 to 3 of a tensor for im2col */
    TENSOR_MAP_ADDRESS_AT = 0 /* of the encoding: the 8 bytes from here on are the address */
};

typedef enum TensorType { /* CUtensorMapDataType */
                          TENSOR_U8,
                          TENSOR_U16,
                          TENSOR_U32,
                          TENSOR_S32,
                          TENSOR_U64,
                          TENSOR_S64,
                          TENSOR_F16,
                          TENSOR_F32,
                          TENSOR_F64,
                          TENSOR_BF16,
                          TENSOR_F32_FTZ,
                          TENSOR_TF32,
                          TENSOR_TF32_FTZ,
                          TENSOR_TYPE_COUNT
} TensorType;

typedef enum TensorMode { TENSOR_TILED, TENSOR_IM2COL } TensorMode;

typedef struct TensorMap {
    uint64_t address;
    uint64_t size[TENSOR_RANK_MOST];       /* elements by dimension, the innermost first */
    uint64_t stride[TENSOR_RANK_MOST - 1]; /* bytes from index i to i + 1 of dimensions 1, 2, ... */
    uint32_t box[TENSOR_RANK_MOST];        /* elements; im2col: only the first, the channels of a pixel */
    uint32_t step[TENSOR_RANK_MOST];       /* element strides: only every step-th element is copied */
    uint32_t rank, type /* TensorType */, interleave /* 0: none; 1, 2: 16, 32 bytes */;
    uint32_t swizzle; /* 0: none; 1, 2, 3: 32, 64, 128 bytes */
    uint32_t fill;    /* of floats outside the tensor: 0: zeros; 1: NaN */
    TensorMode mode;
    /* im2col: the first base pixel of a side is at lower[], the last one at size - 1 + upper[]; W, H, D. */
    int32_t lower[TENSOR_SIDES_MOST], upper[TENSOR_SIDES_MOST];
    uint32_t pixels; /* im2col: of one copy */
} TensorMap;

typedef enum TensorField { /* what tensormap.replace writes */
                           TENSOR_FIELD_ADDRESS,
                           TENSOR_FIELD_RANK,
                           TENSOR_FIELD_BOX,
                           TENSOR_FIELD_SIZE,
                           TENSOR_FIELD_STRIDE,
                           TENSOR_FIELD_STEP,
                           TENSOR_FIELD_TYPE,
                           TENSOR_FIELD_INTERLEAVE,
                           TENSOR_FIELD_SWIZZLE,
                           TENSOR_FIELD_FILL
} TensorField;

int tensor_type_bytes(uint32_t type);
/* The sides of the image of a tensor for im2col: its dimensions but the channels and the images. */
static inline uint32_t tensor_side_count(const TensorMap *map) {
    return map->rank - 2;
}
/* Of a corner of the bounding box, and of an offset of the instruction: 16, 8 or 5. */
static inline uint32_t tensor_corner_bits(const TensorMap *map) {
    return 16 / tensor_side_count(map);
}
/* Why the driver refuses this map: a sentence fragment after "the tensor map has"; NULL: it accepts it. */
const char *tensor_map_refusal(const TensorMap *map);
/* Sets a field as tensormap.replace does, with the numbers of the PTX ISA: the rank less 1, and types in
 * another order than the driver's. `dimension`: of the four fields that are lists. False: the field cannot
 * have this value, and the map is unchanged. tensor_map_refusal() tells whether the fields fit each other. */
bool tensor_map_replace(TensorMap *map, TensorField field, uint32_t dimension, uint64_t value);
/* Every field must be below its limit in tensor_map_refusal(), or what tensormap.replace may write. */
void tensor_map_encode(const TensorMap *map, uint8_t bytes[TENSOR_MAP_BYTES]);
/* False: the bytes are no tensor map. */
bool tensor_map_decode(const uint8_t bytes[TENSOR_MAP_BYTES], TensorMap *map);

#endif
