/* Claims: their grammar, and every error with its column, on values by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lecture/claim.h"
#include "findings/limit.h"
#include <string.h>

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_and_arithmetic), cmocka_unit_test(what_a_value_asks_for),
        cmocka_unit_test(a_text_of_the_screen),       cmocka_unit_test(every_error_names_its_column),
        cmocka_unit_test(deep_nesting_is_refused),    cmocka_unit_test(the_form_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
