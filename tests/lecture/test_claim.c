/* Claims: their grammar, every error with its column, and every word. The grammar is tested on values by
 * hand, the words on runs of the emulator. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lecture/claim.h"
#include "findings/limit.h"
#include "metrics/totals.h"
#include "tests/tui/stage.h"
#include "tui/view/place_values.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the grammar, on values by hand -------------------------------------------------------------------- */

/* The queries, as text; their value is 6, for a step 4, for time(RUN, N) N / 10; the limit is the shared
 * memory pipe. */
static bool by_hand(void *context, const ClaimQuery *query, double *value, Error *error) {
    Text *asked = context;
    text_print(asked, "%s%s", asked->length ? "; " : "", query->name);
    if (query->run) text_print(asked, " of %s", query->run);
    for (int i = 0; i < query->setting_count; i++) text_print(asked, " %s", query->settings[i]);
    if (query->scope == CLAIM_LINE || query->scope == CLAIM_CYCLES)
        text_print(asked, " at <%s>", query->text);
    if (query->scope == CLAIM_INTERVAL) text_print(asked, " interval %lld", (long long)query->number);
    if (query->scope == CLAIM_LEVEL) text_print(asked, " level %lld", (long long)query->number);
    if (query->scope == CLAIM_STEP && query->number >= 0) text_print(asked, " lane %d", (int)query->number);
    if (query->reason) text_print(asked, " <%s>", query->reason);
    if (query->resident) text_print(asked, " with %u", query->resident);
    if (query->scope & (CLAIM_TIME | CLAIM_LIMIT))
        text_print(asked, " n %llu %s%s%s%s", (unsigned long long)query->n, query->dtype,
                   query->alone ? " alone" : "", query->warm ? " warm" : "", query->call ? " call" : "");
    if (query->machine) text_print(asked, " on %s", query->machine);
    *value = query->scope == CLAIM_LIMIT  ? LIMIT_SHARED
             : query->scope == CLAIM_STEP ? 4
             : query->scope == CLAIM_TIME ? (double)query->n / 10
                                          : 6;
    return !query->run || strcmp(query->run, "missing") != 0 ||
           error_set(error, "there is no kernel '%s'", query->run);
}

static bool is_by_hand(void *context, const char *text) {
    return text_add(context, text), !strcmp(text, "w0-1  | 6 of 6");
}

typedef struct Evaluated {
    bool known;
    Error error;
    ClaimResult result;
    Text asked;
} Evaluated;

static Evaluated evaluate(const char *text) {
    Evaluated out = {0};
    const ClaimWorld world = {&out.asked, by_hand, is_by_hand};
    const LectureExpression claim = {text, {7, 3}};
    out.known = claim_evaluate(&claim, "a.md", &world, &out.result, &out.error);
    return out;
}

static void evaluated_done(Evaluated *evaluated) {
    claim_result_done(&evaluated->result);
    text_done(&evaluated->asked);
}

