/* The shuffle pane: the lane from which each lane of a warp takes its value. As many arrows are drawn as fit
 * into the rows, those around the selected lane first. */
#include "tui/panes/pane.h"

#include "base/language.h"
#include "tui/panes/ruler.h"
#include <stdio.h>

enum { UNDEFINED = -1 };

typedef struct Shuffle {
    const char *mode; /* "down", "up", "bfly", "idx" */
    /* The same for all lanes that take from another (down, up: distance; bfly: xor); 0: it differs. */
    int delta;
    uint32_t takes; /* lanes that receive another lane's value */
    uint32_t keeps; /* lanes that keep their own: their source is outside the segment, or the lane itself */
    uint32_t undefined; /* lanes whose source was inactive */
} Shuffle;

static const char *mode_of(const StepContext *context) {
    static const char *const modes[] = {"down", "up", "bfly", "idx"};
    const PtxInstruction *instruction = context->code ? context->code->instruction : NULL;
    for (int i = 0; instruction && i < instruction->modifier_count; i++)
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
            if (!strcmp(instruction->modifiers[i].text, modes[m])) return modes[m];
    return "";
}

static Shuffle shuffle_of(const StepContext *context) {
    Shuffle shuffle = {.mode = mode_of(context)};
    bool first = true, same = true;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        if (!(context->event.mask >> lane & 1)) continue;
        int source = context->event.source[lane];
        if (source == UNDEFINED) {
            shuffle.undefined |= 1u << lane;
        } else if (source == lane) {
            shuffle.keeps |= 1u << lane;
        } else {
            int delta = !strcmp(shuffle.mode, "bfly") ? source ^ lane : source - lane;
            if (delta < 0 && !strcmp(shuffle.mode, "up")) delta = -delta;
            shuffle.takes |= 1u << lane;
            if (!first && delta != shuffle.delta) same = false;
            shuffle.delta = delta;
            first = false;
        }
    }
    if (!same || !strcmp(shuffle.mode, "idx")) shuffle.delta = 0;
    return shuffle;
}

static void head(const StepContext *context, PaneHead *out) {
    Shuffle shuffle = shuffle_of(context);
    char lanes[64];
    pane_title(out, "shuffle %s", shuffle.mode);
    if (shuffle.delta) pane_add_title(out, " %d", shuffle.delta);
    if (context->code && context->code->line.line)
        pane_add_title(out, tr("   line %d"), context->code->line.line);
    pane_add_title(out, "   w%d", context->event.warp);
    if (shuffle.undefined) {
        step_context_describe_lanes(shuffle.undefined, lanes, sizeof lanes);
        pane_note(out, tr("%s: undefined value!"), lanes);
        out->note_role = ROLE_WARNING;
    } else if (shuffle.keeps) {
        step_context_describe_lanes(shuffle.keeps, lanes, sizeof lanes);
        pane_note(out, tr("%s keep%s"), lanes,
                  shuffle.keeps & (shuffle.keeps - 1) ? tr(" their own values") : tr("s its own value"));
    }
}

/* ---- arrows -------------------------------------------------------------------------------------------- */

typedef struct Wire { /* the path of a value: from one lane to all that take it */
    int source;
    uint32_t targets;
    bool both;       /* source and target exchange their values */
    int left, right; /* the columns that it spans */
    int row;
} Wire;

typedef struct Wires {
    Wire wires[WARP_LANES];
    int count, rows;
    uint32_t sources, targets; /* of the wires drawn */
} Wires;

static bool takes_from(const StepContext *context, int lane, int source) {
    return context->event.mask >> lane & 1 && source >= 0 && source != lane &&
           context->event.source[lane] == source;
}

static bool wire_serves(const Wire *wire, int lane) {
    return wire->targets >> lane & 1 || (wire->both && wire->source == lane);
}

/* A lane that both gives and takes has two columns: the value leaves on the left of its sign. */
static int source_column(const Wires *wires, const Ruler *ruler, int lane) {
    return ruler_column(ruler, lane) - (ruler->width > 1 && wires->targets >> lane & 1);
}

