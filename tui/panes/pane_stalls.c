/* The stalls pane: the reasons why warps wait, in percent of the samples of line and kernel. In a comparison,
 * it shows the reasons in which the kernels differ, the largest difference first. If all rows fit, they are
 * ordered by the kernel's share, so that they do not move during the run; otherwise the line's reasons come
 * first. */
#include "tui/panes/sampled_code.h"

#include "base/language.h"
#include "tui/panes/pane.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDE = 84,
    NUMBER = 7,
    LEAST_BAR = 12,
    MOST_BAR = 24,
    LEAST_NAME = 24,
    NAME_WIDE = 49,
    MUCH = 5 /* percentage points */
};

enum { AROUND_COLUMNS = 7 }; /* of a title and a note: the line and the spaces between them */

typedef struct StallRow {
    SassStall stall;
    double of_line, of_kernel, of_other; /* percent; of_line NaN: the line has no samples */
} StallRow;

typedef struct StallTable {
    SampledCode code, other; /* `other`: of the other run */
    bool compares;
    const char *name, *other_name;
    StallRow rows[SASS_STALLS];
    int count;
    int name_columns, bar; /* widths; bar 0: none */
    bool has_kernel_bar;
    double most; /* percent of the longest bar */
} StallTable;

/* ---- what is shown ------------------------------------------------------------------------------------- */

static double share(const SassSums *sums, SassStall stall) {
    return sampled_code_percent(sums->samples[stall], sums->all_samples);
}

/* The sort key: the difference; if not all rows fit, the line's share; else the kernel's. */
static double weight(const StallTable *table, const StallRow *row, bool by_line) {
    if (table->compares) return fabs(row->of_kernel - row->of_other);
    return by_line ? row->of_line : row->of_kernel;
}

/* Equal rows keep their order. */
static void sort(StallTable *table, bool by_line) {
    for (int i = 1; i < table->count; i++)
        for (int k = i; k > 0; k--) {
            StallRow row = table->rows[k];
            if (weight(table, &row, by_line) <= weight(table, &table->rows[k - 1], by_line)) break;
            table->rows[k] = table->rows[k - 1];
            table->rows[k - 1] = row;
        }
}

static bool is_sampled(const SampledCode *code) {
    return code->sass.kernel && code->all.all_samples > 0;
}

/* False: no samples; code.sass.why may say why. */
static bool table_open(StallTable *table, const StepContext *context, int rows) {
    *table = (StallTable){.name = context->scene->identity.kernel};
    sampled_code_open(context, &table->code);
    if (!is_sampled(&table->code)) return false;
    if (context->beside && sampled_code_open(context->beside, &table->other)) {
        table->compares = is_sampled(&table->other);
        table->other_name = context->beside->scene->identity.kernel;
    }
    const SassLine *line = table->code.current;
    bool has_line = line && line->sums.all_samples;
    for (int i = 0; i < SASS_STALLS; i++) {
        SassStall stall = (SassStall)i;
        StallRow row = {stall, has_line ? share(&line->sums, stall) : NAN, share(&table->code.all, stall),
                        table->compares ? share(&table->other.all, stall) : 0};
        if (row.of_kernel > 0 || row.of_other > 0) table->rows[table->count++] = row;
        if (row.of_line > table->most) table->most = row.of_line;
        if (row.of_kernel > table->most) table->most = row.of_kernel;
        if (row.of_other > table->most) table->most = row.of_other;
    }
    sort(table, false);
    if (has_line && table->count > rows) sort(table, true);
    return true;
}

static void table_done(StallTable *table) {
    sampled_code_done(&table->code);
    sampled_code_done(&table->other);
}

/* The reason, a bar and a number; another number and its bar if there is room. */
static void choose_columns(StallTable *table, int columns) {
    int numbers = table->compares ? 3 * NUMBER : 2 * NUMBER;
    table->has_kernel_bar = !table->compares && columns >= WIDE;
    int bars = table->has_kernel_bar ? 2 : 1, room = columns - numbers;
    table->name_columns = columns >= WIDE                 ? NAME_WIDE
                          : room - LEAST_BAR > LEAST_NAME ? room - LEAST_BAR - 1
                                                          : room;
    if (columns < WIDE && table->name_columns > NAME_WIDE) table->name_columns = NAME_WIDE;
    table->bar = (room - table->name_columns) / bars;
    if (table->bar > MOST_BAR) table->bar = MOST_BAR;
    if (table->bar < 2) table->bar = 0;
}

/* ---- drawing ------------------------------------------------------------------------------------------- */

static void draw_name(const StallTable *table, SassStall stall, Canvas *canvas, Rectangle area, int row) {
    Role role = stall == SASS_STALL_selected ? ROLE_GOOD : ROLE_TEXT;
    int room = table->name_columns - 1;
    int at = sampled_code_draw_cut(canvas, area, 0, row, room, role, tr(sass_stalls[stall].words)) + 1;
    if (at + canvas_text_columns(sass_stalls[stall].tool_name) + 2 <= room)
        canvas_print(canvas, area, at, row, ROLE_DIM, "(%s)", sass_stalls[stall].tool_name);
}