static void comparisons_and_arithmetic(void **state) {
    (void)state;
    static const struct {
        const char *claim;
        bool holds;
        const char *sides;
    } cases[] = {
        {"1 == 1", true, "1 == 1"},
        {"1 != 1", false, "1 != 1"},
        {"1 <= 1", true, "1 <= 1"},
        {"1 < 1", false, "1 < 1"},
        {"2 >= 3", false, "2 >= 3"},
        {"2 > 1", true, "2 > 1"},
        {"1 < 2 < 3", true, "1 < 2 < 3"},
        {"1 < 3 < 2", false, "1 < 3 < 2"},
        {"3 > 2 == 2", true, "3 > 2 == 2"},
        {"1 == 1 and 2 == 3", false, "1 == 1 and 2 == 3"},
        {"2 == 3 and 1 == 1", false, "2 == 3 and 1 == 1"},
        {"1==1 and 2==2 and 3==3", true, "1 == 1 and 2 == 2 and 3 == 3"},
        {"103 == 100 within 3 %", true, "103 == 100 within 3 %"},
        {"103.1 == 100 within 3%", false, "103.1 == 100 within 3 %"},
        {"100 == 103 within 2.9 %", false, "100 == 103 within 2.9 %"},
        {"-97 == -100 within 3 %", true, "-97 == -100 within 3 %"},
        {"103 == 100 within 3 % and 1 == 2", false, "103 == 100 within 3 % and 1 == 2"},
        {"1 + 2 * 3 == 7", true, "7 == 7"},
        {"(1 + 2) * 3 == 9", true, "9 == 9"},
        {"8 / 4 / 2 == 1", true, "1 == 1"},
        {"8 - 4 - 2 == 2", true, "2 == 2"},
        {"-2 * 3 == -6", true, "-6 == -6"},
        {"--2 == 2", true, "2 == 2"},
        {"1 - -1 == 2", true, "2 == 2"},
        {"2^20 == 1048576", true, "1048576 == 1048576"},
        {"0x10 == 16 and 1e3 == 1000 and 2.5e-1 == .25", true, "16 == 16 and 1000 == 1000 and 0.25 == 0.25"},
        {"min(1, 2) == 1 and max(1, 2) == 2 and abs(1 - 3) == 2", true, "1 == 1 and 2 == 2 and 2 == 2"},
        {"k.barriers / lanes(step) == 1.5", true, "1.5 == 1.5"},
        {"round(2.4) == 2 and round(2.5) == 3 and round(-2.5) == -3", true, "2 == 2 and 3 == 3 and -3 == -3"},
        {"round(10 / 3, 2) == 3.33 and round(0.126, 2) == 0.12", false, "3.33 == 3.33 and 0.13 == 0.12"},
        {"round(1 + round(0.6), 0) == 2", true, "2 == 2"},
        {"limit(k, 2^20) is \"shared memory pipe\"", true, "shared memory pipe is shared memory pipe"},
        {"1 == 1 and limit(k, 2^20) is \"memory\"", false, "1 == 1 and shared memory pipe is memory"},
        {"limit(k, 2^20) is not \"memory\" and 1 == 1", true, "shared memory pipe is not memory and 1 == 1"},
        {"limit(k, 2^20) is not \"shared memory pipe\"", false,
         "shared memory pipe is not shared memory pipe"},
        {"limit.barriers == 6", true, "6 == 6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Evaluated evaluated = evaluate(cases[i].claim);
        if (!evaluated.known) fail_msg("%s: %s", cases[i].claim, evaluated.error.message);
        if (evaluated.result.holds != cases[i].holds) fail_msg("%s", cases[i].claim);
        assert_string_equal(text_string(&evaluated.result.sides), cases[i].sides);
        evaluated_done(&evaluated);
    }
}

static void what_a_value_asks_for(void **state) {
    (void)state;
    static const struct {
        const char *claim, *asked;
    } cases[] = {
        {"k.barriers == 6", "barriers of k"},
        {"k[block=64, n=2^12,dtype=float].excess == 6", "excess of k block=64 n=4096 dtype=float"},
        {"k.shared_loads at \"s[tid] += \" == 6", "shared_loads of k at <s[tid] += >"},
        {"here.ways in interval 2 == 6", "ways of here interval 2"},
        {"beside . adders in level 3 == 6", "adders of beside level 3"},
        {"lanes(step) == 4", "lanes"},
        {"value(step, 31) == 4", "value lane 31"},
        {"time(k, 100) == 10", "time of k n 100 int"},
        {"gigabytes(cub, 2^10, float, warm) > 0", "gigabytes of cub n 1024 float warm"},
        {"read_share(k, 10, alone, call) > 0", "read_share of k n 10 int alone call"},
        {"cycles(\"shared memory\") == 6", "cycles at <shared memory>"},
        {"launches(k, 2^10, float, warm) > 0", "launches of k n 1024 float warm"},
        {"limit(k, 100) is \"shared memory pipe\"", "limit of k n 100 int"},
        {"limit(k, 100, double) is not \"memory\" on recorded H100", "limit of k n 100 double on h100"},
        {"k[block=64].stalled \"barrier\" == 6", "stalled of k block=64 <barrier>"},
        {"k.stalled \"wait\" at \"s[tid]\" == 6", "stalled of k at <s[tid]> <wait>"},
        {"k.ready == 6 on recorded H100", "ready of k on h100"},
        {"k.no_warp with 1 block / k[n=64].no_warp with 16 blocks == 1",
         "no_warp of k with 1; no_warp of k n=64 with 16"},
        {"k.wait \"barrier\" == 6 within 3 %", "wait of k <barrier>"},
        {"k.wait_share \"copy\" at \"s[tid]\" with 64 blocks == 6",
         "wait_share of k at <s[tid]> <copy> with 64"},
        {"bank(step, 3) == 4 and word(step, 0) == 4", "bank lane 3; word lane 0"},
        {"time(k, 10) / time(j, 10) == 1 on recorded H200",
         "time of k n 10 int on h200; time of j n 10 int on h200"},
        {"cycles(\"a on recorded b\") == 6", "cycles at <a on recorded b>"},
        {"cycles(\"a on recorded b\") == 6 on recorded H100", "cycles at <a on recorded b> on h100"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Evaluated evaluated = evaluate(cases[i].claim);
        if (!evaluated.known) fail_msg("%s: %s", cases[i].claim, evaluated.error.message);
        assert_true(evaluated.result.holds);
        assert_string_equal(text_string(&evaluated.asked), cases[i].asked);
        evaluated_done(&evaluated);
    }
    Evaluated evaluated = evaluate("k.barriers * 2 == value(step, 3) + 8");
    assert_string_equal(text_string(&evaluated.result.values), "k.barriers = 6\nvalue(step, 3) = 4\n");
    evaluated_done(&evaluated);
}

/* What follows the word is a text as it stands, no expression. */
static void a_text_of_the_screen(void **state) {
    (void)state;
    Evaluated evaluated = evaluate("shows: w0-1  | 6 of 6");
    assert_true(evaluated.known && evaluated.result.holds);
    assert_string_equal(text_string(&evaluated.asked), "w0-1  | 6 of 6");
    evaluated_done(&evaluated);
    evaluated = evaluate("shows:1 == 1");
    assert_true(evaluated.known && !evaluated.result.holds);
    assert_string_equal(text_string(&evaluated.result.sides), "the screen does not show \"1 == 1\"");
    evaluated_done(&evaluated);
}

/* Invalid claims: the column is that of the claim's text, which begins in column 3. */
static void every_error_names_its_column(void **state) {
    (void)state;
    static const struct {
        const char *claim;
        int column;
        const char *says;
    } cases[] = {
        {"", 1, "something is missing here"},
        {"shows: ", 8, "a text of the screen is expected here: shows: w0-1"},
        {"1", 2, "a comparison is missing: == != < <= > >="},
        {"1 = 1", 3, "a comparison is missing: == != < <= > >="},
        {"1 ==", 5, "something is missing here"},
        {"1 == 1 2", 8, "'and', a comparison or the end is expected here"},
        {"1 == 1 or 2 == 2", 8, "'and', a comparison or the end is expected here"},
        {"1 == 1 and", 11, "something is missing here"},
        {"1 == 1 within", 14, "a number is expected here"},
        {"1 == 1 within 3", 16, "'%' is expected here"},
        {"1 < 1 within 3 %", 7, "'within' stands behind one =="},
        {"1 == 1 == 1 within 3 %", 13, "'within' stands behind one =="},
        {"1 == 1 within 3 % == 1", 19, "'and', a comparison or the end is expected here"},
        {"1 == 1 on", 10, "'on recorded H200' ends a claim"},
        {"1 == 1 on the H200", 10, "'on recorded H200' ends a claim"},
        {"1 == 1 on recorded", 10, "'on recorded H200' ends a claim"},
        {"1 == 1 on recorded H200 and 2 == 2", 25, "'and', a comparison or the end is expected here"},
        {"% == 1", 1, "a number, a value or '(' is expected here"},
        {"(1 == 1", 4, "')' is expected here"},
        {"12q == 1", 1, "this is not a number: 4096, 2^20, 0x10, 1.7"},
        {"1e999 == 1", 1, "this is not a number: 4096, 2^20, 0x10, 1.7"},
        {"2^ == 1", 3, "a number is expected here"},
        {"2^2^2 == 1", 4, "a comparison is missing: == != < <= > >="},
        {"10^400 == 1", 1, "this number is too large"},
        {"1 / 0 == 1", 3, "division by zero"},
        {"k == 1", 1, "'k' is not a value: write RUN.NAME, like interleaved.shared_loads"},
        {"k. == 1", 4, "the name of a value, like shared_loads, is expected here"},
        {"k.shared_load == 1", 3, "there is no 'shared_load' of a run; did you mean shared_loads?"},
        {"k.qqqqqqqqqqqqq == 1", 3, "there is no 'qqqqqqqqqqqqq' of a run"},
        {"k.adders == 1", 3, "there is no 'adders' of a run, but one of a level"},
        {"k.adders at \"x\" == 1", 3, "there is no 'adders' of a line, but one of a level"},
        {"k.n in level 1 == 1", 3, "there is no 'n' of a level, but one of a run"},
        {"k.hazards in interval 1 == 1", 3, "there is no 'hazards' of an interval"},
        {"k.excess at == 1", 12, "a text in double quotes is expected here"},
        {"k.excess at \"x == 1", 12, "a text in double quotes is expected here"},
        {"k.excess in row 1 == 1", 13, "'interval 2' or 'level 2' is expected here"},
        {"k.excess in level == 1", 19, "a number is expected here"},
        {"k.excess in level 1.5 == 1", 19, "its number is a whole number up to 1000000"},
        {"k[n=1 == 1", 7, "']' is expected here"},
        {"k[=1].excess == 1", 3, "a setting, like n=4096, is expected here"},
        {"k[n].excess == 1", 4, "'=' is expected here"},
        {"k[n=].excess == 1", 5, "a number is expected here"},
        {"k[n=1.5].excess == 1", 5, "a setting is a whole number up to 1000000000000000"},
        {"k[a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1].excess == 1", 35, "a run has at most 8 settings"},
        {"k(step) == 1", 1, "there is no 'k' of a step"},
        {"wavefront(step) == 1", 1, "there is no 'wavefront' of a step; did you mean wavefronts?"},
        {"barriers(step) == 1", 1, "there is no 'barriers' of a step"},
        {"lanes(step, 1) == 1", 11, "')' is expected here"},
        {"lanes(here) == 1", 1,
         "there is no lanes(...): time, gigabytes, read_share, launches, cycles, "
         "min, max, abs, round, or a value of the step, like lanes(step)"},
        {"value(step) == 1", 11, "',' is expected here"},
        {"value(step, 32) == 1", 13, "a lane is a whole number up to 31"},
        {"time(k) == 1", 7, "',' is expected here"},
        {"time(k, 1, 2) == 1", 12, "a type, or one of warm, alone, call, is expected here"},
        {"time(k, 1.5) == 1", 9, "a size is a whole number up to 10000000000000"},
        {"time(, 1) == 1", 6, "a kernel is expected here"},
        {"cycles(k) == 1", 8, "a text in double quotes is expected here"},
        {"launches(k, 1, alone) == 1", 1, "launches are counted down to one number: without 'alone'"},
        {"limit(k, 1) == 1", 13, "'is \"memory\"' is expected here"},
        {"limit(k, 1) is memory", 16, "a text in double quotes is expected here"},
        {"limit(k, 1) is \"gravity\"", 16, "this limits no kernel: memory, issue slots, shared memory pipe"},
        {"limit(k, 1) is \"-\"", 16, "this limits no kernel"},
        {"limit(k, 1, warm, call) is \"memory\"", 17, "')' is expected here"},
        {"limit(k) is \"memory\"", 8, "',' is expected here"},
        {"limit(missing, 1) is \"memory\"", 1, "there is no kernel 'missing'"},
        {"1 + limit(k, 1) is \"memory\"", 5, "limit(...) is not a number"},
        {"k.stalled == 1", 11, "a text in double quotes is expected here"},
        {"k.stalled \"bariier\" == 1", 11, "unknown stall reason 'bariier'; did you mean barrier?"},
        {"k.stalled \"qqqqqqqqqqqq\" == 1", 11, "unknown stall reason 'qqqqqqqqqqqq'; --sass=json names"},
        {"k.stalled \"barrier\" in level 1 == 1", 3, "there is no 'stalled' of a level, but one of a line"},
        {"k.excess \"barrier\" == 1", 10, "a comparison is missing"},
        {"k.wait == 1", 8, "a text in double quotes is expected here"},
        {"k.wait \"bariier\" == 1", 8, "unknown wait of a warp 'bariier'; did you mean barrier?"},
        {"k.wait \"long_scoreboard\" == 1", 8,
         "unknown wait of a warp 'long_scoreboard'; --timeline names the waits"},
        {"k.wait \"works\" == 1", 8, "unknown wait of a warp 'works'"},
        {"k.stalled \"copy\" == 1", 11, "unknown stall reason 'copy'"},
        {"k.wait \"barrier\" in level 1 == 1", 3, "there is no 'wait' of a level"},
        {"k.ready at \"x\" == 1", 3, "there is no 'ready' of a line"},
        {"k.excess with 8 blocks == 1", 10, "'with' stands behind a value of a warp timeline, like ready"},
        {"k.barriers with 8 blocks == 1", 12, "'with' stands behind a value of a warp timeline"},
        {"k.ready with blocks == 1", 14, "a number is expected here"},
        {"k.ready with 0 blocks == 1", 9, "without 'with', as many blocks as fit are resident"},
        {"k.ready with 65 blocks == 1", 14, "the number of blocks is a whole number up to 64"},
        {"k.ready with 8 == 1", 16, "'with 1 block' or 'with 8 blocks' is expected here"},
        {"k.ready with 1 blocks == 1", 16, "'with 1 block' or 'with 8 blocks' is expected here"},
        {"bank(step) == 1", 10, "',' is expected here"},
        {"word(step, 32) == 1", 12, "a lane is a whole number up to 31"},
        {"k.bank == 1", 3, "there is no 'bank' of a run"},
        {"round() == 1", 7, "a number, a value or '(' is expected here"},
        {"round(1, 2.5) == 1", 10, "the number of decimals is a whole number up to 9"},
        {"round(1, 10) == 1", 10, "the number of decimals is a whole number up to 9"},
        {"round(1, 1, 1) == 1", 11, "')' is expected here"},
        {"min(1) == 1", 6, "',' is expected here"},
        {"abs(1, 2) == 1", 6, "')' is expected here"},
        {"1 == missing.excess", 6, "there is no kernel 'missing'"},
        {"a_name_that_is_longer_than_any_kernel_or_metric_that_there_will_ever_be.n == 1", 1,
         "no name is so long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Evaluated evaluated = evaluate(cases[i].claim);
        const Error *error = &evaluated.error;
        if (evaluated.known) fail_msg("%s is accepted", cases[i].claim);
        if (error->column != cases[i].column + 2 ||
            strncmp(error->message, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s\n  %d: %s\n  not %d: %s", cases[i].claim, error->column - 2, error->message,
                     cases[i].column, cases[i].says);
        assert_string_equal(error->file, "a.md");
        assert_int_equal(error->line, 7);
        evaluated_done(&evaluated);
    }
}

static void assert_error(const char *claim, int column, const char *says) {
    Evaluated evaluated = evaluate(claim);
    assert_false(evaluated.known);
    assert_string_equal(evaluated.error.message, says);
    assert_int_equal(evaluated.error.column, column + 2);
    evaluated_done(&evaluated);
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    enum { DEEP = 100000 };
    Text text = {0};
    for (int i = 0; i < 64; i++) text_add(&text, i % 2 ? "-" : "(");
    text_add(&text, "1");
    for (int i = 0; i < 32; i++) text_add(&text, ")");
    text_add(&text, " == 1");
    Evaluated evaluated = evaluate(text_string(&text));
    assert_true(evaluated.known && evaluated.result.holds);
    evaluated_done(&evaluated);
    static const char *const openings[] = {"(", "-", "abs(", "min(1,"};
    for (int i = 0; i < 4; i++) {
        text_clear(&text);
        for (int k = 0; k < DEEP; k++) text_add(&text, openings[i]);
        assert_error(text_string(&text), 64 * (int)strlen(openings[i]) + 1, "nested too deeply");
    }
    text_clear(&text);
    text_add(&text, "cycles(\"");
    for (int i = 0; i < 300; i++) text_add(&text, "x");
    text_add(&text, "\") == 1");
    assert_error(text_string(&text), 8, "no line or row holds so long a text");
    text_done(&text);
}

/* Without a world only the form is checked: nothing is queried, nothing divided. */
static void the_form_alone(void **state) {
    (void)state;
    ClaimResult result;
    Error error = {0};
    double value;
    const LectureExpression claim = {"missing.excess / 0 == lanes(step)", {1, 1}},
                            answer = {"1 + 2 == 3", {1, 1}};
    const LectureExpression shown = {"shows: nothing like this", {1, 1}};
    assert_true(claim_evaluate(&claim, "a.md", NULL, &result, &error));
    claim_result_done(&result);
    assert_true(claim_evaluate(&shown, "a.md", NULL, &result, &error));
    claim_result_done(&result);
    assert_false(claim_number(&answer, "a.md", NULL, &value, &error));
    assert_string_equal(error.message, "an operator is expected here");
    assert_int_equal(error.column, 7);
}

/* ---- every word, on a run ------------------------------------------------------------------------------ */

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
        cmocka_unit_test(comparisons_and_arithmetic),
        cmocka_unit_test(what_a_value_asks_for),
        cmocka_unit_test(a_text_of_the_screen),
        cmocka_unit_test(every_error_names_its_column),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(the_form_alone),
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
