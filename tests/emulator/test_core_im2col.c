/* Tensor copies in im2col mode do what an H200 did, word by word: tests/data/im2col_h200.txt has the lines
 * that tests/device/im2col.cu printed there (driver 580.159.04, 2026-11-30), each with its map, its
 * instruction and its outcome. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/tensor_map.h"
#include "core.h"
#include "trace/tile.h"
#include <stdlib.h>
#include <string.h>

/* out: 16-bit words of the tensor's memory, which begins at word BASE; then the tiles of the blocks. */
enum { BASE = 2048, GLOBAL = 16384, TILE = 16384, UNTOUCHED = 0xeeee, NAN_FILL = 0x7ff7 };

typedef struct Case {
    const char *name, *outcome;
    /* Load, Store, Reduce, Prefetch, Multicast, Encode; X: tile load of this map; Y: load of a tiled map */
    char how;
    TensorMap map;
    int32_t coordinate[TENSOR_RANK_MOST];
    uint32_t offset[TENSOR_SIDES_MOST], at, copy_rank;
} Case;

/* ---- the lines --------------------------------------------------------------------------------------- */

static const char *next_field(char **line) {
    char *field = *line, *end = strstr(field, " | ");
    if (!end) return field;
    *end = '\0';
    *line = end + 3;
    return field;
}

static void read_numbers(const char *text, int64_t *numbers, int count) {
    char *end = (char *)(uintptr_t)text;
    for (int i = 0; i < count; i++) numbers[i] = strtoll(end, &end, 10);
}

static Case read_case(char *line) {
    Case c = {.name = next_field(&line)};
    int64_t modes[8], sizes[5], strides[4], lower[3], upper[3], pixels[2], steps[5], at[5], offsets[3];
    c.how = *next_field(&line);
    read_numbers(next_field(&line), modes, 8);
    read_numbers(next_field(&line), sizes, 5);
    read_numbers(next_field(&line), strides, 4);
    read_numbers(next_field(&line), lower, 3);
    read_numbers(next_field(&line), upper, 3);
    read_numbers(next_field(&line), pixels, 2);
    read_numbers(next_field(&line), steps, 5);
    read_numbers(next_field(&line), at, 5);
    read_numbers(next_field(&line), offsets, 3);
    c.outcome = line;
    c.map = (TensorMap){.type = (uint32_t)modes[0],
                        .rank = (uint32_t)modes[1],
                        .interleave = (uint32_t)modes[2],
                        .swizzle = (uint32_t)modes[3],
                        .fill = (uint32_t)modes[4],
                        .address = 4096 + (uint64_t)modes[5],
                        .mode = c.how == 'Y' ? TENSOR_TILED : TENSOR_IM2COL,
                        .box = {(uint32_t)pixels[0], 1, 1, 1, 1},
                        .pixels = (uint32_t)pixels[1]};
    c.at = (uint32_t)modes[6], c.copy_rank = (uint32_t)modes[7];
    for (int i = 0; i < 5; i++) {
        c.map.size[i] = (uint64_t)sizes[i];
        c.map.step[i] = (uint32_t)steps[i];
        c.coordinate[i] = (int32_t)at[i];
        if (i < 4) c.map.stride[i] = (uint64_t)strides[i];
    }
    for (int i = 0; i < 3; i++) {
        c.map.lower[i] = (int32_t)lower[i], c.map.upper[i] = (int32_t)upper[i];
        c.offset[i] = (uint32_t)offsets[i];
    }
    return c;
}

/* ---- the kernel -------------------------------------------------------------------------------------- */

static bool stores(const Case *c) {
    return c->how == 'S' || c->how == 'R';
}

static void add_list(const char *begin, const int32_t *numbers, uint32_t count, Text *body) {
    text_add(body, begin);
    for (uint32_t i = 0; i < count; i++) text_print(body, i ? ", %d" : "{%d", numbers[i]);
    text_add(body, "}");
}

