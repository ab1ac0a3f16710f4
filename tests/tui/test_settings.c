/* Settings: their keys, refused values, and the options that come out. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/state.h"
#include "tui/app.h"
#include "tui/view/settings.h"
#include <stdlib.h>
#include <string.h>

typedef struct Run {
    Session *session;
    Scene *scene;
    Settings settings;
} Run;

static Run run_open(const RunSpec *options) {
    Error error = {0};
    Run run = {.session = session_open(options, &error)};
    if (!run.session) fail_msg("%s", error.message);
    run.scene = scene_new(run.session);
    settings_init(&run.settings, run.scene);
    return run;
}

static Run open_kernel(const char *kernel) {
    return run_open(&(RunSpec){.kernel = kernel, .catalog = {.n = 4096}, .threads = 1});
}

static void run_done(Run *run) {
    scene_free(run->scene);
    session_free(run->session);
}

static SettingsAnswer press(Run *run, const char *script) {
    Key key;
    SettingsAnswer answer = SETTINGS_STAY;
    while (*script) {
        assert_true(keys_read(&script, &key, NULL));
        answer = settings_press(&run->settings, key);
    }
    return answer;
}

/* Moves to the row of this name and returns its value. */
static const char *value(Run *run, const char *name) {
    static SettingText text;
    int count = settings_count(&run->settings);
    for (int i = 0; i < count; i++) {
        settings_print(&run->settings, i, &text);
        if (strcmp(text.name, name) != 0) continue;
        run->settings.choice = i;
        return text.value;
    }
    fail_msg("no setting '%s'", name);
    return NULL;
}

static void check(Run *run, const char *name, const char *script, const char *expected) {
    value(run, name);
    press(run, script);
    assert_string_equal(value(run, name), expected);
    assert_string_equal(run->settings.error, "");
}

/* A kernel outside the catalogue: the guess is shown, edited, and becomes an option. */
static void arguments_are_typed(void **state) {
    (void)state;
    Run run = run_open(
        &(RunSpec){.file = "tests/cli/scale.ptx", .entry = "scale", .catalog = {.n = 4096}, .threads = 1});
    Arena arena = {0};
    const RunSpec *made_with = session_spec(run.session);
    char *guess = strdup(value(&run, "args"));
    assert_string_equal(guess, session_arguments(run.session));
    assert_null(settings_options(&run.settings, made_with, &arena).args); /* guessed again for another n */
    value(&run, "args");
    press(&run, "<Backspace>q7"); /* letters are not commands here */
    guess[strlen(guess) - 1] = 0;
    assert_memory_equal(value(&run, "args"), guess, strlen(guess));
    assert_string_equal(value(&run, "args") + strlen(guess), "q7");
    assert_string_equal(settings_options(&run.settings, made_with, &arena).args, value(&run, "args"));
    press(&run, "<Erase>n");
    assert_string_equal(value(&run, "args"), "n");
    assert_int_equal(press(&run, "<Enter>"), SETTINGS_RUN);
    assert_int_equal(press(&run, "<Escape>"), SETTINGS_CLOSE);
    free(guess);
    arena_done(&arena);
    run_done(&run);
}

static void arrows_step_through_what_the_kernel_takes(void **state) {
    (void)state;
    Run run = open_kernel("interleaved"); /* powers of two */
    check(&run, "n", "<Up>", "8,192");
    check(&run, "n", "<Down><Down>", "2,048");
    check(&run, "block", "<Up>", "512");
    check(&run, "block", "<Up><Up><Up>", "1024");
    check(&run, "block", "jjjjjjj", "8");
    check(&run, "type", "k", "float");
    check(&run, "type", "kk", "int");
    check(&run, "op", "-", "max");
    check(&run, "input", "k", "zero");
    check(&run, "input", "jj", "digits");
    check(&run, "input", "j", "random");
    check(&run, "input", "kk", "random (default)");
    check(&run, "seed", "kkk", "3");
    run_done(&run);
    run = open_kernel("shuffle"); /* whole warps */
    check(&run, "block", "<Up>", "512");
    check(&run, "block", "jjjjjjjjjjjjjj", "32");
    run_done(&run);
    run = open_kernel("multi_add"); /* compiled for 4, 8 and 16 */
    check(&run, "items", "k", "16");
    check(&run, "items", "k", "16");
    check(&run, "items", "jjj", "4");
    run_done(&run);
    run = open_kernel("tma_row_sum"); /* its values have names */
    check(&run, "swizzle", "j", "2 (64 bytes)");
    check(&run, "swizzle", "jjj", "0 (none)");
    run_done(&run);
}

