/* Frames of a run made by hand: every pane and layout as exact text, the colours with a meaning, every
 * size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/language.h"
#include "golden.h"
#include "sample.h"
#include "tui/frame.h"
#include "tui/input.h"
#include "tui/view/keys.h"
#include <stdlib.h>
#include <string.h>

static void press(View *view, const Scene *scene, const char *script) {
    Key key;
    Error error = {0};
    while (*script) {
        assert_true(keys_read(&script, &key, &error));
        input_press(view, scene, keys_decode(key));
    }
}

static Canvas *draw(const Sample *sample, const View *view, int columns, int rows, bool ascii) {
    Canvas *canvas = canvas_new(columns, rows, ascii);
    frame_draw(&sample->scene, view, canvas);
    return canvas;
}

/* Presses `keys` at the start of the sample and compares the frame. */
static void check(const char *name, int threads, int columns, int rows, bool ascii, const char *keys) {
    Sample *sample = sample_new(threads);
    View view;
    view_init(&view);
    press(&view, &sample->scene, keys);
    golden_check_canvas(name, draw(sample, &view, columns, rows, ascii));
    sample_free(sample);
}

/* The pane of one kind of instruction, enlarged. */
static void check_kind(const char *name, TraceKind kind, int skip, const char *keys) {
    Sample *sample = sample_new(256);
    char script[64];
    snprintf(script, sizeof script, "%dGz%s", sample_step(sample, kind, skip) + 1, keys);
    sample_free(sample);
    check(name, 256, 120, 30, false, script);
}

/* ---- panes --------------------------------------------------------------------------------------------- */

static void banks_light_one_wavefront_after_another(void **state) {
    (void)state;
    check_kind("banks_first_wavefront", TRACE_SHARED_LOAD, 2, "");
    check_kind("banks_second_wavefront", TRACE_SHARED_LOAD, 2, ".");
}
static void banks_show_phases_of_wide_accesses(void **state) {
    (void)state;
    check_kind("banks_vector", TRACE_SHARED_LOAD, 17, "..");
}
static void banks_mark_a_broadcast(void **state) {
    (void)state;
    check_kind("banks_broadcast", TRACE_SHARED_LOAD, 18, "");
}
static void banks_do_not_guess_the_cost_of_atomics(void **state) {
    (void)state;
    check_kind("banks_atomic", TRACE_SHARED_ATOMIC, 0, "");
}
static void shuffles_have_arrows_and_lanes_that_keep(void **state) {
    (void)state;
    check_kind("shuffle_down", TRACE_SHUFFLE, 0, "5x");
    check_kind("shuffle_keeps", TRACE_SHUFFLE, 0, "30x");
}
static void shuffles_warn_of_undefined_values(void **state) {
    (void)state;
    check_kind("shuffle_undefined", TRACE_SHUFFLE, 1, "");
}
static void votes_and_redux_share_the_place(void **state) {
    (void)state;
    check_kind("vote", TRACE_VOTE, 0, "");
    check_kind("redux", TRACE_REDUX, 0, "");
}
static void global_accesses_are_lines_of_sectors(void **state) {
    (void)state;
    check_kind("global_coalesced", TRACE_GLOBAL_LOAD, 0, "9x");
    check_kind("global_strided", TRACE_GLOBAL_LOAD, 1, "9x");
}
static void branches_show_who_jumps(void **state) {
    (void)state;
    check_kind("branch_divergent", TRACE_BRANCH, 6, "");
}
static void barriers_show_who_has_arrived(void **state) {
    (void)state;
    check_kind("barrier_partial", TRACE_BARRIER, 4, "");
    check_kind("barrier_complete", TRACE_BARRIER, 0, "");
    check_kind("warp_sync", TRACE_WARP_SYNC, 0, "");
    check_kind("named_barrier", TRACE_NAMED_BARRIER, 0, "");
}

