/* The words of claims: their values on runs of the emulator, and that the README of lectures lists them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/limit.h"
#include "lecture/claim.h"
#include "metrics/totals.h"
#include "tests/tui/stage.h"
#include "tui/view/place_values.h"
#include <stdlib.h>
#include <string.h>

typedef struct Place { /* a run as the interface opens it */
    Stage *stage;
    PlaceValues values;
} Place;

static void place_open(Place *place, const char *kernel, const char *keys) {
    const ClaimRunsOptions options = {.threads = 1};
    *place = (Place){.stage = stage_open(&(RunSpec){.kernel = kernel, .threads = 1})};
    stage_press(place->stage, keys);
    place->values = (PlaceValues){.runs = claim_runs_new(&options),
                                  .scene = place->stage->scene,
                                  .view = stage_view(place->stage),
                                  .session = place->stage->session};
    claim_runs_stand_at(place->values.runs, place->stage->session, NULL);
}

static void place_close(Place *place) {
    claim_runs_free(place->values.runs);
    place_values_done(&place->values);
    stage_free(place->stage);
}

static bool holds(Place *place, const char *text, Error *error) {
    const ClaimWorld world = {.context = &place->values, .value = place_values_value};
    const LectureExpression claim = {text, {1, 1}};
    ClaimResult result;
    bool known = claim_evaluate(&claim, "a.md", &world, &result, error);
    if (known && !result.holds) error_set(error, "%s", text_string(&result.sides));
    bool holds = known && result.holds;
    claim_result_done(&result);
    return holds;
}

static void assert_claim(Place *place, const char *text) {
    Error error = {0};
    if (!holds(place, text, &error)) fail_msg("%s: %s", text, error.message);
}

static void refuses(Place *place, const char *text, const char *says) {
    Error error = {0};
    assert_false(holds(place, text, &error));
    if (!strstr(error.message, says)) fail_msg("%s: %s, not %s", text, error.message, says);
}

/* Each word in each of its scopes has a value at some step, line, interval or level of `strided`, which has
 * conflicts. */
static void every_word_has_a_value(void **state) {
    (void)state;
    static const struct {
        ClaimScope scope;
        const char *format;
    } scopes[] = {{CLAIM_TOTAL, "abs(here.%s) >= 0"},
                  {CLAIM_LINE, "here.%s at \"sdata[index]\" >= 0"},
                  {CLAIM_INTERVAL, "here.%s in interval 2 >= 0"},
                  {CLAIM_LEVEL, "here.%s in level 1 >= 0"}};
    Place place;
    char text[128];
    place_open(&place, "strided", "");
    int checked = 0;
    for (int i = 0; i < claim_word_count; i++)
        for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
            if (!(claim_words[i].scopes & scopes[k].scope)) continue;
            const char *format = scopes[k].format;
            char name[64];
            bool of_warps = claim_words[i].scopes & CLAIM_OF_WARPS;
            snprintf(name, sizeof name, "%s%s", claim_words[i].name,
                     !(claim_words[i].scopes & CLAIM_OF_REASON) ? ""
                     : of_warps                                 ? " \"global\""
                                                                : " \"short_scoreboard\"");
            if (k > 0 && of_warps) format = "here.%s at \"in[i]\" >= 0";
            if (k > 0 && !strcmp(name, "sectors_per_load")) format = "here.%s at \"in[i]\" >= 0";
            if (k > 0 && !strcmp(name, "divergence")) format = "here.%s at \"if (index\" >= 0";
            snprintf(text, sizeof text, format, name);
            assert_claim(&place, text);
            checked++;
        }
    assert_true(checked > 40);
    for (int i = 0; i < METRIC_COUNT; i++)
        for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++) {
            snprintf(text, sizeof text, scopes[k].format, metric_infos[i].name);
            assert_claim(&place, text);
        }
    place_close(&place);
}

