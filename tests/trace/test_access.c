/* The access rules against accesses measured on an H200 and an H100: 919 loads and stores, 396 atomics on
 * shared memory. Loads and stores are also compared with a slow count that follows the wording of the rules,
 * on random accesses of every shape (progressions, pairs, permutations, partial masks). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "trace/access.h"
#include <stdlib.h>
#include <string.h>

/* ---- the measurements ---------------------------------------------------------------------------------- */

static void reproduces_every_measured_access(void **state) {
    (void)state;
    char *csv;
    size_t length;
    Error error;
    assert_true(text_read_file("tests/data/warp_access_counts.csv", 1 << 20, &csv, &length, &error));
    int rows = 0;
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strncmp(line, "kind,", 5)) continue;
        char kind[32], *at = strchr(line, ',');
        snprintf(kind, sizeof kind, "%.*s", (int)(at - line), line);
        int width = (int)strtol(at + 1, &at, 10);
        uint32_t mask = (uint32_t)strtoul(at + 1, &at, 16);
        uint64_t offset[WARP_LANES];
        for (int lane = 0; lane < WARP_LANES; lane++) offset[lane] = strtoull(at + 1, &at, 10);
        int count = atoi(at + 1);
        int computed = !strncmp(kind, "global", 6)
                           ? access_global_sectors(width, mask, offset)
                           : access_shared_cost(!strcmp(kind, "shared_load"), width, mask, offset).wavefronts;
        if (computed != count)
            fail_msg("row %d, %s of %d bytes: computed %d, measured %d", rows + 1, kind, width, computed,
                     count);
        rows++;
    }
    assert_int_equal(rows, 919);
    free(csv);
}

typedef struct MeasuredAtomic { /* operations of shared_atomics.csv */
    const char *operation;
    PtxAtomicForm form;
    int width;
} MeasuredAtomic;

static const MeasuredAtomic measured_atomics[] = {
    {"red_add_u32", PTX_ATOMIC_COUNTED, 4}, /* adds the constant 1 */
    {"atom_add_u32", PTX_ATOMIC_LANES, 4},         {"atom_and_b32", PTX_ATOMIC_LANES, 4},
    {"atom_exch_b32", PTX_ATOMIC_LANES, 4},        {"atom_inc_u32", PTX_ATOMIC_LANES, 4},
    {"atom_max_s32", PTX_ATOMIC_LANES, 4},         {"red_max_s32", PTX_ATOMIC_LANES, 4},
    {"atom_exch_b64", PTX_ATOMIC_LANES, 8},        {"atom_cas_b32", PTX_ATOMIC_COMPARED, 4},
    {"red_add_f32", PTX_ATOMIC_SPUN, 4},           {"red_add_f64", PTX_ATOMIC_SPUN, 8},
    {"red_add_u64", PTX_ATOMIC_SPUN, 8},           {"red_add_f16x2", PTX_ATOMIC_SPUN, 4},
    {"red_add_f16", PTX_ATOMIC_SWAPPED, 2},        {"red_add_bf16", PTX_ATOMIC_SWAPPED, 2},
    {"atom_cas_b16", PTX_ATOMIC_COMPARED_HALF, 2}, {"atom_exch_b128", PTX_ATOMIC_LANES, 16},
    {"atom_cas_b128", PTX_ATOMIC_COMPARED, 16},    {"atom_cas_b64", PTX_ATOMIC_COMPARED, 8},
    {"generic_add_f32", PTX_ATOMIC_TRIED, 4},      {"generic_add_f64", PTX_ATOMIC_TRIED, 8},
    {"generic_add_u32", PTX_ATOMIC_LANES, 4},      {"generic_add_u64", PTX_ATOMIC_LANES, 8},
};

static const MeasuredAtomic *find_measured(const char *row) {
    size_t length = strcspn(row, ",");
    for (size_t i = 0; i < sizeof measured_atomics / sizeof *measured_atomics; i++)
        if (strlen(measured_atomics[i].operation) == length &&
            !strncmp(row, measured_atomics[i].operation, length))
            return &measured_atomics[i];
    fail_msg("unknown operation in: %s", row);
    return NULL;
}

