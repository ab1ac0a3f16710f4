#define _POSIX_C_SOURCE 200809L
/* Kernels that the catalogue does not have (tests/kernels): correct ones give the result of a CPU reference
 * and no hazard, also under other schedules; faulty ones are found, at the line that says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "ask/ask.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };

typedef struct Values {
    double at[MOST];
    int count;
} Values;

/* Fills `out` from the inputs, as the kernel was given them. */
typedef void (*RowReference)(const double *a, const double *b, int n, double *out);

typedef struct Case {
    const char *file, *entry, *arguments;
    int n;
    uint32_t grid[3], block[3];
    const char *kind;       /* of the hazard; NULL: none */
    RowReference reference; /* for a correct kernel's `out` */
    int outputs;
    double tolerance; /* relative, of floats */
} Case;

/* ---- references ---------------------------------------------------------------------------------------- */

#define REFERENCE(name, ...)                                                                                 \
    static void name(const double *a, const double *b, int n, double *out) {                                 \
        (void)a, (void)b, (void)n;                                                                           \
        __VA_ARGS__                                                                                          \
    }
/* clang-format off */
REFERENCE(prefix_sums, double sum = 0; for (int i = 0; i < n; i++) out[i] = sum += a[i];)
REFERENCE(prefix_sums_unsigned, uint32_t sum = 0; for (int i = 0; i < n; i++) out[i] = sum += (uint32_t)a[i];)
REFERENCE(histogram, for (int i = 0; i < n; i++) out[(int)a[i] % 16]++;)
REFERENCE(segments, uint64_t sums[8] = {0};
          for (int i = 0; i < n; i++) sums[(int)b[i] & 7] += (uint64_t)(int64_t)a[i];
          for (int s = 0; s < 8; s++) out[s] = (double)sums[s];)
REFERENCE(runs_of_eight, for (int i = 0; i < n; i++) out[i / 8] += a[i];)
REFERENCE(transposed, for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) out[x * n + y] = a[y * n + x];)
REFERENCE(neighbours_of_three,
          for (int i = 0; i < n; i++) out[i] = (i ? a[i - 1] : 0) + a[i] + (i + 1 < n ? a[i + 1] : 0);)
REFERENCE(dot, for (int i = 0; i < n; i++) out[0] += a[i] * b[i];)
REFERENCE(softmax_of_rows, for (int row = 0; row < 3; row++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(a[row * n + i]);
    for (int i = 0; i < n; i++) out[row * n + i] = exp(a[row * n + i]) / sum; })
REFERENCE(layer_norm_of_rows, for (int row = 0; row < 3; row++) {
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += a[row * n + i];
    for (int i = 0; i < n; i++) squares += pow(a[row * n + i] - sum / n, 2);
    for (int i = 0; i < n; i++) out[row * n + i] = (a[row * n + i] - sum / n) / sqrt(squares / n + 1e-5); })
REFERENCE(place_of_largest, for (int i = 1; i < n; i++) if (a[i] > a[(int)out[0]]) out[0] = i;)
REFERENCE(twenty_four, out[0] = 24;) /* 8 warps, 3 times each */
REFERENCE(sum_of_lanes, for (int i = 0; i < 64; i++) out[0] += i;)
REFERENCE(doubled_in_reverse,
          for (int round = 0; round < 4; round++)
              for (int i = 0; i < 64; i++) out[round * 64 + i] = 2 * a[round * 64 + 63 - i];)
REFERENCE(through_half_warps, for (int i = 0; i < 32; i++) out[i] = a[i ^ 3 ^ 15] + 1;)
REFERENCE(reversed, for (int i = 0; i < 32; i++) out[i] = a[31 - i];)
REFERENCE(total, for (int i = 0; i < n; i++) out[0] += a[i];)
REFERENCE(fibonacci, for (int i = 0; i < n; i++) out[i] = i < 2 ? i : out[i - 1] + out[i - 2];)
REFERENCE(same, for (int i = 0; i < n; i++) out[i] = a[i];)
REFERENCE(its_count, out[0] = n;)
REFERENCE(boxes_of_two, for (int z = 0; z < n; z++) for (int y = 0; y < n; y++) for (int x = 0; x < n; x++)
          for (int k = 0; k < 8; k++) {
              int u = x + (k & 1), v = y + (k >> 1 & 1), w = z + (k >> 2);
              if (u < n && v < n && w < n) out[(z * n + y) * n + x] += a[(w * n + v) * n + u]; })
