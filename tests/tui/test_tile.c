/* The picture of a tensor copy: every 16-byte piece stands in the banks that the rule of the swizzle gives,
 * for each span, and the box lies where its coordinates say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "stage.h"
#include "tui/panes/tile_picture.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The screen at the first tensor copy. */
static char *screen_of(RunSpec run, int columns, int rows) {
    run.threads = 1;
    run.first_look = true;
    Stage *stage = stage_open(&run);
    char *screen = NULL;
    for (int step = 1; step < 30; step++) {
        char keys[16];
        snprintf(keys, sizeof keys, "%dg", step);
        stage_press(stage, keys);
        free(screen);
        screen = stage_text(stage, columns, rows);
        if (strstr(screen, " tensor copy ")) break;
    }
    stage_free(stage);
    return screen;
}

static char *screen_of_copy(const char *kernel, const char *parameter, uint64_t n, int columns, int rows) {
    RunSpec run = {.kernel = kernel, .catalog.n = n};
    run.catalog.parameters[run.catalog.parameter_count++] = parameter;
    return screen_of(run, columns, rows);
}

static void assert_shows(const char *screen, const char *text) {
    if (!strstr(screen, text)) fail_msg("'%s' is not on the screen:\n%s", text, screen);
}

/* a XOR (a >> 3 & span - 16), which is its own inverse: what lies at the address a of shared memory. The tile
 * begins at a multiple of 1,024 bytes, word 256. */
static void assert_pieces(const char *screen, unsigned span, unsigned mask) {
    for (unsigned line = 0; line < 8; line++) {
        Text row = {0};
        text_print(&row, "%6u ", 256 + 32 * line);
        for (unsigned cell = 0; cell < 8; cell++) {
            unsigned at = (8 * line + cell) * 16, of_tile = at ^ (at >> 3 & mask);
            char place[16];
            snprintf(place, sizeof place, "%u.%u", of_tile / span, of_tile % span / 16);
            text_print(&row, "%6s", place);
        }
        assert_shows(screen, text_string(&row));
        text_done(&row);
    }
}

static void every_piece_lies_in_its_banks(void **state) {
    (void)state;
    static const char *const parameters[] = {"swizzle=0", "swizzle=1", "swizzle=2", "swizzle=3"};
    for (unsigned mode = 0; mode < 4; mode++) {
        unsigned span = mode ? 16u << mode : 128, mask = mode ? span - 16 : 0;
        char *screen = screen_of_copy("tma_row_sum", parameters[mode], 65536, 200, 60);
        assert_pieces(screen, span, mask);
        free(screen);
    }
}