static void every_word_of_a_step_has_a_value(void **state) {
    (void)state;
    Place place;
    char text[128];
    place_open(&place, "strided", "");
    for (int i = 0; i < claim_word_count; i++) {
        const char *name = claim_words[i].name;
        if (!(claim_words[i].scopes & CLAIM_STEP) || !strcmp(name, "sectors") || !strcmp(name, "diverging"))
            continue;
        snprintf(text, sizeof text,
                 claim_words[i].scopes & CLAIM_OF_LANE ? "%s(step, 1) != 0" : "%s(step) > 0", name);
        assert_claim(&place, text);
    }
    refuses(&place, "sectors(step) > 0", "sectors: step 8 has none; it is: shared_load");
    place_close(&place);
}

/* strided with 256 threads, compared with the figures in its own header. */
static void figures_of_strided(void **state) {
    (void)state;
    Place place;
    place_open(&place, "strided", "");
    static const char excess[] =
        "here.excess == here.shared_load_wavefronts - here.shared_load_wavefronts_ideal + "
        "here.shared_store_wavefronts - here.shared_store_wavefronts_ideal";
    static const char *const claims[] = {
        "here.n == 2^20 and here.blocks == 4096 and here.threads == 256 and here.launches == 1",
        "here.shared_bytes == 1024 and here.levels == 8 and here.steps == 64",
        "here.result == here.expected and here.error == 0 and here.hazards == 0",
        excess,
        "here.divergence == here.divergent_branches / here.branches",
        "here.wavefronts_per_load == here.shared_load_wavefronts / here.shared_loads",
        "here.sectors_per_load == 4 and here.sectors_per_load at \"in[i]\" == 4",
        "here.ways in level 1 == 2 and here.ways in level 2 == 4 and here.ways in level 3 == 8",
        "here.ways at \"sdata[index] = op\" == 8",
        "here.most_wavefronts in level 3 == 8 and here.storing_lanes in level 1 == 32",
        "here.storing_warps in level 1 == 4 and here.storing_warps in interval 2 == 4",
        "here.adders in level 1 == 128 and here.adding_lanes in level 1 == 32 and here.adding_warps in level "
        "1 == 4",
        "here.distance in level 1 == 1 and here.distance in level 8 == 128 and here.adders in level 8 == 1",
        "lanes(step) == 32 and block_lanes(step) == 128 and warps(step) == 4 and lane_mask(step) == "
        "0xffffffff",
        "wavefronts(step) == 2 and ideal(step) == 1 and ways(step) == 2 and banks(step) == 16",
        "word(step, 0) == 1 and bank(step, 0) == 1 and word(step, 17) == 35 and bank(step, 17) == 3",
        "strided.shared_loads == here.shared_loads",
        "strided[block=64, n=2^12].levels == 6 and strided[block=64, n=2^12].n == 4096",
        "strided[n=4096, dtype=double, op=max, fill=random, seed=7].error == 0",
        "lab_bank_stride[stride=4].shared_load_wavefronts == 4",
        "strided.executed > strided.machine_branches > 0 on recorded H200",
        "0 <= strided.off_share < 1",
        "0 < strided.stalled \"barrier\" < strided.stalled \"short_scoreboard\" at \"sdata[index] = op\" < 1",
        "strided.stalled \"selected\" + strided.stalled \"not_selected\" < 1",
        "strided.stalled \"barrier\" > 0 on recorded H100",
        "0 < strided.sample_share at \"sdata[index] = op\" < 1",
        "time(strided, 2^24) > time(sequential, 2^24) on recorded H200",
        "time(strided, 2^20, float, warm) > 0 and time(strided, 2^20, alone) < time(strided, 2^20)",
        "gigabytes(strided, 2^24) == 4 * 2^24 / time(strided, 2^24) / 1000 within 1 %",
        "0 < read_share(cub, 2^28) < 1.1 and time(cpu, 2^22, warm) > time(cub, 2^22, warm)",
        "launches(strided, 2^20) == 3 and launches(atomic, 2^20) == 1 and launches(two_stage, 2^20) == 2",
        "launches(strided, 2^10) < launches(strided, 2^20)",
        "time(strided, 2^20, call) > time(strided, 2^20)",
        "limit(strided, 2^24) is \"shared memory pipe\" and limit(interleaved, 2^24) is \"issue slots\"",
        "limit(fastest, 2^24) is \"memory\" and limit(atomic, 2^24) is \"latency\" on recorded H200",
        "limit(multi_add, 2^24) is \"memory\" on recorded H100",
        "20 < cycles(\"shared memory\") < 30 and cycles(\"shared memory\") < 40 on recorded H100",
    };
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) assert_claim(&place, claims[i]);
    place_close(&place);
}