static void place_wires(Wires *wires, const Ruler *ruler) {
    int end[WARP_LANES] = {0}; /* [row] first free column */
    wires->sources = wires->targets = 0;
    wires->rows = 0;
    for (int i = 0; i < wires->count; i++) {
        wires->sources |= 1u << wires->wires[i].source;
        wires->targets |= wires->wires[i].targets;
    }
    for (int i = 0; i < wires->count; i++) {
        Wire *wire = &wires->wires[i];
        int from = wire->both ? ruler_column(ruler, wire->source) : source_column(wires, ruler, wire->source);
        int first = ruler_column(ruler, __builtin_ctz(wire->targets));
        int last = ruler_column(ruler, 31 - __builtin_clz(wire->targets));
        wire->left = from < first ? from : first;
        wire->right = from > last ? from : last;
        wire->row = 0;
        while (end[wire->row] > wire->left) wire->row++;
        end[wire->row] = wire->right + 1;
        if (wire->row + 1 > wires->rows) wires->rows = wire->row + 1;
    }
}

/* If there are more wires than rows, or so many that they hide each other: some adjacent ones, including the
 * selected lane's. */
static void keep_wires(Wires *wires, const Ruler *ruler, int lane, int rows) {
    enum { CLEAR_ROWS = 2 };
    place_wires(wires, ruler);
    bool dense = wires->rows > CLEAR_ROWS && wires->sources & wires->targets;
    if (wires->rows <= rows && !dense) return;
    if (wires->rows < rows) rows = wires->rows;
    int selected = 0;
    while (selected < wires->count && !wire_serves(&wires->wires[selected], lane)) selected++;
    int first = selected == wires->count ? 0 : selected - rows + 1;
    if (first < 0) first = 0;
    memmove(wires->wires, &wires->wires[first], (size_t)rows * sizeof *wires->wires);
    wires->count = rows;
    place_wires(wires, ruler);
}

/* Joins existing lines: lines that cross, corners on a line. */
static void draw_part(Canvas *canvas, Rectangle area, int column, int row, Role role, uint32_t glyph) {
    Cell *cell = canvas_cell(canvas, area, column, row);
    if (!cell) return;
    bool level = cell->glyph == 0x2500, upright = cell->glyph == 0x2502;
    if ((glyph == 0x2502 && level) || (glyph == 0x2500 && upright)) glyph = 0x253C;
    canvas_glyph(canvas, area, column, row, role, glyph);
}

/* `head`: rows of the arrow heads; the wire's own row is below. */
static void draw_wire(const Wires *wires, const Wire *wire, const Ruler *ruler, Canvas *canvas,
                      Rectangle area, int head, Role role) {
    int row = head + 1 + wire->row;
    for (int column = wire->left + 1; column < wire->right; column++)
        draw_part(canvas, area, column, row, role, 0x2500);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        bool target = wire->targets >> lane & 1 || (wire->both && lane == wire->source);
        if (!target && lane != wire->source) continue;
        int column = target ? ruler_column(ruler, lane) : source_column(wires, ruler, lane);
        for (int above = head + 1; above < row; above++) draw_part(canvas, area, column, above, role, 0x2502);
        canvas_glyph(canvas, area, column, head, role, target ? 0x25B2 : 0x2502);
        canvas_glyph(canvas, area, column, row, role,
                     column == wire->left    ? 0x2514
                     : column == wire->right ? 0x2518
                                             : 0x2534);
    }
}

static void label_wire(const StepContext *context, const Wire *wire, Canvas *canvas, Rectangle area,
                       int head) {
    int lane = context->view->selection.lane, source = context->event.source[lane];
    int distance = source > lane ? source - lane : lane - source;
    char label[24];
    snprintf(label, sizeof label,
             wire->both      ? "\u2190 %d \u2192"
             : source > lane ? "\u2190 %d "
                             : " %d \u2192",
             distance);
    int columns = canvas_text_columns(label);
    if (wire->right - wire->left - 1 < columns || (wire->targets & (wire->targets - 1))) return;
    canvas_text(canvas, area, wire->left + 1 + (wire->right - wire->left - 1 - columns) / 2,
                head + 1 + wire->row, ROLE_ACTIVE, label);
}