/* operation,wavefronts,alu,cas,ld,ld_wavefronts,words; `cas` counts the rounds of a loop. */
static void check_measured_atomic(const char *row) {
    const MeasuredAtomic *of = find_measured(row);
    long numbers[5];
    char *at = strchr(row, ',');
    uint64_t offset[WARP_LANES] = {0};
    uint32_t mask = 0;
    for (int i = 0; i < 5; i++) numbers[i] = strtol(at + 1, &at, 10);
    assert_int_equal(*at++, ',');
    for (int lane = 0; lane < WARP_LANES; lane++) {
        long word = strtol(at, &at, 10);
        if (word < 0) continue;
        mask |= 1u << lane;
        offset[lane] = (uint64_t)word * (uint64_t)of->width;
    }
    SharedCost cost = access_atomic_cost(of->form, of->width, mask, offset, NULL);
    if (cost.wavefronts != numbers[0]) fail_msg("computed %d wavefronts: %s", cost.wavefronts, row);
    if (cost.rounds && cost.rounds != numbers[2]) fail_msg("computed %d rounds: %s", cost.rounds, row);
    if (!cost.rounds && of->form >= PTX_ATOMIC_SPUN) fail_msg("no rounds: %s", row);
}

static int check_measured_atomics(const char *file) {
    char *csv;
    size_t length;
    Error error;
    int rows = 0;
    assert_true(text_read_file(file, 1 << 20, &csv, &length, &error));
    for (char *line = strtok(csv, "\n"); line; line = strtok(NULL, "\n")) {
        if (*line == '#' || !strncmp(line, "operation,", 10)) continue;
        check_measured_atomic(line);
        rows++;
    }
    free(csv);
    return rows;
}

static void reproduces_every_measured_atomic(void **state) {
    (void)state;
    assert_int_equal(check_measured_atomics("tests/data/shared_atomics.csv"), 264);
    assert_int_equal(check_measured_atomics("tests/data/shared_atomics_more.csv"), 132);
}

/* ---- the rules as worded ------------------------------------------------------------------------------- */

static bool agrees_with_lane(uint32_t mask, const uint64_t *offset, int distance) {
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int other = lane ^ distance;
        if ((mask >> lane & 1) && (mask >> other & 1) && offset[lane] != offset[other]) return false;
    }
    return true;
}

static SharedCost slow_shared(bool is_load, int width, uint32_t mask, const uint64_t *offset) {
    SharedCost cost = {.phases = width <= 4 ? 1 : width == 8 ? 2 : 4};
    if (width > 4 && is_load && (agrees_with_lane(mask, offset, 1) || agrees_with_lane(mask, offset, 2))) {
        cost.phases /= 2;
        cost.is_paired = true;
    }
    int lanes = WARP_LANES / cost.phases;
    for (int phase = 0; phase < cost.phases; phase++) {
        uint64_t words[WARP_LANES * 5];
        int count = 0, in_bank[BANK_COUNT] = {0}, most = 0;
        for (int lane = phase * lanes; lane < (phase + 1) * lanes; lane++) {
            if (!(mask >> lane & 1)) continue;
            for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + (uint64_t)width - 1) / 4; word++) {
                bool known = false;
                for (int i = 0; i < count; i++) known |= words[i] == word;
                if (known) continue;
                words[count++] = word;
                int in = ++in_bank[word % BANK_COUNT];
                if (in > most) most = in;
            }
        }
        cost.wavefronts += most;
        cost.ideal += count > 0;
    }
    return cost;
}

static int slow_sectors(int width, uint32_t mask, const uint64_t *address, int granule) {
    uint64_t *seen = malloc(sizeof *seen * WARP_LANES * 64);
    int count = 0;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(mask >> lane & 1)) continue;
        for (uint64_t byte = address[lane]; byte < address[lane] + (uint64_t)width; byte++) {
            uint64_t unit = byte / (uint64_t)granule;
            int i = 0;
            while (i < count && seen[i] != unit) i++;
            if (i == count) seen[count++] = unit;
        }
    }
    free(seen);
    return count;
}

/* ---- random accesses ----------------------------------------------------------------------------------- */

static uint64_t random_state = 0x243f6a8885a308d3u;
static uint32_t any(uint32_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % below);
}

static uint32_t any_mask(void) {
    static const uint32_t patterns[] = {0xffffffffu, 0x55555555u, 0x33333333u, 0x0000ffffu, 0x00000001u,
                                        0x80000000u, 0x11111111u, 0x000000ffu, 0xaaaaaaaau, 0x00ff00ffu};
    uint32_t mask = any(3) ? patterns[any(10)] : any(65536) << 16 | any(65536);
    return mask ? mask : 2;
}

/* Offsets of one of several shapes; inactive lanes hold garbage half of the time. */
static void any_offsets(int width, uint32_t mask, bool aligned, uint64_t out[WARP_LANES]) {
    uint64_t unit = aligned ? (uint64_t)width : 1, base = 65536 + any(64) * unit;
    uint64_t stride = any(40) * unit;
    int shape = (int)any(6);
    for (uint64_t lane = 0; lane < WARP_LANES; lane++) {
        out[lane] = shape == 0   ? base + lane * stride
                    : shape == 1 ? base + 31 * stride - lane * stride
                    : shape == 2 ? base + (lane ^ any(2)) * stride
                    : shape == 3 ? base + lane / (1 + stride % 4) * stride
                    : shape == 4 ? base + any(2048) * unit
                                 : base + (lane & ~(uint64_t)(1 + any(2))) * unit;
    }
    bool rubbish = any(2);
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (!(mask >> lane & 1) && rubbish) out[lane] = (uint64_t)any(1u << 30) << 20;
}