REFERENCE(twice_and_three, for (int i = 0; i < n; i++) out[i] = 2 * a[i] + 3;)
REFERENCE(next_and_mirrored,
          for (int i = 0; i < n; i++) out[i] = (i + 1 < n ? a[i + 1] : 0) + a[n - 1 - i] + 1;)
#define OF_WARP(i) for (int j = (i) / 32 * 32; j < (i) / 32 * 32 + 32 && j < n; j++)
REFERENCE(sum_of_warp_for_all, for (int i = 0; i < n; i++) { uint32_t sum = 0;
    OF_WARP(i) sum += (uint32_t)(int32_t)a[j]; out[i] = (int32_t)sum; })
REFERENCE(sum_of_half_warp, for (int i = 0; i < n; i++) { uint32_t sum = 0;
    OF_WARP(i) if (j % 32 < 16) sum += (uint32_t)(int32_t)a[j];
    out[i] = i % 32 < 16 ? (int32_t)sum : (int32_t)a[i]; })
REFERENCE(sums_of_warps, for (int i = 0; i < n; i += 32) { uint32_t sum = 0;
    OF_WARP(i) sum += (uint32_t)(int32_t)a[j]; out[i / 32] = (int32_t)sum; })
REFERENCE(votes_of_warps, for (int i = 0; i < n; i++) { int odd = 0; OF_WARP(i) odd += (int32_t)a[j] & 1;
    out[i] = odd + 100 + (odd ? 200 : 0); })
REFERENCE(matches_of_warps, for (int i = 0; i < n; i++) { uint32_t any = 0, all = 0;
    OF_WARP(i) {
        all |= 1u << j % 32;
        any |= (uint32_t)(((int32_t)a[j] & 3) == ((int32_t)a[i] & 3)) << j % 32;
    }
    out[i] = (int32_t)(any ^ all ^ 1); })
REFERENCE(first_of_warp, for (int i = 0; i < n; i++) out[i] = a[i / 32 * 32];)
REFERENCE(first_and_positive, int positive = 0; for (int i = 0; i < n; i++) positive += a[i] > 0;
    for (int i = 0; i < n; i++) out[i] = a[0] + positive;)
/* Pairs, in the arithmetic of the type. */
#define PAIRS(name, type) \
    REFERENCE(name, for (int i = 0; i < n; i++) out[i] = (double)(type)(a[i] + a[i ^ 1]);)
PAIRS(pairs_s8, int8_t)
PAIRS(pairs_s16, int16_t)
REFERENCE(pairs_u8, for (int i = 0; i < n; i++) out[i] = (uint8_t)((int)a[i] + (int)a[i ^ 1]);)
REFERENCE(pairs_u16, for (int i = 0; i < n; i++) out[i] = (uint16_t)((int)a[i] + (int)a[i ^ 1]);)
REFERENCE(pairs_s32, for (int i = 0; i < n; i++) out[i] = (int32_t)((int64_t)a[i] + (int64_t)a[i ^ 1]);)
REFERENCE(pairs_u32, for (int i = 0; i < n; i++) out[i] = (uint32_t)((uint64_t)a[i] + (uint64_t)a[i ^ 1]);)
PAIRS(pairs, double)
PAIRS(pairs_f32, float)

/* ---- cases --------------------------------------------------------------------------------------------- */

#define IN_OUT(type) "in=" type "[n]:random, out=" type "[n]:zero, n"
#define SQUARE(type, elements) "in=" type "[" elements "]:random, out=" type "[" elements "]:zero, n"
#define TWO(type, out) "a=" type "[n]:random, b=" type "[n]:random, out=" out "[1]:zero, n"
#define LAST "in=int[n]:random, partial=int[10]:zero, tickets=uint[1]:zero, out=int[1]:zero"
#define CHAIN "in=int[n]:random, out=int[n]:zero, flags=int[n]:zero, n"
#define UNWRITTEN "in=int[n]:random, out=int[n]:unwritten"
#define RIGHT(...) NULL, __VA_ARGS__
#define WRONG(kind) kind, NULL, 0, 0

