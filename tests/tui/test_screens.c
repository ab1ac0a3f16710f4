/* Screens: the output of `redviz --frame` for kernels of the catalogue, as exact text: the real program, its
 * real trace.
 *
 * REDVIZ_REWRITE=1 build/tests/tui/test_screens rewrites tests/tui/golden/screen_*.txt (make goldens does it
 * for all tests with goldens), for review with git diff. */
#define _POSIX_C_SOURCE 200809L

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

typedef struct Screen {
    const char *name, *options;
} Screen;

/* The first screen of each lesson, and its subject. n is small if the grid does not matter. */
static const Screen screens[] = {
    {"interleaved_120x40", "--kernel interleaved --n 4096 --frame --keys 'rg25>'"},
    {"interleaved_80x24", "--kernel interleaved --n 4096 --frame=80x24 --keys 'rg25>'"},
    {"interleaved_reduction_120x40", "--kernel interleaved --n 4096 --frame --keys 'g25>'"},
    {"file_divergent_120x40", "assets/ptx/interleaved.ptx --entry 'interleaved<int,Sum>' --n 4096 --block "
                              "256 --frame --keys 'G<Enter>'"},
    {"file_divergent_80x24",
     "assets/ptx/interleaved.ptx --entry 'interleaved<int,Sum>' --n 4096 --block 256 --frame=80x24"},
    {"file_strided_list",
     "assets/ptx/strided.ptx --entry 'strided<int,Sum>' --n 4096 --block 256 --frame --keys '2fz'"},
    {"shuffle_reduction_80x24", "--kernel shuffle --n 4096 --frame=80x24 --keys 'g5>3x'"},
    {"strided_120x40", "--kernel strided --n 4096 --frame --keys 'g3]5n..'"},
    {"strided_80x24", "--kernel strided --n 4096 --frame=80x24 --keys 'g3]5n..'"},
    {"strided_60x16", "--kernel strided --n 4096 --frame=60x16 --keys 'g3]5n..'"},
    {"strided_200x60", "--kernel strided --n 4096 --frame=200x60 --keys 'tg3]5n..'"}, /* without recordings */
    {"strided_float_hex", "--kernel strided --dtype float --n 4096 --frame --keys 'g30>v'"},
    {"sequential_barrier", "--kernel sequential --n 4096 --frame --keys 'r9G'"},
    {"shuffle_120x40", "--kernel shuffle --n 4096 --frame --keys 'rg5>3x'"},
    {"shuffle_80x24", "--kernel shuffle --n 4096 --frame=80x24 --keys 'rg5>3x'"},
    {"redux", "--kernel redux --n 4096 --frame --keys 'rg4>'"},
    {"two_stage_second_launch", "--kernel two_stage --n 65536 --frame --keys 'r}4>'"},
    {"vectorized_shuffle", "--kernel vectorized_shuffle --n 4096 --frame"},
    {"lab_bank_vector", "--kernel lab_bank_vector --frame --keys 'g4>.'"},
    {"lab_bank_stride_33", "--kernel lab_bank_stride --param stride=33 --frame=80x24 --keys 'g5>'"},
    {"lab_bank_broadcast", "--kernel lab_bank_broadcast --frame --keys 'g5>'"},
    {"lab_coalescing_stride_2", "--kernel lab_coalescing --param stride=2 --frame --keys 'g>'"},
    {"lab_partial_warp", "--kernel lab_partial_warp --frame=80x24 --keys 'rg5>'"},
    {"lab_shuffle_range", "--kernel lab_shuffle_range --frame --keys 'g3>30x'"},
    {"bug_half_shared", "--kernel bug_half_shared --frame --keys 'G'"},
    {"bug_unguarded_load", "--kernel bug_unguarded_load --frame=80x24 --trace-blocks 3 --keys 'G'"},
    {"bug_all_lanes_add", "--kernel bug_all_lanes_add --n 4096 --frame=80x24 --keys 'rG'"},
    {"compare_200x60", "--kernel interleaved --n 4096 --compare strided --frame=200x60 --keys 'rg29>'"},
    {"compare_120x40", "--kernel interleaved --n 4096 --compare strided --frame --keys 'rg29>'"},
    {"compare_80x24", "--kernel interleaved --n 4096 --compare strided --frame=80x24 --keys 'g29>'"},
    {"compare_zoomed", "--kernel interleaved --n 4096 --compare strided --frame=80x24 --keys 'rg29>z'"},
    {"compare_unlinked", "--kernel interleaved --n 4096 --compare strided --frame=80x24 --keys 'g29>Uo]]'"},
    {"compare_exchanged", "--kernel interleaved --n 4096 --compare strided --frame=80x24 --keys 'g29>O'"},
    {"compare_block_sizes", "--kernel strided --n 4096 --compare block=64 --frame=160x50 --keys 'g29>'"},
    {"compare_launches", "--kernel two_stage --n 65536 --compare interleaved --frame=80x24 --keys '}4>'"},
    {"compare_one_row_of_lanes",
     "--kernel shuffle --n 4096 --compare sequential --frame=80x24 --keys '17Go'"},
    {"compare_menu", "--kernel interleaved --n 4096 --frame=80x24 --keys 'c'"},
    {"compare_by_keys", "--kernel interleaved --n 4096 --frame=80x24 --keys 'g29>c<Enter>'"},
    {"compare_ended", "--kernel interleaved --n 4096 --compare strided --frame=80x24 --keys 'g29>oS'"},
    {"differences", "--kernel interleaved --n 4096 --compare strided --frame --keys 'g29>i'"},
    {"differences_below",
     "--kernel interleaved --n 4096 --compare strided --frame --keys 'g29>i<PageDown><PageDown>'"},
    {"parameters", "--kernel lab_bank_stride --frame=80x24 --keys 'g5>p<Up>'"},
    {"parameters_curve", "--kernel lab_bank_stride --frame=120x40 --keys 'p7<Up>'"},
    {"parameters_typed", "--kernel interleaved --n 4096 --frame=80x24 --keys 'p2^'"},
    {"parameters_refused", "--kernel interleaved --n 4096 --frame=80x24 --keys 'pl100<Enter>'"},
    {"parameters_changed", "--kernel interleaved --n 4096 --frame=80x24 --keys 'g29>pl<Up>'"},
    {"parameters_scrolled", "--kernel lab_bank_stride --frame=80x24 --keys 'plll'"},
    {"conflict_8_way", "--kernel strided --n 4096 --frame=80x24 --keys 'nnn'"},
    {"curve_sectors", "--kernel lab_coalescing --frame=80x24 --keys 'y'"},
    {"curve_flat", "--kernel lab_shuffle_range --frame=80x24 --keys 'y'"},
    {"projector_banks", "--kernel strided --n 4096 --frame=120x40 --keys 'nnnP'"},
    {"projector_reduction", "--kernel interleaved --n 4096 --frame=120x40 --keys 'P'"},
    {"projector_branch", "--kernel interleaved --n 4096 --frame=120x40 --keys 'dP'"},
    {"zoomed_reduction", "--kernel interleaved --n 4096 --frame=120x40 --keys 'z'"},
    {"zoomed_lanes", "--kernel interleaved --n 4096 --frame=120x40 --keys '<Tab><Tab>z'"},
    {"zoomed_global", "--kernel lab_coalescing --frame=120x40 --keys 'z'"},
    {"zoomed_branch", "--kernel interleaved --n 4096 --frame=200x60 --keys 'dz'"},
    {"zoomed_sides", "--kernel strided --n 4096 --frame=120x40 --keys 'tttz'"},
    {"hazards", "--kernel bug_volatile_tail --frame=80x24 --keys 'f'"},
    {"hazards_of_another_block", "--kernel bug_unguarded_load --frame=80x24 --keys 'f'"},
    {"hazards_none", "--kernel shuffle --n 4096 --frame=80x24 --keys 'f'"},
    {"hazards_slow", "--kernel strided --n 4096 --frame=80x24 --keys 'f'"},
    {"block_17", "--kernel interleaved --n 65536 --frame=80x24 --keys 'g29>17}'"},
    {"strided_120x40_zh", "--language zh --kernel strided --n 4096 --frame --keys 'g3]5n..'"},
    {"branch_80x24_zh", "--language zh --kernel interleaved --n 4096 --frame=80x24 --keys 'd'"},
    {"index_120x40_zh", "--language zh --index --frame=120x40"},
    {"metrics_120x40_zh", "--language zh --kernel strided --n 4096 --frame=120x40 --keys 'ttz'"},
    {"block_missing", "--kernel interleaved --n 4096 --frame=80x24 --keys '17}'"},
};
enum { SCREEN_COUNT = sizeof screens / sizeof *screens };

static void check_screen(void **state) {
    const Screen *screen = *state;
    const char *program = getenv("REDVIZ_BIN");
    char command[512], golden[96], bytes[4096];
    Text text = {0};
    size_t count;
    snprintf(command, sizeof command, "LC_ALL=C.UTF-8 %s %s", program ? program : "build/redviz",
             screen->options);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while ((count = fread(bytes, 1, sizeof bytes, pipe)) > 0) text_add_bytes(&text, bytes, count);
    int status = pclose(pipe);
    /* 1: the bugs give wrong results on purpose. */
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    snprintf(golden, sizeof golden, "screen_%s", screen->name);
    golden_check(golden, &text);
    text_done(&text);
}

int main(void) {
    struct CMUnitTest tests[SCREEN_COUNT];
    for (int i = 0; i < SCREEN_COUNT; i++)
        tests[i] = (struct CMUnitTest){.name = screens[i].name,
                                       .test_func = check_screen,
                                       .initial_state = (void *)(uintptr_t)&screens[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
