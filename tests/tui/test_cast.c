/* Recordings: the output is valid, and a terminal that plays it shows the frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "pty.h"
#include "random_canvas.h"
#include "tests/cli/json_reader.h"
#include "tests/cli/program.h"
#include "tui/draw/cast.h"
#include "tui/draw/theme.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAST_LIMIT_BYTES = 16 << 20 };

/* ---- a player ------------------------------------------------------------------------------------------ */

typedef struct Player {
    VTerm *vterm;
    VTermScreen *screen;
    int columns, rows, events;
    Theme theme;    /* the expected theme */
    double seconds; /* of the last event */
} Player;

/* The next string of a JSON array, decoded; moves *at past it. */
static Text read_string(const char **at) {
    Text text = {0};
    const char *from = strchr(*at, '"') + 1;
    for (; *from != '"'; from++) {
        if (*from != '\\') {
            text_add_bytes(&text, from, 1);
        } else if (from[1] == 'u') {
            char code = (char)strtol((char[]){from[2], from[3], from[4], from[5], 0}, NULL, 16);
            text_add_bytes(&text, &code, 1);
            from += 5;
        } else {
            from++;
            text_add_bytes(&text, *from == 'n' ? "\n" : *from == 'r' ? "\r" : from, 1);
        }
    }
    *at = from + 1;
    return text;
}

static void play_event(Player *player, const char *line) {
    char *at;
    double seconds = strtod(line + 1, &at);
    const char *rest = at;
    Text kind = read_string(&rest), data = read_string(&rest);
    assert_true(seconds >= player->seconds);
    if (!strcmp(text_string(&kind), "r")) {
        assert_int_equal(sscanf(text_string(&data), "%dx%d", &player->columns, &player->rows), 2);
        vterm_set_size(player->vterm, player->rows, player->columns);
    } else {
        assert_string_equal(text_string(&kind), "o");
        vterm_input_write(player->vterm, text_string(&data), data.length);
    }
    player->seconds = seconds;
    player->events++;
    text_done(&kind);
    text_done(&data);
}

static void play_header(Player *player, const char *line) {
    assert_int_equal(atoi(json_at(line, "version")), 2);
    assert_int_equal(strncmp(json_at(line, "env.TERM"), "\"xterm-256color\"", 16), 0);
    player->columns = atoi(json_at(line, "width"));
    player->rows = atoi(json_at(line, "height"));
    player->vterm = vterm_new(player->rows, player->columns);
    vterm_set_utf8(player->vterm, 1);
    player->screen = vterm_obtain_screen(player->vterm);
    vterm_screen_reset(player->screen, 1);
}

static Player play(char *cast) {
    Player player = {0};
    for (char *line = strtok(cast, "\n"); line; line = strtok(NULL, "\n")) {
        if (!json_valid(line)) fail_msg("no JSON: %.200s", line);
        if (player.vterm)
            play_event(&player, line);
        else
            play_header(&player, line);
    }
    return player;
}

static void check_cell(const Player *player, const Cell *cell, int column, int row) {
    VTermScreenCell shown;
    vterm_screen_get_cell(player->screen, (VTermPos){row, column}, &shown);
    uint32_t glyph = random_shown_glyph(&shown);
    Look look = theme_look(player->theme, (Role)cell->role, 256);
    bool same = random_shows(&shown, cell) && (shown.attrs.bold != 0) == look.bold &&
                (shown.attrs.underline != 0) == look.underline &&
                (shown.attrs.reverse != 0) == (look.reverse != (cell->reverse != 0)) &&
                VTERM_COLOR_IS_DEFAULT_FG(&shown.fg) == (look.colour < 0) &&
                (look.colour < 0 || shown.fg.indexed.idx == look.colour) &&
                VTERM_COLOR_IS_DEFAULT_BG(&shown.bg) == (look.background < 0) &&
                (look.background < 0 || shown.bg.indexed.idx == look.background);
    if (cell->glyph == CELL_RIGHT_HALF) same = glyph == CELL_RIGHT_HALF; /* libvterm gives it no attributes */
    if (!same) fail_msg("row %d, column %d: %x, not %x", row, column, glyph, cell->glyph);
}