static const Case cases[] = {
    {"scans", "scan_two_buffers", IN_OUT("int"), 200, {1}, {256}, RIGHT(prefix_sums, 200, 0)},
    {"scans", "scan_in_place", IN_OUT("int"), 200, {1}, {256}, WRONG("shared_race")},
    {"scans", "scan_up_and_down", IN_OUT("int"), 256, {1}, {256}, RIGHT(prefix_sums, 256, 0)},
    {"scans", "scan_shuffle", IN_OUT("uint"), 250, {1}, {256}, RIGHT(prefix_sums_unsigned, 250, 0)},
    {"scans", "scan_chain", CHAIN, 20, {20}, {32}, RIGHT(prefix_sums, 20, 0)},
    {"scans", "scan_chain_without_fence", CHAIN, 20, {20}, {32}, WRONG("global_race")},
    {"scans", "scan_packed", "in=int[n]:random, out=int[n]:zero, words=ulong[n]:zero, n", 20, {20}, {32},
     RIGHT(prefix_sums, 20, 0)},
    {"tables", "histogram_global", "in=uchar[n]:random, out=uint[16]:zero, n", 1000, {4}, {256},
     RIGHT(histogram, 16, 0)},
    {"tables", "histogram_shared", "in=uchar[n]:random, out=uint[16]:zero, n", 3000, {4}, {256},
     RIGHT(histogram, 16, 0)},
    {"tables", "histogram_plain", "in=uchar[n]:random, out=uint[16]:zero, n", 256, {1}, {256},
     WRONG("shared_race")},
    {"tables", "histogram_early", "in=uchar[n]:random, out=uint[16]:zero, n", 256, {1}, {256},
     WRONG("shared_race")},
    {"tables", "segmented_sum", "in=long[n]:random, segment=int[n]:iota, out=ulong[8]:zero, n", 1000, {4},
     {256},
     RIGHT(segments, 8, 0)},
    {"tables", "segmented_sum_plain", "in=long[n]:random, segment=int[n]:iota, out=long[8]:zero, n", 1000,
     {4}, {256},
     WRONG("global_race")},
    {"tables", "segmented_sum_runs", "in=int[n]:random, out=int[32]:zero, n", 250, {1}, {256},
     RIGHT(runs_of_eight, 32, 0)},
    {"tables", "transpose_plain", SQUARE("float", "2500"), 50, {4, 4}, {16, 16}, RIGHT(transposed, 2500, 0)},
    {"tables", "transpose_tile", SQUARE("short", "2500"), 50, {2, 2}, {32, 8}, RIGHT(transposed, 2500, 0)},
    {"tables", "transpose_early", SQUARE("float", "1024"), 32, {1}, {32, 8}, WRONG("shared_race")},
    {"tables", "stencil", IN_OUT("double"), 1000, {4}, {256}, RIGHT(neighbours_of_three, 1000, 1e-12)},
    {"tables", "stencil_in_place", "data=double[n]:random, n", 1000, {4}, {256}, WRONG("global_race")},
    {"rows", "dot_float", TWO("float", "float"), 1000, {1}, {128}, RIGHT(dot, 1, 1e-4)},
    {"rows", "dot_double", TWO("double", "double"), 1000, {4}, {256}, RIGHT(dot, 1, 1e-10)},
    {"rows", "dot_half", TWO("half", "float"), 1000, {1}, {128}, RIGHT(dot, 1, 1e-3)},
    {"rows", "dot_lost", TWO("float", "float"), 1000, {4}, {256}, WRONG("global_race")},
    {"rows", "softmax", SQUARE("float", "300"), 100, {3}, {64}, RIGHT(softmax_of_rows, 300, 1e-5)},
    {"rows", "softmax_reuse", IN_OUT("float"), 128, {1}, {128}, WRONG("shared_race")},
    {"rows", "layer_norm", SQUARE("float", "300"), 100, {3}, {64}, RIGHT(layer_norm_of_rows, 300, 1e-4)},
    {"rows", "layer_norm_unwritten", IN_OUT("float"), 128, {1}, {128}, WRONG("uninitialized_read")},
    {"rows", "argmax", "in=float[n]:random, out=int[1]:zero, n", 1000, {1}, {256}, RIGHT(place_of_largest,
     1, 0)},
    {"rows", "argmax_race", "in=float[n]:random, most=float[1]:zero, out=int[1]:zero, n", 1000, {4}, {256},
     WRONG("global_race")},
    {"order", "spin_lock", "lock=int[1]:zero, out=int[1]:zero, n", 3, {4}, {64}, RIGHT(twenty_four, 1, 0)},
    {"order", "spin_lock_without_fence", "lock=int[1]:zero, out=int[1]:zero, n", 3, {4}, {64},
     WRONG("global_race")},
    {"order", "spin_lock_of_lanes", "out=int[1]:zero", 1, {1}, {64}, RIGHT(sum_of_lanes, 1, 0)},
    {"order", "named_barriers", "in=int[n]:random, out=int[n]:zero", 256, {1}, {128},
     RIGHT(doubled_in_reverse, 256, 0)},
    {"order", "named_barrier_forgotten", "in=int[n]:random, out=int[n]:zero", 256, {1}, {128},
     WRONG("shared_race")},
    {"order", "half_warps", "in=int[n]:random, out=int[n]:zero", 32, {1}, {32}, RIGHT(through_half_warps,
     32, 0)},
    {"order", "half_warps_mixed", "in=int[n]:random, out=int[n]:zero", 32, {1}, {32}, WRONG("warp_race")},
    {"order", "vote_is_no_barrier", "in=int[n]:random, out=int[n]:zero", 32, {1}, {32}, WRONG("warp_race")},
    {"order", "flag_of_warps", "in=int[n]:random, out=int[n]:zero", 32, {1}, {64}, RIGHT(reversed, 32, 0)},
    {"order", "scope_too_narrow", "out=int[1]:zero", 1, {4}, {32}, WRONG("global_race")},
    {"order", "last_block_sums", LAST, 320, {10}, {32}, RIGHT(total, 1, 0)},
    {"order", "last_block_without_fence", LAST, 320, {10}, {32}, WRONG("global_race")},
    {"order", "volatile_last_block", LAST, 320, {10}, {32}, RIGHT(total, 1, 0)},
    {"order", "volatile_without_fence", LAST, 320, {10}, {32}, WRONG("order")},
    {"order", "writer_fences", LAST, 320, {10}, {32}, RIGHT(total, 1, 0)},
    {"order", "nobody_fences", LAST, 320, {10}, {32}, WRONG("global_race")},
    {"order", "both_fence", LAST, 320, {10}, {32}, RIGHT(total, 1, 0)},
    {"faults", "recursion", "out=int[n]:zero, n", 12, {1}, {32}, RIGHT(fibonacci, 12, 0)},
    {"faults", "print", "in=int[n]:random, out=int[n]:zero", 64, {1}, {64}, RIGHT(same, 64, 0)},
    {"faults", "box_sum", SQUARE("int", "1000"), 10, {2, 3, 2}, {8, 4, 8}, RIGHT(boxes_of_two, 1000, 0)},
    {"faults", "box_sum_outside", SQUARE("int", "1000"), 10, {2, 3, 2}, {8, 4, 8}, WRONG("out_of_bounds")},
    {"faults", "barrier_in_branch", "out=int[n]:zero", 32, {1}, {32}, WRONG("divergent_barrier")},
    {"faults", "waits_for_nobody", "flag=int[1]:zero, out=int[n]:zero", 32, {1}, {32}, WRONG("deadlock")},
    {"faults", "lanes_that_never_come", "in=int[n]:random, out=int[n]:zero", 32, {1}, {32}, RIGHT(pairs_s32,
     32, 0)},
    {"faults", "shuffle_from_idle", "in=int[n]:random, out=int[n]:zero", 32, {1}, {32},
     WRONG("undefined_shuffle")},
    {"faults", "all_store_one", "out=int[1]:zero", 32, {1}, {32}, WRONG("store_conflict")},
    {"faults", "all_store_the_same", "out=int[1]:zero, n", 32, {2}, {64}, RIGHT(its_count, 1, 0)},
    {"faults", "vector_misaligned", "in=float[64]:random, out=float[32]:zero", 32, {1}, {8},
     WRONG("misaligned")},
    {"faults", "vector_copy", "in=float[n]:random, out=float[n]:zero", 32, {1}, {8}, RIGHT(same, 32, 0)},
    {"faults", "unwritten_local", IN_OUT("int"), 32, {1}, {32}, WRONG("uninitialized_read")},
    {"faults", "store_to_constant_size", IN_OUT("int"), 64, {1}, {64}, WRONG("out_of_bounds")},
    {"faults", "product_wraps", "in=int[64]:random, out=int[64]:zero, n", 50000, {1}, {32},
     WRONG("index_overflow")},
    {"faults", "below_zero", IN_OUT("int"), 64, {1}, {64}, WRONG("index_overflow")},
    {"memory", "sum_into_unwritten", UNWRITTEN, 32, {1}, {32}, WRONG("unwritten_read")},
    {"memory", "sum_into_written", UNWRITTEN, 32, {1}, {32}, RIGHT(same, 32, 0)},
    {"memory", "heap_right", UNWRITTEN, 32, {1}, {32}, RIGHT(twice_and_three, 32, 0)},
    {"memory", "heap_overrun", UNWRITTEN, 32, {1}, {32}, WRONG("heap_overrun")},
    {"memory", "heap_after_free", UNWRITTEN, 32, {1}, {32}, WRONG("use_after_free")},
    {"memory", "heap_unwritten", UNWRITTEN, 32, {1}, {32}, WRONG("unwritten_read")},
    {"memory", "heap_freed_twice", UNWRITTEN, 32, {1}, {32}, WRONG("double_free")},
    {"memory", "heap_leak", UNWRITTEN, 32, {1}, {32}, RIGHT(same, 32, 0)},
    {"memory", "arrays_overrun", UNWRITTEN, 32, {1}, {32}, WRONG("array_overrun")},
    {"memory", "buffers_overrun", UNWRITTEN, 32, {1}, {32}, WRONG("array_overrun")},
    {"memory", "buffers_right", UNWRITTEN, 32, {1}, {32}, RIGHT(same, 32, 0)},
    {"memory", "arrays_right", UNWRITTEN, 32, {1}, {32}, RIGHT(next_and_mirrored, 32, 0)},
    {"early_return", "returns_redux", IN_OUT("int"), 77, {1}, {96}, RIGHT(sum_of_warp_for_all, 77, 0)},
    {"early_return", "returns_vote", IN_OUT("int"), 77, {1}, {96}, RIGHT(votes_of_warps, 77, 0)},
    {"early_return", "returns_match", IN_OUT("int"), 77, {1}, {96}, RIGHT(matches_of_warps, 77, 0)},
    {"early_return", "returns_syncwarp", IN_OUT("int"), 77, {1}, {96}, RIGHT(first_of_warp, 77, 0)},
    {"early_return", "returns_shuffle", IN_OUT("int"), 77, {1}, {96}, RIGHT(sums_of_warps, 3, 0)},
    {"early_return", "exits_shuffle", IN_OUT("int"), 77, {1}, {96}, RIGHT(sums_of_warps, 3, 0)},
    {"early_return", "reads_gone_lane", IN_OUT("int"), 77, {1}, {96}, WRONG("undefined_shuffle")},
    {"early_return", "half_passes_by", IN_OUT("int"), 77, {1}, {96}, RIGHT(sum_of_half_warp, 77, 0)},
    {"early_return", "returns_group", IN_OUT("int"), 77, {1}, {96}, RIGHT(sums_of_warps, 3, 0)},
    {"early_return", "returns_barrier", IN_OUT("int"), 77, {1}, {96}, RIGHT(first_and_positive, 77, 0)},
    {"early_return", "meets_elsewhere", IN_OUT("int"), 128, {1}, {128}, RIGHT(same, 128, 0)},
    {"early_return", "exits_redux", IN_OUT("int"), 77, {1}, {96}, RIGHT(sum_of_warp_for_all, 77, 0)},
    {"early_return", "exits_vote", IN_OUT("int"), 77, {1}, {96}, RIGHT(votes_of_warps, 77, 0)},
    {"early_return", "exits_match", IN_OUT("int"), 77, {1}, {96}, RIGHT(matches_of_warps, 77, 0)},
    {"early_return", "exits_syncwarp", IN_OUT("int"), 77, {1}, {96}, RIGHT(first_of_warp, 77, 0)},
    {"early_return", "exits_group", IN_OUT("int"), 77, {1}, {96}, RIGHT(sums_of_warps, 3, 0)},
    {"early_return", "exits_barrier", IN_OUT("int"), 77, {1}, {96}, RIGHT(first_and_positive, 77, 0)},
    {"types", "add_char", IN_OUT("char"), 200, {2}, {128}, RIGHT(pairs_s8, 200, 0)},
    {"types", "add_uchar", IN_OUT("uchar"), 200, {2}, {128}, RIGHT(pairs_u8, 200, 0)},
    {"types", "add_short", IN_OUT("short"), 200, {2}, {128}, RIGHT(pairs_s16, 200, 0)},
    {"types", "add_ushort", IN_OUT("ushort"), 200, {2}, {128}, RIGHT(pairs_u16, 200, 0)},
    {"types", "add_int", IN_OUT("int"), 200, {2}, {128}, RIGHT(pairs_s32, 200, 0)},
    {"types", "add_uint", IN_OUT("uint"), 200, {2}, {128}, RIGHT(pairs_u32, 200, 0)},
    {"types", "add_long", IN_OUT("long"), 200, {2}, {128}, RIGHT(pairs, 200, 0)},
    {"types", "add_ulong", IN_OUT("ulong"), 200, {2}, {128}, RIGHT(pairs, 200, 0)},
    {"types", "add_half", IN_OUT("half"), 200, {2}, {128}, RIGHT(pairs, 200, 2e-3)},
    {"types", "add_bfloat", IN_OUT("bfloat"), 200, {2}, {128}, RIGHT(pairs, 200, 2e-2)},
    {"types", "add_float", IN_OUT("float"), 200, {2}, {128}, RIGHT(pairs_f32, 200, 1e-6)},
    {"types", "add_double", IN_OUT("double"), 200, {2}, {128}, RIGHT(pairs, 200, 0)},
};
/* clang-format on */
enum { CASE_COUNT = sizeof cases / sizeof cases[0] };

