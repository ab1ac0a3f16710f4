/* Index: banks, wavefronts and sectors of a warp's access with an index expression. Beside it a second one,
 * and below the wavefronts as the selected number grows. */
#include "ladder/latency.h"

#include "base/language.h"
#include "tui/panes/pane.h"
#include "tui/panes/ruler.h"
#include "tui/view/index_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL_COLUMNS = 7,
    MOST_CELL_COLUMNS = 5,
    MOST_LINES = WARP_LANES * 4,
    FRAME_ROWS = 3,  /* of a bank picture: heading, banks, words */
    LEAST_LINES = 4, /* of a bank picture beside another one */
    TALL = 24,       /* rows from which the sectors have one of their own */
    LEAST_SCALE = 8, /* wavefronts of the highest bar */
    MOST_BARS = 24,
    CHART_ROWS = 3, /* heading, marks, values */
    WIDE = 100      /* columns */
};

static const char letters[] = "AB";

typedef struct Shown { /* an expression on the screen */
    int expression;
    IndexAccess access;
    Error error;   /* of the text as typed */
    bool is_bad;   /* then `access` is of the last one without an error */
    bool is_drawn; /* there is one */
} Shown;

static Shown evaluate(const ViewIndex *index, int expression) {
    Shown shown = {.expression = expression};
    bool is_empty = !*index->text[expression] && !(expression == 0 && index->has_offsets);
    shown.is_bad = !is_empty && !view_index_access(index, expression, false, &shown.access, &shown.error);
    shown.is_drawn = !is_empty && !shown.is_bad;
    if (shown.is_bad && *index->good[expression])
        shown.is_drawn = view_index_access(index, expression, true, &shown.access, NULL);
    return shown;
}

/* ---- expressions and settings -------------------------------------------------------------------------- */

/* The text with the selected number in brackets, or with the cursor. Returns the column after it. */
static int draw_text(const ViewIndex *index, int expression, Canvas *canvas, Rectangle area, int column,
                     int row) {
    const char *text = index->text[expression];
    IndexField field = view_index_field(index);
    IndexNumber numbers[INDEX_NUMBERS];
    int known = index_numbers(text, numbers), length = (int)strlen(text);
    bool is_selected =
        field.kind == INDEX_FIELD_NUMBER && field.expression == expression && field.number < known;
    if (!is_selected || index->typing)
        return column + canvas_text(canvas, area, column, row, ROLE_CURRENT, text);
    const IndexNumber *number = &numbers[field.number];
    int after = number->begin + number->length;
    column += canvas_print(canvas, area, column, row, ROLE_CURRENT, "%.*s", number->begin, text);
    column +=
        canvas_print(canvas, area, column, row, ROLE_KEY, "[%.*s]", number->length, text + number->begin);
    return column +
           canvas_print(canvas, area, column, row, ROLE_CURRENT, "%.*s", length - after, text + after);
}

static int draw_expression(const ViewIndex *index, const Shown *shown, Canvas *canvas, Rectangle area,
                           int row) {
    int expression = shown->expression;
    IndexField field = view_index_field(index);
    bool is_own = field.kind == INDEX_FIELD_NUMBER || field.kind == INDEX_FIELD_TEXT;
    bool is_active = is_own && field.expression == expression;
    int column = canvas_print(canvas, area, 0, row, is_active ? ROLE_SELECTED : ROLE_DIM, "%c%c",
                              is_active ? '>' : ' ', letters[expression]);
    column += 2;
    if (expression == 0 && index->has_offsets) {
        canvas_text(canvas, area, column, row, ROLE_TEXT,
                    tr("no form fits these addresses; they are shown as they are"));
        return row + 1;
    }
    if (!*index->text[expression] && !(index->typing && is_active)) {
        canvas_text(canvas, area, column, row, ROLE_DIM,
                    tr("empty: select it and type, or Enter for a copy of A"));
        return row + 1;
    }
    column += canvas_text(canvas, area, column, row, ROLE_DIM, "array[ ");
    int begin = column;
    column = draw_text(index, expression, canvas, area, column, row);
    canvas_text(canvas, area, column + (index->typing && is_active), row, ROLE_DIM, " ]");
    if (index->typing && is_active) canvas_reverse(canvas, area, begin + index->cursor, row, 1);
    if (!shown->is_bad) return row + 1;
    char where[32] = "";
    int caret = shown->error.column ? begin + shown->error.column - 1 : begin - 2;
    if (shown->error.column) snprintf(where, sizeof where, tr("column %d: "), shown->error.column);
    int columns = canvas_text_columns(where) + canvas_text_columns(shown->error.message);
    bool fits = caret + 2 + columns <= area.columns;
    if (fits && shown->error.column) canvas_glyph(canvas, area, caret, row + 1, ROLE_CONFLICT, '^');
    canvas_print(canvas, area, fits ? caret + 2 : 4, row + 1, ROLE_WARNING, "%s%s", where,
                 shown->error.message);
    return row + 2;
}

