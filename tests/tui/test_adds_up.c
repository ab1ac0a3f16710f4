/* Pictures of a reduction add up: each is read from the screen, and every sum in it is computed again. */
#include "catalog/catalog.h"
#include "plan/plan.h"
#include "tests/tui/stage.h"
#include "tui/panes/pane.h"
#include "tui/panes/reduction_row.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 196, ROWS = 24, MOST_BOXES = 64, MOST_LINES = ROWS, LEVELS_N = 40 };

/* ---- a picture as rows of cells ------------------------------------------------------------------------ */

typedef struct Picture {
    uint32_t cell[MOST_LINES][COLUMNS + 1];
    int rows;
    char note[COLUMNS];
} Picture;

static void read_canvas(const char *text, Picture *picture) {
    memset(picture, 0, sizeof *picture);
    int row = 0, column = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c && row < MOST_LINES;) {
        if (*c == '\n') {
            row++;
            column = 0;
            c++;
            continue;
        }
        int length = *c < 0x80 ? 1 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4;
        uint32_t glyph = length == 1 ? *c : *c & (0xff >> (length + 1));
        for (int i = 1; i < length; i++) glyph = glyph << 6 | (c[i] & 0x3f);
        if (column < COLUMNS) picture->cell[row][column++] = glyph;
        c += length;
    }
    picture->rows = row;
}

static Picture draw(const Stage *stage, const View *view) {
    StepContext context;
    PaneHead head = {.columns = COLUMNS, .rows = ROWS};
    Picture picture;
    Canvas *canvas = canvas_new(COLUMNS, ROWS, false);
    Text text = {0};
    assert_true(step_context_init(&context, stage->scene, view));
    pane_reduction.head(&context, &head);
    pane_reduction.draw(&context, canvas, (Rectangle){0, 0, COLUMNS, ROWS});
    canvas_to_text(canvas, &text);
    read_canvas(text_string(&text), &picture);
    snprintf(picture.note, sizeof picture.note, "%s", head.note);
    text_done(&text);
    canvas_free(canvas);
    return picture;
}

/* Empty below the picture. */
static void label_of(const Picture *picture, int row, char label[LABEL_COLUMNS + 1]) {
    int from = 0, to = row < picture->rows ? LABEL_COLUMNS : 0;
    while (from < to && (picture->cell[row][from] == ' ' || !picture->cell[row][from])) from++;
    while (to > from && (picture->cell[row][to - 1] == ' ' || !picture->cell[row][to - 1])) to--;
    for (int i = from; i < to; i++)
        label[i - from] = picture->cell[row][i] < 0x80 ? (char)picture->cell[row][i] : '?';
    label[to - from] = 0;
}

/* ---- numbers as they are printed ----------------------------------------------------------------------- */

typedef struct Number {
    enum { NOTHING, SHOWN, UNREADABLE } kind;
    double value, slack; /* slack: half a unit of the last digit that is shown */
} Number;

/* The number whose last digit is in this column. */
static Number number_at(const Picture *picture, int row, int end, int width, bool is_float) {
    char text[32], *stop;
    int from = end;
    const uint32_t *cells = picture->cell[row];
    if (!cells[end] || cells[end] == ' ' || cells[end] == 0xB7) return (Number){NOTHING, 0, 0};
    while (from > end - width + 1 && cells[from - 1] && cells[from - 1] != ' ') from--;
    for (int i = from; i <= end; i++) text[i - from] = cells[i] < 0x80 ? (char)cells[i] : '?';
    text[end - from + 1] = 0;
    if (!strcmp(text, "~0")) return (Number){SHOWN, 0, 0.1};
    double value = strtod(text, &stop);
    if (*stop || stop == text || !isfinite(value)) return (Number){UNREADABLE, 0, 0};
    const char *exponent = strchr(text, 'e'), *point = strchr(text, '.');
    int decimals = point ? (int)((exponent ? exponent : text + strlen(text)) - point - 1) : 0;
    if (!is_float && !exponent && !point) return (Number){SHOWN, value, 0};
    /* Zeros at the end are not printed. */
    if (!exponent) {
        int room = width - 2 - (int)(point ? point - text : (long)strlen(text));
        if (room - 1 > decimals) decimals = room - 1;
    }
    return (Number){SHOWN, value, 0.5001 * pow(10, (exponent ? atoi(exponent + 1) : 0) - decimals)};
}

/* ---- a row of boxes ------------------------------------------------------------------------------------ */

typedef struct Band {
    const Picture *picture;
    int ends[MOST_BOXES], count, width;
    bool is_float;
} Band;