/* ---- running ------------------------------------------------------------------------------------------- */

static Session *run(const Case *of, uint64_t schedule, bool keep_inputs) {
    char path[256];
    const char *root = getenv("REDVIZ_SHARE");
    snprintf(path, sizeof path, "%s/tests/kernels/%s.ptx", root ? root : ".", of->file);
    RunSpec options = {.file = path,
                       .entry = of->entry,
                       .args = of->arguments,
                       .catalog = {.n = (uint64_t)of->n, .seed = 11},
                       .schedule = schedule,
                       .threads = 1,
                       .keep_inputs = keep_inputs,
                       .search_races = true,
                       .instruction_budget = 30000000};
    for (int i = 0; i < 3; i++) {
        options.grid[i] = of->grid[i] ? of->grid[i] : 1;
        options.block[i] = of->block[i] ? of->block[i] : 1;
    }
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s: %s", of->entry, error.message);
    return session;
}

static bool read_values(Session *session, const char *buffer, Values *values) {
    char *text = NULL;
    size_t length = 0;
    Error error = {0};
    FILE *to = open_memstream(&text, &length);
    bool found = session_dump(session, buffer, to, &error);
    fclose(to);
    values->count = 0;
    for (char *at = text, *end; found && *at && values->count < MOST; at = end + (*end == '\n'))
        values->at[values->count++] = strtod(at, &end);
    free(text);
    return found;
}