static void every_kind_of_event_has_one_picture(void **state) {
    (void)state;
    for (int kind = TRACE_NOT_RECORDED + 1; kind < TRACE_KIND_COUNT; kind++) {
        int pictures = 0;
        if (kind == TRACE_APPROXIMATE) continue; /* only in runs that are verified, which are never drawn */
        for (int i = 0; panes[i]; i++)
            pictures += panes[i]->slot == SLOT_PICTURE && panes[i]->kinds >> kind & 1;
        if (pictures != 1) fail_msg("%s has %d", trace_kind_text((TraceKind)kind), pictures);
    }
}

/* ---- layouts ------------------------------------------------------------------------------------------- */

static void layouts(void **state) {
    (void)state;
    check("layout_60x16", 256, 60, 16, false, "13G");
    check("layout_80x24", 256, 80, 24, false, "13G");
    check("layout_100x24", 256, 100, 24, false, "13G");
    check("layout_120x40", 256, 120, 40, false, "13G.");
    check("layout_200x60", 256, 200, 60, false, "13G");
}
static void a_small_terminal_asks_for_room(void **state) {
    (void)state;
    check("small_59x16", 256, 59, 16, false, "");
    check("small_20x5", 256, 20, 5, false, "");
}
static void ascii(void **state) {
    (void)state;
    check("ascii_80x24", 256, 80, 24, true, "13G");
    check("ascii_shuffle_120x40", 256, 120, 40, true, "G9<Less>");
}
static void a_partial_warp_has_a_sign_for_missing_threads(void **state) {
    (void)state;
    check("partial_warp", 48, 120, 40, false, "5G1w");
}
static void many_warps_share_rows(void **state) {
    (void)state;
    check("many_warps", 1024, 80, 24, false, "9G");
}
static void help_and_menu(void **state) {
    (void)state;
    check("help_80x24", 256, 80, 24, false, "?");
    check("help_80x24_end", 256, 80, 24, false, "?<PageDown><PageDown><PageDown>");
    check("help_120x40", 256, 120, 40, false, "?");
    check("menu_80x24", 256, 80, 24, false, "Kbank");
}

/* The overlay without the two rows of the run above it. */
static void help_and_menu_in_chinese(void **state) {
    (void)state;
    static const char *const screens[][2] = {{"help_80x24_zh", "?"},
                                             {"signs_80x24_zh", "?bank"},
                                             {"words_80x24_zh", "??"},
                                             {"menu_80x24_zh", "Kbank"}};
    assert_true(language_set("zh"));
    Sample *sample = sample_new(256);
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        View view;
        Text text = {0}, below = {0};
        view_init(&view);
        press(&view, &sample->scene, screens[i][1]);
        Canvas *canvas = draw(sample, &view, 80, 24, false);
        canvas_to_text(canvas, &text);
        text_add(&below, strchr(strchr(text_string(&text), '\n') + 1, '\n') + 1);
        golden_check(screens[i][0], &below);
        text_done(&text);
        text_done(&below);
        canvas_free(canvas);
    }
    sample_free(sample);
}

static int back_to_english(void **state) {
    (void)state;
    return !language_set("en");
}