static void draw_settings(const ViewIndex *index, Canvas *canvas, Rectangle area, int row) {
    static const int order[] = {INDEX_FIELD_S,     INDEX_FIELD_N,     INDEX_FIELD_WARP,
                                INDEX_FIELD_BYTES, INDEX_FIELD_STORE, INDEX_FIELD_LANES};
    IndexField field = view_index_field(index);
    char text[6][32];
    const IndexOf *of = &index->of;
    snprintf(text[0], sizeof *text, "s = %" PRId64, of->s);
    snprintf(text[1], sizeof *text, "n = %" PRId64, of->n);
    snprintf(text[2], sizeof *text, "warp %" PRId64 ", tid %" PRId64 "..", of->warp, of->warp * WARP_LANES);
    snprintf(text[3], sizeof *text, tr("%d byte%s"), of->bytes, of->bytes == 1 ? "" : "s");
    snprintf(text[4], sizeof *text, "%s", of->is_store ? tr("store") : tr("load"));
    snprintf(text[5], sizeof *text, tr("%d of 32 lanes"), __builtin_popcount(of->mask));
    int at = 4;
    for (int i = 0; i < 6; i++) {
        bool selected = (int)field.kind == order[i];
        if (order[i] == INDEX_FIELD_LANES && of->mask == 0xffffffff && index->access_mask == 0xffffffff)
            continue;
        at += 2 + canvas_print(canvas, area, at, row, selected ? ROLE_KEY : ROLE_TEXT,
                               selected ? "[%s]" : "%s", text[i]);
    }
}

static void draw_presets(Canvas *canvas, Rectangle area, int row) {
    int at = 4;
    for (int i = 0; i < INDEX_PRESETS; i++) {
        at += canvas_print(canvas, area, at, row, ROLE_KEY, "%d", i + 1);
        at += 2 + canvas_print(canvas, area, at, row, ROLE_DIM, " %s", tr(index_presets[i].name));
    }
}

/* ---- banks --------------------------------------------------------------------------------------------- */

typedef struct WordLine { /* 32 words of shared memory */
    uint64_t number;
    int8_t lane[BANK_COUNT]; /* the lowest that wants the word; -1: none */
    uint8_t sharers[BANK_COUNT];
} WordLine;

static WordLine *line_of(WordLine lines[MOST_LINES], int *count, uint64_t number) {
    int at = 0;
    while (at < *count && lines[at].number < number) at++;
    if (at < *count && lines[at].number == number) return &lines[at];
    if (*count == MOST_LINES) return NULL;
    memmove(lines + at + 1, lines + at, (size_t)(*count - at) * sizeof *lines);
    ++*count;
    lines[at].number = number;
    memset(lines[at].lane, -1, sizeof lines[at].lane);
    memset(lines[at].sharers, 0, sizeof lines[at].sharers);
    return &lines[at];
}

static int list_lines(const ViewIndex *index, const Shown *shown, WordLine lines[MOST_LINES]) {
    int count = 0;
    uint32_t mask = index->of.mask;
    if (shown->expression == 0 && index->has_offsets) mask &= index->access_mask;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t begin = shown->access.offset[lane],
                 end = (begin + (uint64_t)index->of.bytes - 1) / BANK_BYTES;
        if (!(mask >> lane & 1)) continue;
        for (uint64_t word = begin / BANK_BYTES; word <= end; word++) {
            WordLine *line = line_of(lines, &count, word / BANK_COUNT);
            int bank = (int)(word % BANK_COUNT);
            if (!line) return count;
            if (line->lane[bank] < 0) line->lane[bank] = (int8_t)lane;
            line->sharers[bank]++;
        }
    }
    return count;
}