static void check_shows(const Player *player, const Canvas *canvas) {
    assert_int_equal(player->columns, canvas->columns);
    assert_int_equal(player->rows, canvas->rows);
    for (int row = 0; row < canvas->rows; row++)
        for (int column = 0; column < canvas->columns; column++)
            check_cell(player, &canvas->cells[row * canvas->columns + column], column, row);
}

static char *read_cast(const char *path) {
    char *text;
    size_t length;
    Error error = {0};
    if (!text_read_file(path, CAST_LIMIT_BYTES, &text, &length, &error)) fail_msg("%s", error.message);
    return text;
}

static const char *cast_path(void) {
    static char path[256];
    snprintf(path, sizeof path, "%s/test.cast", program_folder());
    return path;
}

/* ---- by hand ------------------------------------------------------------------------------------------- */

/* Every role, glyphs of one to three bytes, characters that JSON escapes, and cells that stay, disappear and
 * appear. */
static Canvas *frame_by_hand(int number, int columns, int rows) {
    Canvas *canvas = canvas_new(columns, rows, false);
    Rectangle all = {0, 0, columns, rows};
    canvas_print(canvas, all, number, 0, ROLE_HEADER, "frame %d", number);
    canvas_text(canvas, all, 0, 1, ROLE_TEXT, "\"quotes\" \\ <&> \xc3\xa9 \u2588\u2500");
    for (int role = 0; role < ROLE_COUNT; role++)
        canvas_glyph(canvas, all, role, 2, (Role)((role + number) % ROLE_COUNT), 'a' + (uint32_t)role);
    canvas_reverse(canvas, all, 3 * number, 2, 3);
    return canvas;
}

static void a_recording_by_hand(void **state) {
    (void)state;
    Error error = {0};
    Canvas *last = NULL;
    Cast *cast = cast_open(cast_path(), 1234567890, &error);
    assert_non_null(cast);
    for (int i = 0; i < 5; i++) {
        canvas_free(last);
        last = frame_by_hand(i / 2, i < 4 ? 40 : 30,
                             i < 4 ? 4 : 5); /* some twice, the last one in another size */
        cast_add(cast, last, i < 3 ? THEME_TERMINAL : THEME_LIGHT, i * 0.25);
    }
    assert_true(cast_close(cast, &error));
    char *text = read_cast(cast_path());
    Text golden = {0};
    text_add(&golden, text);
    golden_check("cast", &golden);
    text_done(&golden);
    Player player = play(text);
    assert_int_equal(player.events, 5); /* two frames, one repeated in another theme, a size and a frame */
    assert_true(player.seconds == 1.0);
    player.theme = THEME_LIGHT;
    check_shows(&player, last);
    vterm_free(player.vterm);
    canvas_free(last);
    free(text);
}

/* Text of any script, drawn repeatedly on the same canvas: a player shows every cell as it is. */
static void recordings_of_any_text(void **state) {
    (void)state;
    enum { RECORDINGS = 40, FRAMES = 6 };
    for (unsigned seed = 1; seed <= RECORDINGS; seed++) {
        Error error = {0};
        Random random = {seed};
        Canvas *canvas = canvas_new(10 + (int)seed, 8, false);
        Cast *cast = cast_open(cast_path(), 0, &error);
        for (int i = 0; i < FRAMES; i++) {
            random_draw(&random, canvas);
            cast_add(cast, canvas, THEME_TERMINAL, i);
        }
        assert_true(cast_close(cast, &error));
        char *text = read_cast(cast_path());
        Player player = play(text);
        check_shows(&player, canvas);
        vterm_free(player.vterm);
        canvas_free(canvas);
        free(text);
    }
}

static void an_old_recording_goes_only_with_a_new_one(void **state) {
    (void)state;
    Error error = {0};
    Cast *cast = cast_open(cast_path(), 0, &error);
    Canvas *canvas = frame_by_hand(0, 40, 4);
    cast_add(cast, canvas, THEME_TERMINAL, 0);
    assert_true(cast_close(cast, &error));
    char *before = read_cast(cast_path());
    assert_true(cast_close(cast_open(cast_path(), 0, &error), &error)); /* nothing was shown */
    char *after = read_cast(cast_path());
    assert_string_equal(before, after);
    free(after);
    cast = cast_open(cast_path(), 0, &error);
    cast_add(cast, canvas, THEME_TERMINAL, 0);
    assert_true(cast_close(cast, &error));
    after = read_cast(cast_path());
    assert_string_equal(before, after);
    free(before), free(after);
    canvas_free(canvas);
}