/* Whether the row holds the boxes' numbers: a label and nothing but numbers. */
static bool is_index_row(const Picture *picture, int row, Band *band) {
    char label[LABEL_COLUMNS + 1];
    const uint32_t *cells = picture->cell[row];
    label_of(picture, row, label);
    band->count = 0;
    static const char *const others[] = {"inputs in",  "before", "after",    "value",
                                         "sum so far", "loaded", "rounding", "also holds"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(label, others[i])) return false;
    if (!*label || strchr("+*", *label) || !strncmp(label, "level ", 6)) return false;
    for (int c = LABEL_COLUMNS; c < COLUMNS; c++) {
        bool digit = cells[c] && cells[c] < 0x80 && (isdigit((int)cells[c]) || cells[c] == '.');
        if (cells[c] && cells[c] != ' ' && !digit) return false;
        bool ends = digit && (!cells[c + 1] || cells[c + 1] == ' ');
        if (ends && band->count < MOST_BOXES) band->ends[band->count++] = c;
    }
    if (band->count < 1) return false;
    band->width = band->count > 1 ? band->ends[1] - band->ends[0] : 6;
    for (int i = 2; i < band->count; i++)
        if (band->ends[i] - band->ends[i - 1] != band->width) return false;
    return true;
}

static bool has_glyph(const Picture *picture, int row, uint32_t glyph) {
    for (int c = LABEL_COLUMNS; c < COLUMNS; c++)
        if (picture->cell[row][c] == glyph) return true;
    return false;
}

typedef struct Operands { /* of one box */
    Number of[32];
    int count;
    bool is_unknown; /* some cannot be read */
} Operands;

static void add_operand(Operands *operands, Number number) {
    if (number.kind == UNREADABLE) operands->is_unknown = true;
    if (number.kind == SHOWN && operands->count < 32) operands->of[operands->count++] = number;
}

/* The boxes whose values a bracket brings to box `k`. */
static void follow_bracket(const Band *band, int row, int before, int k, Operands *operands) {
    const uint32_t *cells = band->picture->cell[row];
    uint32_t corner = cells[band->ends[k]];
    int way = corner == 0x251C ? 1 : corner == 0x2524 ? -1 : 0;
    for (int c = band->ends[k] + way; way && c > 0 && c < COLUMNS; c += way) {
        if (cells[c] == 0x256F || cells[c] == 0x2570 || cells[c] == 0x2534)
            add_operand(operands, number_at(band->picture, before, c, band->width, band->is_float));
        if (cells[c] == 0x256F || cells[c] == 0x2570 || cells[c] == ' ') return;
    }
}

static double fold(const char *sign, double a, double b) {
    if (!strcmp(sign, "max")) return b > a ? b : a;
    if (!strcmp(sign, "min")) return b < a ? b : a;
    if (!strcmp(sign, "xor")) return (double)((int64_t)a ^ (int64_t)b);
    if (!strcmp(sign, "and")) return (double)((int64_t)a & (int64_t)b);
    if (!strcmp(sign, "or")) return (double)((int64_t)a | (int64_t)b);
    return a + b;
}

typedef struct Check {
    const char *name;
    int pictures, wrong, sums;
} Check;

static void complain(Check *check, const Picture *picture, const char *why, int box) {
    if (check->wrong++ > 3) return;
    print_error("%s: %s: box %d: %s\n", check->name, picture->note, box, why);
    for (int row = 0; row < picture->rows; row++) {
        for (int c = 0; c < 110; c++) {
            uint32_t glyph = picture->cell[row][c];
            print_error("%c", !glyph ? ' ' : glyph < 0x80 ? (int)glyph : '_');
        }
        print_error("\n");
    }
}

static bool agrees(const char *sign, const Operands *operands, Number after, double unit) {
    double value = operands->of[0].value, slack = after.slack + operands->of[0].slack, size = fabs(value);
    bool is_bitwise = !strcmp(sign, "xor") || !strcmp(sign, "and") || !strcmp(sign, "or");
    for (int i = 0; i < operands->count; i++) /* not all their bits are shown */
        if (is_bitwise && (operands->of[i].slack > 0 || after.slack > 0)) return true;
    for (int i = 1; i < operands->count; i++) {
        value = fold(sign, value, operands->of[i].value);
        slack += operands->of[i].slack;
        size += fabs(operands->of[i].value);
    }
    if (fabs(value) >= 0x1p31 && unit < 0) value = (double)(int32_t)(int64_t)value;
    return fabs(value - after.value) <= slack + fmax(unit, 0) * size * operands->count;
}