/* The figures that --timeline prints of the same recordings. */
static void figures_of_warp_timelines(void **state) {
    (void)state;
    static const char *const claims[] = {
        "0 < sequential.ready with 1 block < sequential.ready with 8 blocks < 1 on recorded H100",
        "sequential.ready with 2 blocks + sequential.all_wait with 2 blocks + sequential.no_warp with 2 "
        "blocks == 1 within 0.001 %",
        "sequential.ready != sequential.ready with 8 blocks",
        "sequential.throughput == 2^20 / 8.096 within 0.01 % on recorded H100",
        "sequential.throughput with 1 block == 2^20 / 28.512 within 0.01 %",
        "sequential.life with 1 block == 1326 and sequential.longer_life with 1 block == 2447 / 1326",
        "sequential.longer_launch with 1 block == 29.6 / 28.512 within 0.01 %",
        "round(sequential.wait \"global\" with 1 block) == 302",
        "round(sequential.wait \"barrier\" at \"        __syncthreads\" with 1 block) == 11",
        "round(9 * sequential.wait \"barrier\" with 1 block - 8 * sequential.wait \"barrier\" at \"        "
        "__syncthreads\" with 1 block) == 26",
        "sequential.wait \"barrier\" at \"__syncthreads\" == sequential.wait \"barrier\"",
        "0 < sequential.wait_share \"global\" + sequential.wait_share \"barrier\" < 1",
        "async_copy.wait_share \"copy\" == async_copy.wait_share \"copy\" at \"wait_group\" + "
        "async_copy.wait_share \"copy\" at \"wait_all\" within 0.001 %",
    };
    static const struct {
        const char *claim, *says;
    } cases[] = {
        {"sequential.ready with 8 blocks < 0.9", "0.94"}, /* false: it fails */
        {"sequential.wait \"barrier\" with 1 block > sequential.wait \"barrier\"", "13.0"},
        {"sequential.ready with 3 blocks > 0", "sequential has no timeline of warps with 3 blocks at once"},
        {"async_copy.ready with 8 blocks > 0", "async_copy has no timeline of warps with 8 blocks at once"},
        {"sequential[n=4096].ready > 0", "no timeline of warps of this size and type, only n = 1048576, int"},
        {"sequential[dtype=float].ready > 0", "no timeline of warps of this size and type"},
        {"sequential[block=64].ready > 0", "has no timeline of warps: not measured with block 64"},
        {"sequential.ready > 0 on recorded H200",
         "sequential has no timeline of warps: this was not recorded"},
        {"sequential.ready > 0 on recorded A100",
         "sequential has no timeline of warps: this was not recorded"},
        {"bug_all_lanes_add.ready > 0", "bug_all_lanes_add has no timeline of warps"},
        {"here.ready > 0 on recorded H100", "name the kernel"},
        {"sequential.wait \"copy\" > 0", "no warp of sequential waits for copy"},
        {"sequential.wait \"global\" at \"__syncthreads\" > 0",
         "no warp of sequential waits for global in a line that holds \"__syncthreads\""},
    };
    Place place;
    place_open(&place, "sequential", "");
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) assert_claim(&place, claims[i]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuses(&place, cases[i].claim, cases[i].says);
    place_close(&place);
}