/* "26 cycles (H200, recorded 2026-11-23)" */
static void print_cycles(const StepContext *context, const ViewIndex *index, int wavefronts, int columns,
                         char *out, size_t bytes) {
    const SceneTimings *timings = context->scene->borrowed.timings;
    WavefrontCycles cycles = {.alone = NAN, .in_flight = NAN};
    char in_flight[48] = "";
    bool is_live = false;
    snprintf(out, bytes, tr("cycles not measured%s"),
             index->of.is_store             ? tr(" for stores")
             : index->of.bytes > BANK_BYTES ? tr(" for this width")
                                            : "");
    if (!timings || index->of.is_store || index->of.bytes > BANK_BYTES) return;
    if (timings->live) cycles = latency_of_wavefronts(timings->live, wavefronts);
    is_live = !isnan(cycles.alone);
    if (!is_live) cycles = latency_of_wavefronts(timings->recorded, wavefronts);
    if (isnan(cycles.alone) || !cycles.machine) return;
    const char *machine = scene_machine_name(cycles.machine);
    if (!isnan(cycles.in_flight))
        snprintf(in_flight, sizeof in_flight, tr(", %.1f in flight"), cycles.in_flight);
    if (columns < WIDE)
        snprintf(out, bytes, tr("%.0f cycles (%.*s)"), cycles.alone, (int)strcspn(machine, " "), machine);
    else
        snprintf(out, bytes, tr("%.0f cycles%s (%.*s, %s%.10s)"), cycles.alone, in_flight,
                 (int)strcspn(machine, " "), machine, is_live ? tr("live") : tr("recorded "),
                 is_live ? "" : cycles.measured);
}

/* One picture of at most `area.rows` rows. */
static void draw_banks(const StepContext *context, const Shown *shown, Canvas *canvas, Rectangle area) {
    const ViewIndex *index = &context->view->display.index;
    const SharedCost *cost = &shown->access.shared;
    WordLine lines[MOST_LINES];
    char title[120], cycles[96], phases[64] = "";
    bool excess = cost->wavefronts > cost->ideal;
    if (cost->phases > 1)
        snprintf(phases, sizeof phases, tr(", %d phases of %d lanes"), cost->phases,
                 WARP_LANES / cost->phases);
    snprintf(title, sizeof title, tr("banks of %c  %d wavefront%s%s, ideal %d%s"), letters[shown->expression],
             cost->wavefronts, cost->wavefronts == 1 ? "" : "s", excess ? "!" : "", cost->ideal, phases);
    print_cycles(context, index, cost->wavefronts, area.columns, cycles, sizeof cycles);
    if (!index_access_fits_shared(&index->of, &shown->access))
        snprintf(cycles, sizeof cycles, tr("more than 227 KB"));
    Role plain = shown->is_bad ? ROLE_DIM : ROLE_TEXT;
    canvas_rule(canvas, area,
                shown->is_bad ? ROLE_DIM
                : excess      ? ROLE_CONFLICT
                              : ROLE_GOOD,
                title, plain, cycles);
    int width = (area.columns - LABEL_COLUMNS) / BANK_COUNT;
    width = canvas_clamp(width, 1, MOST_CELL_COLUMNS);
    int count = list_lines(index, shown, lines), room = area.rows - FRAME_ROWS, drawn = count;
    if (count > room) drawn = room > 1 ? room - 1 : room; /* the last row counts the others */
    canvas_text(canvas, area, 0, 1, ROLE_DIM, " bank");
    for (int bank = 0; bank<BANK_COUNT; bank += width> 2 ? 1 : width > 1 ? 2 : 4)
        canvas_print(canvas, area, LABEL_COLUMNS + bank * width, 1, ROLE_DIM, width > 1 ? "%2d" : "%d", bank);
    for (int i = 0; i < drawn; i++) {
        canvas_print(canvas, area, 0, 2 + i, ROLE_DIM, "%6" PRIu64, lines[i].number * BANK_COUNT);
        for (int bank = 0; bank < BANK_COUNT; bank++) {
            int column = LABEL_COLUMNS + bank * width;
            Role role = shown->is_bad ? ROLE_DIM : shown->access.words[bank] > 1 ? ROLE_CONFLICT : ROLE_TEXT;
            if (lines[i].lane[bank] < 0)
                canvas_glyph(canvas, area, column + (width > 1), 2 + i, ROLE_IDLE, 0xB7);
            else
                ruler_draw_lane(canvas, area, column, 2 + i, width > 3 ? 3 : width, role, lines[i].lane, bank,
                                lines[i].sharers[bank] > 1, false);
        }
    }
    if (drawn < count)
        canvas_print(canvas, area, 1, 2 + drawn, ROLE_DIM, tr("and %d more lines of 32 words"),
                     count - drawn);
    int last = 2 + drawn + (drawn < count);
    canvas_text(canvas, area, 0, last, ROLE_DIM, " words");
    for (int bank = 0; bank < BANK_COUNT && width > 1; bank++) {
        int words = shown->access.words[bank];
        bool is_conflict = words > 1 && !shown->is_bad;
        canvas_print(canvas, area, LABEL_COLUMNS + bank * width + (words > 9 || width < 3 ? 0 : 1), last,
                     is_conflict ? ROLE_CONFLICT : ROLE_DIM, words ? "%d%s" : ".", words,
                     words > 1 && (width > 2 || words < 10) ? "!" : "");
    }
}