static void what_cannot_be_written_is_told(void **state) {
    (void)state;
    Error error = {0};
    assert_null(cast_open("/nowhere/x.cast", 0, &error));
    assert_non_null(strstr(error.message, "/nowhere/x.cast cannot be written"));
    if (access("/dev/full", F_OK)) return; /* not every system has it */
    Cast *cast = cast_open("/dev/full", 0, &error);
    assert_non_null(cast);
    Canvas *canvas = frame_by_hand(0, 40, 4);
    cast_add(cast, canvas, THEME_TERMINAL, 0);
    assert_false(cast_close(cast, &error));
    assert_non_null(strstr(error.message, "could not be written to its end"));
    canvas_free(canvas);
}

/* ---- the program --------------------------------------------------------------------------------------- */

static void check_last_frame(Player *player, const char *frame) {
    for (int row = 0; row < player->rows; row++) {
        char line[1024];
        VTermRect area = {row, row + 1, 0, player->columns};
        size_t length = vterm_screen_get_text(player->screen, line, sizeof line - 1, area);
        while (length > 0 && line[length - 1] == ' ') length--;
        line[length] = 0;
        size_t expected = strcspn(frame, "\n");
        if (length != expected || memcmp(line, frame, length) != 0)
            fail_msg("row %d: '%s', not '%.*s'", row, line, (int)expected, frame);
        frame += expected + 1;
    }
}

static void a_script_is_recorded_key_by_key(void **state) {
    (void)state;
    char *frame = program_output(
        0, "LC_ALL=C.UTF-8 @ --kernel strided --n 1024 --frame=100x30 --keys '>>n]r' --record-cast %s",
        cast_path());
    char *text = read_cast(cast_path());
    Player player = play(text);
    assert_int_equal(player.events, 7); /* the first frame, five keys, the end of the last frame's time */
    check_last_frame(&player, frame);
    vterm_free(player.vterm);
    free(text);
    free(frame);
}

/* The seconds at which the events of a recording happen. */
static int read_seconds(double seconds[], int most) {
    char *text = read_cast(cast_path());
    int count = 0;
    strtok(text, "\n");
    for (char *line; count < most && (line = strtok(NULL, "\n"));) seconds[count++] = strtod(line + 1, NULL);
    free(text);
    return count;
}

static void keys_are_recorded_without_a_terminal(void **state) {
    (void)state;
    static const char *const arguments = "--kernel strided --n 1024 --keys '{1s}l{250ms}l{1.5s}]'";
    char *frame = program_output(0, "LC_ALL=C.UTF-8 @ %s --frame </dev/null", arguments);
    char *nothing =
        program_output(0, "LC_ALL=C.UTF-8 @ %s --record-cast %s </dev/null", arguments, cast_path());
    assert_string_equal(nothing, "");
    char *text = read_cast(cast_path());
    Player player = play(text);
    assert_int_equal(player.columns, 120);
    assert_int_equal(player.rows, 40);
    check_last_frame(&player, frame);
    vterm_free(player.vterm);
    free(text), free(frame), free(nothing);
    double at[8];
    assert_int_equal(read_seconds(at, 8), 5);
    assert_true(at[0] == 0 && at[1] == 1 && at[2] == 1.25 && at[3] == 2.75);
    assert_true(at[4] - at[3] >= 0.6 && at[4] - at[3] <= 4);
}

/* A typed digit changes less of the screen than the help, which covers it. */
static void a_frame_is_shown_longer_the_more_changes(void **state) {
    (void)state;
    double at[8];
    free(program_output(0, "@ --kernel strided --n 1024 --keys '5?' --record-cast %s", cast_path()));
    assert_int_equal(read_seconds(at, 8), 4);
    double small = at[2] - at[1], large = at[3] - at[2];
    assert_true(small >= 0.6 && small < large && large <= 4.001);
}

static void a_pause_goes_on_playing(void **state) {
    (void)state;
    double at[16];
    free(program_output(0,
                        "@ --kernel strided --n 1024 --keys '{0s}<Space>{4.8s}' --no-motion --record-cast %s",
                        cast_path()));
    assert_int_equal(read_seconds(at, 16), 7); /* opening, play, four wavefronts, the end */
    assert_true(at[1] == 0 && at[2] == 1.2 && at[5] == 4.8 && at[6] == 4.8);
}