/* Samples of one machine are not used for the other. */
static void a_machine_that_is_pinned_counts(void **state) {
    (void)state;
    static const char *const claims[] = {"strided.stalled \"barrier\" > 0",
                                         "strided.stalled \"barrier\" > 0 on recorded H200",
                                         "strided.stalled \"barrier\" > 0 on recorded H100"};
    Place place;
    ClaimResult results[3];
    place_open(&place, "strided", "");
    const ClaimWorld world = {.context = &place.values, .value = place_values_value};
    for (int i = 0; i < 3; i++) {
        Error error = {0};
        if (!claim_evaluate(&(LectureExpression){claims[i], {1, 1}}, "a.md", &world, &results[i], &error))
            fail_msg("%s: %s", claims[i], error.message);
    }
    assert_string_equal(text_string(&results[0].values), text_string(&results[1].values));
    assert_string_not_equal(text_string(&results[0].values), text_string(&results[2].values));
    for (int i = 0; i < 3; i++) claim_result_done(&results[i]);
    place_close(&place);
}

static void what_has_no_value_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *claim, *says;
    } cases[] = {
        {"beside.n == 1", "'beside' is the run that --compare shows, which this stop lacks"},
        {"here[n=64].n == 64", "'here' is the run of the stop, and takes no settings"},
        {"interleavd.n == 1", "interleaved"},
        {"strided[dtype=integer].n == 1", "there is no type 'integer'"},
        {"strided[fill=noise].n == 1", "--fill: 'noise' is not one of zero, ones, iota"},
        {"strided[n=0].n == 1", "--n: '0' is not a whole number from 1"},
        {"strided[n=many].n == 1", "--n: 'many' is not a whole number from 1"},
        {"strided[op=mean].n == 1", "--op: 'mean' is not one of sum, min, max"},
        {"strided[seed=x].n == 1", "--seed: 'x' is not a whole number from 0 on"},
        {"lab_bank_stride[stride=34].n == 1", "stride is a whole number from 1 to 33"},
        {"strided[block=2^33].n == 1", "--block: '8589934592' is not X[,Y[,Z]]"},
        {"strided[block=100].n == 1", "a power of two"},
        {"strided[stride=2].n == 1", "stride"},
        {"here.excess at \"no such text\" == 0", "no line of here that was executed holds \"no such text\""},
        {"here.excess in interval 99 == 0", "block 0 of here has no interval 99"},
        {"here.excess in interval 0 == 0", "intervals are counted from 1"},
        {"here.adders in level 9 == 0", "the reduction of here has levels 1 to 8, no level 9"},
        {"here.sectors_per_load in level 1 == 0", "level 1 of here has no sectors_per_load"},
        {"here.sectors_per_load in interval 2 == 0", "interval 2 of here has no sectors_per_load"},
        {"lab_latency.levels == 0", ""},
        {"time(strided, 12345) > 0", "no time of strided, int, n = 12345 was measured on"},
        {"time(strided, 2^20, integer) > 0", "no time of strided, integer"},
        {"time(nobody, 2^20) > 0", "no time of nobody"},
        {"time(strided, 2^20) > 0 on recorded A100", "nothing was recorded on 'a100'"},
        {"cycles(\"nothing\") > 0", "no latency is called \"nothing\""},
        {"launches(cub, 2^20) == 1", "launches of cub were not counted"},
        {"launches(strided, 12345) == 1", "no time of strided, int, n = 12345 was measured on"},
        {"limit(strided, 12345) is \"memory\"",
         "the limit of strided, int, n = 12345 is unknown: not profiled"},
        {"limit(nobody, 2^20) is \"memory\"", "the limit of nobody"},
        {"limit(strided, 2^24) is \"memory\"", "shared memory pipe is memory"},
        {"strided.executed > 0 on recorded A100", "a100"},
        {"here.executed > 0 on recorded H100", "'here' is shown with recordings of 'h200': name the kernel"},
        {"here.stalled \"barrier\" at \"no such text\" > 0", "no line of here that was executed holds"},
    };
    Place place;
    place_open(&place, "strided", "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refuses(&place, cases[i].claim, cases[i].says);
    place.values.scene = NULL;
    refuses(&place, "lanes(step) == 1", "nothing is shown here, so there is no step");
    claim_runs_stand_at(place.values.runs, NULL, NULL);
    refuses(&place, "here.n == 1", "'here' is the run of the stop, which shows none");
    place_close(&place);
}

