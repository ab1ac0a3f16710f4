/* Each lab shows what its lesson says, in counters and in events: as --report prints them and as the panes
 * draw them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "metrics/totals.h"
#include "runs.h"
#include <stdlib.h>
#include <string.h>

static const char *parameter(char *text, const char *name, int value) {
    snprintf(text, 32, "%s=%d", name, value);
    return text;
}

static Session *run_right(const char *kernel, const CatalogOptions *options) {
    Session *session = run_kernel(kernel, options);
    assert_int_equal(session_trace(session)->trap_count, 0);
    assert_true(session_result(session)->correct);
    return session;
}

static Session *run_right_with(const char *kernel, const char *first, const char *second) {
    CatalogOptions options = {.parameters = {first, second},
                              .parameter_count = (first != NULL) + (second != NULL)};
    return run_right(kernel, &options);
}

/* One warp, one store, one load: both take `wavefronts`, of which `ideal` are unavoidable. */
static void assert_one_access(Session *session, uint64_t wavefronts, uint64_t ideal) {
    Totals totals = run_totals(session);
    assert_int_equal(totals.shared_loads, 1);
    assert_int_equal(totals.shared_load_wavefronts, wavefronts);
    assert_int_equal(totals.shared_load_wavefronts_ideal, ideal);
    assert_int_equal(totals.shared_stores, 1);
    assert_int_equal(totals.shared_store_wavefronts, wavefronts);
    assert_int_equal(totals.shared_store_wavefronts_ideal, ideal);
    session_free(session);
}

static int gcd(int a, int b) {
    return b ? gcd(b, a % b) : a;
}

static void bank_stride_costs_the_gcd(void **state) {
    (void)state;
    char first[32], second[32];
    static const int offsets[] = {0, 1, 17, 31};
    for (int stride = 1; stride <= 33; stride++)
        for (int i = 0; i < 4; i++) {
            parameter(first, "stride", stride);
            parameter(second, "offset", offsets[i]);
            assert_one_access(run_right_with("lab_bank_stride", first, second), (uint64_t)gcd(stride, 32), 1);
        }
}

static void one_word_is_one_wavefront(void **state) {
    (void)state;
    char text[32];
    for (int words = 1; words <= 32; words++)
        assert_one_access(run_right_with("lab_bank_broadcast", parameter(text, "words", words), NULL), 1, 1);
}

/* The cost of 32 lanes of `bytes` bytes, `stride` elements apart: per phase, the most different words in a
 * bank. */
static uint64_t count_wavefronts(int bytes, int stride) {
    int phases = bytes <= 4 ? 1 : bytes / 4, lanes = 32 / phases;
    uint64_t sum = 0;
    for (int phase = 0; phase < phases; phase++) {
        int most = 0, used[32] = {0}, last[32];
        memset(
            last, -1,
            sizeof last); /* addresses grow with the lane, so a word seen before was the last of its bank */
        for (int lane = phase * lanes; lane < (phase + 1) * lanes; lane++)
            for (int byte = 0; byte < bytes; byte++) {
                int word = (lane * stride * bytes + byte) / 4, bank = word % 32;
                used[bank] += last[bank] != word;
                last[bank] = word;
                most = used[bank] > most ? used[bank] : most;
            }
        sum += (uint64_t)most;
    }
    return sum;
}

static void small_elements_share_a_word(void **state) {
    (void)state;
    static const struct {
        PtxType type;
        int bytes, stride, wavefronts;
    } cases[] = {{PTX_S8, 1, 1, 1},  {PTX_S8, 1, 4, 1},  {PTX_S8, 1, 8, 2},  {PTX_S8, 1, 128, 32},
                 {PTX_S8, 1, 5, 2},  {PTX_S16, 2, 1, 1}, {PTX_S16, 2, 2, 1}, {PTX_S16, 2, 64, 32},
                 {PTX_S16, 2, 3, 2}, {PTX_S16, 2, 66, 1}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CatalogOptions options = {.dtype = cases[i].type,
                                  .parameters = {parameter(text, "stride", cases[i].stride)},
                                  .parameter_count = 1};
        assert_int_equal(count_wavefronts(cases[i].bytes, cases[i].stride), cases[i].wavefronts);
        assert_one_access(run_right("lab_bank_bytes", &options), (uint64_t)cases[i].wavefronts, 1);
    }
}