static void expect_right(const Case *of, uint64_t schedule) {
    static Values a, b, out, expected;
    Session *session = run(of, schedule, false);
    const Findings *hazards = ask_hazards(session);
    assert_non_null(hazards);
    if (hazards->error_count) fail_msg("%s: %s", of->entry, hazards->items[0].sentence);
    if (!read_values(session, "in", &a)) read_values(session, "a", &a);
    if (!read_values(session, "b", &b)) read_values(session, "segment", &b);
    assert_true(read_values(session, "out", &out));
    assert_true(out.count >= of->outputs);
    memset(&expected, 0, sizeof expected);
    of->reference(a.at, b.at, of->n, expected.at);
    for (int i = 0; i < of->outputs; i++) {
        double off = fabs(out.at[i] - expected.at[i]), size = fabs(expected.at[i]);
        if (!(off <= of->tolerance * (size > 1 ? size : 1)))
            fail_msg("%s, schedule %d: out[%d] is %.17g, expected %.17g", of->entry, (int)schedule, i,
                     out.at[i], expected.at[i]);
    }
    session_free(session);
}

static int marked_line(Session *session, const Case *of) {
    const TraceLaunch *launch = session_trace(session)->launches[0];
    const char *file = launch->program->code[launch->program->code_count / 4].line.file;
    char mark[128];
    int found = 0;
    snprintf(mark, sizeof mark, "// WRONG %s", of->entry);
    for (int line = 1; line <= session_source_line_count(session, file); line++) {
        const char *text = session_source_line(session, file, line), *at = strstr(text, mark);
        char after = at ? at[strlen(mark)] : 'x';
        if (after == '\0' || after == ' ') found = line;
    }
    return found;
}

