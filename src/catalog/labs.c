/* Labs: kernels that each teach one lesson about the machine; --param varies it.
 *
 * Most copy n elements from `in` to `out` with the access under study, so their check is exact and covers
 * every element. n counts elements; each has a thread unless a row says otherwise. */
#include "base/tensor_map.h"
#include "catalog/rows.h"
#include <string.h>

/* ---- shared by the rows ---- */

static const PlanBuffer *input_of(const Plan *filled) {
    return &filled->buffers[0];
}
static const PlanBuffer *output_of(const Plan *done) {
    return &done->buffers[1];
}

/* Makes text only for the reported element: skips equal elements after the first. */
static void compare(ExpectResult *result, const PlanBuffer *out, uint64_t index, double expected) {
    double got = plan_element(out->type, out->bytes, index);
    if (result->compared && got == expected)
        result->compared++;
    else
        reference_judge(result, out->type, index, got, expected, 0);
}

/* in[count] -> out[count], one thread per element; adds the arguments in, out, n; more may follow. */
static PlanLaunch *plan_of_copy(const CatalogRun *run, Plan *plan, const char *entry, uint64_t input_count,
                                uint32_t shared_bytes) {
    int in = rows_add_input(plan, run, input_count);
    int out = rows_add_output(plan, "out", run->dtype, run->n);
    PlanLaunch *launch =
        rows_add_launch(plan, entry, rows_blocks(run->n, run->block), run->block, shared_bytes);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    return launch;
}

static void check_copy(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    const PlanBuffer *in = input_of(filled), *out = output_of(done);
    for (uint64_t i = 0; i < run->n; i++) compare(result, out, i, plan_element(in->type, in->bytes, i));
}

/* ---- banks ---- */

/* Bytes of a shared array in which the last thread's element has index (block - 1) * stride. */
static uint32_t strided_bytes(const CatalogRun *run, int64_t element_bytes) {
    return (uint32_t)(((run->block - 1) * rows_parameter(run, "stride") + 1) * element_bytes);
}

static void plan_bank_stride(const CatalogRun *run, Plan *plan) {
    uint32_t offset = (uint32_t)rows_parameter(run, "offset");
    PlanLaunch *launch =
        plan_of_copy(run, plan, "lab_bank_stride", run->n, strided_bytes(run, 4) + offset * 4);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "stride"));
    rows_add_u32(plan, launch, offset);
}

static void plan_bank_broadcast(const CatalogRun *run, Plan *plan) {
    PlanLaunch *launch = plan_of_copy(run, plan, "lab_bank_broadcast", run->n, run->block * 4);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "words"));
}

static void check_bank_broadcast(const CatalogRun *run, const Plan *filled, const Plan *done,
                                 ExpectResult *result) {
    const PlanBuffer *in = input_of(filled);
    uint64_t words = (uint64_t)rows_parameter(run, "words");
    for (uint64_t i = 0; i < run->n; i++) {
        uint64_t thread = i % run->block;
        compare(result, output_of(done), i, plan_element(in->type, in->bytes, i - thread + thread % words));
    }
}

static void plan_bank_bytes(const CatalogRun *run, Plan *plan) {
    const char *entry = rows_typed_entry(plan, run, "lab_bank_bytes");
    PlanLaunch *launch =
        plan_of_copy(run, plan, entry, run->n, strided_bytes(run, ptx_type_bytes(run->dtype)));
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "stride"));
}

static void plan_bank_double(const CatalogRun *run, Plan *plan) {
    PlanLaunch *launch = plan_of_copy(run, plan, "lab_bank_double", run->n, strided_bytes(run, 8));
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "stride"));
}

/* A thread moves 4 elements; both buffers end with a whole vector. */
static void plan_bank_vector(const CatalogRun *run, Plan *plan) {
    uint32_t vectors = (uint32_t)((run->n + 3) / 4);
    int in = rows_add_input(plan, run, (uint64_t)vectors * 4);
    int out = rows_add_output(plan, "out", run->dtype, (uint64_t)vectors * 4);
    PlanLaunch *launch = rows_add_launch(plan, "lab_bank_vector", rows_blocks(vectors, run->block),
                                         run->block, strided_bytes(run, 16));
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, vectors);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "stride"));
}