static int draw_bar(const StallTable *table, double percent, Canvas *canvas, Rectangle area, int at,
                    int row) {
    int length = isnan(percent) ? 0 : (int)(percent / table->most * (table->bar - 1) + 0.5);
    if (percent > 0 && length < 1) length = 1;
    canvas_row(canvas, area, at, row, length < table->bar ? length : table->bar - 1, ROLE_BAR, 0x2588);
    return at + table->bar;
}

static int draw_percent(double percent, Canvas *canvas, Rectangle area, int at, int row, Role role) {
    char text[PERCENT_BYTES] = "";
    if (!isnan(percent)) sampled_code_print_percent(percent, text);
    canvas_print(canvas, area, at, row, role, "%*s", NUMBER - 1,
                 percent > 0      ? text
                 : isnan(percent) ? ""
                                  : ".");
    return at + NUMBER;
}

/* Above the numbers that begin at column `at`; returns the column behind them. */
static int draw_head(const char *text, Canvas *canvas, Rectangle area, int at) {
    canvas_right(canvas, area, at + NUMBER - 1, 0, ROLE_DIM, text);
    return at + NUMBER;
}

/* What the numbers are. */
static void draw_heads(const StallTable *table, const StepContext *context, Canvas *canvas, Rectangle area) {
    char text[64];
    int at = table->name_columns + table->bar;
    sampled_code_draw_cut(canvas, area, 0, 0, at - 2, ROLE_DIM, tr("share of samples"));
    if (table->compares) {
        at = draw_head(tr("here"), canvas, area, at);
        at = draw_head(tr("other"), canvas, area, at);
        draw_head(tr("more"), canvas, area, at);
        return;
    }
    snprintf(text, sizeof text, tr("line %d"), context->code ? context->code->line.line : 0);
    at = draw_head(text, canvas, area, at);
    draw_head("kernel", canvas, area, at + (table->has_kernel_bar ? table->bar : 0));
}

static void draw_row(const StallTable *table, const StallRow *stall, Canvas *canvas, Rectangle area,
                     int row) {
    int at = table->name_columns;
    draw_name(table, stall->stall, canvas, area, row);
    at = draw_bar(table, table->compares ? stall->of_kernel : stall->of_line, canvas, area, at, row);
    if (!table->compares) {
        at = draw_percent(stall->of_line, canvas, area, at, row, ROLE_TEXT);
        if (table->has_kernel_bar) at = draw_bar(table, stall->of_kernel, canvas, area, at, row);
        draw_percent(stall->of_kernel, canvas, area, at, row, ROLE_TEXT);
        return;
    }
    double more = stall->of_kernel - stall->of_other;
    at = draw_percent(stall->of_kernel, canvas, area, at, row, ROLE_TEXT);
    at = draw_percent(stall->of_other, canvas, area, at, row, ROLE_DIM);
    bool is_much = more >= MUCH && stall->stall != SASS_STALL_selected;
    if (fabs(more) >= 0.5)
        canvas_print(canvas, area, at, row, is_much ? ROLE_CONFLICT : ROLE_TEXT, "%+*.0f%s", NUMBER - 1, more,
                     is_much ? "!" : "");
}

/* ---- the pane ------------------------------------------------------------------------------------------ */

static void head(const StepContext *context, PaneHead *out) {
    StallTable table;
    char origin[ORIGIN_BYTES];
    const char *why = tr("stalls: why warps wait");
    pane_title(out, tr("stalls"));
    if (table_open(&table, context, 0)) {
        sampled_code_print_origin(&table.code, origin);
        pane_note(out, "%s", origin);
        if (table.compares)
            pane_title(out, tr("stalls  %s, other: %s"), table.name, table.other_name);
        else if (canvas_text_columns(why) + canvas_text_columns(origin) + AROUND_COLUMNS <= out->columns)
            pane_title(out, "%s", why);
    }
    table_done(&table);
}

static void draw_nothing(const StallTable *table, Canvas *canvas, Rectangle area) {
    char text[MISSING_BYTES];
    if (table->code.sass.kernel)
        snprintf(text, sizeof text, tr("Not known: the machine code is not sampled."));
    else
        sampled_code_print_missing(&table->code, text);
    canvas_paragraph(canvas, area, 0, ROLE_DIM, text);
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    StallTable table;
    char text[ORIGIN_BYTES];
    bool has_heads = area.rows > 2, has_sampling = area.rows > 5;
    Rectangle body = {area.column, area.row + has_heads, area.columns, area.rows - has_heads - has_sampling};
    if (!table_open(&table, context, body.rows)) {
        draw_nothing(&table, canvas, area);
        table_done(&table);
        return;
    }
    choose_columns(&table, area.columns);
    if (has_heads) draw_heads(&table, context, canvas, area);
    for (int i = 0; i < table.count && i < body.rows; i++) draw_row(&table, &table.rows[i], canvas, body, i);
    if (has_sampling) {
        sampled_code_print_sampling(&table.code, text);
        sampled_code_draw_cut(canvas, area, 0, area.rows - 1, area.columns, ROLE_DIM, text);
    }
    table_done(&table);
}

static bool is_empty(const StepContext *context) {
    SceneSass sass = scene_sass(context->scene, context->view->place.block);
    return !sass.kernel || !sass_sums(sass.kernel).all_samples;
}

const Pane pane_stalls = {
    .slot = SLOT_SIDE, .tells = HIDES_ALL & ~HIDES_HERE, .is_empty = is_empty, .head = head, .draw = draw};