/* Under "Keys" in tui/README.md: the output of --help-keys. REDVIZ_REWRITE=1 writes it there. */
static void the_document_has_the_table_of_keys(void **state) {
    (void)state;
    enum { LIMIT_BYTES = 1 << 20 };
    Text expected = {0};
    Error error = {0};
    char *document;
    size_t length;
    if (!text_read_file("tui/README.md", LIMIT_BYTES, &document, &length, &error))
        fail_msg("%s", error.message);
    const char *begin = strstr(document, "| key | what it does |\n");
    const char *end = begin ? strstr(begin, "\n## ") : NULL;
    assert_non_null(end);
    text_add_bytes(&expected, document, (size_t)(begin - document));
    key_table_print(&expected);
    text_add(&expected, end);
    golden_check_file("tui/README.md", &expected);
    text_done(&expected);
    free(document);
}
static void ptx_takes_the_place_of_the_source(void **state) {
    (void)state;
    check("ptx_120x40", 256, 120, 40, false, "13Gssu");
}
static void a_projector_gets_few_panes_and_large_cells(void **state) {
    (void)state;
    check("projector_80x24", 256, 80, 24, false, "13GP");
    check("projector_120x40", 256, 120, 40, false, "13GP");
}
static void panes_make_room_for_each_other(void **state) {
    (void)state;
    check("hidden_lanes_120x40", 256, 120, 40, false, "13G<Tab><Tab>H");
    check("zoomed_side_120x40", 256, 120, 40, false, "13G<BackTab>z");
}
static void marks_are_on_the_timeline(void **state) {
    (void)state;
    check("marks_80x24", 256, 80, 24, false, "5Gma20Gmb>");
    check("traced_metric_120x40", 256, 120, 40, false, "20GMM>");
}
static void footer_tells_what_a_jump_did_not_find(void **state) {
    (void)state;
    check("no_conflict_left", 256, 80, 24, false, "Gn");
}

static void a_run_without_events_says_so(void **state) {
    (void)state;
    Sample *sample = sample_new_empty();
    View view;
    view_init(&view);
    press(&view, &sample->scene,
          "l><Less>jk]nd.,wxb}evVusztg G/x<Enter>nma'a''LrR <Tab>HAP?<Escape>P<BackTab>z");
    golden_check_canvas("empty_80x24", draw(sample, &view, 80, 24, false));
    sample_free(sample);
}

/* ---- colours with a meaning ---------------------------------------------------------------------------- */

/* The role in the middle of the first place that shows this text; *row: the row to search from, and the row
 * where it was found. */
static Role role_of_text(const Canvas *canvas, int *row, const char *ascii_text) {
    for (; *row < canvas->rows; ++*row)
        for (int column = 0; column + (int)strlen(ascii_text) <= canvas->columns; column++) {
            const Cell *cells = &canvas->cells[*row * canvas->columns + column];
            size_t i = 0;
            while (ascii_text[i] && cells[i].glyph == (uint32_t)(unsigned char)ascii_text[i]) i++;
            if (!ascii_text[i]) return (Role)cells[i / 2].role;
        }
    fail_msg("the frame does not hold \"%s\"", ascii_text);
    return ROLE_COUNT;
}

/* Every cell whose role is not plain text, as exact text. */
static void check_roles(const char *name, TraceKind kind, int skip, const char *keys) {
    Sample *sample = sample_new(256);
    View view;
    char script[64];
    Text roles = {0};
    snprintf(script, sizeof script, "%dG%s", sample_step(sample, kind, skip) + 1, keys);
    view_init(&view);
    press(&view, &sample->scene, script);
    Canvas *canvas = draw(sample, &view, 80, 24, false);
    golden_add_roles(canvas, &roles);
    golden_check(name, &roles);
    text_done(&roles);
    canvas_free(canvas);
    sample_free(sample);
}

static void every_role_is_where_it_belongs(void **state) {
    (void)state;
    check_roles("roles_conflict", TRACE_SHARED_LOAD, 2, ".");
    check_roles("roles_shuffle", TRACE_SHUFFLE, 0, "5x");
    check_roles("roles_undefined", TRACE_SHUFFLE, 1, "");
    check_roles("roles_global", TRACE_GLOBAL_LOAD, 1, "3x");
    check_roles("roles_divergence", TRACE_BRANCH, 6, "");
    check_roles("roles_barrier", TRACE_BARRIER, 4, "");
}

static bool same_look(Look a, Look b) {
    return a.bold == b.bold && a.underline == b.underline && a.reverse == b.reverse;
}

static Look look_of(const Cell *cell) {
    Look look = theme_look(THEME_MONO, (Role)cell->role, 256);
    look.reverse ^= cell->reverse != 0;
    return look;
}

