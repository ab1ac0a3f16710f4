/* Which tensor maps the driver refuses, and their bytes. The answers are those of an H200. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tensor_map.h"

#include <string.h>

/* 64 x 20 floats with a box of 16 x 8. */
static TensorMap base(void) {
    return (TensorMap){.address = 4096,
                       .size = {64, 20},
                       .stride = {256},
                       .box = {16, 8},
                       .step = {1, 1},
                       .rank = 2,
                       .type = TENSOR_F32};
}

#define EXPECT(refused, ...)                                                                                 \
    do {                                                                                                     \
        TensorMap m = base();                                                                                \
        __VA_ARGS__;                                                                                         \
        if ((tensor_map_refusal(&m) != NULL) != (refused)) fail_msg("%s", #__VA_ARGS__);                     \
    } while (0)
#define REFUSED(...)  EXPECT(true, __VA_ARGS__)
#define ACCEPTED(...) EXPECT(false, __VA_ARGS__)

static void what_the_driver_refuses(void **state) {
    (void)state;
    REFUSED(m.rank = 0);
    REFUSED(m.rank = 6);
    REFUSED(m.address += 8);
    REFUSED(m.stride[0] = 264);
    REFUSED(m.stride[0] = UINT64_C(1) << 40);
    REFUSED(m.size[0] = 0);
    REFUSED(m.rank = 1, m.size[0] = (UINT64_C(1) << 32) + 1);
    REFUSED(m.box[0] = 0);
    REFUSED(m.box[0] = 257);
    REFUSED(m.box[0] = 3);
    REFUSED(m.box[0] = 256, m.box[1] = 256);
    REFUSED(m.step[0] = 0);
    REFUSED(m.step[1] = 9);
    REFUSED(m.swizzle = 1);
    REFUSED(m.swizzle = 4);
    REFUSED(m.interleave = 1);
    REFUSED(m.interleave = 1, m.rank = 3, m.size[2] = m.box[2] = m.step[2] = 1, m.box[0] = 3);
    REFUSED(m.type = TENSOR_TYPE_COUNT);
    REFUSED(m.type = TENSOR_S32, m.fill = 1);
    REFUSED(m.fill = 2);
}

static void what_the_driver_accepts(void **state) {
    (void)state;
    ACCEPTED((void)m);
    ACCEPTED(m.rank = 1);
    ACCEPTED(m.address = 0);
    ACCEPTED(m.address += 16);
    ACCEPTED(m.stride[0] = 0);
    ACCEPTED(m.stride[0] = 240); /* shorter than a row */
    ACCEPTED(m.stride[0] = (UINT64_C(1) << 40) - 16);
    ACCEPTED(m.rank = 1, m.size[0] = UINT64_C(1) << 32);
    ACCEPTED(m.box[0] = 128); /* wider than the tensor */
    ACCEPTED(m.box[0] = 256);
    ACCEPTED(m.step[0] = 8);
    ACCEPTED(m.swizzle = 1, m.box[0] = 8);
    ACCEPTED(m.swizzle = 3, m.box[0] = 32);
    ACCEPTED(m.type = TENSOR_F16, m.fill = 1);
    ACCEPTED(m.interleave = 1, m.rank = 3, m.size[2] = 4, m.stride[1] = 5120, m.box[2] = m.step[2] = 1);
}

static void every_field_is_read_back(void **state) {
    (void)state;
    uint8_t bytes[TENSOR_MAP_BYTES];
    TensorMap read, map = {.address = UINT64_C(0x7f0012345670),
                           .size = {UINT64_C(1) << 32, 2, 3, 4, 5},
                           .stride = {16, (UINT64_C(1) << 40) - 16, 48, 64},
                           .box = {256, 1, 2, 3, 4},
                           .step = {1, 8, 2, 3, 4},
                           .rank = 5,
                           .type = TENSOR_TF32_FTZ,
                           .interleave = 2,
                           .swizzle = 3,
                           .fill = 1};
    tensor_map_encode(&map, bytes);
    assert_true(tensor_map_decode(bytes, &read));
    assert_memory_equal(&read, &map, sizeof map);
    map.mode = TENSOR_IM2COL, map.pixels = 1024;
    for (int side = 0; side < TENSOR_SIDES_MOST; side++)
        map.lower[side] = -16 + side, map.upper[side] = 15 - side;
    map.lower[0] = INT16_MIN, map.upper[0] = INT16_MAX;
    tensor_map_encode(&map, bytes);
    assert_true(tensor_map_decode(bytes, &read));
    assert_memory_equal(&read, &map, sizeof map);
    memset(bytes, 0, sizeof bytes);
    assert_false(tensor_map_decode(bytes, &read));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_the_driver_refuses),
                                       cmocka_unit_test(what_the_driver_accepts),
                                       cmocka_unit_test(every_field_is_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