/* ---- the chart ----------------------------------------------------------------------------------------- */

static void draw_chart(const ViewIndex *index, bool is_dimmed, Canvas *canvas, Rectangle area) {
    IndexChart chart;
    char title[96], what[48];
    view_index_chart(index, &chart);
    view_index_print_field(index, what, sizeof what);
    snprintf(title, sizeof title, tr("wavefronts of %c as %s turns"),
             letters[view_index_field(index).expression], *what ? what : tr("a number"));
    canvas_rule(canvas, area, ROLE_TITLE, title, ROLE_DIM, tr("! above ideal"));
    if (!chart.count) {
        canvas_text(canvas, area, 1, 1, ROLE_DIM, tr("no number is selected: Up and Down select one"));
        return;
    }
    int width = (area.columns - LABEL_COLUMNS) / INDEX_CHART, rows = area.rows - CHART_ROWS;
    width = canvas_clamp(width, 1, MOST_CELL_COLUMNS);
    int scale = chart.most < LEAST_SCALE ? LEAST_SCALE : chart.most;
    for (int i = 0; i < chart.count; i++) {
        int column = LABEL_COLUMNS + i * width + (width > 1);
        bool excess = chart.wavefronts[i] > chart.ideal[i], is_now = i == chart.now;
        Role role = is_dimmed ? ROLE_DIM : excess ? ROLE_CONFLICT : ROLE_GOOD;
        if (width > 2 && chart.wavefronts[i])
            canvas_print(canvas, area, column - 1, 1, role, "%2d%s", chart.wavefronts[i], excess ? "!" : "");
        else
            canvas_glyph(canvas, area, column, 1, role, excess ? '!' : chart.wavefronts[i] ? ' ' : '?');
        int eighths = scale ? (chart.wavefronts[i] * rows * 8 + scale - 1) / scale : 0;
        canvas_column(canvas, area, column, 1 + rows, role, eighths);
        char value[24];
        snprintf(value, sizeof value, "%" PRId64, chart.value[i]);
        int length = (int)strlen(value);
        bool has_room =
            is_now || width > length || (chart.value[i] % 4 == 0 && abs(i - chart.now) > 1 && length < 3);
        if (has_room)
            canvas_text(canvas, area, column + 1 - length, area.rows - 1, is_now ? ROLE_KEY : ROLE_DIM,
                        value);
    }
    canvas_print(canvas, area, 0, 2, ROLE_DIM, "%5d", scale);
}

/* ---- global memory, and the keys ----------------------------------------------------------------------- */

static void print_sectors(const Shown *shown, char *out, size_t bytes) {
    const IndexAccess *access = &shown->access;
    bool excess = access->global.sectors > access->global.ideal;
    snprintf(out, bytes, tr("%c %d sector%s%s, ideal %d, %d line%s"), letters[shown->expression],
             access->global.sectors, access->global.sectors == 1 ? "" : "s", excess ? "!" : "",
             access->global.ideal, access->lines, access->lines == 1 ? "" : "s");
}

static void draw_sectors(const Shown shown[2], Canvas *canvas, Rectangle area, int row) {
    int column = 2 + canvas_text(canvas, area, 0, row, ROLE_DIM, tr(" the same index in global memory:"));
    for (int i = 0; i < 2; i++) {
        char text[64];
        bool excess = shown[i].access.global.sectors > shown[i].access.global.ideal;
        if (!shown[i].is_drawn) continue;
        print_sectors(&shown[i], text, sizeof text);
        column += 3 + canvas_text(canvas, area, column, row,
                                  shown[i].is_bad ? ROLE_DIM
                                  : excess        ? ROLE_CONFLICT
                                                  : ROLE_GOOD,
                                  text);
    }
}