/* Without colours: runs of cells that do not look plain, as "row:first-last bold underlined reversed". */
static void print_looks(const Canvas *canvas, Text *out) {
    for (int row = 0; row < canvas->rows; row++) {
        const Cell *cells = &canvas->cells[row * canvas->columns];
        for (int first = 0, next; first < canvas->columns; first = next) {
            Look look = look_of(&cells[first]);
            for (next = first + 1; next < canvas->columns && same_look(look, look_of(&cells[next]));) next++;
            if (same_look(look, (Look){0})) continue;
            text_print(out, "%d:%d-%d%s%s%s\n", row, first, next - 1, look.bold ? " bold" : "",
                       look.underline ? " underlined" : "", look.reverse ? " reversed" : "");
        }
    }
}

static void without_colours_meaning_is_bold_underlined_or_reversed(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    Text looks = {0};
    view_init(&view);
    press(&view, &sample->scene, "13Gn.");
    Canvas *canvas = draw(sample, &view, 80, 24, false);
    print_looks(canvas, &looks);
    golden_check("mono_80x24", &looks);
    text_done(&looks);
    canvas_free(canvas);
    sample_free(sample);
}

static void conflicts_and_current_lanes_have_their_roles(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    View view;
    view_init(&view);
    press(&view, &sample->scene, "13Gn");
    Canvas *canvas = draw(sample, &view, 120, 40, false);
    int row = 14;
    assert_int_equal(role_of_text(canvas, &row, "4-way conflict!"), ROLE_CONFLICT);
    assert_int_equal(role_of_text(canvas, &row, "  0> "), ROLE_CURRENT);
    assert_int_equal(role_of_text(canvas, &row, " 7 "), ROLE_LIT);      /* served by the first wavefront */
    assert_int_equal(role_of_text(canvas, &row, " 9 "), ROLE_CONFLICT); /* waits */
    assert_int_equal(role_of_text(canvas, &row, " 4!"), ROLE_CONFLICT);
    canvas_free(canvas);
    sample_free(sample);
}

/* ---- intervals that were timed ------------------------------------------------------------------------- */

static void print_frame(const Sample *sample, Text *out) {
    View view;
    view_init(&view);
    press(&view, &sample->scene, "20>");
    Canvas *canvas = draw(sample, &view, 80, 24, false);
    text_clear(out);
    canvas_to_text(canvas, out);
    canvas_free(canvas);
}

static void intervals_are_as_wide_as_they_took_long(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    Measurements measured = {0};
    Text plain = {0}, timed = {0};
    int count = sample->blocks[0].steps->interval_step_count;
    print_frame(sample, &plain);
    sample->scene.borrowed.measured = &measured;
    for (int i = 0; i < count; i++) {
        print_frame(sample, &timed); /* until all are known, the widths stay equal */
        assert_string_equal(text_string(&timed), text_string(&plain));
        measured_add_interval(&measured, &(IntervalTime){.interval = (uint32_t)i, .block = 1, .cycles = 50});
        print_frame(sample, &timed); /* of another block */
        assert_string_equal(text_string(&timed), text_string(&plain));
        measured_add_interval(&measured, &(IntervalTime){.interval = (uint32_t)i,
                                                         .machine = "NVIDIA H200",
                                                         .cycles = i == 2 ? 4000 : 700 - 50 * i,
                                                         .overhead = 0.232});
    }
    print_frame(sample, &timed);
    golden_check("timeline_timed_80x24", &timed);
    /* Clicks from left to right go through all steps; none is skipped if there is room. */
    View view;
    view_init(&view);
    int before = 0;
    for (int column = 1; column < 79; column++) {
        frame_click(&sample->scene, &view, 80, 24, column, 21);
        assert_true(view.place.step >= before);
        before = view.place.step;
    }
    assert_int_equal(sample->blocks[0].steps->steps[view.place.step].interval_step, count - 1);
    /* One more interval than this run has: it was another run. */
    measured_add_interval(&measured,
                          &(IntervalTime){.interval = (uint32_t)count, .machine = "", .cycles = 1});
    print_frame(sample, &timed);
    assert_string_equal(text_string(&timed), text_string(&plain));
    measured_done(&measured);
    text_done(&plain);
    text_done(&timed);
    sample_free(sample);
}

