/* Textures and surfaces: weights, addressing, formats and layers of tex and tld4; bytes of suld and sust and
 * what they do outside; handles that name nothing. Expected values are worked out by hand from the rules of
 * emulator/lanes/texture_sample.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/texture_object.h"
#include "core.h"
#include "emulator/replay/replay.h"
#include <string.h>

/* Words of out: a result for each lane; texels from TEXELS on. */
enum { LANES = 32, TEXELS = 64, WORDS = 128 };

static uint32_t bits(float value) {
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* %q1: the handle. The object's address becomes that of the texels. */
#define BEGIN                                                                                                \
    "mov.u64 %q1, object; add.u64 %q2, %base, 256; st.global.u64 [%q1+8], %q2;\n"                            \
    "cvt.rn.f32.u32 %f1, %t;\n"

static Text module_of(const TextureObject *object) {
    Text module = {0};
    const uint8_t *byte = (const uint8_t *)object;
    text_print(&module, ".global .align 8 .b8 object[%d] = {", (int)sizeof *object);
    for (size_t i = 0; i < sizeof *object; i++) text_print(&module, i ? ",%d" : "%d", byte[i]);
    text_add(&module, "};\n.global .texref by_name;\n");
    return module;
}

static TextureObject floats(uint32_t width, uint32_t height, uint32_t depth, uint32_t flags) {
    return (TextureObject){.magic = TEXTURE_OBJECT_MAGIC,
                           .flags = flags,
                           .pitch = width * 4,
                           .slice = (uint64_t)width * height * 4,
                           .width = width,
                           .height = height,
                           .depth = depth,
                           .dimensions = depth > 1    ? 3
                                         : height > 1 ? 2
                                                      : 1,
                           .channels = 1,
                           .channel_bytes = 4,
                           .kind = TEXEL_FLOAT,
                           .addressing = {TEXTURE_CLAMP, TEXTURE_CLAMP, TEXTURE_CLAMP}};
}

static CoreKernel kernel_of(const char *module, const char *body, const uint32_t *in) {
    return (CoreKernel){.module = module, .body = body, .words = WORDS, .in = in};
}

/* Runs a fetch into %f2, with %f1 the lane's number, and expects the lanes' results. */
static void expect(const TextureObject *object, const char *fetch, const uint32_t *texels, int texel_count,
                   const uint32_t *expected, int count) {
    uint32_t in[WORDS] = {0};
    Text module = module_of(object);
    Text body = {0};
    memcpy(in + TEXELS, texels, (size_t)texel_count * sizeof *texels);
    text_add(&body, BEGIN);
    text_add(&body, fetch);
    text_add(&body, "\nst.global.f32 [%out], %f2;");
    core_expect(kernel_of(text_string(&module), text_string(&body), in), expected, (uint64_t)count);
    text_done(&body);
    text_done(&module);
}

static void a_filter_weights_two_texels(void **state) {
    (void)state;
    TextureObject object = floats(4, 1, 1, TEXTURE_FILTERS);
    const uint32_t texels[] = {bits(0), bits(256), bits(512), bits(1024)};
    /* x = 0, 0.25, ...: xB = x - 0.5 in quarters between texels, and clamped before 0 and behind 3 */
    const float values[] = {0, 0, 0, 64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024, 1024, 1024};
    uint32_t expected[17];
    for (int i = 0; i < 17; i++) expected[i] = bits(values[i]);
    expect(&object, "mul.f32 %f1, %f1, 0f3E800000; tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];",
           texels, 4, expected, 17);
}

/* 1/256 of the distance counts, half of it is rounded up: x = 0.5 + lane / 1024. */
static void weights_have_8_bits(void **state) {
    (void)state;
    TextureObject object = floats(2, 1, 1, TEXTURE_FILTERS);
    const uint32_t texels[] = {bits(0), bits(256)};
    const uint32_t expected[] = {bits(0), bits(0), bits(1), bits(1), bits(1), bits(1), bits(2)};
    expect(
        &object,
        "fma.rn.f32 %f1, %f1, 0f3A800000, 0f3F000000; tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];",
        texels, 2, expected, 7);
}

/* Of four texels: at (0.898, 1.25) the weights 39, 25, 115, 77 of 256, where the products are 38.5, 25.5,
 * 115.5, 76.5 (102 / 256 of the way to the right, 192 / 256 down). */
static void products_of_weights_are_rounded(void **state) {
    (void)state;
    TextureObject object = floats(2, 2, 1, TEXTURE_FILTERS);
    const uint32_t expected[] = {bits(39), bits(25), bits(115), bits(77)};
    for (int t = 0; t < 4; t++) {
        uint32_t texels[4] = {0};
        texels[t] = bits(256);
        expect(&object,
               "mov.f32 %f1, 0f3F660000; mov.f32 %f6, 0f3FA00000;\n"
               "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1, %f6}];",
               texels, 4, &expected[t], 1);
    }
}

static void places_outside_follow_the_addressing(void **state) {
    (void)state;
    static const struct {
        TextureAddressing addressing;
        uint32_t texel[9]; /* at -3, -2, ... 5 of a line of 3; 9: the border */
    } cases[] = {{TEXTURE_WRAP, {0, 1, 2, 0, 1, 2, 0, 1, 2}},
                 {TEXTURE_CLAMP, {0, 0, 0, 0, 1, 2, 2, 2, 2}},
                 {TEXTURE_MIRROR, {2, 1, 0, 0, 1, 2, 2, 1, 0}},
                 {TEXTURE_BORDER, {9, 9, 9, 0, 1, 2, 9, 9, 9}}};
    const uint32_t texels[] = {bits(0), bits(1), bits(2)};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        TextureObject object = floats(3, 1, 1, TEXTURE_IS_NORMALIZED);
        uint32_t expected[9];
        object.addressing[0] = cases[c].addressing;
        object.border[0] = 9;
        for (int i = 0; i < 9; i++) expected[i] = bits((float)cases[c].texel[i]);
        /* (lane - 2.5) / 3 */
        expect(&object,
               "add.f32 %f1, %f1, 0fC0200000; div.rn.f32 %f1, %f1, 0f40400000;\n"
               "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];",
               texels, 3, expected, 9);
    }
}