static void random_shared_accesses_cost_what_the_rules_say(void **state) {
    (void)state;
    for (int i = 0; i < 60000; i++) {
        int width = 1 << any(5);
        uint32_t mask = any_mask();
        uint64_t offset[WARP_LANES];
        any_offsets(width, mask, any(4) > 0, offset);
        bool is_load = any(2);
        SharedCost fast = access_shared_cost(is_load, width, mask, offset);
        SharedCost slow = slow_shared(is_load, width, mask, offset);
        assert_int_equal(fast.wavefronts, slow.wavefronts);
        assert_int_equal(fast.ideal, slow.ideal);
        assert_int_equal(fast.phases, slow.phases);
        assert_int_equal(fast.is_paired, slow.is_paired);
    }
}

static void random_global_accesses_touch_the_sectors_that_their_bytes_lie_in(void **state) {
    (void)state;
    for (int i = 0; i < 6000; i++) {
        int width = 1 << any(6);
        uint32_t mask = any_mask();
        uint64_t address[WARP_LANES];
        any_offsets(width, mask, any(4) > 0, address);
        assert_int_equal(access_global_sectors(width, mask, address),
                         slow_sectors(width, mask, address, SECTOR_BYTES));
        assert_int_equal(access_global_sectors_ideal(width, mask, address),
                         (slow_sectors(width, mask, address, 1) + SECTOR_BYTES - 1) / SECTOR_BYTES);
    }
}

/* ---- textbook examples --------------------------------------------------------------------------------- */

static void stride(int bytes, uint64_t out[WARP_LANES]) {
    for (int lane = 0; lane < WARP_LANES; lane++) out[lane] = (uint64_t)lane * (uint64_t)bytes;
}

static void textbook_examples(void **state) {
    (void)state;
    uint64_t offset[WARP_LANES];
    stride(4, offset);
    assert_int_equal(access_shared_cost(true, 4, 0xffffffffu, offset).wavefronts, 1);
    assert_int_equal(access_global_sectors(4, 0xffffffffu, offset), 4);
    assert_int_equal(access_global_sectors(4, 0x000000ffu, offset), 1);
    stride(8, offset);
    assert_int_equal(access_shared_cost(true, 4, 0xffffffffu, offset).wavefronts, 2);
    stride(128, offset);
    assert_int_equal(access_shared_cost(true, 4, 0xffffffffu, offset).wavefronts, 32);
    assert_int_equal(access_global_sectors(4, 0xffffffffu, offset), 32);
    assert_int_equal(access_global_sectors_ideal(4, 0xffffffffu, offset), 4);
    stride(132, offset);
    assert_int_equal(access_shared_cost(true, 4, 0xffffffffu, offset).wavefronts, 1);
    stride(16, offset);
    SharedCost vector = access_shared_cost(true, 16, 0xffffffffu, offset);
    assert_int_equal(vector.wavefronts, 4);
    assert_int_equal(vector.ideal, 4);
    stride(32, offset); /* two accesses of 16 bytes, each with two units in every bank group */
    assert_int_equal(access_shared_cost(true, 32, 0xffffffffu, offset).wavefronts, 16);
    assert_int_equal(access_shared_cost(true, 4, 0, offset).wavefronts, 0);
    assert_int_equal(access_global_sectors(4, 0, offset), 0);
}

/* ---- the schedule -------------------------------------------------------------------------------------- */

static void schedule_serves_every_lane_within_the_wavefronts(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        int width = 1 << any(6);
        uint32_t mask = any_mask();
        uint64_t offset[WARP_LANES];
        any_offsets(width, mask, true, offset);
        bool is_load = any(2);
        uint16_t wavefront[WARP_LANES];
        SharedCost cost = access_shared_schedule(is_load, width, mask, offset, wavefront);
        uint64_t used = 0;
        for (int lane = 0; lane < WARP_LANES; lane++) {
            if (!(mask >> lane & 1)) {
                assert_int_equal(wavefront[lane], 0);
                continue;
            }
            assert_true(wavefront[lane] < cost.wavefronts);
            used |= (uint64_t)1 << wavefront[lane];
            for (int other = 0; other < lane;
                 other++) { /* one wavefront never serves two words of one bank */
                if (!(mask >> other & 1) || wavefront[other] != wavefront[lane] || width > 16) continue;
                for (uint64_t word = offset[lane] / 4; word <= (offset[lane] + (uint64_t)width - 1) / 4;
                     word++)
                    for (uint64_t old = offset[other] / 4; old <= (offset[other] + (uint64_t)width - 1) / 4;
                         old++)
                        assert_false(word != old && word % BANK_COUNT == old % BANK_COUNT);
            }
        }
        if (width <= 16) assert_int_equal(__builtin_popcountll(used), cost.wavefronts);
    }
}