static void expect_wrong(const Case *of) {
    Session *session = run(of, 0, false);
    const Findings *hazards = ask_hazards(session);
    assert_non_null(hazards);
    int line = marked_line(session, of);
    bool found = false;
    for (int i = 0; i < hazards->error_count; i++) {
        const Finding *hazard = &hazards->items[i];
        bool here = hazard->access.line == line || (line && hazard->other.line == line) ||
                    (!line && hazard->access.pc == PTX_NO_PC);
        found |= here && !strcmp(hazard->kind_text, of->kind);
    }
    if (!found)
        fail_msg("%s: no %s in line %d, but %s", of->entry, of->kind, line,
                 hazards->error_count ? hazards->items[0].sentence : "nothing");
    session_free(session);
}

static void test_case(void **state) {
    const Case *of = *state;
    if (of->kind) {
        expect_wrong(of);
        return;
    }
    for (uint64_t schedule = 0; schedule < 5; schedule++) expect_right(of, schedule);
}

static bool is_race_of(const Case *of) {
    return of->kind &&
           (strstr(of->kind, "race") || !strcmp(of->kind, "order") || !strcmp(of->kind, "store_conflict"));
}

/* The races that no order of the threads shows: those of threads that wait for each other by a lock, a flag
 * or a vote. */