/* Arrow heads in the first of `rows`, wires below; returns the rows used. */
static int draw_wires(const StepContext *context, Canvas *canvas, Rectangle area, const Ruler *ruler, int row,
                      int rows) {
    Wires wires = {.count = 0};
    /* The wires in the order of their first target. */
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int source = context->event.source[lane], found = 0;
        if (!takes_from(context, lane, source)) continue;
        bool both = takes_from(context, source, lane);
        if (both && source < lane) continue; /* drawn with its partner's */
        while (found < wires.count && wires.wires[found].source != source) found++;
        if (found == wires.count) wires.wires[wires.count++] = (Wire){.source = source, .both = both};
        wires.wires[found].targets |= 1u << lane;
    }
    if (rows < 2 || !wires.count) return 0;
    keep_wires(&wires, ruler, context->view->selection.lane, rows - 1);
    for (int i = 0; i < wires.count; i++)
        if (!wire_serves(&wires.wires[i], context->view->selection.lane))
            draw_wire(&wires, &wires.wires[i], ruler, canvas, area, row, ROLE_ARROW);
    for (int i = 0; i < wires.count; i++) {
        if (!wire_serves(&wires.wires[i], context->view->selection.lane)) continue;
        draw_wire(&wires, &wires.wires[i], ruler, canvas, area, row, ROLE_ACTIVE);
        label_wire(context, &wires.wires[i], canvas, area, row);
    }
    return 1 + wires.rows;
}

/* ---- values -------------------------------------------------------------------------------------------- */

static void draw_lane_note(const StepContext *context, Canvas *canvas, Rectangle area, int row) {
    const TraceEvent *event = &context->event;
    int lane = context->view->selection.lane, source = event->source[lane];
    char own[40], taken[40];
    step_context_print_value(context, event->operand[lane], 0, own, sizeof own);
    step_context_print_value(context, event->value[0][lane], 0, taken, sizeof taken);
    if (!(event->mask >> lane & 1))
        canvas_print(canvas, area, 1, row, ROLE_DIM, tr("lane %d is not active in this shuffle"), lane);
    else if (source == UNDEFINED)
        canvas_print(canvas, area, 1, row, ROLE_WARNING,
                     tr("lane %d reads an inactive lane: its value is undefined"), lane);
    else if (source == lane)
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("lane %d keeps its own value: %s"), lane, taken);
    else
        canvas_print(canvas, area, 1, row, ROLE_TEXT, tr("lane %d has %s and takes %s from lane %d"), lane,
                     own, taken, source);
}

static int longest_value(const StepContext *context) {
    const TraceEvent *event = &context->event;
    char own[40], taken[40];
    int longest = 3;
    for (int lane = 0; lane < WARP_LANES; lane++) {
        step_context_print_value(context, event->operand[lane], 0, own, sizeof own);
        step_context_print_value(context, event->value[0][lane], 0, taken, sizeof taken);
        if ((int)strlen(own) > longest) longest = (int)strlen(own);
        if ((int)strlen(taken) > longest) longest = (int)strlen(taken);
    }
    return longest;
}

/* One lane's values in rows `row` and `row` + 1, ending before `column`. */
static void draw_value(const StepContext *context, Canvas *canvas, Rectangle area, int lane, int column,
                       int row) {
    const TraceEvent *event = &context->event;
    char text[40];
    if (!(event->mask >> lane & 1)) return;
    step_context_print_value(context, event->operand[lane], 0, text, sizeof text);
    canvas_text(canvas, area, column - (int)strlen(text), row, ROLE_TEXT, text);
    step_context_print_value(context, event->value[0][lane], 0, text, sizeof text);
    bool undefined = event->source[lane] == UNDEFINED;
    if (undefined) snprintf(text, sizeof text, "?");
    Role role = undefined ? ROLE_WARNING : event->source[lane] == lane ? ROLE_DIM : ROLE_ARROW;
    canvas_text(canvas, area, column - (int)strlen(text), row + 1, role, text);
}

