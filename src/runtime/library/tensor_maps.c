/* Tensor maps that the program asks the driver for (base/tensor_map.h). */
#include "runtime/library/client.h"

int tensor_map_make(uint8_t *bytes, const TensorMap *map, const uint64_t *size, const uint64_t *stride,
                    const uint32_t *box, const uint32_t *step) {
    TensorMap whole = *map;
    for (uint32_t d = 0; d < map->rank && d < TENSOR_RANK_MOST; d++) {
        whole.size[d] = size[d];
        if (box != NULL) whole.box[d] = box[d];
        whole.step[d] = step[d];
        if (d + 1 < map->rank && d + 1 < TENSOR_RANK_MOST) whole.stride[d] = stride[d];
    }
    const char *refusal = tensor_map_refusal(&whole);
    if (refusal != NULL) return failed(cudaErrorInvalidValue, map->address, 0, "has %s", refusal);
    tensor_map_encode(&whole, bytes);
    return 0;
}

int tensor_map_make_im2col(uint8_t *bytes, const TensorMap *map, const uint64_t *size, const uint64_t *stride,
                           const int *lower, const int *upper, const uint32_t *step) {
    TensorMap whole = *map;
    whole.mode = TENSOR_IM2COL;
    for (uint32_t side = 0; side + 2 < map->rank && side < TENSOR_SIDES_MOST; side++) {
        whole.lower[side] = lower[side];
        whole.upper[side] = upper[side];
    }
    return tensor_map_make(bytes, &whole, size, stride, NULL, step);
}

int tensor_map_move(uint8_t *bytes, uint64_t address) {
    TensorMap map;
    if (!tensor_map_decode(bytes, &map))
        return failed(cudaErrorInvalidValue, address, 0,
                      "has a map that no cuTensorMapEncode function wrote");
    map.address = address;
    const char *refusal = tensor_map_refusal(&map);
    if (refusal != NULL) return failed(cudaErrorInvalidValue, address, 0, "has %s", refusal);
    tensor_map_encode(&map, bytes);
    return 0;
}