static void doubles_take_two_phases(void **state) {
    (void)state;
    char text[32];
    assert_one_access(run_right_with("lab_bank_double", NULL, NULL), 2, 2);
    assert_one_access(run_right_with("lab_bank_double", "stride=2", NULL), 4, 2);
    for (int stride = 3; stride <= 33; stride++)
        assert_one_access(run_right_with("lab_bank_double", parameter(text, "stride", stride), NULL),
                          count_wavefronts(8, stride), 2);
}

static void vectors_take_four_phases(void **state) {
    (void)state;
    char text[32];
    assert_one_access(run_right_with("lab_bank_vector", NULL, NULL), 4, 4);
    for (int stride = 2; stride <= 33; stride++)
        assert_one_access(run_right_with("lab_bank_vector", parameter(text, "stride", stride), NULL),
                          count_wavefronts(16, stride), 4);
}

static void padding_frees_the_column(void **state) {
    (void)state;
    for (int padding = 0; padding <= 1; padding++) {
        Session *session = run_right_with("lab_bank_padding", padding ? "padding=1" : "padding=0", NULL);
        Totals totals = run_totals(session);
        assert_int_equal(totals.shared_stores, 32); /* rows: never a conflict */
        assert_int_equal(totals.shared_store_wavefronts, 32);
        assert_int_equal(totals.shared_loads, 32); /* columns */
        assert_int_equal(totals.shared_load_wavefronts, padding ? 32 : 32 * 32);
        assert_int_equal(totals.shared_load_wavefronts_ideal, 32);
        session_free(session);
    }
}

static void a_column_is_read_in_five_ways(void **state) {
    (void)state;
    static const struct {
        uint64_t loads, wavefronts, ideal, stores;
    } expected[] = {
        {32, 32 * 32, 32, 32}, {32, 32, 32, 32}, {32, 32, 32, 32}, {32, 4 * 32, 32, 0}, {8, 32, 32, 0}};
    char text[32];
    for (int layout = 0; layout < 5; layout++) {
        Session *session = run_right_with("lab_tile_column", parameter(text, "layout", layout), NULL);
        Totals totals = run_totals(session);
        assert_int_equal(totals.shared_loads, expected[layout].loads);
        assert_int_equal(totals.shared_load_wavefronts, expected[layout].wavefronts);
        assert_int_equal(totals.shared_load_wavefronts_ideal, expected[layout].ideal);
        assert_int_equal(totals.shared_stores, expected[layout].stores); /* rows: never a conflict */
        assert_int_equal(totals.shared_store_wavefronts, expected[layout].stores);
        session_free(session);
    }
}

static void last_warp_is_half_empty(void **state) {
    (void)state;
    Session *session = run_right_with("lab_partial_warp", NULL, NULL);
    const SessionBlock *view = session_block(session, 0);
    uint32_t widest[2] = {0};
    for (int i = 0; i < trace_block_event_count(view->block); i++) {
        TraceEvent event;
        trace_block_read(view->block, i, &event);
        assert_in_range(event.warp, 0, 1);
        widest[event.warp] |= event.mask;
    }
    assert_int_equal(widest[0], 0xffffffff);
    assert_int_equal(widest[1], 0x0000ffff);
    session_free(session);
}

static void only_threads_diverge(void **state) {
    (void)state;
    Session *by_thread = run_right_with("lab_divergent_branch", "by=0", NULL);
    Session *by_block = run_right_with("lab_divergent_branch", "by=1", NULL);
    Totals of_thread = run_totals(by_thread), of_block = run_totals(by_block);
    assert_int_equal(of_thread.divergent_branches, 8); /* the if, once in each of 4 blocks of 2 warps */
    assert_int_equal(of_block.divergent_branches, 0);
    assert_true(of_thread.warp_instructions > of_block.warp_instructions);
    assert_true(totals_average_active_lanes(&of_block) == 32);
    assert_true(totals_average_active_lanes(&of_thread) < 32);
    session_free(by_thread);
    session_free(by_block);
}

