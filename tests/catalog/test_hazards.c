/* Kernels with bugs have hazards at the lines that the source states; the others have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ask/ask.h"
#include "metrics/totals.h"
#include "runs.h"
#include "base/memory.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t runs;

static const Findings *hazards_of(Session *session) {
    const Findings *hazards = ask_hazards(session);
    assert_non_null(hazards);
    return hazards;
}

static void expect_none(const CatalogRow *row, const CatalogOptions *options) {
    if (options->n > run_limit()) return;
    RunSpec all = {.kernel = row->id, .catalog = *options, .search_races = true};
    Error error = {0};
    Session *session = session_open(&all, &error);
    if (!session) fail_msg("%s: %s", row->id, error.message);
    const Findings *hazards = hazards_of(session);
    if (hazards->error_count || !hazards->is_complete)
        fail_msg("--kernel %s --dtype %s --n %" PRIu64 " --block %u: %s", row->id,
                 plan_type_name(options->dtype), options->n, options->block,
                 hazards->error_count ? hazards->items[0].sentence : "not searched to the end");
    session_free(session);
    runs++;
}

static void has_no_hazard(void **state) {
    const CatalogRow *row = *state;
    static const uint64_t sizes[] = {1, 1000, 4097};
    static const PtxType types[] = {PTX_S8, PTX_S16, PTX_S32, PTX_F16, PTX_BF16, PTX_F32, PTX_F64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        if (!run_has_word(row->types, plan_type_name(types[t]))) continue;
        for (int b = 0; b < RUN_BLOCK_COUNT; b++) {
            if (!run_accepts_block(row, RUN_BLOCKS[b])) continue;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                expect_none(row, &(CatalogOptions){.n = sizes[i],
                                                   .block = RUN_BLOCKS[b],
                                                   .dtype = types[t],
                                                   .op = run_has_word(row->operations, "sum") ? "sum" : NULL,
                                                   .seed = sizes[i]});
        }
    }
    expect_none(row, &(CatalogOptions){.n = 300000});
}

typedef struct Bug {
    const char *kernel;
    uint64_t n;
    uint32_t block;
    const char *kind;
    const char *line, *other; /* text of the lines of both accesses; other NULL: none */
} Bug;

static const Bug bugs[] = {
    {"bug_missing_sync", 1000, 256, "warp_race", "sums[tid] += sums[tid + 1];",
     "sums[tid] += sums[tid + 16];"},
    {"bug_missing_sync", 1024, 64, "warp_race", "sums[tid] += sums[tid + 1];", "sums[tid] += sums[tid + 2];"},
    {"bug_overlapping_halves", 1000, 256, "shared_race", "sums[tid] += sums[tid + s];",
     "sums[tid] += sums[tid + s];"},
    {"bug_overlapping_halves", 1000, 32, "warp_race", "sums[tid] += sums[tid + s];",
     "sums[tid] += sums[tid + s];"},
    {"bug_volatile_tail", 1000, 256, "warp_race", "tail[tid] = tail[tid] + tail[tid + 16];",
     "tail[tid] = tail[tid] + tail[tid + 32];"},
    {"bug_volatile_tail", 64, 64, "warp_race", "tail[tid] = tail[tid] + tail[tid + 1];",
     "tail[tid] = tail[tid] + tail[tid + 2];"},
    {"bug_unguarded_load", 1000, 256, "out_of_bounds", "sums[tid] = in[i]; // BUG", NULL},
    {"bug_half_shared", 1024, 256, "out_of_bounds", "sums[tid] = i < n ? in[i] : T(0);", NULL},
    {"bug_uninitialized_shared", 1000, 256, "uninitialized_read", "sums[tid] += sums[tid + s];", NULL},
    {"bug_all_lanes_add", 1024, 256, "wrong_result", "atomicAdd(out, sum); // BUG", NULL},
    {"bug_double_count", 1024, 256, "wrong_result", "T sum = i < n ? in[i] : T(0);",
     "sum += in[i + blockDim.x];"},
};

static bool is_at(Session *session, const FindingAccess *access, const char *text) {
    return text ? access->line == run_line_of(session, text) : access->pc == PTX_NO_PC;
}

static void expect_bug(const Bug *bug, PtxType type) {
    CatalogOptions options = {.n = bug->n, .block = bug->block, .dtype = type, .seed = 5};
    Session *session = run_kernel(bug->kernel, &options);
    const Findings *hazards = hazards_of(session);
    bool found = false;
    for (int i = 0; i < hazards->error_count; i++) {
        const Finding *hazard = &hazards->items[i];
        found |= !strcmp(hazard->kind_text, bug->kind) && is_at(session, &hazard->access, bug->line) &&
                 is_at(session, &hazard->other, bug->other);
        assert_non_null(hazard->sentence);
        assert_non_null(hazard->advice);
        if (hazard->kind == FINDING_WARP_RACE) assert_non_null(strstr(hazard->advice, "put __syncwarp()"));
        if (hazard->kind == FINDING_SHARED_RACE)
            assert_non_null(strstr(hazard->advice, "put __syncthreads()"));
    }
    if (!found)
        fail_msg("%s, %s, n %" PRIu64 ", block %u: no %s at '%s'", bug->kernel, plan_type_name(type), bug->n,
                 bug->block, bug->kind, bug->line);
    session_free(session);
}

static void every_bug_is_found_where_it_is(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64};
    for (size_t i = 0; i < sizeof bugs / sizeof *bugs; i++)
        for (int t = 0; t < 3; t++) expect_bug(&bugs[i], types[t]);
}