/* The interface's default fill is shown by its name, follows the operation, and becomes an option. */
static void the_default_input_is_named(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *input;
    } cases[] = {{"interleaved", "digits (default)"}, {"row_sum", "digits (default)"},
                 {"half_naive", "ones (default)"},    {"kahan", "random (default)"},
                 {"scaled_half", "random (default)"}, {"triton_max", "random (default)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Run run = run_open(&(RunSpec){
            .kernel = cases[i].kernel, .catalog = {.n = 4096, .prefers_digits = true}, .threads = 1});
        assert_string_equal(value(&run, "input"), cases[i].input);
        run_done(&run);
    }
    Run run = run_open(
        &(RunSpec){.kernel = "interleaved", .catalog = {.n = 4096, .prefers_digits = true}, .threads = 1});
    Arena arena = {0};
    check(&run, "op", "k", "min");
    assert_string_equal(value(&run, "input"), "random (default)");
    RunSpec again = settings_options(&run.settings, session_spec(run.session), &arena);
    assert_true(again.catalog.prefers_digits && !again.catalog.has_fill);
    check(&run, "input", "j", "digits");
    again = settings_options(&run.settings, session_spec(run.session), &arena);
    assert_true(again.catalog.has_fill);
    assert_int_equal(again.catalog.fill, FILL_DIGITS);
    arena_done(&arena);
    run_done(&run);
}

static void numbers_are_typed(void **state) {
    (void)state;
    Run run = open_kernel("interleaved");
    check(&run, "n", "2^12<Enter>", "4,096");
    check(&run, "n", "12345l", "12,345");
    check(&run, "n", "99<Backspace>7h", "97");
    value(&run, "n");
    press(&run, "2^"); /* not a number yet */
    assert_int_equal(press(&run, "<Enter>"), SETTINGS_STAY);
    assert_non_null(strstr(run.settings.error, "2^"));
    press(&run, "<Backspace><Backspace>");
    assert_string_equal(run.settings.error, "");
    assert_string_equal(value(&run, "n"), "97");
    assert_int_equal(press(&run, "97<Enter>"), SETTINGS_CLOSE); /* the same number: nothing to run */
    value(&run, "type");
    press(&run, "5"); /* words take no digits */
    assert_string_equal(value(&run, "type"), "int");
    run_done(&run);
}

/* Each change asks for a run; what changes nothing does not. */
static void each_change_asks_for_a_run(void **state) {
    (void)state;
    Run run = open_kernel("lab_bank_stride");
    SettingText text;
    settings_print(&run.settings, run.settings.choice, &text);
    assert_string_equal(text.name, "stride"); /* the first parameter is chosen */
    assert_int_equal(press(&run, "<Up>"), SETTINGS_RUN);
    assert_int_equal(press(&run, "<Down>"), SETTINGS_RUN);
    assert_int_equal(press(&run, "<Down>"), SETTINGS_RUN);
    assert_int_equal(press(&run, "<Down>"), SETTINGS_STAY); /* 1 is the least */
    assert_int_equal(press(&run, "<Right>"), SETTINGS_STAY);
    assert_int_equal(press(&run, "3<Left>"), SETTINGS_RUN); /* a typed number counts when one goes on */
    settings_follow(&run.settings, run.scene);              /* the settings of a run that has ended */
    assert_string_equal(value(&run, "stride"), "2");
    settings_print(&run.settings, run.settings.choice, &text);
    assert_string_equal(text.name, "stride");
    run_done(&run);
}