/* From the row of numbers to the row of values after the level; returns that row. */
static int check_band(Check *check, Band *band, int top, const char *title_sign, double unit) {
    const Picture *picture = band->picture;
    int before = -1, bracket = -1, after = -1, rows[16], row_count = 0;
    char label[LABEL_COLUMNS + 1], sign[8] = "";
    bool claims = strcmp(title_sign, "from") != 0, is_cut = false;
    for (int row = top + 1; row < picture->rows && after < 0; row++) {
        label_of(picture, row, label);
        if (!strcmp(label, "before") || !strcmp(label, "value"))
            before = row;
        else if (!strcmp(label, "after") || !strcmp(label, "sum so far"))
            after = row;
        else if (has_glyph(picture, row, 0x251C) || has_glyph(picture, row, 0x2524))
            bracket = row;
        else if (strstr(label, "more"))
            is_cut = true;
        else if (!strncmp(label, "from ", 5))
            claims = false;
        else if (*label && strncmp(label, "level ", 6) != 0 && strcmp(label, "loaded") != 0 &&
                 row_count < 16) {
            char next[LABEL_COLUMNS + 1];
            if (strchr(label, ' ')) sscanf(label, "%7s", sign); /* "+ in"; the first input has no sign */
            label_of(picture, row + 1, next);
            bool is_split = !*next && row + 1 < picture->rows;
            rows[row_count++] = row += is_split;
        }
    }
    if (after < 0) return top;
    if (!*sign) snprintf(sign, sizeof sign, "%s", title_sign);
    label_of(picture, after, label);
    bool is_chain = !strcmp(label, "sum so far");
    for (int k = 0; k < band->count && claims && !is_cut && strcmp(sign, "*") != 0; k++) {
        Number now = number_at(picture, after, band->ends[k], band->width, band->is_float);
        Operands operands = {.count = 0};
        if (now.kind != SHOWN) continue;
        if (is_chain && !k) continue;
        if (is_chain)
            add_operand(&operands, number_at(picture, after, band->ends[k - 1], band->width, band->is_float));
        if (before >= 0)
            add_operand(&operands, number_at(picture, before, band->ends[k], band->width, band->is_float));
        int own = operands.count;
        for (int i = 0; i < row_count; i++)
            add_operand(&operands, number_at(picture, rows[i], band->ends[k], band->width, band->is_float));
        if (bracket >= 0 && before >= 0) follow_bracket(band, bracket, before, k, &operands);
        if (operands.is_unknown || !operands.count) continue;
        check->sums += operands.count > own;
        if (!agrees(sign, &operands, now, unit)) complain(check, picture, "does not add up", k);
    }
    return after;
}

/* "level 3 of 8: + the word 32 away": the sign; "the inputs" and the like: "" */
static void sign_of_note(const char *note, char sign[8]) {
    static const char *const signs[] = {"+", "max", "min", "xor", "and", "or", "*", "from"};
    const char *at = strstr(note, ": ");
    snprintf(sign, 8, "+");
    for (size_t i = 0; at && i < sizeof signs / sizeof *signs; i++)
        if (!strncmp(at + 2, signs[i], strlen(signs[i])) && at[2 + strlen(signs[i])] == ' ')
            snprintf(sign, 8, "%s", signs[i]);
    const char *takes = strstr(note, " takes the ");
    if (takes) sscanf(takes + strlen(" takes the "), "%7s", sign);
    if (strstr(note, "handed over") || strstr(note, "rows of a matrix") || strstr(note, "all lanes"))
        snprintf(sign, 8, "from"); /* a value is passed on, or all lanes are operands */
}

static void check_picture(Check *check, const Picture *picture, const ReductionLevel *level) {
    char sign[8];
    bool is_float = level->type != PTX_NO_TYPE && ptx_type_is_float(level->type);
    int bytes = level->type == PTX_NO_TYPE ? 4 : ptx_type_bytes(level->type);
    double unit = !is_float                 ? (bytes > 4 ? 0 : -1) /* of integers: wraps at 32 bits */
                  : bytes == 8              ? 0x1p-50
                  : bytes == 4              ? 0x1p-21
                  : level->type == PTX_BF16 ? 0x1p-7
                                            : 0x1p-10;
    sign_of_note(picture->note, sign);
    check->pictures++;
    for (int row = 0; row < picture->rows; row++) {
        Band band = {.picture = picture, .is_float = is_float};
        if (is_index_row(picture, row, &band)) row = check_band(check, &band, row, sign, unit);
    }
}