static void schedule_counts_up_through_the_words_of_a_bank(void **state) {
    (void)state;
    uint64_t offset[WARP_LANES];
    uint16_t wavefront[WARP_LANES];
    /* 16 lanes a bank, descending. */
    for (int lane = 0; lane < WARP_LANES; lane++) offset[lane] = (uint64_t)(31 - lane) * 64;
    SharedCost cost = access_shared_schedule(true, 4, 0xffffffffu, offset, wavefront);
    assert_int_equal(cost.wavefronts, 16);
    for (int lane = 0; lane < WARP_LANES; lane++) assert_int_equal(wavefront[lane], (31 - lane) / 2);
}

static void an_atomic_serves_the_lanes_of_a_bank_one_after_another(void **state) {
    (void)state;
    uint64_t offset[WARP_LANES];
    uint16_t wavefront[WARP_LANES];
    for (int lane = 0; lane < WARP_LANES; lane++) offset[lane] = lane % 2 ? 4 : 128; /* banks 1 and 0 */
    SharedCost cost = access_atomic_cost(PTX_ATOMIC_LANES, 4, 0xffffffffu, offset, wavefront);
    assert_int_equal(cost.wavefronts, 16);
    assert_int_equal(cost.ideal, 1);
    for (int lane = 0; lane < WARP_LANES; lane++) assert_int_equal(wavefront[lane], lane / 2);

    cost = access_atomic_cost(PTX_ATOMIC_COMPARED, 4, 0xffffffffu, offset, wavefront);
    assert_int_equal(cost.wavefronts, 32);
    assert_int_equal(cost.ideal, 2);
    assert_int_equal(cost.each, 2);
    for (int lane = 0; lane < WARP_LANES; lane++) assert_int_equal(wavefront[lane], lane / 2 * 2);

    cost = access_atomic_cost(PTX_ATOMIC_COUNTED, 4, 0xffffffffu, offset, wavefront);
    assert_int_equal(cost.wavefronts, 1);

    /* Lanes that vote first are one. */
    cost = access_atomic_cost(PTX_ATOMIC_COMBINED, 4, 0xff, offset, wavefront);
    assert_int_equal(cost.wavefronts, 1);
    assert_int_equal(access_atomic_cost(PTX_ATOMIC_SCANNED, 4, 0xffffffffu, offset, NULL).wavefronts, 1);
    assert_int_equal(access_atomic_cost(PTX_ATOMIC_SCANNED, 4, 0xff, offset, NULL).wavefronts, 4);
    assert_int_equal(access_atomic_cost(PTX_ATOMIC_LANES, 4, 0, offset, NULL).wavefronts, 0);
}

/* Two half-warps on one pair of words: the second finds it changed, and goes round again. */
static void a_loop_of_wide_words_goes_round_for_a_word_that_changed(void **state) {
    (void)state;
    uint64_t offset[WARP_LANES] = {0};
    uint16_t wavefront[WARP_LANES];
    SharedCost cost = access_atomic_cost(PTX_ATOMIC_SPUN, 8, 1u << 3 | 1u << 20, offset, wavefront);
    assert_int_equal(cost.rounds, 2);
    assert_int_equal(cost.wavefronts, 6);
    assert_int_equal(cost.ideal, 4);
    assert_int_equal(wavefront[3], 0);
    assert_int_equal(wavefront[20], 4);
    offset[20] = 8;
    cost = access_atomic_cost(PTX_ATOMIC_SPUN, 8, 1u << 3 | 1u << 20, offset, wavefront);
    assert_int_equal(cost.rounds, 1);
    assert_int_equal(cost.wavefronts, 4);
    assert_int_equal(cost.ideal, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reproduces_every_measured_access),
        cmocka_unit_test(reproduces_every_measured_atomic),
        cmocka_unit_test(an_atomic_serves_the_lanes_of_a_bank_one_after_another),
        cmocka_unit_test(a_loop_of_wide_words_goes_round_for_a_word_that_changed),
        cmocka_unit_test(random_shared_accesses_cost_what_the_rules_say),
        cmocka_unit_test(random_global_accesses_touch_the_sectors_that_their_bytes_lie_in),
        cmocka_unit_test(textbook_examples),
        cmocka_unit_test(schedule_serves_every_lane_within_the_wavefronts),
        cmocka_unit_test(schedule_counts_up_through_the_words_of_a_bank),
    };
    return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