static void assert_sectors(uint32_t block, PtxType type, int stride, uint64_t sectors_per_load) {
    char text[32];
    CatalogOptions options = {.block = block,
                              .dtype = type,
                              .parameters = {parameter(text, "stride", stride)},
                              .parameter_count = 1};
    Session *session = run_right("lab_coalescing", &options);
    Totals totals = run_totals(session);
    assert_int_equal(totals.global_load_requests, 1024 / block);
    assert_int_equal(totals.global_load_sectors, totals.global_load_requests * sectors_per_load);
    assert_int_equal(totals.global_store_requests, 1024 / block);
    assert_int_equal(totals.global_store_sectors, 1024 * (uint64_t)ptx_type_bytes(type) / 32);
    session_free(session);
}

static void sectors_follow_the_lanes(void **state) {
    (void)state;
    assert_sectors(8, PTX_S32, 1, 1);
    assert_sectors(32, PTX_S32, 1, 4);
    assert_sectors(32, PTX_S32, 2, 8);
    assert_sectors(32, PTX_S32, 4, 16);
    assert_sectors(32, PTX_S32, 8, 32);
    assert_sectors(32, PTX_S32, 33, 32);
    assert_sectors(8, PTX_S32, 2, 2);
    assert_sectors(8, PTX_F64, 1, 2);
    assert_sectors(32, PTX_F64, 1, 8);
    assert_sectors(32, PTX_F64, 4, 32);
}

static void lanes_out_of_range_keep_their_own(void **state) {
    (void)state;
    char first[32], second[32];
    for (int width = 1; width <= 32; width *= 2)
        for (int delta = 0; delta < 32; delta += 3) {
            Session *session = run_right_with("lab_shuffle_range", parameter(first, "delta", delta),
                                              parameter(second, "width", width));
            const SessionBlock *view = session_block(session, 0);
            int shuffles = 0;
            for (int i = 0; i < trace_block_event_count(view->block); i++) {
                TraceEvent event;
                trace_block_read(view->block, i, &event);
                if (event.kind != TRACE_SHUFFLE) continue;
                shuffles++;
                assert_int_equal(event.mask, 0xffffffff);
                for (int lane = 0; lane < 32; lane++) {
                    int source = lane % width + delta < width ? lane + delta : lane;
                    assert_int_equal(event.source[lane], source);
                    assert_int_equal(event.value[0][lane], event.operand[source]);
                }
            }
            assert_int_equal(shuffles, 1);
            session_free(session);
        }
}

/* 64 loads by 32 lanes for each of six degrees of conflict; 64 of each barrier, by the stated number of
 * warps, after one by all; nothing but the chains in between. */
static void latency_chains_are_what_they_say(void **state) {
    (void)state;
    Session *session = run_right("lab_latency", &(CatalogOptions){0});
    Totals totals = run_totals(session);
    assert_int_equal(totals.shared_loads, 6 * 64);
    assert_int_equal(totals.shared_load_wavefronts, 64 * (1 + 2 + 4 + 8 + 16 + 32));
    assert_int_equal(totals.shuffles, 64);
    assert_int_equal(totals.barriers, (1 + 6) * 32 + 64 * (1 + 2 + 4 + 8 + 16 + 32));
    assert_int_equal(totals.atomics, 32 + 4 * 64); /* the sum's, then the chains */
    session_free(session);
    session = run_right_with("lab_latency", "steps=8", NULL);
    assert_int_equal(run_totals(session).shared_loads, 6 * 8);
    session_free(session);
}

/* 64 loads one after another and 8 times 64 in flight, for each number of wavefronts. */
static void loads_of_every_number_of_wavefronts(void **state) {
    (void)state;
    Session *session = run_right("lab_wavefronts", &(CatalogOptions){0});
    Totals totals = run_totals(session);
    assert_int_equal(totals.shared_loads, 32 * 9 * 64);
    assert_int_equal(totals.shared_load_wavefronts, 9 * 64 * (32 * 33 / 2));
    session_free(session);
}

/* ---- the labs and the machine ---- */

typedef struct Measured { /* a row of warp_access_counts.csv: 32 lanes, evenly spaced */
    char kind[16];
    int width, first, step; /* bytes */
    uint64_t count;
} Measured;