/* The pieces are of bytes, the box is of elements. */
static void elements_have_2_to_8_bytes(void **state) {
    (void)state;
    static const struct {
        const char *kernel, *box;
        PtxType dtype;
    } cases[] = {
        {"gemm_row_max", "64 x 64 of 2 bytes: in rows 0-63, columns 0-63", PTX_F16},
        {"tma_row_sum", "128 x 32 of 4 bytes: in rows 0-127, columns 0-31", PTX_F32},
        {"tma_row_sum", "128 x 16 of 8 bytes: in rows 0-127, columns 0-15", PTX_F64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RunSpec run = {.kernel = cases[i].kernel, .catalog = {.n = 65536, .dtype = cases[i].dtype}};
        char *screen = screen_of(run, 200, 60);
        assert_shows(screen, cases[i].box);
        assert_pieces(screen, 128, 0x70);
        free(screen);
    }
}

static void the_box_lies_in_the_array(void **state) {
    (void)state;
    char *screen = screen_of_copy("tma_column_sum", "swizzle=3", 65536, 120, 40);
    assert_shows(screen, "32 x 32 of 4 bytes: in rows 0-31, columns 0-31 → shared_tile_bytes+0");
    assert_shows(screen, "4,096 bytes, row.piece (16 bytes); swizzle of 128: a ^ (a >> 3 & 0x70)");
    assert_shows(screen, "in 64 x 1024");
    assert_shows(screen, "│  ▒·························  ");
    free(screen);
    screen = screen_of_copy("tma_row_sum", "columns=20", 1000, 120, 40); /* 50 rows for 128 threads */
    assert_shows(screen, "128 x 32 of 4 bytes: in rows 0-49, columns 0-19 (the rest is outside)");
    free(screen);
    screen = screen_of_copy("tma_column_sum", "swizzle=0", 65536, 80, 24);
    assert_shows(screen, "4,096 bytes, row.piece (16 bytes); no swizzle");
    assert_shows(screen, "     288    1.0   1.1   1.2   1.3   1.4   1.5   1.6   1.7");
    free(screen);
}

static char *picture_of(const TensorMap *map, const TileRequest *request) {
    enum { COLUMNS = 90, ROWS = 8 };
    uint64_t global;
    TilePicture picture = {.tile = trace_tile_of(map, request, &global),
                           .array = "in",
                           .shared = "tile",
                           .array_bytes = 4096,
                           .loads = request->is_load};
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    Text text = {0};
    picture.offset = global;
    tile_picture_draw(&picture, canvas, (Rectangle){0, 0, COLUMNS, ROWS});
    canvas_to_text(canvas, &text);
    canvas_free(canvas);
    return text.data;
}

/* Two images of 4 pixels of 16 halves, padded by one pixel: they are named as pixels, not as a box. */
static void pixels_are_no_box(void **state) {
    (void)state;
    const TensorMap map = {.size = {16, 4, 2},
                           .stride = {32, 128},
                           .box = {16},
                           .step = {1, 1, 1},
                           .rank = 3,
                           .type = TENSOR_F16,
                           .mode = TENSOR_IM2COL,
                           .lower = {-1},
                           .upper = {-1},
                           .pixels = 6};
    TileRequest request = {TILE_PIXELS, true, {0, -1, 0}, {0}};
    char *screen = picture_of(&map, &request);
    assert_shows(screen, "6 pixels x 16 channels of 2 bytes: in+0 (the rest is outside) → tile+0");
    assert_shows(screen, "192 bytes, pixel.piece (16 bytes); no swizzle");
    assert_shows(screen, "      0   fill  fill   1.0   1.1   2.0   2.1   3.0   3.1");
    assert_shows(screen, "     32   fill  fill   5.0   5.1     ·     ·     ·     ·");
    free(screen);
    request.offset[0] = 1;
    screen = picture_of(&map, &request);
    assert_shows(screen, "6 pixels x 16 channels of 2 bytes: in+0 → tile+0");
    free(screen);
}

static void gathered_rows_are_no_box(void **state) {
    (void)state;
    const TensorMap map = {.size = {64, 9},
                           .stride = {128},
                           .box = {32, 1},
                           .step = {1, 1},
                           .rank = 2,
                           .type = TENSOR_F16,
                           .swizzle = 2};
    char *screen = picture_of(&map, &(TileRequest){TILE_ROWS, true, {0, 7, 3, 9, 5}, {0}});
    assert_shows(screen, "4 rows x 32 of 2 bytes: in+384 (the rest is outside) → tile+0");
    assert_shows(screen, "256 bytes, row.piece (16 bytes); swizzle of 64: a ^ (a >> 3 & 0x30)");
    assert_shows(screen, "      0    0.0   0.1   0.2   0.3   1.0   1.1   1.2   1.3");
    assert_shows(screen, "     32   fill  fill  fill  fill   3.1   3.0   3.3   3.2");
    free(screen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_lies_in_its_banks), cmocka_unit_test(elements_have_2_to_8_bytes),
        cmocka_unit_test(the_box_lies_in_the_array),     cmocka_unit_test(pixels_are_no_box),
        cmocka_unit_test(gathered_rows_are_no_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