static void what_the_kernel_refuses_is_told_and_not_applied(void **state) {
    (void)state;
    Run run = open_kernel("interleaved");
    value(&run, "block");
    assert_int_equal(press(&run, "100<Enter>"), SETTINGS_STAY);
    assert_non_null(strstr(run.settings.error, "a power of two"));
    assert_int_equal(press(&run, "2048<Enter>"), SETTINGS_STAY);
    assert_non_null(strstr(run.settings.error, "from 1 to 1024"));
    assert_int_equal(press(&run, "<Backspace><Backspace><Backspace><Backspace>64<Enter>"), SETTINGS_RUN);
    assert_int_equal(press(&run, "<Escape>"), SETTINGS_CLOSE);
    run_done(&run);
    run = open_kernel("multi_add");
    value(&run, "items");
    assert_int_equal(press(&run, "5<Enter>"), SETTINGS_STAY);
    assert_non_null(strstr(run.settings.error, "4, 8 and 16"));
    run_done(&run);
}

/* For every kernel: all settings that the arrows reach can be opened, and the session has the chosen ones. */
static void whatever_the_arrows_reach_can_be_run(void **state) {
    (void)state;
    for (int k = 0; k < catalog_count(); k++) {
        Error error = {0};
        Arena arena = {0};
        Run run = run_open(&(RunSpec){.kernel = catalog_row(k)->id, .catalog = {.n = 2048}, .threads = 1});
        for (int i = 0; i < settings_count(&run.settings); i++) {
            run.settings.choice = i;
            press(&run, i % 2 ? "<Down>" : "<Up>");
        }
        assert_string_equal(run.settings.error, "");
        RunSpec options = settings_options(&run.settings, session_spec(run.session), &arena);
        Session *session = session_open(&options, &error);
        if (!session) fail_msg("%s: %s", catalog_row(k)->id, error.message);
        const CatalogRun *made = session_run(session);
        assert_int_equal(made->n, run.settings.value[SETTING_N]);
        assert_int_equal(made->block, run.settings.value[SETTING_BLOCK]);
        assert_int_equal(made->dtype, run.settings.type);
        assert_string_equal(made->op, run.settings.op);
        assert_memory_equal(made->parameters, &run.settings.value[SETTING_PARAMETER],
                            sizeof made->parameters);
        session_free(session);
        arena_done(&arena);
        run_done(&run);
    }
}

static void settings_of_a_run_are_its_own(void **state) {
    (void)state;
    Run run =
        run_open(&(RunSpec){.kernel = "lab_bank_stride",
                            .catalog = {.n = 64, .parameters = {"stride=4"}, .parameter_count = 1, .seed = 7},
                            .threads = 1});
    Run other = run_open(&(RunSpec){.kernel = "lab_bank_stride", .catalog = {.n = 64}, .threads = 1});
    char text[96];
    assert_string_equal(value(&run, "stride"), "4");
    assert_string_equal(value(&run, "seed"), "7");
    assert_string_equal(value(&run, "n"), "64");
    settings_print_differences(run.scene, other.scene, text, sizeof text);
    assert_string_equal(text, "stride 4 : 2, seed 7 : 0");
    settings_print_differences(run.scene, run.scene, text, sizeof text);
    assert_string_equal(text, "");
    run_done(&run);
    run_done(&other);
}