static bool read_measured(char *line, Measured *row) {
    int offset[32], used;
    unsigned mask;
    if (sscanf(line, "%15[a-z_],%d,%x%n", row->kind, &row->width, &mask, &used) != 3 || mask != 0xffffffff)
        return false;
    char *at = line + used;
    for (int lane = 0; lane < 32; lane++) offset[lane] = (int)strtol(at + 1, &at, 10);
    row->count = strtoull(at + 1, NULL, 10);
    row->first = offset[0];
    row->step = offset[1] - offset[0];
    for (int lane = 1; lane < 32; lane++)
        if (offset[lane] != row->first + lane * row->step) return false;
    return true;
}

/* The lab that makes this access, or NULL; `options` are set for it. */
static const char *lab_that_makes(const Measured *row, CatalogOptions *options, char *stride, char *offset) {
    bool is_global = !strcmp(row->kind, "global_load");
    int steps = row->step / row->width, most = row->width <= 2 ? 128 : is_global ? 64 : 33;
    bool from_zero = row->first == 0;
    if (row->step % row->width || steps < 1 || steps > most) return NULL;
    options->parameters[options->parameter_count++] = parameter(stride, "stride", steps);
    if (is_global) {
        if (row->width == 8) options->dtype = PTX_F64;
        return from_zero && (row->width == 4 || row->width == 8) ? "lab_coalescing" : NULL;
    }
    switch (row->width) {
    case 4:
        options->parameters[options->parameter_count++] = parameter(offset, "offset", row->first / 4);
        return row->first < 128 ? "lab_bank_stride" : NULL;
    case 8:
        return from_zero ? "lab_bank_double" : NULL;
    case 16:
        return from_zero ? "lab_bank_vector" : NULL;
    default:
        options->dtype = row->width == 1 ? PTX_S8 : PTX_S16;
        return from_zero ? "lab_bank_bytes" : NULL;
    }
}

enum { LABS_MEASURED = 112 }; /* rows of the file that a lab can make */

static void labs_cost_what_an_H200_measured(void **state) {
    (void)state;
    FILE *file = fopen("tests/data/warp_access_counts.csv", "r");
    assert_non_null(file);
    int compared = 0;
    for (char line[1024]; fgets(line, sizeof line, file);) {
        Measured row;
        char stride[32], offset[32];
        CatalogOptions options = {0};
        const char *lab = read_measured(line, &row) ? lab_that_makes(&row, &options, stride, offset) : NULL;
        if (!lab) continue;
        if (!strcmp(lab, "lab_coalescing")) options.n = 32;
        Session *session = run_right(lab, &options);
        Totals totals = run_totals(session);
        uint64_t counted = !strcmp(row.kind, "shared_load")    ? totals.shared_load_wavefronts
                           : !strcmp(row.kind, "shared_store") ? totals.shared_store_wavefronts
                                                               : totals.global_load_sectors;
        if (counted != row.count)
            fail_msg("%s %s: %llu, measured %llu", lab, stride, (unsigned long long)counted,
                     (unsigned long long)row.count);
        session_free(session);
        compared++;
    }
    fclose(file);
    assert_int_equal(compared, LABS_MEASURED);
}

static void bad_widths_are_refused(void **state) {
    (void)state;
    RunSpec options = {.kernel = "lab_shuffle_range",
                       .catalog = {.parameters = {"width=12"}, .parameter_count = 1}};
    Error error = {0};
    assert_null(session_open(&options, &error));
    assert_non_null(strstr(error.message, "width=12"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bank_stride_costs_the_gcd),
        cmocka_unit_test(one_word_is_one_wavefront),
        cmocka_unit_test(small_elements_share_a_word),
        cmocka_unit_test(doubles_take_two_phases),
        cmocka_unit_test(vectors_take_four_phases),
        cmocka_unit_test(padding_frees_the_column),
        cmocka_unit_test(a_column_is_read_in_five_ways),
        cmocka_unit_test(last_warp_is_half_empty),
        cmocka_unit_test(only_threads_diverge),
        cmocka_unit_test(sectors_follow_the_lanes),
        cmocka_unit_test(lanes_out_of_range_keep_their_own),
        cmocka_unit_test(latency_chains_are_what_they_say),
        cmocka_unit_test(loads_of_every_number_of_wavefronts),
        cmocka_unit_test(labs_cost_what_an_H200_measured),
        cmocka_unit_test(bad_widths_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