static void add_instruction(const Case *c, Text *body) {
    int32_t offsets[3] = {0};
    for (int i = 0; i < 3; i++) offsets[i] = (int32_t)c->offset[i];
    const char *reduces = c->how == 'R' ? "cp.reduce" : "cp", *adds = c->how == 'R' ? ".add" : "";
    if (stores(c))
        text_print(body, "@%%p2 %s.async.bulk.tensor.%ud.global.shared::cta%s.im2col_no_offs.bulk_group ",
                   reduces, c->copy_rank, adds);
    else if (c->how == 'P')
        text_print(body, "@%%p2 cp.async.bulk.prefetch.tensor.%ud.L2.global.im2col ", c->copy_rank);
    else
        text_print(
            body, "@%%p2 cp.async.bulk.tensor.%ud.shared::cluster.global.%s.mbarrier::complete_tx::bytes%s ",
            c->copy_rank, c->how == 'X' ? "tile" : "im2col", c->how == 'M' ? ".multicast::cluster" : "");
    if (c->how != 'P' && !stores(c)) text_add(body, "[%r1], ");
    add_list("[%q1, ", c->coordinate, c->copy_rank, body);
    text_add(body, "]");
    if (stores(c)) text_add(body, ", [%r1]");
    if (c->how != 'P' && !stores(c)) text_add(body, ", [%r9]");
    if (c->how != 'X' && !stores(c)) add_list(", ", offsets, c->copy_rank - 2, body);
    text_add(body, c->how == 'M' ? ", %h1;\n" : ";\n");
}

static uint32_t bytes_of(const Case *c) {
    return (uint32_t)tensor_type_bytes(c->map.type) * c->map.box[0] * c->map.pixels;
}

/* Word i of the tile is moved by lane i % 32, from or to out. */
#define EACH_WORD(name, move)                                                                                \
    "mov.u32 %r2, %t; mov.u32 %r8, %cluster_ctarank; mad.lo.u32 %r8, %r8, 32768, 32768;\n" name              \
    ": mad.lo.u32 %r3, %r2, 4, tile; mad.lo.u32 %r4, %r2, 4, %r8; cvt.u64.u32 %q3, %r4;\n"                   \
    "add.u64 %q3, %q3, %base; " move " add.u32 %r2, %r2, 32; setp.lt.u32 %p1, %r2, 8192; @%p1 bra " name     \
    ";\n"

static void add_body(const Case *c, Text *body) {
    text_print(
        body,
        "mov.u32 %%r1, tile; mov.u32 %%r9, gate; mov.u64 %%q1, map; add.u64 %%q2, %%base, %llu;\n"
        "add.u32 %%r1, %%r1, %u; st.global.u64 [%%q1], %%q2; setp.eq.u32 %%p2, %%t, 0; mov.u16 %%h1, 3;\n"
        "@%%p2 mbarrier.init.shared::cta.b64 [%%r9], 1;\n",
        (unsigned long long)c->map.address, c->at);
    text_add(
        body,
        EACH_WORD("BRING", "ld.global.u32 %r5, [%q3]; st.shared.u32 [%r3], %r5;") "fence.proxy.async.shared::"
                                                                                  "cta; bar.sync 0;\n");
    if (!stores(c) && c->how != 'P')
        text_print(body, "@%%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%r9], %u;\n", bytes_of(c));
    if (c->how == 'M')
        text_add(body, "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r8, %cluster_ctarank;\n"
                       "setp.eq.and.u32 %p2, %r8, 0, %p2;\n");
    add_instruction(c, body);
    if (stores(c)) text_add(body, "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; bar.sync 0;\n");
    if (stores(c) || c->how == 'P') return;
    text_add(body, "SPIN: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r9], 0; @!%p3 bra SPIN;\n"
                   "barrier.cluster.arrive; barrier.cluster.wait;\n");
    text_add(body, EACH_WORD("SHOW", "ld.shared.u32 %r5, [%r3]; st.global.u32 [%q3], %r5;"));
}

static void add_module(const Case *c, Text *module) {
    uint8_t bytes[TENSOR_MAP_BYTES];
    tensor_map_encode(&c->map, bytes);
    text_add(module, ".shared .align 1024 .b8 tile[32768];\n.shared .align 8 .b64 gate;\n"
                     ".global .align 64 .b8 map[128] = {");
    for (int i = 0; i < TENSOR_MAP_BYTES; i++) text_print(module, i ? ",%d" : "%d", bytes[i]);
    text_add(module, "};\n");
}

/* What out holds before: the words of memory and of shared memory as tests/device/im2col.cu sets them. */
static void fill(const Case *c, uint16_t *words, uint32_t blocks) {
    for (uint32_t i = 0; i < GLOBAL; i++)
        words[i] = !stores(c) ? (uint16_t)(i + 1) : c->how == 'R' ? 0 : UNTOUCHED;
    for (uint32_t i = 0; i < blocks * TILE; i++)
        words[GLOBAL + i] = stores(c) ? (uint16_t)(i + 1) : UNTOUCHED;
}

/* ---- outcomes ---------------------------------------------------------------------------------------- */