/* While a level is played, at 1x and then at half that speed, each beat has frames between
 * which values move; the same keys give the same bytes. */
static void values_travel_in_a_recording(void **state) {
    (void)state;
    enum { MOST = 64 };
    static const char *const arguments = "--kernel interleaved --n 1024 --keys 'g]hh{0s}<Space>{2s}-{2s}'";
    double at[MOST], still[MOST];
    free(program_output(0, "@ %s --no-motion --record-cast %s", arguments, cast_path()));
    int still_count = read_seconds(still, MOST);
    free(program_output(0, "@ %s --record-cast %s", arguments, cast_path()));
    int count = read_seconds(at, MOST);
    char *first = read_cast(cast_path());
    free(program_output(0, "@ %s --record-cast %s", arguments, cast_path()));
    char *second = read_cast(cast_path());
    assert_string_equal(first, second);
    assert_true(count > still_count + 4);
    if (count < 1 || still_count < 1) fail_msg("nothing is recorded");
    int between = 0;
    for (int i = 0; i < count; i++) {
        bool is_still = false;
        for (int k = 0; k < still_count; k++) is_still |= fabs(at[i] - still[k]) < 1e-6;
        between += !is_still;
    }
    assert_true(between >= count - still_count && fabs(at[count - 1] - still[still_count - 1]) < 1e-6);
    free(first), free(second);
}

static void what_fails_leaves_no_file(void **state) {
    (void)state;
    static const char *const wrong[] = {"--kernel strided --n 1024",               /* no terminal */
                                        "--kernel strided --n 1024 --keys '<No>'", /* no such key */
                                        "--kernel strided --n 1024 --keys l --compare nothing",
                                        "--kernel nothing --keys l"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        remove(cast_path());
        free(program_output(2, "@ %s --record-cast %s </dev/null 2>&1", wrong[i], cast_path()));
        assert_int_not_equal(access(cast_path(), F_OK), 0);
    }
}

static void a_session_is_recorded(void **state) {
    (void)state;
    const char *program = getenv("REDVIZ_BIN") ? getenv("REDVIZ_BIN") : "build/redviz";
    const char *arguments[] = {program, "--kernel",      "strided",   "--n",
                               "1024",  "--record-cast", cast_path(), NULL};
    const char *environment[] = {"TERM=vt100", "LC_ALL=C.UTF-8", NULL};
    Pty *pty = pty_start(arguments, environment, 90, 26);
    int status;
    pty_go_to_first_step(pty, "step 1 of ");
    pty_type(pty, ">>>");
    pty_wait_for(pty, "step 4 of");
    pty_resize(pty, 80, 24);
    pty_wait_for_row(pty, 23, "q quit");
    pty_type(pty, "n");
    pty_wait_for(pty, "conflict!");
    pty_settle(pty);
    Text frame = {0};
    for (int row = 0; row < 24; row++) text_print(&frame, "%s\n", pty_row(pty, row));
    pty_type(pty, "q");
    assert_int_equal(pty_wait_for_report(pty, &status), 'E');
    pty_free(pty);
    char *text = read_cast(cast_path());
    assert_true(atoll(json_at(text, "timestamp")) > 1600000000);
    Player player = play(text);
    assert_true(player.events >= 4);
    check_last_frame(&player, text_string(&frame));
    vterm_free(player.vterm);
    text_done(&frame);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_by_hand),
        cmocka_unit_test(recordings_of_any_text),
        cmocka_unit_test(an_old_recording_goes_only_with_a_new_one),
        cmocka_unit_test(what_cannot_be_written_is_told),
        cmocka_unit_test(a_script_is_recorded_key_by_key),
        cmocka_unit_test(keys_are_recorded_without_a_terminal),
        cmocka_unit_test(a_frame_is_shown_longer_the_more_changes),
        cmocka_unit_test(a_pause_goes_on_playing),
        cmocka_unit_test(values_travel_in_a_recording),
        cmocka_unit_test(what_fails_leaves_no_file),
        cmocka_unit_test(a_session_is_recorded),
    };
    return cmocka_run_group_tests(tests, program_make_folder, program_remove_folder);
}