/* A kernel outside the catalogue: n, block, grid, input and seed; its other options stay. */
static void a_file_has_fewer_settings(void **state) {
    (void)state;
    Arena arena = {0};
    RunSpec made = {.file = "tests/cli/scale.ptx", .args = "in=float[n], out=float[n], n", .threads = 1};
    made.catalog.n = 1000;
    Run run = run_open(&made);
    check(&run, "n", "k", "1,024");
    check(&run, "block", "128l", "128");
    check(&run, "grid", "", "automatic");
    check(&run, "grid", "kkk", "4");
    check(&run, "cluster", "", "as the entry says");
    check(&run, "cluster", "kk", "2");
    RunSpec options = settings_options(&run.settings, session_spec(run.session), &arena);
    assert_string_equal(options.args, made.args);
    assert_int_equal(options.block[0], 128);
    assert_int_equal(options.grid[0], 4);
    Error error = {0};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    assert_int_equal(session_trace(session)->launches[0]->grid[0], 4);
    assert_int_equal(session_trace(session)->launches[0]->cluster[0], 2);
    session_free(session);
    arena_done(&arena);
    run_done(&run);
}

static void blocks_of_a_cluster(void **state) {
    (void)state;
    Arena arena = {0};
    Error error = {0};
    Run run = open_kernel("sequential");
    SettingText text;
    for (int i = 0; i < settings_count(&run.settings); i++) {
        settings_print(&run.settings, i, &text);
        assert_string_not_equal(text.name, "cluster");
    }
    run_done(&run);
    run = open_kernel("cluster");
    check(&run, "cluster", "", "8");
    check(&run, "cluster", "kk", "16");
    check(&run, "cluster", "jj", "4");
    RunSpec options = settings_options(&run.settings, session_spec(run.session), &arena);
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    assert_int_equal(session_trace(session)->launches[0]->cluster[0], 4);
    session_free(session);
    arena_done(&arena);
    run_done(&run);
}

/* --launch contains its sizes: it is one text, which can be edited; another n keeps it. */
static void launches_are_one_text(void **state) {
    (void)state;
    RunSpec made = {.file = "tests/kernels/stages.ptx",
                    .launches = "stage_sum<<<4, 256>>>(in, out, n)",
                    .catalog = {.n = 1000},
                    .threads = 1};
    Run run = run_open(&made);
    Arena arena = {0};
    assert_int_equal(settings_count(&run.settings), 4);
    assert_string_equal(value(&run, "launch"), "stage_sum<<<4, 256>>>(in=float[n]:random, out=float[n], n)");
    value(&run, "n");
    press(&run, "2000<Right>");
    RunSpec options = settings_options(&run.settings, session_spec(run.session), &arena);
    assert_int_equal(options.catalog.n, 2000);
    assert_int_equal(options.grid[0] + options.block[0] + options.cluster[0], 0);
    Session *again = session_open(&options, NULL);
    assert_non_null(again);
    assert_string_equal(again->guess.verdict.looks_like, "sum(in) of 4 partial results");
    session_free(again);
    value(&run, "launch");
    press(&run, "<Erase>");
    press(&run, "k");
    options = settings_options(&run.settings, session_spec(run.session), &arena);
    assert_string_equal(options.launches, "k");
    assert_null(options.args);
    arena_done(&arena);
    run_done(&run);
}

/* ---- before and after ---------------------------------------------------------------------------------- */

static void assert_last_rows(const char *kernel, const char *keys, int columns, int rows, const char *first,
                             const char *second) {
    Error error = {0};
    Text out = {0};
    RunSpec options = {.kernel = kernel, .catalog.prefers_digits = true, .threads = 1};
    Session *session = session_open(&options, &error);
    if (!session) fail_msg("%s", error.message);
    AppStart start = {.keys = keys, .still = true};
    if (!app_frame(session, columns, rows, &start, &out, &error)) fail_msg("%s: %s", keys, error.message);
    char expected[512];
    snprintf(expected, sizeof expected, "\n%s\n%s\n", first, second);
    text_add(&out, "\n");
    if (!strstr(text_string(&out), expected))
        fail_msg("%s %s: not%sbut\n%s", kernel, keys, expected, text_string(&out));
    text_done(&out);
    session_free(session);
}