enum {
    /* lab_bank_padding, lab_tile_column: a block is one warp and sums the TILE rows of a tile, TILE elements
     * each. */
    TILE = 32
};

static void plan_bank_padding(const CatalogRun *run, Plan *plan) {
    int in = rows_add_input(plan, run, run->n);
    int out = rows_add_output(plan, "out", run->dtype, (run->n + TILE - 1) / TILE);
    const char *entry = rows_parameter(run, "padding") ? "lab_bank_padding<1>" : "lab_bank_padding<0>";
    PlanLaunch *launch = rows_add_launch(plan, entry, rows_blocks(run->n, TILE * TILE), run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

/* The values of lab_tile_column's parameter `layout`; from COPIED on, tensor copies fill the tile. */
enum { COPIED = 3, LAYOUTS = 5 };
static const char *const layouts[LAYOUTS] = {"plain", "padded", "XOR by hand", "copied, 4-byte loads",
                                             "copied, 16-byte loads"};

/* Whole rows: n is rounded up. */
static void plan_tile_column(const CatalogRun *run, Plan *plan) {
    static const char *const entries[LAYOUTS] = {"lab_tile_column<0>", "lab_tile_column<1>",
                                                 "lab_tile_column<2>", "lab_tile_column_copied<Single>",
                                                 "lab_tile_column_copied<Piece<int>>"};
    int64_t layout = rows_parameter(run, "layout");
    uint32_t rows = rows_blocks(run->n, TILE);
    int in = rows_add_input(plan, run, (uint64_t)rows * TILE);
    int out = rows_add_output(plan, "out", run->dtype, rows);
    PlanLaunch *launch = rows_add_launch(plan, entries[layout], rows_blocks(rows, TILE), run->block, 0);
    TensorMap map = {.size = {TILE, rows},
                     .stride = {TILE * 4},
                     .box = {TILE, TILE},
                     .step = {1, 1},
                     .rank = 2,
                     .type = TENSOR_S32,
                     .swizzle = 3};
    if (layout < COPIED)
        plan_add_pointer(plan, launch, in);
    else
        plan_add_tensor(plan, launch, in, &map);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, rows);
}

static void check_tile_rows(const CatalogRun *run, const Plan *filled, const Plan *done,
                            ExpectResult *result) {
    (void)run;
    const PlanBuffer *in = input_of(filled);
    for (uint64_t row = 0; row * TILE < in->count; row++) {
        uint32_t sum = 0; /* wraps like the kernel's int */
        for (uint64_t i = row * TILE; i < in->count && i < (row + 1) * TILE; i++)
            sum += (uint32_t)(int32_t)plan_element(in->type, in->bytes, i);
        compare(result, output_of(done), row, (int32_t)sum);
    }
}

/* ---- warps ---- */

static void plan_partial_warp(const CatalogRun *run, Plan *plan) {
    int in = rows_add_input(plan, run, run->n);
    uint32_t blocks = rows_blocks(run->n, run->block);
    int out = rows_add_output(plan, "out", run->dtype, blocks);
    PlanLaunch *launch = rows_add_launch(plan, "lab_partial_warp", blocks, run->block, run->block * 4);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
}

static void check_partial_warp(const CatalogRun *run, const Plan *filled, const Plan *done,
                               ExpectResult *result) {
    rows_check_reduction(run, filled, done, 1, 0, result);
}

static void plan_divergent_branch(const CatalogRun *run, Plan *plan) {
    bool by_block = rows_parameter(run, "by") == 1;
    const char *entry = by_block ? "lab_divergent_branch<true>" : "lab_divergent_branch<false>";
    PlanLaunch *launch = plan_of_copy(run, plan, entry, run->n, 0);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "repeats"));
}

static void check_divergent_branch(const CatalogRun *run, const Plan *filled, const Plan *done,
                                   ExpectResult *result) {
    const PlanBuffer *in = input_of(filled);
    bool by_block = rows_parameter(run, "by") == 1;
    int64_t repeats = rows_parameter(run, "repeats");
    for (uint64_t i = 0; i < run->n; i++) {
        uint64_t decider = by_block ? i / run->block : i % run->block;
        uint32_t x = (uint32_t)(int32_t)plan_element(in->type, in->bytes, i);
        for (int64_t k = 0; k < repeats; k++) x = decider % 2 == 0 ? 3 * x + 1 : 5 * x - 1;
        compare(result, output_of(done), i, (int32_t)x);
    }
}

