/* How a session begins: the home screen, a name in place of --kernel, the reader's settings, the last
 * runs. */
#include "program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int set_up(void **state) {
    if (program_make_folder(state)) return -1;
    setenv("XDG_CONFIG_HOME", program_folder(), 1);
    setenv("XDG_STATE_HOME", program_folder(), 1);
    return 0;
}

static void assert_shows(const char *command, const char *const *parts, int count) {
    char *out = program_output(0, "%s", command);
    for (int i = 0; i < count; i++) program_assert_contains(out, parts[i]);
    free(out);
}
#define SHOWS(command, ...)                                                                                  \
    assert_shows(command, (const char *const[]){__VA_ARGS__},                                                \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void nothing_to_run_opens_the_home_screen(void **state) {
    (void)state;
    SHOWS("@ --frame=120x60", "start here", ">watch a reduction", "banks", "Banks of shared memory",
          "the ladder", "interleaved");
    SHOWS("@ --frame=80x24 --keys 'lab_bank_s<Enter>'", "redviz  lab_bank_stride");
    SHOWS("@ --frame=80x24 --keys 'zzq<Esc>'", "redviz   find: _", ">watch a reduction");
    SHOWS("@ --frame=80x24 --keys 'divergence'", "warps                  lecture", "interleaved");
    SHOWS("@ strided --frame=80x24 --keys '~'", "redviz   find: _");
    SHOWS("@ strided --frame=80x24 --keys '~<Esc>'", "redviz  strided");
    SHOWS("@ --frame=80x24 --keys '?'", "signs and keys");
    /* A search writes no file: an exercise that it finds asks first. */
    SHOWS("@ --frame=80x24 --keys 'block-sum<Enter>'", ">block-sum", "Enter again: writes its file here");
    SHOWS("@ --frame=80x24 --keys 'block-sum<Enter>x<Backspace>'", "type to find");
    SHOWS("@ --frame=120x40 --keys '<Down><Down>'", ">write your first kernel", "Add up each block");
    SHOWS("@ --frame=80x24 --keys 'zzqqzz'", "nothing has this name; Backspace widens the search");
}

static void files_of_the_folder_open_from_there(void **state) {
    (void)state;
    Outcome copied = program_shell("cp tests/cli/scale.ptx %s/mine.ptx", program_folder());
    assert_int_equal(copied.status, 0);
    program_outcome_done(&copied);
    char *out = program_output(
        0,
        "bin=$(realpath @) && export REDVIZ_SHARE=$PWD && cd %s && $bin --frame=80x24 --keys 'mine<Enter>'",
        program_folder());
    program_assert_contains(out, "redviz  scale");
    free(out);
}

static void a_name_opens_a_kernel_a_lecture_or_a_file(void **state) {
    (void)state;
    SHOWS("@ interleaved --report", "interleaved");
    SHOWS("@ K1 --report", "strided");
    SHOWS("@ banks --frame=120x40", "Banks of shared memory");
    Outcome wrong = program_shell("@ interleavd --report");
    assert_int_equal(wrong.status, 2);
    program_assert_contains(wrong.err,
                            "no file or lecture, and no kernel 'interleavd'; did you mean 'interleaved'?");
    program_outcome_done(&wrong);
}

/* Every action is found by its name, kernels and lectures too, and a number is a step. */
static void the_palette_finds_by_name(void **state) {
    (void)state;
    SHOWS("@ strided --frame=80x24 --keys ':theme'", ">colours: dark, light, contrast, mono");
    SHOWS("@ strided --frame=80x24 --keys ':projector<Enter>:projct<Enter>'", "redviz  strided");
    SHOWS("@ strided --frame=80x24 --keys ':shuffle_at<Enter>'", "redviz  shuffle_atomic");
    SHOWS("@ strided --frame=120x40 --keys ':lecture ban<Enter>'", "Banks of shared memory");
    SHOWS("@ strided --frame=80x24 --keys ':help<Enter>'", "signs and keys");
    SHOWS("@ strided --frame=80x24 --keys '?wavef'", "wavefront within a shared access");
    SHOWS("@ strided --frame=80x24 --keys '^'", "^ is no key here; ? lists the keys");
}

static void settings_are_options_in_a_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"--theme=purple\n", "config:1: --theme: 'purple' is not one of"},
        {"# mine\n\n--kernel=strided\n", "config:3: --kernel is not a setting: --theme, --machine"},
        {"theme=light\n", "config:1: 'theme=light' is not an option: write --theme=light"},
        {"--theme\n", "config:1: --theme needs a value"},
        {"--no-motion=1\n", "config:1: --no-motion takes no value"},
        {"--pace=3\n", "config:1: --pace: '3' is not one of"},
    };
    Outcome made = program_shell("mkdir -p %s/redviz", program_folder());
    program_outcome_done(&made);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        program_write_file("redviz/config", wrong[i].text);
        Outcome outcome = program_shell("@ --kernel strided --frame");
        assert_int_equal(outcome.status, 2);
        program_assert_contains(outcome.err, wrong[i].message);
        program_outcome_done(&outcome);
    }
    program_write_file("redviz/config", "  --theme light  \n--machine h100\n--language=zh\n--no-motion\n"
                                        "--pace=1/2\n");
    char *light = program_output(0, "@ --kernel strided --frame --svg");
    char *dark = program_output(0, "@ --kernel strided --frame --svg --theme dark");
    assert_string_not_equal(light, dark);
    program_write_file("redviz/config", "");
    char *same =
        program_output(0, "@ --kernel strided --frame --svg --theme light --machine h100 --language zh");
    assert_string_equal(light, same);
    program_write_file("redviz/config", "--pace 1/4\n");
    SHOWS("@ --kernel strided --frame=80x24 --keys '<Space>'", "playing 1/4x");
    SHOWS("@ --kernel strided --frame=80x24 --keys '<Space><Less>>>' --pace 2", "speed 4x: 0.3 seconds");
    program_write_file("redviz/config", "");
    free(light);
    free(dark);
    free(same);
}

static void the_last_runs_are_offered(void **state) {
    (void)state;
    Outcome made = program_shell("mkdir -p %s/redviz", program_folder());
    program_outcome_done(&made);
    program_write_file("redviz/recent", "--kernel strided --n 999 --fill 'file:it'\\''s here'\n'open\n"
                                        "--kernel shuffle --n 12345\n");
    SHOWS("@ --frame=120x40", "last runs", "--kernel shuffle --n 12345");
    SHOWS("@ --frame=120x40 --keys '12345<Enter>'", "redviz  shuffle", "n 12,345");
    Outcome wrong = program_shell("@ --frame=120x40 --keys \"'open<Enter>\"");
    program_assert_contains(wrong.out, "not a command line");
    program_outcome_done(&wrong);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_run_opens_the_home_screen),
        cmocka_unit_test(files_of_the_folder_open_from_there),
        cmocka_unit_test(a_name_opens_a_kernel_a_lecture_or_a_file),
        cmocka_unit_test(the_palette_finds_by_name),
        cmocka_unit_test(settings_are_options_in_a_file),
        cmocka_unit_test(the_last_runs_are_offered),
    };
    return cmocka_run_group_tests(tests, set_up, program_remove_folder);
}