/* The second channel of four: the bytes 0, 51, 102, 255 of each texel. */
static void integers_are_read_as_fractions_or_as_they_are(void **state) {
    (void)state;
    TextureObject object = floats(1, 1, 1, TEXTURE_READS_FRACTIONS);
    const uint32_t texels[] = {0xff663380}, fraction[] = {bits(51.0f / 255)}, sign[] = {bits(-1)},
                   integer[] = {0xffffff80}, absent[] = {0};
    object.channels = 4, object.channel_bytes = 1, object.kind = TEXEL_UNSIGNED;
    expect(&object, "tex.1d.v4.f32.f32 {%f3, %f2, %f4, %f5}, [%q1, {%f1}];", texels, 1, fraction, 1);
    object.kind = TEXEL_SIGNED; /* -128 reads as -1 */
    expect(&object, "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];", texels, 1, sign, 1);
    object.flags = 0;
    expect(&object, "tex.1d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%q1, {%f1}]; mov.b32 %f2, %r1;", texels, 1,
           integer, 1);
    object.channels = 1;
    expect(&object, "tex.1d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%q1, {%f1}]; mov.b32 %f2, %r4;", texels, 1,
           absent, 1);
}

static void fetches_by_index_are_0_outside(void **state) {
    (void)state;
    TextureObject object = floats(3, 1, 1, TEXTURE_IS_LINEAR_MEMORY);
    const uint32_t texels[] = {bits(5), bits(6), bits(7)}, expected[] = {0, bits(5), bits(6), bits(7), 0};
    expect(&object,
           "cvt.u32.u32 %r1, %t; sub.s32 %r1, %r1, 1;\n"
           "tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%q1, {%r1}];",
           texels, 3, expected, 5);
}

/* Layer 1 of 2, then layer 7, which is the last one. */
static void layers_are_clamped(void **state) {
    (void)state;
    TextureObject object = floats(2, 1, 2, TEXTURE_IS_LAYERED);
    object.dimensions = 1;
    const uint32_t texels[] = {bits(1), bits(2), bits(3), bits(4)}, expected[] = {bits(3), bits(4)};
    expect(&object, "tex.a1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {1, %f1}];", texels, 4, expected, 2);
    expect(&object, "tex.a1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {7, %f1}];", texels, 4, expected, 2);
}

/* Each direction along an axis is a face of one texel, in the order +x -x +y -y +z -z. */
static void directions_choose_faces(void **state) {
    (void)state;
    TextureObject object = floats(1, 1, 6, TEXTURE_IS_CUBE);
    object.dimensions = 2;
    static const char *const directions[] = {
        "0f3F800000, 0f3F000000, 0f00000000", "0fBF800000, 0f3F000000, 0f00000000",
        "0f00000000, 0f3F800000, 0f3F000000", "0f00000000, 0fBF800000, 0f3F000000",
        "0f3F000000, 0f00000000, 0f3F800000", "0f3F800000, 0f3F800000, 0fBF800000"}; /* of equal ones, z */
    uint32_t texels[6];
    for (int face = 0; face < 6; face++) texels[face] = bits((float)face);
    for (int face = 0; face < 6; face++) {
        Text fetch = {0};
        text_print(&fetch, "tex.cube.v4.f32.f32 {%%f2, %%f3, %%f4, %%f5}, [%%q1, {%s, 0f00000000}];",
                   directions[face]);
        expect(&object, text_string(&fetch), texels, 6, &texels[face], 1);
        text_done(&fetch);
    }
}