static void check_stage(Check *check, Stage *stage) {
    Reduction *reduction = scene_reduction(stage->scene, 0);
    for (int i = 0; reduction && i < reduction_level_count(reduction) && i < LEVELS_N; i++) {
        const ReductionLevel *level = reduction_level(reduction, i);
        View view = *stage_view(stage);
        view_go_to_step(&view, stage->scene, level->last);
        const ReductionLevel *chain = reduction_chain(reduction, i, 0);
        Picture picture = draw(stage, &view);
        check_picture(check, &picture, chain ? chain : level);
    }
}

/* ---- the tests ----------------------------------------------------------------------------------------- */

static void pictures_of_the_catalogue_add_up(void **state) {
    (void)state;
    int pictures = 0, sums = 0;
    for (int i = 0; i < catalog_count(); i++) {
        Stage *stage = stage_open_kernel(catalog_row(i)->id);
        Check check = {.name = catalog_row(i)->id};
        check_stage(&check, stage);
        stage_free(stage);
        assert_int_equal(check.wrong, 0);
        pictures += check.pictures;
        sums += check.sums;
    }
    print_message("# summary: %d pictures, %d sums\n", pictures, sums);
    assert_true(pictures > 400 && sums > 4000);
}

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)) != NULL; at += length)
        if ((at == words || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

static int check_run(const CatalogRow *row, PtxType type, const char *op, uint32_t block) {
    char name[96];
    RunSpec run = {.kernel = row->id,
                   .threads = 1,
                   .first_look = true,
                   .catalog = {.dtype = type, .op = op, .n = 2048, .block = block, .prefers_digits = true}};
    snprintf(name, sizeof name, "%s %s %s %u", row->id, plan_type_name(type), op, block);
    Stage *stage = stage_open(&run);
    Check check = {.name = name};
    check_stage(&check, stage);
    stage_free(stage);
    assert_int_equal(check.wrong, 0);
    return check.sums;
}

/* Every type and operation of every kernel; make test-long also takes the smallest and the largest block. */
static void pictures_of_other_runs_add_up(void **state) {
    (void)state;
    static const PtxType types[] = {PTX_S32, PTX_F32, PTX_F64, PTX_F16, PTX_BF16};
    static const char *const ops[] = {"sum", "min", "max"};
    bool is_quick = getenv("REDVIZ_TEST_QUICK") != NULL;
    int runs = 0, sums = 0;
    for (int i = 0; i < catalog_count(); i++) {
        const CatalogRow *row = catalog_row(i);
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            for (size_t o = 0; o < sizeof ops / sizeof *ops; o++) {
                if (!has_word(row->types, plan_type_name(types[t])) || !has_word(row->operations, ops[o]))
                    continue;
                if (is_quick && (i + (int)t + (int)o) % 4) continue;
                sums += check_run(row, types[t], ops[o], row->default_block);
                runs++;
                if (is_quick || row->accepts_block) continue;
                sums +=
                    check_run(row, types[t], ops[o], row->maximum_block < 1024 ? row->maximum_block : 1024);
                sums += check_run(row, types[t], ops[o], row->minimum_block > 32 ? row->minimum_block : 32);
                runs += 2;
            }
    }
    print_message("# summary: %d other runs, %d sums\n", runs, sums);
    assert_true(runs > 30 && sums > 1000);
}

static void other_folds_add_up(void **state) {
    (void)state;
    static const struct {
        const char *entry, *args;
    } kernels[] = {{"xor_halves", "in=int[64]:digits, out=int[1]:zero"},
                   {"four_at_once", "in=int[64]:digits, out=int[1]:zero"},
                   {"own_words", "in=int[256]:digits, out=int[1]:zero"},
                   {"less_its_neighbour", "in=int[64]:digits, out=int[64]:zero"},
                   {"largest_by_branch", "in=float[64]:digits, out=float[1]:zero"},
                   {"squares", "in=float[192]:digits, out=float[1]:zero"},
                   {"mean_and_spread", "in=float[64]:digits, out=float[2]:zero"},
                   {"halvings_of_pairs", "in=float[64]:random, out=float[1]:zero"},
                   {"atomics_of_bits", "in=int[64]:digits, out=int[4]:ones"}};
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        Stage *stage = stage_open(&(RunSpec){.file = "tests/kernels/pictures.ptx",
                                             .entry = kernels[i].entry,
                                             .args = kernels[i].args,
                                             .grid = {1, 1, 1},
                                             .block = {64, 1, 1},
                                             .first_look = true});
        Check check = {.name = kernels[i].entry};
        check_stage(&check, stage);
        stage_free(stage);
        assert_int_equal(check.wrong, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_of_the_catalogue_add_up),
                                       cmocka_unit_test(pictures_of_other_runs_add_up),
                                       cmocka_unit_test(other_folds_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
