/* Tensor copies: every byte that a load, a store or a reduction leaves, against a model that goes element by
 * element; multicast; and what the hardware refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tensor_map.h"
#include "core.h"
#include <stdio.h>
#include <string.h>

/* Words of out: the tensor; then the tile as it is after a load, or before a store. */
enum { BYTES = 4096, WORDS = BYTES / 4, UNTOUCHED = 0xee };

/* %q1: the map, whose address becomes that of out; %r1: the tile; %r9: the mbarrier; %p2: lane 0. */
#define BEGIN                                                                                                \
    "mov.u32 %r1, tile; mov.u32 %r9, gate; mov.u64 %q1, map; mov.u64 %q2, %base;\n"                          \
    "st.global.u64 [%q1], %q2; setp.eq.u32 %p2, %t, 0;\n"                                                    \
    "@%p2 mbarrier.init.shared::cta.b64 [%r9], 1;\n"
/* Word i of the tile is moved by lane i % 32, from or to word 1024 * (1 + rank) + i of out. */
#define EACH_WORD(name, move)                                                                                \
    "mov.u32 %r2, %t; mov.u32 %r8, %cluster_ctarank; mad.lo.u32 %r8, %r8, 4096, 4096;\n" name                \
    ": mad.lo.u32 %r3, %r2, 4, %r1; mad.lo.u32 %r4, %r2, 4, %r8; cvt.u64.u32 %q3, %r4;\n"                    \
    "add.u64 %q3, %q3, %base; " move " add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, 1024; @%p1 bra " name     \
    ";\n"
#define POISON    EACH_WORD("POISON", "mov.u32 %r5, 0xeeeeeeee; st.shared.u32 [%r3], %r5;")
#define BRING     EACH_WORD("BRING", "ld.global.u32 %r5, [%q3]; st.shared.u32 [%r3], %r5;")
#define SHOW      EACH_WORD("SHOW", "ld.shared.u32 %r5, [%r3]; st.global.u32 [%q3], %r5;")
#define PUBLISH   "fence.proxy.async.shared::cta; bar.sync 0;\n"
#define AWAIT     "SPIN: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra SPIN;\n"
#define AWAIT_ALL "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bar.sync 0;\n"

typedef struct Case {
    TensorMap map;
    int32_t at[TENSOR_RANK_MOST];
    const char *operation; /* NULL: a copy */
} Case;

static void add_module(const TensorMap *map, Text *module) {
    uint8_t bytes[TENSOR_MAP_BYTES];
    tensor_map_encode(map, bytes);
    text_add(module, ".shared .align 1024 .b8 tile[4096];\n.shared .align 128 .b8 copy[128];\n"
                     ".shared .align 8 .b64 gate;\n"
                     ".global .align 64 .b8 map[128] = {");
    for (int i = 0; i < TENSOR_MAP_BYTES; i++) text_print(module, i ? ",%d" : "%d", bytes[i]);
    text_add(module, "};\n");
}

/* "[%q1, {8, -2}]". */
static void add_box(const Case *c, Text *body) {
    text_add(body, "[%q1, {");
    for (uint32_t d = 0; d < c->map.rank; d++) text_print(body, d ? ", %d" : "%d", c->at[d]);
    text_add(body, "}]");
}

static uint32_t expected_bytes(const TensorMap *map) {
    uint32_t bytes = (uint32_t)tensor_type_bytes(map->type) * map->box[0];
    for (uint32_t d = 1; d < map->rank; d++) bytes *= (map->box[d] + map->step[d] - 1) / map->step[d];
    return bytes;
}

static void add_load(const Case *c, Text *body) {
    text_print(body, "@%%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r9], %u;\n",
               expected_bytes(&c->map));
    text_print(
        body,
        "@%%p2 cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%r1], ",
        c->map.rank);
    add_box(c, body);
    text_add(body, ", [%r9];\n");
}

static void add_store(const Case *c, Text *body) {
    text_print(body, "@%%p2 cp%s.async.bulk.tensor.%ud.global.shared::cta.%s%stile.bulk_group ",
               c->operation ? ".reduce" : "", c->map.rank, c->operation ? c->operation : "",
               c->operation ? "." : "");
    add_box(c, body);
    text_add(body, ", [%r1];\n" AWAIT_ALL);
}