/* The place at the right edge of the face +z is its left edge. */
static void faces_wrap(void **state) {
    (void)state;
    TextureObject object = floats(2, 2, 6, TEXTURE_IS_CUBE);
    object.dimensions = 2;
    uint32_t texels[24];
    for (int i = 0; i < 24; i++) texels[i] = bits((float)i);
    const char *fetch = "mov.f32 %f1, 0f3F800000; "
                        "tex.cube.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1, %f1, %f1, %f1}];";
    object.addressing[0] = object.addressing[1] = TEXTURE_WRAP;
    expect(&object, fetch, texels, 24, &texels[16], 1);
    object.addressing[0] = object.addressing[1] = TEXTURE_CLAMP;
    expect(&object, fetch, texels, 24, &texels[17], 1);
}

/* Lower left, lower right, upper right, upper left of the place between texels 0, 1, 2, 3. */
static void a_gather_gives_four_texels(void **state) {
    (void)state;
    TextureObject object = floats(2, 2, 1, 0);
    const uint32_t texels[] = {bits(0), bits(1), bits(2), bits(3)}, expected[] = {bits(2310)};
    expect(&object,
           "mov.f32 %f1, 0f3F800000; tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1, %f1}];\n"
           "fma.rn.f32 %f2, %f2, 0f41200000, %f3; fma.rn.f32 %f2, %f2, 0f41200000, %f4;\n"
           "fma.rn.f32 %f2, %f2, 0f41200000, %f5;",
           texels, 4, expected, 1);
}

/* Beyond the corner there is the corner again, not its neighbours. */
static void a_gather_ends_at_the_corner(void **state) {
    (void)state;
    TextureObject object = floats(2, 2, 1, 0);
    const uint32_t texels[] = {bits(5), bits(1), bits(2), bits(3)}, expected[] = {bits(5555)};
    object.addressing[0] = object.addressing[1] = TEXTURE_CLAMP;
    expect(&object,
           "mov.f32 %f1, 0f00000000; tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1, %f1}];\n"
           "fma.rn.f32 %f2, %f2, 0f41200000, %f3; fma.rn.f32 %f2, %f2, 0f41200000, %f4;\n"
           "fma.rn.f32 %f2, %f2, 0f41200000, %f5;",
           texels, 4, expected, 1);
}

static void queries_know_the_extent(void **state) {
    (void)state;
    TextureObject object = floats(2, 3, 1, 0);
    const uint32_t expected[] = {23};
    expect(&object,
           "txq.width.b32 %r1, [%q1]; txq.height.b32 %r2, [%q1]; mad.lo.u32 %r1, %r1, 10, %r2; mov.b32 %f2, "
           "%r1;",
           expected, 1, expected, 1);
}

/* ---- surfaces ----------------------------------------------------------------------------------------- */

static TextureObject surface(void) {
    return floats(3, 2, 1, TEXTURE_IS_SURFACE);
}

/* Reads of 4 bytes at -4, 0, ... 12 of a row of three texels, the second one. */
static void surfaces_are_read_by_byte(void **state) {
    (void)state;
    TextureObject object = surface();
    const uint32_t texels[] = {1, 2, 3, 4, 5, 6}, zero[] = {0, 4, 5, 6, 0}, clamp[] = {4, 4, 5, 6, 6};
    expect(&object,
           "shl.b32 %r1, %t, 2; sub.s32 %r1, %r1, 4; suld.b.2d.b32.zero {%r2}, [%q1, {%r1, 1}]; mov.b32 %f2, "
           "%r2;",
           texels, 6, zero, 5);
    expect(
        &object,
        "shl.b32 %r1, %t, 2; sub.s32 %r1, %r1, 4; suld.b.2d.b32.clamp {%r2}, [%q1, {%r1, 1}]; mov.b32 %f2, "
        "%r2;",
        texels, 6, clamp, 5);
}