#define KEYS "←→ choose  ↑↓ change  Esc closes"

static void before_and_after_stay_while_settings_change(void **state) {
    (void)state;
    static const char wide[] =
        " p  n 1,048,576  ‹block 512›  type int  op sum  input digits (default)  seed 0    "
        "     " KEYS,
                      other[] =
                          " p  n 1,048,576  block 512  type int  op sum  ‹input zero›  seed 0              "
                          "       " KEYS,
                      change[] =
                          "    before → after:  wavefronts 614,400 → 618,496   barriers 294,912 → 327,680";
    char with_time[256];
    snprintf(with_time, sizeof with_time, "%s   time not measured with block 512", change);
    assert_last_rows("interleaved", "p<Right><Up>", 120, 40, wide, with_time);
    assert_last_rows("interleaved", "p<Right><Up><Right><Right><Right><Up>", 120, 40, other, with_time);
    /* whole numbers or none at 80 columns; a kernel beside it changes nothing */
    assert_last_rows("interleaved", "p<Right><Up>", 80, 24,
                     " p  n 1,048,576  ‹block 512›  type int       > " KEYS, change);
    /* blocks of 256 are too large for its array */
    assert_last_rows("bug_half_shared", "p<Right><Down>", 80, 24,
                     " p  n 1,024  ‹block 128›  type int  op sum   > " KEYS,
                     "    before → after:  a fault ended a run early: counts are not compared");
    /* before the first change: what the setting means */
    assert_last_rows("interleaved", "p<Right>", 80, 24,
                     " p  n 1,048,576  ‹block 256›  type int       > " KEYS,
                     "    block: threads per block: a power of two, 1 to 1024");
}

static void a_time_is_of_the_setting_shown(void **state) {
    (void)state;
    static const RunFigures runs[] = {
        {.is_counted = true, .wavefronts = 600, .microseconds = 9.5, .machine = "H200"},
        {.is_counted = true, .wavefronts = 180, .microseconds = 4, .machine = "H200"},
        {.is_counted = true, .wavefronts = 180, .microseconds = 4, .machine = "A100", .is_live = true},
        {.is_counted = true, .wavefronts = 600, .missing = "not measured"},
    };
    static const struct {
        int before, after, columns;
        const char *expected;
    } rows[] = {{0, 1, 80, "wavefronts 600 → 180   time 9.5 us → 4.0 us"},
                {0, 2, 80, "wavefronts 600 → 180   time now 4.0 us"},
                {3, 1, 80, "wavefronts 600 → 180   time now 4.0 us"},
                {0, 3, 80, "wavefronts 600 → 600   time not measured"},
                {0, 3, 30, "time not measured"}, /* what changed comes first */
                {0, 1, 42, "wavefronts 600 → 180"},
                {0, 1, 43, "wavefronts 600 → 180   time 9.5 us → 4.0 us"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[256];
        figures_print(&runs[rows[i].before], &runs[rows[i].after], rows[i].columns, out, sizeof out);
        assert_string_equal(out, rows[i].expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_typed),
        cmocka_unit_test(arrows_step_through_what_the_kernel_takes),
        cmocka_unit_test(the_default_input_is_named),
        cmocka_unit_test(numbers_are_typed),
        cmocka_unit_test(each_change_asks_for_a_run),
        cmocka_unit_test(what_the_kernel_refuses_is_told_and_not_applied),
        cmocka_unit_test(whatever_the_arrows_reach_can_be_run),
        cmocka_unit_test(settings_of_a_run_are_its_own),
        cmocka_unit_test(a_file_has_fewer_settings),
        cmocka_unit_test(blocks_of_a_cluster),
        cmocka_unit_test(launches_are_one_text),
        cmocka_unit_test(before_and_after_stay_while_settings_change),
        cmocka_unit_test(a_time_is_of_the_setting_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