/* Both accesses, with the values there, in events of the trace. */
static void a_race_says_who_and_what(void **state) {
    (void)state;
    CatalogOptions options = {
        .n = 256, .block = 256, .dtype = PTX_S32, .has_fill = true, .fill = FILL_ONES, .op = "sum"};
    Session *session = run_kernel("bug_volatile_tail", &options);
    const Findings *hazards = hazards_of(session);
    assert_true(hazards->is_complete);
    assert_true(hazards->error_count > 5);
    const Finding *first = &hazards->items[0];
    assert_int_equal(first->space, PTX_SPACE_SHARED);
    assert_string_equal(first->what, "tail[16]");
    assert_int_equal(first->other.line, run_line_of(session, "tail[tid + 32];"));
    assert_int_equal(first->access.line, run_line_of(session, "tail[tid + 16];"));
    assert_int_equal(first->other.lane, 16);
    assert_int_equal(first->access.lane, 0);
    assert_true(first->other.is_store);
    assert_false(first->access.is_store);
    assert_int_equal(first->other.value, 8); /* 256 ones, in 64 sums of 4, two of which were added */
    assert_int_equal(first->access.value, 8);
    assert_int_equal(first->access.interval, 3);
    assert_int_equal(first->count, 1);
    char sentence[256];
    snprintf(sentence, sizeof sentence,
             "line %d: warp 0 lane 16 stores tail[16] (8); line %d: warp 0 lane 0 loads it (8). Volatile "
             "does not order different lanes, and there is no __syncwarp() between them: the value loaded is "
             "undefined.",
             first->other.line, first->access.line);
    assert_string_equal(first->sentence, sentence);
    const TraceBlock *block = session_trace(session)->launches[0]->blocks[0];
    assert_true(first->other.event >= 0 && first->other.event < first->access.event);
    TraceEvent event;
    trace_block_read(block, first->access.event, &event);
    assert_int_equal(event.pc, first->access.pc);
    assert_int_equal(event.kind, TRACE_SHARED_LOAD);
    assert_int_equal(event.offset[0], first->access.offset);
    trace_block_read(block, first->other.event, &event);
    assert_int_equal(event.kind, TRACE_SHARED_STORE);
    assert_int_equal(event.value[0][16], 8);
    session_free(session);
}

static const Finding *find_slow(const Findings *hazards, FindingKind kind, int line) {
    for (int i = hazards->error_count; i < hazards->count; i++) {
        assert_int_equal(hazards->items[i].severity, SEVERITY_SLOW);
        if (hazards->items[i].kind == kind && hazards->items[i].access.line == line)
            return &hazards->items[i];
    }
    return NULL;
}

/* The stated cost of padding is the cost of the padded kernel. */
static void padding_costs_what_was_predicted(void **state) {
    (void)state;
    Session *plain = run_with("lab_bank_padding", "padding=0", NULL),
            *padded = run_with("lab_bank_padding", "padding=1", NULL);
    int line = run_line_of(plain, "sum += tile[lane][column];");
    const Finding *found = find_slow(hazards_of(plain), FINDING_BANK_CONFLICT, line);
    assert_non_null(found);
    assert_non_null(strstr(found->advice, "rows of 33 instead of 32"));
    Totals totals = run_totals(padded);
    assert_int_equal(found->predicted, totals.shared_load_wavefronts);
    assert_true(found->cost > 10 * found->predicted);
    assert_int_equal(hazards_of(padded)->count, 0);
    session_free(plain);
    session_free(padded);
}

static void slow_places_are_no_hazard(void **state) {
    (void)state;
    CatalogOptions options = {.n = 65536, .block = 256};
    Session *strided = run_kernel("strided", &options), *interleaved = run_kernel("interleaved", &options);
    const Finding *found =
        find_slow(hazards_of(strided), FINDING_BANK_CONFLICT, run_line_of(strided, "sdata[index] = op("));
    assert_non_null(found);
    Totals totals = run_totals(strided);
    assert_int_equal(found->ideal, found->predicted);
    assert_true(found->cost < totals.shared_load_wavefronts + totals.shared_store_wavefronts);
    assert_int_equal(hazards_of(strided)->error_count, 0);
    assert_non_null(find_slow(hazards_of(interleaved), FINDING_IDLE_LANES,
                              run_line_of(interleaved, "if (tid % (2 * s) == 0)")));
    Session *scattered = run_with("lab_coalescing", "stride=8", NULL);
    assert_int_equal(hazards_of(scattered)->error_count, 0);
    assert_int_equal(hazards_of(scattered)->items[0].kind, FINDING_UNCOALESCED);
    session_free(strided), session_free(interleaved), session_free(scattered);
}

static int say_summary(void **state) {
    (void)state;
    printf("# summary: %" PRIu64 " runs without a hazard\n", runs);
    return 0;
}

int main(void) {
    struct CMUnitTest *tests = memory_new((size_t)(catalog_count() + 4) * sizeof *tests);
    size_t count = 0;
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(every_bug_is_found_where_it_is);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(a_race_says_who_and_what);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(padding_costs_what_was_predicted);
    tests[count++] = (struct CMUnitTest)cmocka_unit_test(slow_places_are_no_hazard);
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        if (row->group == CATALOG_BUG) continue;
        tests[count++] = (struct CMUnitTest){
            .name = row->id, .test_func = has_no_hazard, .initial_state = (void *)(uintptr_t)row};
    }
    int failed = _cmocka_run_group_tests("hazards", tests, count, NULL, say_summary);
    free(tests);
    return failed;
}