static void surfaces_are_written_by_byte(void **state) {
    (void)state;
    TextureObject object = surface();
    Text module = module_of(&object);
    uint32_t in[WORDS] = {0};
    CoreRun run = core_run_well(kernel_of(
        text_string(&module),
        BEGIN "shl.b32 %r1, %t, 2; add.u32 %r2, %t, 40; sust.b.2d.b32.zero [%q1, {%r1, 1}], {%r2};", in));
    const uint32_t expected[] = {0, 0, 0, 40, 41, 42, 0};
    assert_memory_equal(run.out + TEXELS, expected, sizeof expected);
    core_done(&run);
    text_done(&module);
}

static void what_leaves_a_surface_traps(void **state) {
    (void)state;
    TextureObject object = surface();
    Text module = module_of(&object);
    uint32_t in[WORDS] = {0};
    Trap trap =
        core_run_trap(kernel_of(text_string(&module),
                                BEGIN "shl.b32 %r1, %t, 2; sust.b.2d.b32.trap [%q1, {%r1, 1}], {%r1};", in),
                      TRAP_OUT_OF_BOUNDS, "outside of the surface");
    assert_int_equal(trap.lanes, 8); /* lane 3 of a row of three */
    text_done(&module);
}

static void handles_that_name_nothing_trap(void **state) {
    (void)state;
    TextureObject object = surface();
    Text module = module_of(&object);
    uint32_t in[WORDS] = {0};
    core_run_trap(
        kernel_of(text_string(&module), BEGIN "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];", in),
        TRAP_OUT_OF_BOUNDS, "names no texture");
    core_run_trap(kernel_of(text_string(&module),
                            "mov.u64 %q1, 16; tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}];", in),
                  TRAP_OUT_OF_BOUNDS, "names no texture");
    core_run_trap(
        kernel_of(text_string(&module), "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [by_name, {%f1}];", in),
        TRAP_NOT_EMULATED, "by name is not emulated");
    text_done(&module);
}

/* A replay gets the texels of the run, although the kernel changes them afterwards. */
static void a_replay_gets_the_recorded_texels(void **state) {
    (void)state;
    TextureObject object = floats(1, 1, 1, 0);
    Text module = module_of(&object);
    uint32_t in[WORDS] = {[TEXELS] = bits(7)};
    CoreRun run =
        core_run_well(kernel_of(text_string(&module),
                                BEGIN "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%q1, {%f1}]; bar.sync 0;\n"
                                      "st.global.f32 [%q2], %f1; st.global.f32 [%out], %f2;",
                                in));
    TraceEvent event = {0};
    int fetch = -1;
    for (int i = 0; i < core_event_count(&run, 0) && fetch < 0; i++) {
        core_event(&run, 0, i, &event);
        if (event.kind == TRACE_TEXTURE) fetch = i;
    }
    assert_true(fetch >= 0);
    assert_int_equal(event.element_count, 4);
    assert_int_equal(event.value[0][5], bits(7));
    assert_int_equal(event.value[3][5], 0);
    uint64_t address = emulator_buffer_address(run.emulator, 0);
    Launch launch = {.program = run.program,
                     .grid = {1, 1, 1},
                     .block = {LANES, 1, 1},
                     .parameters = (uint8_t *)&address,
                     .parameter_bytes = sizeof address};
    Error error = {0};
    ReplayValue value = {0};
    Replay *replay = replay_open(run.trace, 0, run.launch->blocks[0], &launch, &error);
    if (!replay || !replay_seek(replay, core_event_count(&run, 0) - 1, &error)) fail_msg("%s", error.message);
    assert_true(replay_register(replay, 0, "%f2", &value));
    assert_int_equal(value.bits[5], bits(7));
    replay_free(replay);
    core_done(&run);
    text_done(&module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_weights_two_texels),
        cmocka_unit_test(weights_have_8_bits),
        cmocka_unit_test(products_of_weights_are_rounded),
        cmocka_unit_test(places_outside_follow_the_addressing),
        cmocka_unit_test(integers_are_read_as_fractions_or_as_they_are),
        cmocka_unit_test(fetches_by_index_are_0_outside),
        cmocka_unit_test(layers_are_clamped),
        cmocka_unit_test(directions_choose_faces),
        cmocka_unit_test(faces_wrap),
        cmocka_unit_test(a_gather_gives_four_texels),
        cmocka_unit_test(a_gather_ends_at_the_corner),
        cmocka_unit_test(queries_know_the_extent),
        cmocka_unit_test(surfaces_are_read_by_byte),
        cmocka_unit_test(surfaces_are_written_by_byte),
        cmocka_unit_test(what_leaves_a_surface_traps),
        cmocka_unit_test(handles_that_name_nothing_trap),
        cmocka_unit_test(a_replay_gets_the_recorded_texels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