/* ---- every size ---------------------------------------------------------------------------------------- */

static bool overlap(Rectangle a, Rectangle b) {
    return a.rows > 0 && b.rows > 0 && a.columns > 0 && b.columns > 0 && a.row < b.row + b.rows &&
           b.row < a.row + a.rows && a.column < b.column + b.columns && b.column < a.column + a.columns;
}

static void panes_never_overlap_nor_leave_the_screen(void **state) {
    (void)state;
    for (int columns = 1; columns <= 220; columns++) {
        for (int rows = 1; rows <= 70; rows++) {
            for (int how = 0; how < 24; how++) {
                View view = {.display = {.focus = (Focus)(how % FOCUS_COUNT),
                                         .zoomed = how >= 4 && how < 8,
                                         .projector = how >= 20,
                                         .hidden = how >= 8 && how < 20 ? (uint32_t)(how - 8) << 1 & 14 : 0}};
                Layout layout;
                bool shown = layout_make(columns, rows, &view, (LayoutNeeds){0}, &layout);
                assert_int_equal(shown, columns >= SMALLEST_COLUMNS && rows >= SMALLEST_ROWS);
                for (int i = 0; shown && i < SLOT_COUNT; i++) {
                    Rectangle a = layout.slots[i];
                    if (a.rows <= 0) continue;
                    assert_true(a.column >= 0 && a.column + a.columns <= columns && a.columns > 8);
                    assert_true(a.row >= 1 && a.row + a.rows <= rows - 1);
                    for (int j = 0; j < i; j++) assert_false(overlap(a, layout.slots[j]));
                }
                if (!shown || how >= 4) continue;
                Rectangle picture = layout.slots[SLOT_PICTURE];
                /* In its place. */
                if (!picture.rows && view.display.focus == FOCUS_SIDE) picture = layout.sides[0];
                assert_true(layout.slots[SLOT_SOURCE].rows >= 3 && picture.rows >= 5);
                assert_true(layout.slots[SLOT_LANES].rows >= 2 && layout.slots[SLOT_TIMELINE].rows >= 2);
            }
        }
    }
}

static void every_size_can_be_drawn(void **state) {
    (void)state;
    Sample *sample = sample_new(256);
    static const char *const overlays[] = {"",          "z", "<Tab>z", "P", "s", "?", "<Tab>H<Tab><Tab>H",
                                           "<BackTab>z"};
    for (int columns = 1; columns <= 220; columns += columns < 130 ? 3 : 17) {
        for (int rows = 1; rows <= 70; rows += rows < 44 ? 2 : 9) {
            View view;
            view_init(&view);
            press(&view, &sample->scene, overlays[(columns + rows) % 8]);
            view_go_to_step(&view, &sample->scene,
                            (columns * 7 + rows) % sample->blocks[0].steps->step_count);
            Canvas *canvas = draw(sample, &view, columns, rows, false);
            bool empty = true;
            for (int i = 0; i < columns * rows; i++) empty &= canvas->cells[i].glyph == ' ';
            assert_false(empty);
            canvas_free(canvas);
        }
    }
    sample_free(sample);
}

/* ---- hardware counters --------------------------------------------------------------------------------- */

static void add_counter(Measurements *measured, const char *metric, const char *label, double predicted,
                        double value, const char *note) {
    measured_add_counter(measured, &(MeasuredCounter){.metric = metric,
                                                      .label = label,
                                                      .machine = "NVIDIA H200",
                                                      .value = value,
                                                      .predicted = predicted,
                                                      .note = note});
}