static uint32_t mixed(uint32_t word) {
    return word * UINT32_C(2654435761) ^ word << 7;
}

/* ---- the model --------------------------------------------------------------------------------------- */

typedef void (*Element)(const Case *c, uint8_t *global, uint8_t *shared); /* global NULL: outside */

/* Calls `element` for each element of the box. `clips`: the innermost bound is rounded up to 16 bytes. */
static void each_element(const Case *c, uint8_t *tensor, uint8_t *tile, bool clips, Element element) {
    const TensorMap *map = &c->map;
    int64_t bytes = tensor_type_bytes(map->type), count[5], index[5], row = 0;
    int64_t pitch = map->swizzle ? 16 << map->swizzle : (int64_t)map->box[0] * bytes;
    for (uint32_t d = 0; d < 5; d++)
        count[d] = d >= map->rank ? 1 : !d ? map->box[0] : (map->box[d] + map->step[d] - 1) / map->step[d];
    for (index[4] = 0; index[4] < count[4]; index[4]++)
        for (index[3] = 0; index[3] < count[3]; index[3]++)
            for (index[2] = 0; index[2] < count[2]; index[2]++)
                for (index[1] = 0; index[1] < count[1]; index[1]++, row++)
                    for (index[0] = 0; index[0] < count[0]; index[0]++) {
                        int64_t offset = 0, shared = row * pitch + index[0] * bytes;
                        bool inside = true;
                        for (uint32_t d = 0; d < map->rank; d++) {
                            int64_t at = c->at[d] + index[d] * (d ? map->step[d] : 1),
                                    size = (int64_t)map->size[d];
                            if (!d && clips) size = (size * bytes + 15) / 16 * 16 / bytes;
                            inside &= at >= 0 && at < size;
                            offset += at * (d ? (int64_t)map->stride[d - 1] : bytes);
                        }
                        static const int64_t masks[] = {0, 0x10, 0x30, 0x70};
                        element(c, inside ? tensor + offset : NULL,
                                tile + (shared ^ (shared >> 3 & masks[map->swizzle])));
                    }
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the others write to it */
static void load_element(const Case *c, uint8_t *global, uint8_t *shared) {
    size_t bytes = (size_t)tensor_type_bytes(c->map.type);
    for (size_t i = 0; i < bytes; i++)
        shared[i] = global ? global[i] : !c->map.fill ? 0 : i % 2 ? 0x7f : 0xf7;
    uint32_t word;
    memcpy(&word, shared, sizeof word);
    bool is_small = !(word & 0x7f800000), is_nan = (word & 0x7fffffff) > 0x7f800000;
    if (!global || c->map.type < TENSOR_F32_FTZ) return;
    if (c->map.type == TENSOR_F32_FTZ && is_small) word &= 0x80000000;
    if (c->map.type >= TENSOR_TF32) word = is_nan ? 0x7fffe000 : (word + 0x1000) & ~0x1fffu;
    memcpy(shared, &word, sizeof word);
}

static void store_element(const Case *c, uint8_t *global, uint8_t *shared) {
    if (global) memcpy(global, shared, (size_t)tensor_type_bytes(c->map.type));
}

static void reduce_element(const Case *c, uint8_t *global, uint8_t *shared) {
    uint32_t a, b;
    if (!global) return;
    memcpy(&a, global, 4), memcpy(&b, shared, 4);
    a = !strcmp(c->operation, "add")   ? a + b
        : !strcmp(c->operation, "max") ? (a > b ? a : b)
        : a >= b                       ? 0
                                       : a + 1;
    memcpy(global, &a, 4);
}

/* ---- runs -------------------------------------------------------------------------------------------- */

static CoreKernel kernel_of(const Text *module, const Text *body, const uint32_t *in, uint32_t blocks) {
    return (CoreKernel){.module = text_string(module),
                        .body = text_string(body),
                        .words = (1 + blocks) * WORDS,
                        .in = in,
                        .grid = blocks,
                        .cluster = {blocks, 1, 1}};
}

static void compare(const Case *c, const uint32_t *out, const uint8_t *expected, const char *what) {
    const uint8_t *bytes = (const uint8_t *)out;
    for (int i = 0; i < BYTES; i++)
        if (bytes[i] != expected[i])
            fail_msg("type %u rank %u swizzle %u at %d: byte %d of the %s is %02x, not %02x", c->map.type,
                     c->map.rank, c->map.swizzle, c->at[0], i, what, bytes[i], expected[i]);
}

/* Fills the words that a kernel gets. */
static void fill(uint32_t in[2 * WORDS]) {
    for (uint32_t i = 0; i < 2 * WORDS; i++) in[i] = mixed(i);
    in[8] = 0x80000001, in[9] = 0x7f800001, in[10] = 0x00400000; /* subnormals, a NaN */
}

/* Loads by the map `written`, which `change` turns into that of the case. */
static void check_load(const Case *c, const TensorMap *written, const char *change) {
    static uint32_t in[2 * WORDS];
    static uint8_t tile[BYTES];
    Text module = {0}, load = {0};
    fill(in);
    memset(tile, UNTOUCHED, BYTES);
    each_element(c, (uint8_t *)in, tile, false, load_element);
    add_module(written, &module);
    text_add(&load, BEGIN POISON);
    text_add(&load, change);
    text_add(&load, PUBLISH);
    add_load(c, &load);
    text_add(&load, AWAIT SHOW);
    CoreRun run = core_run_well(kernel_of(&module, &load, in, 1));
    compare(c, run.out + WORDS, tile, "tile");
    core_done(&run);
    text_done(&module), text_done(&load);
}

static void check(const Case *c) {
    static uint32_t in[2 * WORDS];
    static uint8_t tensor[BYTES], clean[BYTES], tile[BYTES];
    fill(in);
    memcpy(tensor, in, BYTES);
    memcpy(clean, in, BYTES);
    Text module = {0}, store = {0};
    add_module(&c->map, &module);
    if (!c->operation) check_load(c, &c->map, "");
    memcpy(tile, in + WORDS, BYTES);
    each_element(c, tensor, tile, true, c->operation ? reduce_element : store_element);
    text_add(&store, BEGIN BRING PUBLISH);
    add_store(c, &store);
    if (c->at[0] >= 0 && c->at[1] >= 0) {
        CoreRun run = core_run(kernel_of(&module, &store, in, 1));
        compare(c, run.out, tensor, "tensor");
        if (!c->operation) each_element(c, clean, tile, false, store_element);
        bool overwrites = !c->operation && memcmp(clean, tensor, BYTES) != 0;
        assert_int_equal(run.trace->trap_count, overwrites);
        if (overwrites) assert_int_equal(run.trace->traps[0].kind, TRAP_OVERWRITTEN_PADDING);
        core_done(&run);
    }
    text_done(&module), text_done(&store);
}

/* ---- tests ------------------------------------------------------------------------------------------- */

#define TENSOR(type_, swizzle_, inner)                                                                       \
    {                                                                                                        \
        .rank = 2, .type = type_, .size = {inner - 2, 14}, .stride = {160}, .box = {inner, 5},               \
        .step = {1, 1}, .swizzle = swizzle_                                                                  \
    }

static void tiles_are_swizzled_by_their_address(void **state) {
    (void)state;
    for (uint32_t swizzle = 0; swizzle < 4; swizzle++) {
        uint32_t span = swizzle ? 16u << swizzle : 64;
        check(&(Case){TENSOR(TENSOR_U8, swizzle, span), {0, 2}, NULL});
        check(&(Case){TENSOR(TENSOR_F16, swizzle, span / 2), {8, 11}, NULL});
        check(&(Case){TENSOR(TENSOR_F64, swizzle, span / 8), {-2, -3}, NULL});
        check(&(Case){TENSOR(TENSOR_F32, swizzle, span / 8), {4, 1}, NULL}); /* half of the span */
    }
}

static void boxes_have_one_to_five_dimensions(void **state) {
    (void)state;
    for (uint32_t rank = 1; rank <= 5; rank++)
        for (uint32_t step = 1; step <= 3; step++)
            check(&(Case){{.rank = rank,
                           .type = TENSOR_U16,
                           .size = {13, 3, 3, 2, 2},
                           .stride = {32, 96, 288, 576},
                           .box = {8, 3, 2, 2, 2},
                           .step = {step, 1, step, 1, 1}},
                          {8, 1, 1, 0, 0},
                          NULL});
}

static void outside_is_zero_or_not_a_number(void **state) {
    (void)state;
    for (uint32_t type = TENSOR_F16; type < TENSOR_TYPE_COUNT; type++) {
        Case c = {TENSOR(type, 0, 16), {-8, -2}, NULL};
        for (c.map.fill = 0; c.map.fill < 2; c.map.fill++) check(&c);
    }
    check(&(Case){TENSOR(TENSOR_U32, 0, 16), {64, 64}, NULL}); /* all of it */
}

static void reductions_fold_what_is_inside(void **state) {
    (void)state;
    static const char *const operations[] = {"add", "max", "inc"};
    for (int i = 0; i < 3; i++) {
        check(&(Case){TENSOR(TENSOR_U32, 0, 16), {0, 1}, operations[i]});
        check(&(Case){TENSOR(TENSOR_U32, 3, 16), {12, 12}, operations[i]});
    }
}

static void multicast_reaches_the_named_blocks(void **state) {
    (void)state;
    static uint32_t in[3 * WORDS];
    static uint8_t tile[BYTES];
    const Case c = {TENSOR(TENSOR_U32, 2, 16), {4, 3}, NULL};
    for (uint32_t i = 0; i < 3 * WORDS; i++) in[i] = mixed(i);
    memset(tile, UNTOUCHED, BYTES);
    each_element(&c, (uint8_t *)in, tile, false, load_element);
    Text module = {0}, body = {0};
    add_module(&c.map, &module);
    /* Block 0 loads for both; each expects the bytes of its own. */
    text_add(&body, BEGIN POISON "fence.proxy.async.shared::cta; mov.u16 %h1, 3;\n");
    text_print(&body, "@%%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r9], %u;\n",
               expected_bytes(&c.map));
    text_add(&body, "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %cluster_ctarank;\n"
                    "setp.eq.and.u32 %p2, %r8, 0, %p2;\n");
    text_add(&body, "@%p2 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                    "multicast::cluster [%r1], ");
    add_box(&c, &body);
    text_add(&body, ", [%r9], %h1;\n" AWAIT SHOW "barrier.cluster.arrive; barrier.cluster.wait;\n");
    CoreRun run = core_run_well(kernel_of(&module, &body, in, 2));
    for (int rank = 0; rank < 2; rank++) compare(&c, run.out + (1 + rank) * WORDS, tile, "tile");
    core_done(&run);
    text_done(&module), text_done(&body);
}

#define REPLACE(field, type, value) "tensormap.replace.tile." field ".b1024." type " [%q1], " value ";\n"

/* Replaced in a copy in shared memory, as kernels do, or in global memory. */
static void check_replaced(const Case *c, const TensorMap *before, const char *change) {
    Text text = {0};
    check_load(c, before, change);
    text_add(
        &text,
        "@!%p2 bra REPLACED; mov.u64 %q4, %q1; mov.u32 %r6, copy; cvt.u64.u32 %q1, %r6; mov.u32 %r7, 0;\n"
        "COPY: ld.global.u64 %q5, [%q4]; st.shared.u64 [%r6], %q5; add.u32 %r6, %r6, 8;\n"
        "add.u64 %q4, %q4, 8; add.u32 %r7, %r7, 1; setp.lt.u32 %p1, %r7, 16; @%p1 bra COPY;\n"
        "cvta.shared.u64 %q1, %q1;\n");
    text_add(&text, change);
    text_add(&text,
             "REPLACED: mov.u64 %q1, map; bar.warp.sync -1;\n"
             "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%q1], "
             "[copy], 128;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%q1], 128;\n");
    check_load(c, before, text_string(&text));
    text_done(&text);
}

static void replaced_maps_load_as_encoded_ones(void **state) {
    (void)state;
    const TensorMap before = TENSOR(TENSOR_F32, 0, 16);
    const Case good = {TENSOR(TENSOR_F32, 0, 16), {8, 2}, NULL};
    Case c = good;
    check_replaced(&c, &before,
                   "add.u64 %q6, %base, 160; st.u64 [%q1], %q6;\n" REPLACE("global_address", "b64", "%base"));
    c.map.box[0] = 8;
    check_replaced(&c, &before, REPLACE("box_dim", "b32", "0, 8"));
    c = good, c.map.box[1] = 3;
    check_replaced(&c, &before, REPLACE("box_dim", "b32", "1, 3"));
    c = good, c.map.size[0] = 10;
    check_replaced(&c, &before, REPLACE("global_dim", "b32", "0, 10"));
    c = good, c.map.size[1] = 4;
    check_replaced(&c, &before, REPLACE("global_dim", "b32", "1, 4"));
    c = good, c.map.stride[0] = 96;
    check_replaced(&c, &before, REPLACE("global_stride", "b64", "0, 96"));
    c = good, c.map.step[1] = 2;
    check_replaced(&c, &before, REPLACE("element_stride", "b32", "1, 2"));
    c = good, c.map.swizzle = 3;
    check_replaced(&c, &before, REPLACE("swizzle_mode", "b32", "3"));
    c = good, c.map.fill = 1;
    check_replaced(&c, &before, REPLACE("fill_mode", "b32", "1"));
    c = good, c.map.type = TENSOR_F16;
    check_replaced(&c, &before, REPLACE("elemtype", "b32", "6"));
    c = good, c.map.type = TENSOR_F64, c.map.size[0] = 7, c.map.box[0] = 4, c.at[0] = 4;
    check_replaced(&c, &before,
                   REPLACE("elemtype", "b32", "9") REPLACE("global_dim", "b32", "0, 7")
                       REPLACE("box_dim", "b32", "0, 4") REPLACE("interleave_layout", "b32", "0"));
    c = good, c.map.rank = 3, c.map.size[2] = 2, c.map.stride[1] = 480, c.map.box[2] = 1, c.map.step[2] = 1;
    c.at[2] = 1;
    check_replaced(&c, &before,
                   REPLACE("rank", "b32", "2") REPLACE("global_dim", "b32", "2, 2")
                       REPLACE("global_stride", "b64", "1, 480") REPLACE("box_dim", "b32", "2, 1"));
}

static void expect_trap(const Case *c, bool is_load, const char *place, TrapKind kind, const char *detail) {
    static uint32_t in[2 * WORDS];
    Text module = {0}, body = {0};
    add_module(&c->map, &module);
    text_add(&body, BEGIN BRING PUBLISH);
    text_add(&body, place);
    if (is_load)
        add_load(c, &body);
    else
        add_store(c, &body);
    core_run_trap(kernel_of(&module, &body, in, 1), kind, detail);
    text_done(&module), text_done(&body);
}

static void what_the_hardware_refuses_traps(void **state) {
    (void)state;
    const Case good = {TENSOR(TENSOR_F32, 0, 16), {0, 0}, NULL};
    Case c = good;
    expect_trap(&c, true, "add.u32 %r1, %r1, 64;\n", TRAP_MISALIGNED, "shared offset 64, which is not");
    expect_trap(&c, true, "add.u64 %q1, %q1, 64;\n", TRAP_TENSOR_COPY, "finds no tensor map");
    c.at[0] = 2;
    expect_trap(&c, true, "", TRAP_TENSOR_COPY, "coordinate 2, which is not a multiple of 16 bytes");
    expect_trap(&c, false, "", TRAP_TENSOR_COPY, "coordinate 2, which is not a multiple of 16 bytes");
    c.at[0] = -4;
    expect_trap(&c, false, "", TRAP_TENSOR_COPY, "negative coordinate -4");
    c = good;
    expect_trap(&c, false, "", TRAP_OVERWRITTEN_PADDING,
                "overwrites the 8 bytes behind 5 rows of its tensor, the first at offset 56 of `out`");
    c.operation = "max";
    expect_trap(&c, false, "", TRAP_TENSOR_COPY, "no such reduction");
    c = good;
    c.map.size[1] = 1000;
    c.at[1] = 400;
    expect_trap(&c, true, "", TRAP_OUT_OF_BOUNDS, "past the end of");
    c = good;
    expect_trap(&c, true, REPLACE("rank", "b32", "5"), TRAP_TENSOR_COPY, ".rank of a tensor map cannot be 5");
    expect_trap(&c, true, REPLACE("global_stride", "b64", "0, 24"), TRAP_TENSOR_COPY, "cannot be 24");
    expect_trap(&c, true, "mov.u64 %q1, %base;\n" REPLACE("fill_mode", "b32", "1"), TRAP_TENSOR_COPY,
                "finds no tensor map");
    expect_trap(&c, true, "mov.u64 %q1, 4096;\n" REPLACE("fill_mode", "b32", "1"), TRAP_TENSOR_COPY,
                "finds no memory for a tensor map at 0x1000");
    c.map.mode = TENSOR_IM2COL, c.map.pixels = 1;
    expect_trap(&c, true, REPLACE("fill_mode", "b32", "1"), TRAP_NOT_EMULATED, "in a tensor map for im2col");
    c.map.mode = TENSOR_TILED;
    c.map.swizzle = 1; /* as tensormap.replace may leave it */
    expect_trap(&c, true, "", TRAP_TENSOR_COPY, "more bytes than its swizzle spans");
}

/* ---- four rows of a matrix ---------------------------------------------------------------------------- */

enum { GATHERED = 4 };

/* Moves the four rows of the case, at column c->at[0], between the tensor and the tile. */
static void each_gathered(const Case *c, const int32_t rows[GATHERED], uint8_t *tensor, uint8_t *tile,
                          Element element) {
    static const int64_t masks[] = {0, 0x10, 0x30, 0x70};
    int64_t bytes = tensor_type_bytes(c->map.type), pitch = (int64_t)c->map.box[0] * bytes;
    if (c->map.swizzle) pitch = 16 << c->map.swizzle;
    for (int row = 0; row < GATHERED; row++)
        for (int64_t i = 0; i < c->map.box[0]; i++) {
            int64_t column = c->at[0] + i, shared = row * pitch + i * bytes;
            bool inside = rows[row] >= 0 && rows[row] < (int64_t)c->map.size[1] && column >= 0 &&
                          column < (int64_t)c->map.size[0];
            element(c, inside ? tensor + rows[row] * (int64_t)c->map.stride[0] + column * bytes : NULL,
                    tile + (shared ^ (shared >> 3 & masks[c->map.swizzle])));
        }
}

static void check_gathered(const Case *c, const int32_t rows[GATHERED], bool is_load) {
    static uint32_t in[2 * WORDS];
    uint8_t *tensor = (uint8_t *)in, *tile = (uint8_t *)(in + WORDS);
    static uint8_t expected[BYTES];
    Text module = {0}, body = {0};
    char list[100];
    fill(in);
    memcpy(expected, tensor, BYTES);
    if (is_load) memset(expected, UNTOUCHED, BYTES);
    if (is_load)
        each_gathered(c, rows, tensor, expected, load_element);
    else
        each_gathered(c, rows, expected, tile, store_element);
    add_module(&c->map, &module);
    snprintf(list, sizeof list, "[%%q1, {%d, %d, %d, %d, %d}]", c->at[0], rows[0], rows[1], rows[2], rows[3]);
    text_add(&body, is_load ? BEGIN POISON PUBLISH : BEGIN BRING PUBLISH);
    if (is_load)
        text_print(
            &body,
            "@%%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r9], %u;\n@%%p2 cp.async.bulk.tensor.2d."
            "shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%%r1], %s, [%%r9];\n",
            GATHERED * c->map.box[0] * (uint32_t)tensor_type_bytes(c->map.type), list);
    else
        text_print(&body,
                   "@%%p2 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group %s, [%%r1];\n",
                   list);
    text_add(&body, is_load ? AWAIT SHOW : AWAIT_ALL);
    CoreRun run = core_run_well(kernel_of(&module, &body, in, 1));
    compare(c, run.out + (is_load ? WORDS : 0), expected, is_load ? "tile" : "tensor");
    core_done(&run);
    text_done(&module), text_done(&body);
}

static void four_rows_are_gathered_and_scattered(void **state) {
    (void)state;
    for (uint32_t swizzle = 0; swizzle < 4; swizzle++) {
        uint32_t columns = swizzle ? 4u << swizzle : 8;
        Case c = {TENSOR(TENSOR_F32, swizzle, columns), {4, 0}, NULL};
        c.map.size[0] = 40;
        check_gathered(&c, (const int32_t[]){9, 2, 13, 0}, true);
        check_gathered(&c, (const int32_t[]){9, 2, 13, 0}, false);
        check_gathered(&c, (const int32_t[]){-1, 7, 14, 7}, true); /* two rows are outside */
        check_gathered(&c, (const int32_t[]){14, 99, 6, 5}, false);
        c.map.fill = 1, c.at[0] = -4;
        check_gathered(&c, (const int32_t[]){-1, 14, 20, -9}, true); /* all of it */
    }
}

static void modes_that_do_not_fit_are_refused(void **state) {
    (void)state;
    static const char *const refused[] = {
        "cp.async.bulk.tensor.3d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%q1, "
        "{%r1, "
        "%r1, %r1, %r1, %r1}], [%r9];\n",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%q1, "
        "{%r1, "
        "%r1}], [%r9];\n",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile::scatter4.mbarrier::complete_tx::bytes [%r1], [%q1, "
        "{%r1, "
        "%r1, %r1, %r1, %r1}], [%r9];\n",
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile::scatter4.bulk_group [%q1, {%r1, %r1, "
        "%r1, %r1, "
        "%r1}], [%r1];\n",
        "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r1, "
        "%r1, "
        "%r1}], [%r9];\n",
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%r1], [%q1, {%r1, "
        "%r1, "
        "%r1, %r1}], [%r9], {%h1};\n",
        "cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group [%q1, {%r1, %r1}], [%r1];\n",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%q1, {%r1, %r1, %r1}], [%r1];\n",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r1], [%q1, "
        "{%r1, "
        "%r1, %r1}], [%r9], {%h1, %h2};\n"};
    const TensorMap map = TENSOR(TENSOR_F32, 0, 16);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Text module = {0}, body = {0};
        add_module(&map, &module);
        text_add(&body, BEGIN);
        text_add(&body, refused[i]);
        core_run_trap(
            (CoreKernel){.module = text_string(&module), .body = text_string(&body), .words = WORDS},
            TRAP_NOT_EMULATED, "cp");
        text_done(&module), text_done(&body);
    }
}

/* Missing bytes: the deadlock names the mbarrier and how many. */
static void missing_bytes_name_the_mbarrier(void **state) {
    (void)state;
    Text module = {0}, body = {0};
    const Case c = {TENSOR(TENSOR_F32, 0, 16), {0, 0}, NULL};
    add_module(&c.map, &module);
    text_add(&body, BEGIN PUBLISH "@%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r9], 64;\n");
    add_load(&c, &body);
    text_add(&body, AWAIT);
    core_run_trap(kernel_of(&module, &body, NULL, 1), TRAP_DEADLOCK,
                  "`gate`+0, phase 0: 64 bytes are missing");
    text_done(&module), text_done(&body);
}

/* As on a GPU, a wait that counts its rounds gives up and goes on to the barrier of the others. */
static void a_bounded_wait_gives_up(void **state) {
    (void)state;
    static uint32_t expected[WARP_LANES] = {1000};
    core_expect((CoreKernel){.module = ".shared .align 8 .b64 gate;\n",
                             .body = "mov.u32 %r9, gate; mov.u32 %r5, 0; setp.eq.u32 %p2, %t, 0;\n"
                                     "@!%p2 bra JOIN; mbarrier.init.shared::cta.b64 [%r9], 1;\n"
                                     "ASK: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0;\n"
                                     "@%p3 bra JOIN; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 1000;\n"
                                     "@%p1 bra ASK;\n"
                                     "JOIN: bar.sync 0; st.global.u32 [%out], %r5;\n"},
                expected, WARP_LANES);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tiles_are_swizzled_by_their_address),
                                       cmocka_unit_test(boxes_have_one_to_five_dimensions),
                                       cmocka_unit_test(outside_is_zero_or_not_a_number),
                                       cmocka_unit_test(reductions_fold_what_is_inside),
                                       cmocka_unit_test(multicast_reaches_the_named_blocks),
                                       cmocka_unit_test(replaced_maps_load_as_encoded_ones),
                                       cmocka_unit_test(what_the_hardware_refuses_traps),
                                       cmocka_unit_test(four_rows_are_gathered_and_scattered),
                                       cmocka_unit_test(modes_that_do_not_fit_are_refused),
                                       cmocka_unit_test(missing_bytes_name_the_mbarrier),
                                       cmocka_unit_test(a_bounded_wait_gives_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