static bool no_order_loses(const char *entry) {
    static const char *const entries[] = {
        "scan_chain_without_fence", "spin_lock_without_fence", "vote_is_no_barrier", "scope_too_narrow",
        "last_block_without_fence", "volatile_without_fence",  "nobody_fences"};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!strcmp(entry, entries[i])) return true;
    return false;
}

/* Every race has an order that changes the result, which is the same when it runs again, or the reason why
 * none does. */
static void test_bad_order(void **state) {
    (void)state;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (!is_race_of(&cases[i])) continue;
        Session *session = run(&cases[i], 0, false);
        ask_other_orders(session);
        ask_losing_orders(session);
        const Findings *hazards = ask_hazards(session);
        for (int k = 0; k < hazards->cause_count; k++) {
            const FindingCause *cause = &hazards->causes[k];
            const FindingOrder *order = cause->order;
            if (!order == !cause->no_order || !order != no_order_loses(cases[i].entry))
                fail_msg("%s: %s", cases[i].entry, order ? order->sentence : cause->no_order);
            if (!order) continue;
            RunSpec options = *session_spec(session);
            Error error = {0};
            char element[256];
            options.schedule = order->schedule;
            options.holds = order->holds;
            options.hold_count = order->hold_count;
            Session *other = session_open(&options, &error);
            assert_non_null(other);
            snprintf(element, sizeof element, "%s is %s instead of %s.", order->where, order->result,
                     order->instead_of);
            assert_non_null(strstr(order->sentence, element));
            assert_string_equal(session_backend(other),
                                order->hold_count ? "EMULATED, ANOTHER ORDER" : session_backend(other));
            session_free(other);
        }
        session_free(session);
    }
}