static bool plan_coalescing(const CatalogRun *run, Plan *plan, Error *error) {
    uint64_t stride = (uint64_t)rows_parameter(run, "stride");
    if (run->n * stride > UINT32_MAX)
        return error_set(error, "--param stride=%llu: n * stride must stay below 2^32; use a smaller --n",
                         (unsigned long long)stride);
    const char *entry = rows_typed_entry(plan, run, "lab_coalescing");
    PlanLaunch *launch = plan_of_copy(run, plan, entry, (run->n - 1) * stride + 1, 0);
    rows_add_u32(plan, launch, (uint32_t)stride);
    return true;
}

static void check_coalescing(const CatalogRun *run, const Plan *filled, const Plan *done,
                             ExpectResult *result) {
    const PlanBuffer *in = input_of(filled);
    uint64_t stride = (uint64_t)rows_parameter(run, "stride");
    for (uint64_t i = 0; i < run->n; i++)
        compare(result, output_of(done), i, plan_element(in->type, in->bytes, i * stride));
}

static bool plan_shuffle_range(const CatalogRun *run, Plan *plan, Error *error) {
    int64_t width = rows_parameter(run, "width");
    if (width & (width - 1))
        return error_set(error, "--param width=%lld: a segment has 1, 2, 4, 8, 16 or 32 lanes",
                         (long long)width);
    PlanLaunch *launch = plan_of_copy(run, plan, "lab_shuffle_range", run->n, 0);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "delta"));
    rows_add_u32(plan, launch, (uint32_t)width);
    return true;
}

static void check_shuffle_range(const CatalogRun *run, const Plan *filled, const Plan *done,
                                ExpectResult *result) {
    const PlanBuffer *in = input_of(filled);
    uint64_t delta = (uint64_t)rows_parameter(run, "delta"), width = (uint64_t)rows_parameter(run, "width");
    for (uint64_t i = 0; i < run->n; i++) {
        /* Blocks are whole warps, so i % 32 is the lane. */
        uint64_t source = i % width + delta < width ? i + delta : i;
        compare(result, output_of(done), i, source < run->n ? plan_element(in->type, in->bytes, source) : 0);
    }
}

/* ---- latency ---- */

enum { LATENCIES = 25, LINKS_APART = 528 /* as in lab_latency.cu */ };

static void plan_latency(const CatalogRun *run, Plan *plan) {
    uint32_t steps = (uint32_t)rows_parameter(run, "steps");
    int in = rows_add_input(plan, run, run->n);
    int chain = rows_add_output(plan, "chain", PTX_U64, (uint64_t)steps * LINKS_APART);
    int cycles = rows_add_output(plan, "cycles", PTX_U64, LATENCIES);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    PlanLaunch *launch = rows_add_launch(plan, "lab_latency", 1, run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, chain);
    plan_add_pointer(plan, launch, cycles);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, steps);
}

/* Its cycles have no reference; the sum that it computes on the way does. */
static void check_latency(const CatalogRun *run, const Plan *filled, const Plan *done, ExpectResult *result) {
    rows_check_reduction(run, filled, done, done->buffer_count - 1, 0, result);
}

/* ---- wavefronts ---- */

enum { WAVEFRONT_CYCLES = 64 };

static void plan_wavefronts(const CatalogRun *run, Plan *plan) {
    int in = rows_add_input(plan, run, run->n);
    int cycles = rows_add_output(plan, "cycles", PTX_U64, WAVEFRONT_CYCLES);
    int out = rows_add_output(plan, "out", run->dtype, 1);
    PlanLaunch *launch = rows_add_launch(plan, "lab_wavefronts", 1, run->block, 0);
    plan_add_pointer(plan, launch, in);
    plan_add_pointer(plan, launch, cycles);
    plan_add_pointer(plan, launch, out);
    rows_add_u32(plan, launch, (uint32_t)run->n);
    rows_add_u32(plan, launch, (uint32_t)rows_parameter(run, "steps"));
}

/* ---- the table ---- */