static void print_loaded(const uint16_t *words, uint32_t count, Text *out) {
    while (count && words[count - 1] == UNTOUCHED) count--;
    for (uint32_t i = 0, n; i < count; i += n) {
        uint16_t word = words[i];
        n = 1;
        if (!word || word == UNTOUCHED || word == NAN_FILL) {
            while (i + n < count && words[i + n] == word) n++;
            text_print(out, " %c%u", !word ? '.' : word == UNTOUCHED ? '_' : 'N', n);
        } else {
            while (i + n < count && words[i + n] == word + n) n++;
            text_print(out, " %d+%u", word - 1 - BASE, n);
        }
    }
}

static void print_stored(const Case *c, const uint16_t *words, Text *out) {
    uint16_t untouched = c->how == 'R' ? 0 : UNTOUCHED;
    for (int i = 0, n; i < GLOBAL; i += n) {
        n = 1;
        if (words[i] == untouched) continue;
        while (i + n < GLOBAL && words[i + n] == words[i] + n) n++;
        text_print(out, "%s@%d=%d+%d", out->length ? " " : "", i - BASE, words[i] - 1, n);
    }
}

/* The tile that the event of the copy holds, filled in from the memory before. */
static void load_by_event(const Case *c, const CoreRun *run, const uint16_t *before, uint16_t *tile) {
    TraceEvent read = {0}, written = {0};
    TraceTile moved;
    TilePiece piece;
    for (int i = 0; i < core_event_count(run, 0); i++) {
        TraceEvent event;
        core_event(run, 0, i, &event);
        if (event.kind == TRACE_GLOBAL_BULK_READ) read = event;
        if (event.kind == TRACE_SHARED_BULK_WRITE) written = event;
    }
    assert_true(trace_tile_read(&read, 0, &moved) && trace_tile_read(&written, 0, &moved));
    for (uint32_t i = 0; i < TILE; i++) tile[i] = UNTOUCHED;
    for (TileWalk walk = trace_tile_walk(&moved, c->at); trace_tile_next(&walk, &piece);)
        for (uint32_t i = 0; i < piece.bytes / 2; i++)
            tile[piece.shared / 2 + i] = piece.is_inside ? before[(read.offset[0] + piece.global) / 2 + i]
                                         : c->map.fill   ? NAN_FILL
                                                         : 0;
}

static void describe(const Case *c, const CoreRun *run, const uint16_t *before, uint32_t blocks, Text *out) {
    const uint16_t *words = (const uint16_t *)run->out;
    for (int i = 0; i < run->trace->trap_count; i++)
        if (trap_kind_is_fatal(run->trace->traps[i].kind)) {
            bool is_aligned = run->trace->traps[i].kind != TRAP_MISALIGNED;
            text_add(out, is_aligned ? "cudaErrorIllegalInstruction" : "cudaErrorMisalignedAddress");
            return;
        }
    if (stores(c)) print_stored(c, words, out);
    if (c->how == 'P') text_add(out, "prefetched");
    if (stores(c) || c->how == 'P') return;
    text_print(out, "%u bytes:", bytes_of(c));
    /* The device has half of the shared memory in each block of a cluster. */
    uint16_t *tile = memory_new(TILE * sizeof *tile);
    memcpy(tile, words + GLOBAL, TILE * sizeof *tile);
    if (blocks == 2) memcpy(tile + TILE / 2, words + GLOBAL + TILE, TILE / 2 * sizeof *tile);
    print_loaded(tile, TILE, out);
    if (blocks == 1 && c->map.type < TENSOR_F32_FTZ && run->launch->block_count) {
        Text by_event = {0};
        text_print(&by_event, "%u bytes:", bytes_of(c));
        load_by_event(c, run, before, tile);
        print_loaded(tile, TILE, &by_event);
        assert_string_equal(text_string(&by_event), text_string(out));
        text_done(&by_event);
    }
    free(tile);
}

static void run_case(const Case *c, bool untraced, Text *out) {
    const char *refusal = tensor_map_refusal(&c->map);
    if (refusal || c->how == 'E') {
        text_add(out, refusal ? "refused" : "accepted");
        return;
    }
    uint32_t blocks = c->how == 'M' ? 2 : 1, words = GLOBAL + blocks * TILE;
    uint16_t *in = memory_new(words * sizeof *in);
    Text module = {0}, body = {0};
    fill(c, in, blocks);
    add_module(c, &module);
    add_body(c, &body);
    CoreRun run = core_run((CoreKernel){.module = text_string(&module),
                                        .body = text_string(&body),
                                        .words = words / 2,
                                        .in = (const uint32_t *)(const void *)in,
                                        .grid = blocks,
                                        .cluster = {blocks, 1, 1},
                                        .untraced = untraced});
    assert_true(run.done);
    describe(c, &run, in, blocks, out);
    core_done(&run);
    text_done(&module), text_done(&body);
    free(in);
}