static void draw_value_labels(Canvas *canvas, Rectangle area, int row) {
    canvas_text(canvas, area, 1, row, ROLE_DIM, tr("has"));
    canvas_text(canvas, area, 1, row + 1, ROLE_DIM, tr("takes"));
}

/* Own and taken values: below the lanes if they are short enough, else as many lanes per row as fit. */
static void draw_values(const StepContext *context, Canvas *canvas, Rectangle area, const Ruler *ruler,
                        int row) {
    int width = longest_value(context) + 1, per_row = WARP_LANES;
    if (width <= ruler->width) {
        draw_value_labels(canvas, area, row);
        for (int lane = 0; lane < WARP_LANES; lane++)
            draw_value(context, canvas, area, lane, ruler_column(ruler, lane) + 1, row);
        return;
    }
    while (per_row > 1 && RULER_LABEL + per_row * width > area.columns) per_row /= 2;
    int first = context->view->selection.lane / per_row * per_row;
    if ((area.rows - row) / 3 >= WARP_LANES / per_row) first = 0;
    for (; first < WARP_LANES && row + 3 <= area.rows; first += per_row, row += 3) {
        canvas_text(canvas, area, 1, row, ROLE_DIM, "lane");
        draw_value_labels(canvas, area, row + 1);
        for (int i = 0; i < per_row; i++) {
            int lane = first + i, column = RULER_LABEL + (i + 1) * width - 1;
            canvas_print(canvas, area, column - 2, row,
                         lane == context->view->selection.lane ? ROLE_SELECTED : ROLE_DIM, "%2d", lane);
            draw_value(context, canvas, area, lane, column, row + 1);
        }
    }
}

static void draw(const StepContext *context, Canvas *canvas, Rectangle area) {
    Ruler ruler = ruler_make(area, RULER_LABEL, 0);
    bool values = area.rows >= 9; /* at least three rows */
    int spare = area.rows - 2 - 1 - (values ? 3 : 0), row = 2;
    ruler_draw(&ruler, canvas, area, 0, context->view->selection.lane);
    canvas_text(canvas, area, 1, 1, ROLE_DIM, tr("from"));
    uint32_t exists = step_context_existing_lanes(context, context->event.warp);
    for (int lane = 0; lane < WARP_LANES; lane++) {
        int column = ruler_column(&ruler, lane), source = context->event.source[lane];
        if (!(context->event.mask >> lane & 1))
            canvas_glyph(canvas, area, column, 1, ROLE_IDLE, exists >> lane & 1 ? 0xB7 : GLYPH_ABSENT);
        else if (source == UNDEFINED)
            canvas_glyph(canvas, area, column, 1, ROLE_WARNING, '?');
        else if (source == lane)
            canvas_glyph(canvas, area, column, 1, ROLE_DIM, '=');
        else if (ruler.width > 2 || (ruler.width > 1 && source < 10))
            canvas_print(canvas, area, column - 1, 1, ROLE_ARROW, "%2d", source);
        else
            canvas_glyph(canvas, area, column, 1, ROLE_ARROW, source > lane ? 0x2190 : 0x2192);
    }
    row += draw_wires(context, canvas, area, &ruler, row, spare);
    draw_lane_note(context, canvas, area, row++);
    if (values)
        draw_values(context, canvas, area, &ruler, area.rows - row > 3 ? row + 1 : row);
    else if (row < area.rows)
        canvas_text(canvas, area, 1, row, ROLE_DIM,
                    tr("= keeps its own value   ? undefined: the source lane is inactive"));
}

const Pane pane_shuffle = {.slot = SLOT_PICTURE,
                           .tells_here = HIDES_LANES | HIDES_VALUES,
                           .kinds = 1u << TRACE_SHUFFLE,
                           .head = head,
                           .draw = draw,
                           .click = ruler_click};