/* Behaviour without a guarantee that loses no result: a note, but no error (expect_right() checks that). */
static void test_notes(void **state) {
    (void)state;
    static const struct {
        const char *entry, *kind;
    } notes[] = {{"volatile_last_block", NULL},
                 {"writer_fences", "missing_acquire"},
                 {"both_fence", NULL},
                 {"last_block_sums", NULL},
                 {"returns_barrier", "partial_barrier"},
                 {"exits_barrier", "partial_barrier"},
                 {"returns_redux", NULL},
                 {"half_passes_by", "passed_by"},
                 {"meets_elsewhere", "split_barrier"},
                 {"lanes_that_never_come", "passed_by"}};
    for (size_t e = 0; e < sizeof notes / sizeof *notes; e++)
        for (int i = 0; i < CASE_COUNT; i++) {
            if (strcmp(cases[i].entry, notes[e].entry) != 0) continue;
            Session *session = run(&cases[i], 0, false);
            const Findings *findings = ask_hazards(session);
            int count = findings_count(findings, SEVERITY_NOTE);
            assert_int_equal(count != 0, notes[e].kind != NULL);
            for (int n = 0; n < count; n++) {
                const Finding *note = &findings->items[findings->count - 1 - n];
                assert_string_equal(note->kind_text, notes[e].kind);
                assert_true(note->access.line > 0);
            }
            session_free(session);
        }
}

static void test_printf(void **state) {
    (void)state;
    for (int i = 0; i < CASE_COUNT; i++) {
        if (strcmp(cases[i].entry, "print") != 0) continue;
        static Values in;
        Session *session = run(&cases[i], 0, false);
        char expected[256] = "";
        read_values(session, "in", &in);
        for (int k = 0; k < 64; k += 16)
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "thread %d has %d\n", k,
                     (int)in.at[k]);
        assert_string_equal(text_string(&session_trace(session)->printed), expected);
        session_free(session);
    }
}

/* Memory that is never freed is a note, with the line that allocated it; freed memory is not. */
static void test_leak(void **state) {
    (void)state;
    for (int i = 0; i < CASE_COUNT; i++) {
        bool leaks = !strcmp(cases[i].entry, "heap_leak");
        if (!leaks && strcmp(cases[i].entry, "heap_right") != 0) continue;
        Session *session = run(&cases[i], 0, false);
        const Findings *findings = ask_hazards(session);
        int found = 0;
        for (int k = 0; k < findings->count; k++) {
            if (findings->items[k].kind != FINDING_HEAP_LEAK) continue;
            found++;
            assert_int_equal(findings->items[k].severity, SEVERITY_NOTE);
            assert_int_equal(findings->items[k].count, 16);
            assert_non_null(strstr(findings->items[k].sentence,
                                   "16 allocations of the device heap, 256 bytes, are never freed"));
            assert_int_equal(findings->items[k].access.line, 49);
        }
        assert_int_equal(found, leaks);
        session_free(session);
    }
}

int main(void) {
    struct CMUnitTest tests[CASE_COUNT + 4];
    for (int i = 0; i < CASE_COUNT; i++)
        tests[i] = (struct CMUnitTest){
            .name = cases[i].entry, .test_func = test_case, .initial_state = (void *)(uintptr_t)&cases[i]};
    tests[CASE_COUNT] = (struct CMUnitTest)cmocka_unit_test(test_bad_order);
    tests[CASE_COUNT + 1] = (struct CMUnitTest)cmocka_unit_test(test_printf);
    tests[CASE_COUNT + 2] = (struct CMUnitTest)cmocka_unit_test(test_notes);
    tests[CASE_COUNT + 3] = (struct CMUnitTest)cmocka_unit_test(test_leak);
    return _cmocka_run_group_tests("own kernels", tests, CASE_COUNT + 4, NULL, NULL);
}