static void head(const StepContext *context, PaneHead *out) {
    const ViewIndex *index = &context->view->display.index;
    pane_title(out, tr("index lab%s%s"), *index->about ? "  " : "", index->about);
    pane_note(out,
              out->columns < WIDE ? tr("%d-byte elements") : tr("one warp, an array of %d-byte elements"),
              index->of.bytes);
    if (out->rows >= TALL) return; /* it has a row for the sectors */
    int used = snprintf(out->foot, sizeof out->foot, tr("global"));
    for (int i = 0; i < 2; i++) {
        Shown shown = evaluate(index, i);
        if (!shown.is_drawn) continue;
        used += snprintf(out->foot + used, sizeof out->foot - (size_t)used, "  ");
        print_sectors(&shown, out->foot + used, sizeof out->foot - (size_t)used);
        used = (int)strlen(out->foot);
    }
}

/* ---- the screen ---------------------------------------------------------------------------------------- */

static int rows_of(const ViewIndex *index, const Shown *shown) {
    WordLine lines[MOST_LINES];
    return FRAME_ROWS + list_lines(index, shown, lines);
}

/* Each gets half, or what the other one does not need. */
static void share_rows(int needs[2], int rows) {
    int half = rows / 2;
    if (needs[0] + needs[1] <= rows) return;
    if (needs[0] <= half)
        needs[1] = rows - needs[0];
    else if (needs[1] <= rows - half)
        needs[0] = rows - needs[1];
    else
        needs[0] = rows - half, needs[1] = half;
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    const ViewIndex *index = &context->view->display.index;
    Shown shown[2] = {evaluate(index, 0), evaluate(index, 1)};
    int row = draw_expression(index, &shown[0], canvas, area, 0);
    row = draw_expression(index, &shown[1], canvas, area, row);
    draw_settings(index, canvas, area, row++);
    draw_presets(canvas, area, row++);
    const char *message = context->view->transient.message;
    const char *text =
        *message ? message
        : context->view->display.index.typing
            ? tr("tid lane warp i s n  + - * / % & | ^ << >> ( )   Enter done  Esc undo")
        : area.columns < WIDE
            ? tr("← → turn  ↑ ↓ select  Enter edit  1-8 presets  m GPU  ? help  Esc back")
            : tr("← → turn the number  ↑ ↓ select  Enter edit, or type a new one  1-8 presets  "
                 "m machine  ? help  Esc back");
    canvas_text(canvas, area, 0, area.rows - 1, *message ? ROLE_TEXT : ROLE_DIM, text);

    int active = view_index_field(index).expression, last_rows = area.rows < TALL ? 1 : 2;
    int least_bars = area.rows < TALL ? 2 : area.rows / 7;
    int left = area.rows - row - last_rows - CHART_ROWS - least_bars;
    bool has_both = shown[0].is_drawn && shown[1].is_drawn;
    bool shows_both = has_both && area.columns >= WIDE && left >= 2 * (FRAME_ROWS + LEAST_LINES);
    int needs[2] = {0};
    for (int i = 0; i < 2; i++)
        if (shown[i].is_drawn && (shows_both || !has_both || i == active))
            needs[i] = rows_of(index, &shown[i]);
    share_rows(needs, left > FRAME_ROWS ? left : 0);
    for (int i = 0; i < 2; i++) {
        if (needs[i])
            draw_banks(context, &shown[i], canvas,
                       (Rectangle){area.column, area.row + row, area.columns, needs[i]});
        row += needs[i];
    }
    int bars = area.rows - row - last_rows - CHART_ROWS;
    Rectangle chart = {area.column, area.row + row, area.columns,
                       CHART_ROWS + (bars > MOST_BARS ? MOST_BARS : bars)};
    if (bars > 0) draw_chart(index, shown[active].is_bad, canvas, chart);
    row += bars > 0 ? chart.rows : 0;
    if (last_rows > 1 && row < area.rows - 1) draw_sectors(shown, canvas, area, row);
}

const Pane pane_index = {.slot = SLOT_OVERLAY, .overlay = OVERLAY_INDEX, .head = head, .draw = draw};