const CatalogRow labs_rows[] = {
    {.id = "lab_bank_stride",
     IN(LAB, "lab_bank_stride.cu"),
     .story = "Words `stride` apart: stride 2 takes 2 wavefronts, 32 takes 32, 33 takes 1.",
     .title = "banks by stride",
     .lesson = "A warp that reads 4-byte words `stride` apart needs gcd(stride, 32) wavefronts, wherever the "
               "array starts.",
     .watch = "Set stride to 1, 2, 32 and 33 and look at how many lanes share a bank.",
     SUMS("int"),
     BLOCKS(32, 1, 256, ANY_SIZE),
     .default_n = 32,
     .parameters = {{"stride", 1, 33, 2, "words from one thread's element to the next"},
                    {"offset", 0, 31, 0, "words before the array: the bank it starts at"}},
     .plan = plan_bank_stride,
     .check = check_copy},
    {.id = "lab_bank_broadcast",
     IN(LAB, "lab_bank_broadcast.cu"),
     .opens = "shared_load shared[tid",
     .story = "Lanes that read the same word are served together: one wavefront for all.",
     .title = "lanes that read one word",
     .lesson = "Lanes that read the same word are served together: only different words of a bank conflict.",
     .watch =
         "Set words to 1, 2, 4: the lanes point at fewer or more words, and the load stays at one wavefront.",
     SUMS("int"),
     BLOCKS(32, 1, 1024, ANY_SIZE),
     .default_n = 32,
     .parameters = {{"words", 1, 32, 1, "different words that the warp reads"}},
     .plan = plan_bank_broadcast,
     .check = check_bank_broadcast},
    {.id = "lab_bank_bytes",
     IN(LAB, "lab_bank_bytes.cu"),
     .opens = "shared_store elements[tid",
     .story = "Four chars share a word: lanes in different bytes of it do not conflict.",
     .title = "elements of 1 and 2 bytes",
     .lesson =
         "A bank is 4 bytes wide whatever the type: lanes in different bytes of one word do not conflict.",
     .watch =
         "At stride 1 four chars (two shorts) lie in each word; at stride 128 (64) every lane is in bank 0.",
     SUMS("char short"),
     BLOCKS(32, 1, 128, ANY_SIZE),
     .default_n = 32,
     .parameters = {{"stride", 1, 128, 1, "elements from one thread's element to the next"}},
     .plan = plan_bank_bytes,
     .check = check_copy},
    {.id = "lab_bank_double",
     IN(LAB, "lab_bank_double.cu"),
     .opens = "shared_store elements[tid",
     .story = "8 bytes a lane take two phases of 16 lanes: 2 wavefronts, no conflict.",
     .title = "elements of 8 bytes",
     .lesson =
         "An access of 8 bytes a lane is served in two phases of 16 lanes: 2 wavefronts are its minimum.",
     .watch = "At stride 1 there are 2 wavefronts and no excess; at stride 2 there are 4.",
     SUMS("double"),
     BLOCKS(32, 1, 128, ANY_SIZE),
     .default_n = 32,
     .parameters = {{"stride", 1, 33, 1, "elements from one thread's element to the next"}},
     .plan = plan_bank_double,
     .check = check_copy},
    {.id = "lab_bank_vector",
     IN(LAB, "lab_bank_vector.cu"),
     .opens = "shared_store elements[tid",
     .story = "16 bytes a lane take four phases of 8 lanes: 4 wavefronts, no conflict.",
     .title = "elements of 16 bytes",
     .lesson =
         "An access of 16 bytes a lane is served in four phases of 8 lanes: 4 wavefronts are no conflict.",
     .watch = "Ideal 4, excess 0: the same 512 bytes as single words would take 4 accesses.",
     SUMS("int"),
     BLOCKS(32, 1, 64, ANY_SIZE),
     .default_n = 128,
     .parameters = {{"stride", 1, 33, 1, "16-byte elements from one thread's to the next"}},
     .plan = plan_bank_vector,
     .check = check_copy},
    {.id = "lab_bank_padding",
     IN(LAB, "lab_bank_padding.cu"),
     .story = "A warp reads a column: 32 wavefronts; with one word of padding a row, 1.",
     .title = "a column of [32][32] and of [32][33]",
     .lesson =
         "One unused word at the end of each row puts the 32 elements of a column into 32 different banks.",
     .watch = "The load in the second loop: 32 wavefronts with padding=0, 1 with padding=1.",
     SUMS("int"),
     BLOCKS(32, 32, 32, .block_rule = "32 threads"),
     .default_n = 1024,
     .parameters = {{"padding", 0, 1, 0, "unused words at the end of each row of the tile"}},
     .plan = plan_bank_padding,
     .check = check_tile_rows},
    {.id = "lab_tile_column",
     IN(LAB, "lab_tile_column.cu"),
     .opens = "shared_load ",
     .story = "A column of 32 words: 32 wavefronts; padded or with an XOR, 1.",
     .title = "a column: padded, XOR by hand, swizzled",
     .lesson = "The copy's swizzle moves pieces of 16 bytes: 4 wavefronts for a column of words. Loads of 16 "
               "bytes read the tile in 32, as padding does.",
     .watch =
         "The loads of the tile: 1,024 wavefronts with layout=0, 32 with 1 and 2, 128 with 3, 32 with 4.",
     SUMS("int"),
     BLOCKS(32, 32, 32, .block_rule = "32 threads"),
     .default_n = 1024,
     .parameters = {{"layout", 0, LAYOUTS - 1, 0, "0 plain, 1 pad, 2 XOR; copied: 3 words, 4 pieces"}},
     .value_names = {layouts},
     .plan = plan_tile_column,
     .check = check_tile_rows},
    {.id = "lab_partial_warp",
     IN(LAB, "lab_partial_warp.cu"),
     .story = "48 threads are two warps; the second one has only lanes 0 to 15.",
     .title = "a block that ends within a warp",
     .lesson = "48 threads are two warps, and the second one runs with 16 of its 32 lanes.",
     .watch = "Lanes 16 to 31 of warp 1 do not exist: its mask never exceeds 0x0000ffff.",
     SUMS("int"),
     BLOCKS(48, 1, 1024, ANY_SIZE),
     .default_n = 96,
     .plan = plan_partial_warp,
     .check = check_partial_warp},
    {.id = "lab_divergent_branch",
     IN(LAB, "lab_divergent_branch.cu"),
     .story = "by=0: the lanes of a warp disagree, and it runs both arms; by=1: one arm.",
     .title = "a branch by thread or by block",
     .lesson = "A warp runs both arms only where its own lanes disagree, not wherever there is a branch.",
     .watch = "by=0: every warp runs both arms, half of its lanes idle; by=1: one arm, all lanes active.",
     SUMS("int"),
     BLOCKS(64, 1, 1024, ANY_SIZE),
     .default_n = 256,
     .parameters = {{"by", 0, 1, 0, "what decides: 0 the thread's index, 1 the block's"},
                    {"repeats", 1, 1000, 4, "turns of the loop in each arm"}},
     .plan = plan_divergent_branch,
     .check = check_divergent_branch},
    {.id = "lab_coalescing",
     IN(LAB, "lab_coalescing.cu"),
     .story = "32 ints side by side lie in 4 sectors; stride=8 makes it 32 sectors.",
     .title = "sectors of a global load",
     .lesson = "A request takes as many 32-byte sectors as its lanes touch: 8 ints are one, 32 are four.",
     .watch = "Sectors per load: --block 8 gives 1, --block 32 gives 4, and stride=8 gives 32.",
     SUMS("int double"),
     BLOCKS(32, 1, 1024, ANY_SIZE),
     .default_n = 1024,
     .parameters = {{"stride", 1, 64, 1, "elements from one thread's element to the next"}},
     .plan_if = plan_coalescing,
     .check = check_coalescing},
    {.id = "lab_shuffle_range",
     IN(LAB, "lab_shuffle_range.cu"),
     .opens = "shuffle shfl",
     .story = "The last `delta` lanes of a segment have no source there: they keep theirs.",
     .title = "where a shuffle ends",
     .lesson = "A lane whose source lies outside its segment keeps its own value.",
     .watch = "The last `delta` lanes of each segment of `width` lanes have no arrow.",
     SUMS("int"),
     BLOCKS(32, 32, 1024, WHOLE_WARPS),
     .default_n = 32,
     .parameters = {{"delta", 0, 31, 4, "lanes between a lane and its source"},
                    {"width", 1, 32, 16, "lanes in a segment: a power of two"}},
     .plan_if = plan_shuffle_range,
     .check = check_shuffle_range},
    {.id = "lab_wavefronts",
     IN(LAB, "lab_wavefronts.cu"),
     .story = "Loads of 1 to 32 wavefronts: as many as the lanes want words of bank 0.",
     .title = "cycles of a load by its wavefronts",
     .lesson =
         "A load takes as many wavefronts as its lanes want different words of one bank; any number from 1 "
         "to 32.",
     .watch = "On a GPU, --bench --kernel lab_wavefronts gives the cycles of each; the index lab shows them.",
     SUMS("int"),
     BLOCKS(1024, 32, 1024, WHOLE_WARPS),
     .default_n = 1024,
     .latencies = "wavefronts 1;wavefronts 2;wavefronts 3;wavefronts 4;wavefronts 5;wavefronts 6;"
                  "wavefronts 7;wavefronts 8;wavefronts 9;wavefronts 10;wavefronts 11;wavefronts 12;"
                  "wavefronts 13;wavefronts 14;wavefronts 15;wavefronts 16;wavefronts 17;wavefronts 18;"
                  "wavefronts 19;wavefronts 20;wavefronts 21;wavefronts 22;wavefronts 23;wavefronts 24;"
                  "wavefronts 25;wavefronts 26;wavefronts 27;wavefronts 28;wavefronts 29;wavefronts 30;"
                  "wavefronts 31;wavefronts 32;in flight, wavefronts 1;in flight, wavefronts 2;"
                  "in flight, wavefronts 3;in flight, wavefronts 4;in flight, wavefronts 5;"
                  "in flight, wavefronts 6;in flight, wavefronts 7;in flight, wavefronts 8;"
                  "in flight, wavefronts 9;in flight, wavefronts 10;in flight, wavefronts 11;"
                  "in flight, wavefronts 12;in flight, wavefronts 13;in flight, wavefronts 14;"
                  "in flight, wavefronts 15;in flight, wavefronts 16;in flight, wavefronts 17;"
                  "in flight, wavefronts 18;in flight, wavefronts 19;in flight, wavefronts 20;"
                  "in flight, wavefronts 21;in flight, wavefronts 22;in flight, wavefronts 23;"
                  "in flight, wavefronts 24;in flight, wavefronts 25;in flight, wavefronts 26;"
                  "in flight, wavefronts 27;in flight, wavefronts 28;in flight, wavefronts 29;"
                  "in flight, wavefronts 30;in flight, wavefronts 31;in flight, wavefronts 32",
     .parameters = {{"steps", 8, 1024, 64, "loads one after another, by wavefronts"}},
     .plan = plan_wavefronts,
     .check = check_latency},
    {.id = "lab_latency",
     IN(LAB, "lab_latency.cu"),
     .story = "Each access waits for the one before: 700 cycles global, 24 shared (H200).",
     .title = "cycles of one access after another",
     .lesson = "What waits for its own result gets one step per latency, and a shuffle (26 cycles) takes no "
               "fewer than a "
               "load from shared memory (24, H200).",
     .watch =
         "On a GPU, --bench --kernel lab_latency gives the cycles; the emulator's clock counts instructions, "
         "not time.",
     SUMS("int"),
     BLOCKS(1024, 32, 1024, WHOLE_WARPS),
     .default_n = 1024,
     .latencies =
         "global memory;L2 cache;L1 cache;shared memory;2-way conflict;4-way conflict;8-way conflict;"
         "16-way conflict;32-way conflict;shuffle;redux;integer multiply-add;float add;float multiply-add;"
         "double add;shared atomic;shared atomic, one word;global atomic;global atomic, one word;"
         "barrier, 1 warp;barrier, 2 warps;barrier, 4 warps;barrier, 8 warps;barrier, 16 warps;"
         "barrier, 32 warps",
     .parameters = {{"steps", 8, 1024, 64, "accesses in each chain"}},
     .plan = plan_latency,
     .check = check_latency},
};

const int labs_row_count = sizeof labs_rows / sizeof labs_rows[0];