static void check_counters(const char *name, const char *keys, int columns, int rows,
                           const Measurements *measured, const char *uncounted) {
    Sample *sample = sample_new(256);
    View view;
    sample->scene.borrowed.measured = measured;
    sample->scene.borrowed.recorded = measured->counter_count ? "2026-11-21T15:00:00Z" : NULL;
    sample->scene.borrowed.uncounted = uncounted;
    view_init(&view);
    press(&view, &sample->scene, keys);
    golden_check_canvas(name, draw(sample, &view, columns, rows, false));
    sample_free(sample);
}

/* Equal, noise, different, not comparable, and pending; counters without a value are not shown. In the
 * metrics pane if they fit, and in a pane of their own. */
static void counters_beside_the_predictions(void **state) {
    (void)state;
    Measurements none = {0}, measured = {0};
    add_counter(&measured, "smsp__sass_inst_executed_op_shared_ld.sum", "shared loads", 389120, 389120, NULL);
    add_counter(&measured, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "  wavefronts", 389120,
                391804, NULL);
    add_counter(&measured, "smsp__sass_inst_executed_op_shared_st.sum", "shared stores", 225280, 225281,
                NULL);
    add_counter(&measured, "smsp__sass_inst_executed_op_shared_atom.sum", "shared atomics", 0, 0, NULL);
    add_counter(&measured, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global load requests", 32768,
                33221, "besides those of a loop that waits for other threads");
    add_counter(&measured, "smsp__inst_executed.sum", "instructions", 3330048, 4194304, NULL);
    check_counters("counters_beside_metrics", "<Tab><Tab><Tab>z", 120, 40, &measured, NULL);
    check_counters("counters_80x24", "<Tab><Tab><Tab>tttz", 80, 24, &measured, NULL);
    check_counters("counters_not_measured", "<Tab><Tab><Tab>tttz", 80, 24, &none,
                   "there is no CUDA driver here");
    measured_done(&measured);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(banks_light_one_wavefront_after_another),
        cmocka_unit_test(banks_show_phases_of_wide_accesses),
        cmocka_unit_test(banks_mark_a_broadcast),
        cmocka_unit_test(banks_do_not_guess_the_cost_of_atomics),
        cmocka_unit_test(shuffles_have_arrows_and_lanes_that_keep),
        cmocka_unit_test(shuffles_warn_of_undefined_values),
        cmocka_unit_test(votes_and_redux_share_the_place),
        cmocka_unit_test(global_accesses_are_lines_of_sectors),
        cmocka_unit_test(branches_show_who_jumps),
        cmocka_unit_test(barriers_show_who_has_arrived),
        cmocka_unit_test(every_kind_of_event_has_one_picture),
        cmocka_unit_test(layouts),
        cmocka_unit_test(a_small_terminal_asks_for_room),
        cmocka_unit_test(ascii),
        cmocka_unit_test(a_partial_warp_has_a_sign_for_missing_threads),
        cmocka_unit_test(many_warps_share_rows),
        cmocka_unit_test(help_and_menu),
        cmocka_unit_test_teardown(help_and_menu_in_chinese, back_to_english),
        cmocka_unit_test(the_document_has_the_table_of_keys),
        cmocka_unit_test(ptx_takes_the_place_of_the_source),
        cmocka_unit_test(a_projector_gets_few_panes_and_large_cells),
        cmocka_unit_test(panes_make_room_for_each_other),
        cmocka_unit_test(marks_are_on_the_timeline),
        cmocka_unit_test(footer_tells_what_a_jump_did_not_find),
        cmocka_unit_test(a_run_without_events_says_so),
        cmocka_unit_test(conflicts_and_current_lanes_have_their_roles),
        cmocka_unit_test(every_role_is_where_it_belongs),
        cmocka_unit_test(without_colours_meaning_is_bold_underlined_or_reversed),
        cmocka_unit_test(intervals_are_as_wide_as_they_took_long),
        cmocka_unit_test(panes_never_overlap_nor_leave_the_screen),
        cmocka_unit_test(every_size_can_be_drawn),
        cmocka_unit_test(counters_beside_the_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