/* `of`: the cases of these kinds. Returns how many there are. */
static int check_cases(const char *of) {
    char *lines;
    size_t length;
    Error error = {0};
    int count = 0;
    assert_true(text_read_file("tests/data/im2col_h200.txt", 1 << 20, &lines, &length, &error));
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        Case c = read_case(line);
        if (!strchr(of, c.how)) continue;
        for (int untraced = 0; untraced < 2; untraced++) {
            Text out = {0};
            run_case(&c, untraced, &out);
            if (strcmp(text_string(&out), c.outcome) != 0)
                fail_msg("%s:\n%s\nnot as the H200:\n%s", c.name, text_string(&out), c.outcome);
            text_done(&out);
        }
        count++;
    }
    free(lines);
    return count;
}

static void loads_are_those_of_the_hardware(void **state) {
    (void)state;
    assert_int_equal(check_cases("LXY"), 115);
}

static void multicast_loads_into_both_blocks(void **state) {
    (void)state;
    assert_int_equal(check_cases("M"), 1);
}

static void stores_and_reductions_are_those_of_the_hardware(void **state) {
    (void)state;
    assert_int_equal(check_cases("SR"), 26);
}

static void prefetches_change_nothing(void **state) {
    (void)state;
    assert_int_equal(check_cases("P"), 3);
}

static void maps_are_refused_as_by_the_driver(void **state) {
    (void)state;
    assert_int_equal(check_cases("E"), 61);
}

/* Each pixel of 5 halves ends on 16 bytes; the last of these 16 pixels is the first of another image. */
static void stores_overwrite_what_follows_a_pixel(void **state) {
    (void)state;
    Case c = {.how = 'S',
              .map = {.type = TENSOR_F16,
                      .address = 4096,
                      .rank = 3,
                      .size = {5, 30, 2},
                      .stride = {16, 480},
                      .step = {1, 1, 1},
                      .mode = TENSOR_IM2COL,
                      .box = {8},
                      .pixels = 16},
              .coordinate = {0, 15, 0},
              .copy_rank = 3};
    static uint16_t in[GLOBAL + TILE];
    Text module = {0}, body = {0};
    fill(&c, in, 1);
    add_module(&c, &module);
    add_body(&c, &body);
    core_run_trap((CoreKernel){.module = text_string(&module),
                               .body = text_string(&body),
                               .in = (const uint32_t *)(const void *)in,
                               .words = (GLOBAL + TILE) / 2},
                  TRAP_OVERWRITTEN_PADDING,
                  "overwrites the 6 bytes behind 16 rows of its tensor, the first at offset 4346");
    text_done(&module), text_done(&body);
}

/* The values of an event hold a side of 65,535 pixels. */
static void longer_sides_are_refused_by_name(void **state) {
    (void)state;
    Case c = {.how = 'L',
              .map = {.type = TENSOR_F16,
                      .address = 4096,
                      .rank = 3,
                      .size = {8, 65535, 1},
                      .step = {1, 1, 1},
                      .mode = TENSOR_IM2COL,
                      .box = {8},
                      .pixels = 1},
              .copy_rank = 3};
    for (int i = 0; i < 2; i++) {
        Text module = {0}, body = {0};
        c.map.size[1] = i ? TILE_SIDE_LIMIT : TILE_SIDE_LIMIT - 1;
        add_module(&c, &module);
        add_body(&c, &body);
        CoreKernel kernel = {
            .module = text_string(&module), .body = text_string(&body), .words = (GLOBAL + TILE) / 2};
        if (i == 0) {
            CoreRun run = core_run_well(kernel);
            core_done(&run);
        } else {
            core_run_trap(kernel, TRAP_NOT_EMULATED, "with 65536 pixels a side or more are not emulated");
        }
        text_done(&module), text_done(&body);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_are_those_of_the_hardware),
                                       cmocka_unit_test(multicast_loads_into_both_blocks),
                                       cmocka_unit_test(stores_and_reductions_are_those_of_the_hardware),
                                       cmocka_unit_test(prefetches_change_nothing),
                                       cmocka_unit_test(stores_overwrite_what_follows_a_pixel),
                                       cmocka_unit_test(maps_are_refused_as_by_the_driver),
                                       cmocka_unit_test(longer_sides_are_refused_by_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