/* Steps of all kinds: a value in its own type, sectors of global accesses, no wavefronts if none are
 * modelled. */
static void values_of_steps(void **state) {
    (void)state;
    Place place;
    place_open(&place, "shuffle", "");
    assert_claim(&place, "value(step, 0) == value(step, 0)");
    place_close(&place);
    place_open(&place, "interleaved", "gd"); /* the first branch that splits warps */
    assert_claim(&place, "diverging(step) == 8 and warps(step) == 8 and lanes(step) == 32");
    place_close(&place);
    place_open(&place, "interleaved", "g");
    bool found = false;
    for (int i = 0; i < 20 && !found; i++) {
        Error error = {0};
        found = holds(&place, "sectors(step) == 4 and lanes(step) == 32", &error);
        if (!found) stage_press(place.stage, "l");
    }
    assert_true(found);
    refuses(&place, "wavefronts(step) == 1", "it is: global_load");
    refuses(&place, "banks(step) == 1", "it is: global_load");
    refuses(&place, "diverging(step) == 0", "it is: global_load");
    refuses(&place, "bank(step, 0) == 0", "it is: global_load");
    place_close(&place);
}

/* The rows of claim_words.def in assets/lectures/README.md, with their meanings. */
static void the_readme_lists_every_word(void **state) {
    (void)state;
    static const struct {
        unsigned scope;
        const char *name;
    } scopes[] = {{CLAIM_TOTAL, "run"},
                  {CLAIM_LINE, "line"},
                  {CLAIM_INTERVAL, "interval"},
                  {CLAIM_LEVEL, "level"},
                  {CLAIM_STEP, "step"}};
    char *readme;
    size_t length;
    Error error = {0};
    assert_true(text_read_file("assets/lectures/README.md", 1 << 20, &readme, &length, &error));
    const char *at = strstr(readme, "| name | of | meaning |\n|---|---|---|\n");
    assert_non_null(at);
    at += strlen("| name | of | meaning |\n|---|---|---|\n");
    for (int i = 0; i < claim_word_count; i++) {
        Text row = {0};
        text_print(&row, "| `%s` | ", claim_words[i].name);
        size_t before = row.length;
        for (size_t k = 0; k < sizeof scopes / sizeof *scopes; k++)
            if (claim_words[i].scopes & scopes[k].scope)
                text_print(&row, "%s%s", row.length > before ? ", " : "", scopes[k].name);
        text_print(&row, " | %s |\n", claim_words[i].meaning);
        if (strncmp(at, row.data, row.length) != 0)
            fail_msg("assets/lectures/README.md should say:\n%snot\n%.*s", row.data, (int)strcspn(at, "\n"),
                     at);
        at += row.length;
        text_done(&row);
    }
    assert_true(*at != '|');
    free(readme);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_has_a_value),
        cmocka_unit_test(every_word_of_a_step_has_a_value),
        cmocka_unit_test(figures_of_strided),
        cmocka_unit_test(figures_of_warp_timelines),
        cmocka_unit_test(a_machine_that_is_pinned_counts),
        cmocka_unit_test(what_has_no_value_is_refused),
        cmocka_unit_test(values_of_steps),
        cmocka_unit_test(the_readme_lists_every_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
